"""Which sums of products are exact in float64, whatever the order of summation: the grid certificate.

Let 2**g_i divide every element of row i of a, and 2**h_j every element of row j of b. If sum_l |a_il| |b_jl| is below
2**(53 + g_i + h_j), then every product and partial sum is a multiple of 2**(g_i + h_j) below 2**53 of them, hence a
float64: nothing is ever rounded, in any order, with fused multiply-add or without, in pieces or at once. The
multiples must not be finer than 2**-1074, the finest float64. Every float16 or bfloat16 matrix of ordinary size passes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exactattn.numbers.near import HUGE, Floats, Near, up

MANTISSA = np.int64(2**52 - 1)
FINEST = -1074  # 2**-1074 is the smallest float64


def lowest_bits(x: Floats) -> Floats:
    """The value of the lowest set bit of each |x|; infinite for 0. Exact.

    Proof: clearing the lowest set bit of the stored mantissa takes just that bit from |x|, and the difference is a
    power of two, hence exact. Where the stored mantissa is 0, the only bit is |x| itself.
    """
    size = np.abs(x)
    bits = size.view(np.int64)
    rest = np.where(bits & MANTISSA, bits & (bits - 1), 0).view(np.float64)
    return np.where(size == 0, np.inf, size - rest)


def grid_exponents(a: Near, axis: int) -> NDArray[np.int64]:
    """The largest g such that 2**g divides every element along an axis; 0 where all are 0.

    Shapes: those of a, with length 1 along the axis.
    """

    def exponents() -> Floats:
        lowest = lowest_bits(np.ascontiguousarray(a.mid)).min(axis=axis, keepdims=True)
        return np.where(np.isfinite(lowest), np.frexp(lowest)[1] - 1.0, 0.0)

    return a.size("grid", axis, exponents).astype(np.int64)


def certified(a: Near, b: Near) -> NDArray[np.bool_]:
    """Which elements of a times the transpose of b float64 computes exactly. Shapes: (n, k), (m, k) -> (n, m).

    Proof: the sum of products is at most |a_i| |b_j| (Cauchy-Schwarz); a row of norm t on a grid 2**g counts as
    t/2**g, and the product of two counts below 2**53 is what is asked. `Near.two` and `up` round the counts up. Both
    a and b must be exact.
    """
    if not (a.is_exact and b.is_exact):
        return np.zeros((len(a), len(b)), dtype=np.bool_)
    (g, left), (h, right) = _counts(a), _counts(b)
    with np.errstate(all="ignore"):
        small = left * right.T < 1
        in_range = bool((g.min() + h.min() >= FINEST) & (a.two(1).max() * b.two(1).max() < HUGE))
        return small if in_range else small & (g + h.T >= FINEST) & (a.two(1) * b.two(1).T < HUGE)


def certified_rows(a: Near, b: Near) -> NDArray[np.bool_]:
    """Which rows of a times the transpose of b float64 computes exactly. Shapes: (n, k), (m, k) -> (n, 1).

    A few rows of both are tried first; where none of them passes, as with float32 of ordinary size, the rest is not
    tried.
    """
    none = np.zeros((len(a), 1), dtype=np.bool_)
    if not (a.is_exact and b.is_exact):
        return none
    if not _few(a).min() * b.size("few counts", 1, lambda: _few(b)).min() < 1:
        return none
    (g, left), (h, right) = _counts(a), _counts(b)
    with np.errstate(all="ignore"):
        in_range = (g + h.min() >= FINEST) & (a.two(1) * b.two(1).max() < HUGE)
        return np.asarray((left * right.max() < 1) & in_range)


def _few(a: Near) -> Floats:
    """The counts of up to five rows."""
    return _counts(Near(a.mid[:: max(1, len(a) // 4)], a.rel, a.abs))[1]


def _counts(a: Near) -> tuple[NDArray[np.int64], Floats]:
    """The grid of each row, and no less than its norm over the grid, times 2**-26.5 from each of two factors.

    A norm is no less than the grid of its row, so the quotient does not underflow; it is 0 for a row of zeros.
    """
    g = grid_exponents(a, 1)

    def count() -> Floats:
        quotient = np.ldexp(a.two(1), np.clip(-g - 26, -2100, 2100).astype(np.int32)) * 2.0**-0.5
        return np.where(a.most(1) == 0, 0.0, up(quotient))

    return g, a.size("count", 1, count)

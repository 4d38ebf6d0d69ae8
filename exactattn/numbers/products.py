"""Products of matrices of enclosed reals, by BLAS, with a proven radius."""

from __future__ import annotations

import numpy as np

from exactattn.numbers.grid import certified_rows
from exactattn.numbers.near import (
    CHUNK,
    HUGE,
    WIDE,
    Floats,
    Near,
    by_row,
    gamma,
    piece,
    raise_,
    roundings,
    summed_up,
    up,
)
from exactattn.numbers.slices import sliced_product
from exactattn.numbers.weighted import Weighted

ZERO = np.zeros((1, 1))
SMALL = 2.0**-400  # norms above it owe nothing to what `Near.two` adds for underflow


def product(a: Near, b: Near, *, transposed: bool = False, sharp: bool = False) -> Near:
    """a times b, or times its transpose. Shapes: (n, k), (k, m) or (m, k) -> (n, m).

    Rounding or proof: with A, B the midpoints, M >= sum_l |A_il| |B_lj|, and radii r_a |A| + d_a of row i of a and
    r_b |B| + d_b of b: BLAS errs by at most gamma M + k 2**-1074, in any order of summation, fused or not, and
    |a b - A B| <= ((1 + r_a)(1 + r_b) - 1) |A||B| + (1 + r_a) |A| d_b + d_a ((1 + r_b) |B| + d_b), summed over l.
    What underflows is in the TINY that `up` adds, as k is below 2**50.
    A radius part W of a (`Weighted`) adds sum_l part W_il ((1 + r_b) |B_lj| + d_b).
    Where M is not below `HUGE` a partial sum might have overflowed, and nothing is known. A product that is wide, or
    not sharp, gets one radius a row. It is 0 in rows that the grid certificate proves exact (`numbers/grid.py`); where
    it does not, the sharp product of exact operands is made of slices (`numbers/slices.py`).
    """
    with np.errstate(all="ignore"):
        if sharp and transposed and a.is_exact and b.is_exact and not certified_rows(a, b).all():
            sliced = sliced_product(a, b)
            if sliced is not None:
                return sliced
        mid = _multiplied(a.mid, b.mid.T if transposed else b.mid)
        wide = not sharp or mid.shape[1] > WIDE
        size = _sharp_size(a, b, transposed, wide) if sharp else _size(a, b, transposed, wide)
        length = a.shape[1]
        if a.is_exact and b.is_exact:
            radius = raise_(gamma(roundings(length)) * size)
            if transposed:
                radius = np.where(certified_rows(a, b), 0.0, radius)
        else:
            radius = _spread(a, b, transposed, size)
        if not size.max() < HUGE:
            radius = np.where(size < HUGE, radius, np.inf)
        out = Near(mid, ZERO, radius, a.nonneg and b.nonneg)
        out.owned = True
        if wide:  # rounding keeps a sum below what bounds the sum of absolute values
            out.size("limit", 1, lambda: np.asarray(up(size * (1 + gamma(roundings(length))))))
        return out


def _spread(a: Near, b: Near, transposed: bool, size: Floats) -> Floats:
    """The radius but for underflow, for operands that are not exact."""
    length = a.shape[1]
    r_a, d_a = by_row(a.rel), by_row(a.own if isinstance(a, Weighted) and not transposed else a.abs)
    r_b, d_b = float(b.rel.max()), float(b.abs.max())
    radius = (gamma(roundings(length)) + r_a + r_b + r_a * r_b) * size
    if d_b:
        radius = radius + (1 + r_a) * a.one(1) * d_b
    if d_a.any():
        radius = radius + d_a * ((1 + r_b) * b.one(1 if transposed else 0).max() + length * d_b)
    if isinstance(a, Weighted) and not transposed:
        radius = radius + (1 + r_b) * a.times(a.part, b) + d_b * a.summed(a.part)
    return raise_(np.asarray(radius))


def _multiplied(a: Floats, b: Floats) -> Floats:
    """The float product, long sums in pieces; `roundings` counts what it rounds."""
    length = a.shape[1]
    if length <= 2 * CHUNK:
        return np.asarray(np.matmul(a, b))
    size = piece(length)
    out = np.matmul(a[:, :size], b[:size])
    for start in range(size, length, size):
        out += a[:, start : start + size] @ b[start : start + size]
    return np.asarray(out)


def _size(a: Near, b: Near, transposed: bool, wide: bool) -> Floats:
    """No less than sum_l |A_il| |B_lj|, without a product of matrices: a number a row for a wide one.

    Proof: it is at most |A_i|_2 |B_j|_2 (Cauchy-Schwarz) and at most |A_i|_1 max |B_j|, which is asked for where it is
    at hand or where squares may have left the range. A NaN stays one.
    """
    if isinstance(a, Weighted) and a.limits.shape[0] == 1 and wide and not transposed:
        return a.times(a.limits, b)
    axis = 1 if transposed else 0
    two, most = b.two(axis), b.most(axis)
    if wide:
        two, most = two.max(keepdims=True), most.max(keepdims=True)
    elif transposed:
        two, most = two.T, most.T
    norms = a.two(1) * two
    if not a.nonneg and a.two(1).min() > SMALL and two.min() > SMALL and a.two(1).max() * two.max() < HUGE:
        return np.asarray(up(norms))
    return raise_(np.minimum(norms, a.one(1) * most, out=norms))


def _sharp_size(a: Near, b: Near, transposed: bool, wide: bool) -> Floats:
    """The same by a product of absolute values, whose own error in any order `summed_up` covers."""
    other = np.abs(b.mid.T if transposed else b.mid)
    size = summed_up(np.abs(a.mid) @ other, a.shape[1])
    return by_row(size) if wide else size

"""Products of exact float matrices almost without rounding, by cutting each factor into a high and a low slice.

The product of two high slices is exact in float64, in any order of summation; what is left is about 2**-20 times as
large, and so is its error. Source: Ozaki, Ogita, Oishi and Rump 2012, Error-free transformations of matrix products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactattn.numbers.near import TINY, Floats, Near, U, gamma, summed_up, up

LOWEST = -1000  # exponents of slices below it are not cut: their grid might leave the float64 numbers


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """x = high + low, exactly, row by row: high is a multiple of 2**(e - bits) and |high| <= 2**e.

    Shapes: x, high, low (n, k).
    """

    high: Floats
    low: Floats

    @staticmethod
    def of(x: Floats, bits: int) -> Slices | None:
        """The slices; None where a row is too large or too small for them.

        Proof: let |x| < 2**e in the row and s = 1.5 * 2**(e - bits + 52). Then s + x lies in [2**(e - bits + 52),
        2**(e - bits + 53)), where float64 numbers are 2**(e - bits) apart, so high = (s + x) - s is x rounded to a
        multiple of 2**(e - bits), both operations exact but for that rounding; |high| <= 2**e. low = x - high is exact:
        it is a multiple of the last bit of x and no larger than 2**(e - bits - 1) and |x|.
        """
        most = np.abs(x).max(axis=1, keepdims=True, initial=0.0)
        exponent = np.frexp(most)[1]
        known = (most > 0) & np.isfinite(most)
        if not np.isfinite(most).all() or (known & ((exponent < LOWEST // 2) | (exponent > -LOWEST // 2))).any():
            return None
        point = np.ldexp(1.5, exponent - bits + 52)
        high = np.where(known, (x + point) - point, 0.0)
        return Slices(high, x - high)


def sliced_product(a: Near, b: Near) -> Near | None:
    """a times the transpose of b, both exact; None where slices do not help.

    Shapes: (n, k), (m, k) -> (n, m). Rounding or proof: with 2 bits + log2 k <= 53, every partial sum of high_a high_b
    is a multiple of 2**(e_a + e_b - 2 bits) of at most k 2**(2 bits) <= 2**53 of them, so it is exact. The rest,
    high_a low_b + low_a b, is at most R = |high_a| |low_b| + |low_a| |b| (Cauchy-Schwarz) and errs by gamma R, in sums
    that are not cut into pieces, and one more rounding; the sum of both by u of itself.
    """
    length = a.shape[1]
    bits = (53 - int(np.ceil(np.log2(max(length, 1))))) // 2
    one, other = Slices.of(a.mid, bits), Slices.of(b.mid, bits)
    if one is None or other is None:
        return None
    mid = one.high @ other.high.T
    rest = one.high @ other.low.T
    rest += one.low @ b.mid.T
    size = _norms(one.high) * _norms(other.low).max() + _norms(one.low) * b.two(1).max()
    mid += rest
    radius = np.asarray(up(size * (gamma(length + 2) + 2 * U) + length * TINY))
    out = Near(mid, np.full((1, 1), U), radius)
    out.owned = True
    return out


def _norms(x: Floats) -> Floats:
    """No less than the Euclidean norm of each row. Shapes: (n, k) -> (n, 1)."""
    return np.asarray(np.sqrt(summed_up(np.einsum("ij,ij->i", x, x), x.shape[1]))[:, np.newaxis] * (1 + 2.0**-50))

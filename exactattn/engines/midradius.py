"""Engine `midradius`: proven enclosures of whole tensors at the speed of BLAS, in float64 with a radius beside it.

A value is (mid, rel, abs) with |x - mid| <= rel*|mid| + abs (`numbers/near.py`). Each operation has its own proof;
whatever is written over an `Arithmetic` is then proven by composition, under `ASSUMPTIONS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from exactattn.numbers.angles import Angles
from exactattn.numbers.arithmetic import Cells, Mask
from exactattn.numbers.balls import nearest
from exactattn.numbers.enclosure import Enclosure
from exactattn.numbers.exact import Exact, Matrix
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import FORMATS
from exactattn.numbers.near import (
    TINY,
    WIDE,
    Floats,
    Near,
    U,
    by_row,
    chunked_sum,
    exactly,
    gamma,
    roundings,
    summed_up,
    up,
)
from exactattn.numbers.near_functions import ASSUMPTIONS, exp_of, log_of, sqrt_of, tanh_of
from exactattn.numbers.pending import Difference, Largest, Quotient, Scaled, divided
from exactattn.numbers.products import ZERO, product
from exactattn.numbers.weighted import Weighted


class MidradiusArithmetic:
    """`Near` as an `Arithmetic`.

    `sharp` bounds products by one more product of absolute values, and multiplies exact matrices in slices. `spend`
    lets `exp` and `mul` write over scores and differences, for who only wants what comes after them; they have no
    elements then.
    """

    name = "midradius"

    def __init__(self, sharp: bool = False, spend: bool = False) -> None:
        self.sharp, self.spend = sharp, spend

    def lift(self, matrix: Matrix | Angles | Floats | Near) -> Near:
        """Exact numbers, float64 arrays as they are (not to be changed afterwards), or what is lifted already.

        Rounding or proof: correctly rounded, hence within u of |mid|, or TINY below the normal numbers.
        """
        if isinstance(matrix, Near):
            return matrix
        if isinstance(matrix, Angles):
            return matrix.near()
        if isinstance(matrix, np.ndarray):
            assert matrix.dtype == np.float64
            return exactly(matrix)
        known = {x: _number(x) for x in {x for row in matrix for x in row}}
        pairs = [[known[x] for x in row] for row in matrix]
        mid = np.array([[near for near, _ in row] for row in pairs], dtype=np.float64)
        inexact = np.array([[not exact for _, exact in row] for row in pairs], dtype=np.float64)
        return Near(mid, inexact * (2 * U), np.where(np.isfinite(mid), inexact * TINY, np.inf))

    def override(self, a: Near, cells: Cells) -> Near:
        """A copy of a with some elements replaced by exact numbers; a radius for each element."""
        mid, rel, abs_ = a.mid.copy(), np.broadcast_to(a.rel, a.shape).copy(), np.broadcast_to(a.abs, a.shape).copy()
        for index, x in cells.items():
            one = self.lift(((x,),))
            mid[index], rel[index], abs_[index] = one.mid[0, 0], one.rel[0, 0], one.abs[0, 0]
        return Near(mid, rel, abs_, a.nonneg and all(mid[index] >= 0 for index in cells))

    def matmul(self, a: Near, b: Near) -> Near:
        """The product. Rounding or proof: `numbers/products.py`; a pending quotient is divided after it."""
        if isinstance(a, Quotient):
            return divided(self.matmul(a.numerator, b), a.column)
        return product(a, b, sharp=self.sharp)

    def matmul_transposed(self, a: Near, b: Near) -> Near:
        """a times the transpose of b. Rounding or proof: `numbers/products.py`."""
        return product(a, b, transposed=True, sharp=self.sharp)

    def transposed_matmul(self, a: Near, b: Near) -> Near:
        """The transpose of a times b. Rounding or proof: `numbers/products.py`."""
        return product(a.transposed(), b, sharp=self.sharp)

    def scale(self, a: Near, factor: Exact) -> Near:
        """Every element times one exact number f.

        Rounding or proof: with F = f (1 + e) the float, |e| <= r (0 if exact), f x errs from F X by at most
        |F X| ((1 + 2 r)(1 + r_a) - 1) + |f| d_a, and F X from the computed Y by u |Y| + TINY; no rounding for a power
        of two, but for underflow. |F X| <= (1 + u) |Y| + TINY. Nothing is known for a factor that is not exact and
        not a normal number.
        """
        near, exact = _number(factor)
        if not exact and not 2.0**-1022 <= abs(near) < np.inf:
            return Near(a.mid * 0.0, ZERO, np.full((1, 1), np.inf))
        r = 0.0 if exact else 2 * U
        rounding = 0.0 if exact and abs(np.frexp(near)[0]) == 0.5 else U
        with np.errstate(all="ignore"):
            rel = a.rel if r == rounding == 0 else up((a.rel + 2 * r * (1 + a.rel)) * (1 + 2 * U) + rounding)
            lost = ZERO if (rounding == 0 and abs(near) >= 1) or near == 0 else (2 + rel) * TINY
            abs_ = up(a.abs * abs(near) * (1 + 4 * U)) if a.abs.any() else a.abs
            return Scaled(a, near, np.asarray(rel), np.asarray(abs_ + lost))

    def add(self, a: Near, b: Near) -> Near:
        """The sum. Rounding or proof: the radii add, absolutely; the addition errs by u of what it gives, and does
        not underflow.
        """
        with np.errstate(all="ignore"):
            mid = a.mid + b.mid
            parts = [_absolute(x) for x in (a, b) if not x.is_exact]
            abs_ = np.asarray(up(sum(parts, ZERO))) if parts else ZERO
            return Near(mid, np.full((1, 1), U), abs_, a.nonneg and b.nonneg)

    def sub(self, a: Near, b: Near) -> Near:
        """The difference. Rounding or proof: as for `add`."""
        with np.errstate(all="ignore"):
            mid = a.mid - b.mid
            parts = [_absolute(x) for x in (a, b) if not x.is_exact]
            abs_ = np.asarray(up(sum(parts, ZERO))) if parts else ZERO
            return Near(mid, np.full((1, 1), U), abs_)

    def mul(self, a: Near, b: Near) -> Near:
        """The product, element by element.

        Rounding or proof: as for `mul_column`, with |A| and |B| bounded by the row where they are wide. The radius d_b
        of a wide row of b times the elements of a that is not negative stays what it is, d_b (1 + r_a) A: `Weighted`.
        """
        with np.errstate(all="ignore"):
            rel = up((a.rel + b.rel + a.rel * b.rel) * (1 + 2 * U) + U)
            abs_ = (2 + rel) * TINY
            if a.abs.any():
                abs_ = abs_ + a.abs * (_sizes(b) * (1 + b.rel) + b.abs)
            by_rows = a.abs.shape[1] == b.abs.shape[1] == b.rel.shape[1] == 1
            if a.nonneg and a.shape[1] > WIDE and by_rows:
                part = np.asarray(up(b.abs * (1 + by_row(a.rel))))
                mid = b.computed(self.spend) if isinstance(b, Difference) else b.mid.copy()
                limits = np.maximum(mid.max(axis=1, keepdims=True), -mid.min(axis=1, keepdims=True)) * (1 + 4 * U)
                mid *= a.mid
                return Weighted(mid, rel, np.asarray(up(abs_)), part, limits, a)
            if b.abs.any():
                abs_ = abs_ + b.abs * (_sizes(a) * (1 + a.rel) + a.abs)
            return Near(a.mid * b.mid, rel, np.asarray(up(abs_)), a.nonneg and b.nonneg)

    def fill(self, a: Near, where: Mask, x: Exact) -> Near:
        """A copy of a with one exact number in some places.

        Rounding or proof: a radius that holds for the elements that stay holds exact ones too; a number that is no
        float adds its own, 2 u |x| + TINY, to the rows. A row that is filled whole has no other radius than that.
        Whole rows of zeros leave a `Weighted` what it is; another number would not be below its limits.
        """
        near, exact = _number(x)
        mid = np.where(where, near, a.mid)
        radius = 0.0 if exact else np.inf if not np.isfinite(near) else up(2 * U * abs(near) + TINY)
        every, some = where.all(axis=1, keepdims=True), where.any(axis=1, keepdims=True)
        if not some.any():
            return a
        if isinstance(a, Weighted) and near == 0 and exact and (every == some).all():
            own, part = (np.where(every, 0.0, radius) for radius in (a.own, a.part))
            return Weighted(mid, np.where(every, 0.0, a.rel), own, part, a.limits, a.weight)
        other = a.abs if exact else np.where(some, up(a.abs + radius), a.abs)
        return Near(mid, np.where(every, 0.0, a.rel), np.where(every, radius, other), a.nonneg and near >= 0)

    def sub_column(self, a: Near, column: Near) -> Near:
        """Each row minus its element of the column. Rounding or proof: see `Difference`."""
        return Difference(a, column)

    def mul_column(self, a: Near, column: Near) -> Near:
        """Each row times its element c of the column.

        Rounding or proof: |a c - A C| is at most |A C| ((1 + r_a)(1 + r_c) - 1) + d_a |C| (1 + r_c)
        + d_c (|A| (1 + r_a) + d_a), and |A C| <= (1 + u) |Y| + TINY for the computed Y.
        """
        with np.errstate(all="ignore"):
            rel = up((a.rel + column.rel + a.rel * column.rel) * (1 + 2 * U) + U)
            abs_ = a.abs * np.abs(column.mid) * (1 + column.rel)
            if column.abs.any():
                abs_ = abs_ + column.abs * (_sizes(a) * (1 + a.rel) + a.abs)
            abs_ = np.asarray(up(abs_ + (2 + rel) * TINY))
            return Near(a.mid * column.mid, rel, abs_, a.nonneg and column.nonneg)

    def div_column(self, a: Near, column: Near) -> Near:
        """Each row divided by its element of the column. Rounding or proof: see `divided`."""
        return Quotient(a, column)

    def shift(self, a: Near, allowed: Mask, carried: tuple[Near, Mask] | None = None) -> Near:
        """The largest midpoint of the row, and of what was carried: an exact float; 0 in a row with nothing."""
        if carried is None and allowed.all() and a.shape[1]:
            largest = a.largest() if isinstance(a, Scaled) else a.mid.max(axis=1, keepdims=True)
            return Largest(largest, a, allowed)
        largest = np.max(a.mid, axis=1, keepdims=True, where=allowed, initial=-np.inf)
        seen = allowed.any(axis=1, keepdims=True)
        if carried is not None:
            largest = np.where(carried[1], np.maximum(largest, carried[0].mid), largest)
            seen = seen | carried[1]
        return Largest(np.where(seen, largest, 0.0), a, allowed)

    def exp(self, a: Near, allowed: Mask) -> Near:
        """The exponential where allowed, exact zero elsewhere. Rounding or proof: `numbers/near_functions.py`."""
        return exp_of(a, allowed, self.spend)

    def log(self, a: Near) -> Near:
        """The natural logarithm of positive elements. Rounding or proof: `numbers/near_functions.py`."""
        return log_of(a)

    def tanh(self, a: Near) -> Near:
        """The hyperbolic tangent. Rounding or proof: `numbers/near_functions.py`."""
        return tanh_of(a)

    def sqrt(self, a: Near) -> Near:
        """The square root of elements that are not negative. Rounding or proof: `numbers/near_functions.py`."""
        return sqrt_of(a)

    def row_sum(self, a: Near) -> Near:
        """Shapes: (n, m) -> (n, 1).

        Rounding or proof: the sum errs by gamma sum |A| in any order. Where no A is negative, that sum is at most
        Y/(1 - gamma) for the computed Y, and the error stays relative: (r_a + gamma)/(1 - gamma) Y + m d_a.
        """
        length = a.shape[1]
        rel, abs_, g = by_row(a.rel), by_row(a.abs), gamma(roundings(length))
        with np.errstate(all="ignore"):
            mid = chunked_sum(a.mid)
            if a.nonneg:
                a.size("one", 1, lambda: np.asarray(summed_up(mid, length)))
                return Near(mid, up((rel + g) / (1 - g)), np.asarray(up(length * abs_)), nonneg=True)
            return Near(mid, ZERO, np.asarray(up((rel + g) * a.one(1) + length * abs_)))

    def columns(self, a: Near, start: int, stop: int) -> Near:
        """Columns start, ..., stop - 1."""
        rel, abs_ = (part if part.shape[1] == 1 else part[:, start:stop] for part in (a.rel, a.abs))
        return Near(a.mid[:, start:stop], rel, abs_, a.nonneg)

    def take(self, a: Near, places: Sequence[int]) -> Near:
        """The columns at these places, in their order."""
        order = list(places)
        rel, abs_ = (part if part.shape[1] == 1 else part[:, order] for part in (a.rel, a.abs))
        return Near(a.mid[:, order], rel, abs_, a.nonneg)

    def rows(self, a: Near, start: int, stop: int) -> Near:
        """Rows start, ..., stop - 1."""
        rel, abs_ = (part if part.shape[0] == 1 else part[start:stop] for part in (a.rel, a.abs))
        return Near(a.mid[start:stop], rel, abs_, a.nonneg)

    def join(self, parts: Sequence[Near]) -> Near:
        """The parts side by side, with a radius for each element."""
        if len(parts) == 1:
            return parts[0]
        mid = np.concatenate([part.mid for part in parts], axis=1)
        rel, abs_ = (
            np.concatenate([np.broadcast_to(radius, part.shape) for part, radius in pairs], axis=1)
            for pairs in ([(part, part.rel) for part in parts], [(part, part.abs) for part in parts])
        )
        return Near(mid, rel, abs_, all(part.nonneg for part in parts))


def _number(x: Exact) -> tuple[float, bool]:
    """x correctly rounded to float64, and whether that is x."""
    near = nearest(x, FORMATS["float64"])
    return near, isinstance(x, Fraction) and bool(np.isfinite(near)) and Fraction(near) == x


def _sizes(a: Near) -> Floats:
    """No less than |mid|: by the row where a is wide, else by the element."""
    return a.limit() if a.shape[1] > WIDE else np.abs(a.mid)


def _absolute(a: Near) -> Floats:
    """No less than rel*|mid| + abs: by the row where a is wide, else by the element."""
    if not a.rel.any():
        return a.abs
    return np.asarray(up(a.rel * _sizes(a) + a.abs))


class MidradiusEngine:
    """Runs anything written over an `Arithmetic` in float64 with a proven radius."""

    name = "midradius"
    guarantee = "proven enclosures, under stated assumptions about float64, BLAS, exp and log"
    assumptions = ASSUMPTIONS

    def arithmetic(self, sharp: bool = False, spend: bool = False) -> MidradiusArithmetic:
        """`sharp`: one more product of matrices for the radius of each product; `spend`: scores are written over."""
        return MidradiusArithmetic(sharp, spend)

    def floats(self, array: Near) -> FloatEnclosure:
        """Midpoints and radii as float64 arrays. No rational is formed."""
        return FloatEnclosure(np.where(np.isnan(array.mid), 0.0, array.mid), array.radius())

    def enclosure(self, array: Near) -> Enclosure:
        """The same with rational ends. Errors: TooCoarse where nothing is known."""
        return self.floats(array).exact()


ENGINE = MidradiusEngine()

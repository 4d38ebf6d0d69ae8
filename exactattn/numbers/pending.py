"""What waits to be computed: differences and quotients by a column, and the largest element of each row.

Waiting saves passes over large arrays and changes no real value: (a / c) b = (a b) / c.
"""

from __future__ import annotations

import numpy as np

from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.near import TINY, Floats, Near, U, exactly, raise_, up


class Scaled(Near):
    """a times a float factor, not computed before somebody asks."""

    def __init__(self, a: Near, factor: float, rel: Floats, abs_: Floats) -> None:
        super().__init__(a.mid, rel, abs_, a.nonneg and factor >= 0)
        self.source, self.factor = a, factor
        self._done: Floats | None = None

    @property
    def mid(self) -> Floats:
        """The midpoints."""
        if self._done is None:
            with np.errstate(all="ignore"):
                self._done = self._mid * self.factor
        return self._done

    def largest(self) -> Floats:
        """The largest of each row, as rounding keeps the order. Shapes: (n, m) -> (n, 1)."""
        with np.errstate(all="ignore"):
            some = self._mid.max if self.factor >= 0 else self._mid.min
            return np.asarray(some(axis=1, keepdims=True) * self.factor)

    def limit(self) -> Floats:
        """No less than |mid| in each row: that of a, times the factor."""
        with np.errstate(all="ignore"):
            return np.asarray(up(self.source.limit() * abs(self.factor)))

    def minus(self, column: Floats, spend: bool) -> Floats:
        """The midpoints minus a column, in a new array, or in that of the source, which is spent then."""
        with np.errstate(all="ignore"):
            if self._done is not None:
                return np.asarray(np.subtract(self._done, column))
            place = self._mid
            if spend and self.source.owned:
                out, self._mid = self.source.spend(), np.empty((0, 0))
            else:
                out = np.empty_like(place)
            np.multiply(place, self.factor, out=out)
            out -= column
            return out


class Largest(Near):
    """The largest midpoint of each row of an array, where allowed, as an exact column."""

    def __init__(self, column: Floats, of: Near, allowed: Mask) -> None:
        plain = exactly(column)
        super().__init__(plain.mid, plain.rel, plain.abs)
        self.of, self.allowed = of, allowed


class Difference(Near):
    """a minus a column, not computed before somebody asks: the exponential computes it in its own array."""

    def __init__(self, a: Near, column: Near) -> None:
        """Rounding or proof: |A| <= |X| + |C| + u |X| for the computed X = A - C, so the part r_a |A| of a's radius is
        r_a (1 + u) |X| + r_a |C|; the subtraction itself errs by u |X| and does not underflow.
        """
        with np.errstate(all="ignore"):
            size = np.abs(column.mid)
            rel = up(a.rel * (1 + 2 * U) + U)
            abs_ = up(a.abs + a.rel * size + column.rel * size + column.abs)
        super().__init__(column.mid, rel, np.asarray(abs_))  # its own midpoints are made by `computed`
        self._shape = a.shape
        self._a, self._column = a, column.mid
        self._done: Floats | None = None
        self.nonpositive = column.allowed if isinstance(column, Largest) and column.of is a else None

    def computed(self, spend: bool = False) -> Floats:
        """The midpoints in a new array, or in that of scores that nobody needs any more."""
        if isinstance(self._a, Scaled):
            return self._a.minus(self._column, spend)
        with np.errstate(all="ignore"):
            if spend and self._a.owned:
                memory = self._a.spend()
                return np.asarray(np.subtract(memory, self._column, out=memory))
            return np.asarray(np.subtract(self._a.mid, self._column))

    def limit(self) -> Floats:
        """No less than |mid| in each row: |A| + |C|, as rounding keeps the order."""
        with np.errstate(all="ignore"):
            return np.asarray(up(self._a.limit() + np.abs(self._column)))

    @property
    def mid(self) -> Floats:
        """The midpoints."""
        if self._done is None:
            self._done = self.computed()
        return self._done


class Quotient(Near):
    """a divided by a column, not computed before somebody asks: (a / c) b = (a b) / c, with a smaller division."""

    def __init__(self, a: Near, column: Near) -> None:
        """Rounding or proof: see `divided`, which this waits to do."""
        super().__init__(column.mid, column.rel, column.abs, a.nonneg and column.nonneg)  # `done` has its own
        self._shape = a.shape
        self.numerator, self.column = a, column
        self._done: Near | None = None

    @property
    def done(self) -> Near:
        """The quotient itself."""
        if self._done is None:
            self._done = divided(self.numerator, self.column)
        return self._done

    @property
    def mid(self) -> Floats:
        """The midpoints."""
        return self.done.mid

    @property
    def rel(self) -> Floats:
        """The radius relative to |mid|."""
        return self.done.rel

    @property
    def abs(self) -> Floats:
        """The absolute part of the radius."""
        return self.done.abs


def divided(a: Near, column: Near) -> Near:
    """Each row of a divided by its element c of the column.

    Rounding or proof: with C the midpoint of c and t = r_c + d_c/|C| at most 1/2, c = C (1 + e) with |e| <= t, so
    |a/c - A/C| <= |A/C| (r_a + t)/(1 - t) + d_a/(|C| (1 - t)). Division rounds A/C to Q with |A/C - Q| <= u |Q| + TINY,
    so |A/C| <= (1 + u) |Q| + TINY. Where t is more than 1/2, or C not finite, nothing is known.
    """
    with np.errstate(all="ignore"):
        below = np.abs(column.mid)
        t = up(column.rel + column.abs / below)
        known = (t <= 0.5) & (below < np.inf)
        rel = up((a.rel + t) / (1 - t) * (1 + 2 * U) + U)
        abs_ = raise_(np.asarray(a.abs * up(1 / (below * (1 - t))) + (2 + rel) * TINY))
        nonneg = a.nonneg and column.nonneg
        return Near(a.mid / column.mid, rel, abs_ if known.all() else np.where(known, abs_, np.inf), nonneg)

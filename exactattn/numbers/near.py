"""Real numbers near floats: arrays of x with |x - mid| <= rel*|mid| + abs, and what bounds of them are made of.

Every radius is rounded outward by `up`, so rounding in the bound can only enlarge it. A radius that is NaN or infinite
means that nothing is known; whoever makes an infinite or NaN midpoint sees to it that no operation forgets that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

U = 2.0**-53  # the unit roundoff of float64
TINY = 2.0**-1021  # more than any float64 operation loses by underflow, and than 2**40 times that
HUGE = 2.0**1000  # sums of products bounded by less cannot overflow on their way
WIDE = 256  # an array of more columns gets one radius a row, a narrower one gets one an element
CHUNK = 512  # sums of more than twice that are cut into pieces, for a smaller radius


def gamma(n: int) -> float:
    """No less than n u / (1 - n u), which bounds n roundings, in any order.

    Proof: for n <= 2**31, n u <= 2**-22 and so 1/(1 - n u) < 1 + 2**-21; the factor covers this and its own rounding.
    Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, 2002, lemma 3.1.
    """
    assert n <= 2**31
    return n * U * (1 + 2.0**-20)


def up(x: Any) -> Any:
    """No less than the real value of an expression that was computed, x >= 0, in at most 4096 roundings.

    The expression has sums, products and quotients of numbers >= 0 only, and 1 - t for a t at most 1/2.
    Proof: each rounding loses at most the factor 1 - 2**-53 (1 - t twice that relative to t, as t <= 1 - t), so
    2**-40 covers 4096 of them. Underflow loses 2**-1074 a product; TINY covers that, times 2**40 for products that
    come after it.
    """
    return x * (1 + 2.0**-40) + TINY


def raise_(x: Floats) -> Floats:
    """`up` of an array in its own memory."""
    x *= 1 + 2.0**-40
    x += TINY
    return x


def summed_up(x: Any, n: int) -> Any:
    """No less than the real sum of n numbers or products >= 0 whose float sum, in any order, is x.

    Proof: n additions and products lose at most the factor 1 - gamma(n + 1); underflow n * 2**-1074.
    """
    return x * (1 + (n + 16) * 2.0**-52) + (TINY + n * 2.0**-1060)


class Near:
    """A matrix of real numbers x with |x - mid| <= rel*|mid| + abs.

    Shapes: mid (n, m); rel and abs (n or 1, m or 1). `nonneg` says that every mid is >= 0. Nothing here is changed
    once it is made, so sizes are computed once. It has a length and rows, those of mid, so that it may stand where an
    exact matrix does: a `Problem` measures its matrices and an arithmetic lifts them.
    """

    def __init__(self, mid: Floats, rel: Floats, abs_: Floats, nonneg: bool = False) -> None:
        self._mid, self._rel, self._abs, self.nonneg = mid, rel, abs_, nonneg
        self._shape: tuple[int, int] = mid.shape  # known without computing a mid that waits
        self.owned = False  # was the memory of mid made for this value alone?
        self.ceiling: float | None = None  # no less than any |mid|, where that is known for nothing
        self._sizes: dict[tuple[str, int], Floats] = {}

    @property
    def mid(self) -> Floats:
        """The midpoints."""
        return self._mid

    def spend(self) -> Floats:
        """The memory of mid, to be written over; whoever asks for mid afterwards gets no elements."""
        assert self.owned
        memory, self._mid = self._mid, np.empty((0, 0))
        return memory

    @property
    def rel(self) -> Floats:
        """The radius relative to |mid|."""
        return self._rel

    @property
    def abs(self) -> Floats:
        """The absolute part of the radius."""
        return self._abs

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self._shape

    def __len__(self) -> int:
        return self._shape[0]

    def __getitem__(self, index: Any) -> Any:
        """Midpoints."""
        return self.mid[index]

    def transposed(self) -> Near:
        """Rows and columns exchanged."""
        return Turned(self)

    @cached_property
    def is_exact(self) -> bool:
        """Is every x known to be its mid?"""
        return not (self.rel.any() or self.abs.any())

    def radius(self) -> Floats:
        """rel*|mid| + abs, outward, in full; infinite where nothing is known."""
        with np.errstate(all="ignore"):
            rad = np.abs(self.mid)
            rad *= self.rel
            rad += self.abs
            rad = raise_(rad)
        if not self.abs.all():
            rad[np.broadcast_to((self.abs == 0) & ((self.rel == 0) | (self.mid == 0)), rad.shape)] = 0.0
        rad[~(np.isfinite(rad) & np.isfinite(self.mid))] = np.inf
        return rad

    def size(self, name: str, axis: int, make: Callable[[], Floats]) -> Floats:
        """Something along an axis that is made once, under a name."""
        if (name, axis) not in self._sizes:
            with np.errstate(all="ignore"):
                self._sizes[name, axis] = make()
        return self._sizes[name, axis]

    def one(self, axis: int) -> Floats:
        """No less than the sum of |mid| along an axis, which stays with length 1."""

        def total() -> Floats:
            if not self.nonneg or axis == 1:
                size = self.mid if self.nonneg else np.abs(self.mid)
                return np.asarray(summed_up(size.sum(axis=axis, keepdims=True), self._n(axis)))
            return np.asarray(summed_up(np.ones((1, len(self.mid))) @ self.mid, self._n(axis)))

        return self.size("one", axis, total)

    def two(self, axis: int) -> Floats:
        """No less than the Euclidean norm of mid along an axis, which stays with length 1.

        Proof: `summed_up` for the squares, which holds what their underflow loses; the factor covers the root. Where no
        element is above the ceiling c, the sum of squares is at most c times the sum.
        """

        def norm() -> Floats:
            if self.ceiling is not None and axis == 0:  # where a pass over columns would be slow
                return np.asarray(np.sqrt(up(self.ceiling * self.one(axis))) * (1 + 2.0**-50))
            if axis == 1:  # one BLAS product a row; einsum takes twice as long
                squares = np.matmul(self.mid[:, np.newaxis, :], self.mid[:, :, np.newaxis])[:, :, 0]
            else:
                squares = np.einsum("ij,ij->j", self.mid, self.mid)[np.newaxis]
            return np.asarray(np.sqrt(summed_up(squares, self._n(axis))) * (1 + 2.0**-50))

        return self.size("two", axis, norm)

    def most(self, axis: int) -> Floats:
        """The largest |mid| along an axis, which stays with length 1. Exact."""

        def largest() -> Floats:
            high, low = self.mid.max(axis=axis, keepdims=True), self.mid.min(axis=axis, keepdims=True)
            return np.asarray(np.maximum(np.abs(high), np.abs(low)))

        return self.size("most", axis, largest)

    def limit(self) -> Floats:
        """No less than |mid| in each row, by what is at hand. Shapes: (n, m) -> (n, 1)."""
        return self._sizes["limit", 1] if ("limit", 1) in self._sizes else self.most(1)

    def _n(self, axis: int) -> int:
        return self.shape[axis]


class Turned(Near):
    """The transpose of a matrix, whose sizes are those of the matrix along the other axis."""

    def __init__(self, source: Near) -> None:
        super().__init__(source.mid.T, source.rel.T, source.abs.T, source.nonneg)
        self.source = source
        self.ceiling = source.ceiling

    def size(self, name: str, axis: int, make: Callable[[], Floats]) -> Floats:
        """That of the source."""
        if name in ("one", "two", "most"):
            return np.asarray(getattr(self.source, name)(1 - axis).T)
        return super().size(name, axis, make)


def exactly(mid: Floats) -> Near:
    """Floats that are what they are: a NaN or an infinity among them makes the radius infinite."""
    radius = np.zeros((1, 1)) if np.isfinite(mid).all() else np.full((1, 1), np.inf)
    return Near(mid, np.zeros((1, 1)), radius)


def nothing_lost(a: Floats, b: Floats, difference: Floats) -> NDArray[np.bool_]:
    """Where the computed a - b is the real one. Proof: Knuth's two-sum gives the error of a + (-b) exactly."""
    with np.errstate(all="ignore"):
        part = difference - a
        return np.asarray((a - (difference - part)) - (b + part) == 0)


def by_row(radius: Floats) -> Floats:
    """One number a row that is no less than any in it. Shapes: (n or 1, m or 1) -> (n or 1, 1)."""
    return radius if radius.shape[1] == 1 else radius.max(axis=1, keepdims=True)


def chunked_sum(mid: Floats, axis: int = 1) -> Floats:
    """The float sum along an axis, which stays with length 1, in pieces, whose sums are then added.

    Rounding: an element passes at most `roundings(length)` additions, in whatever order BLAS adds each piece.
    """
    length = mid.shape[axis]
    if axis != 1 or length <= 2 * CHUNK:
        return np.asarray(mid.sum(axis=axis, keepdims=True))
    size = piece(length)
    whole = length - length % size
    parts = mid[:, :whole].reshape(-1, size) @ np.ones(size)  # BLAS is quicker than sum
    total = parts.reshape(len(mid), -1).sum(axis=1, keepdims=True)
    if whole < length:
        total = total + mid[:, whole:].sum(axis=1, keepdims=True)
    return np.asarray(total)


def piece(length: int) -> int:
    """How long the pieces of a sum of more than twice `CHUNK` terms are: at most 31 of them, so few calls of BLAS."""
    return max(CHUNK, length // 16)


def roundings(length: int) -> int:
    """How many roundings a term of a sum, or of a sum of products, of that length goes through at most, and 2 more.

    Proof: a sum in any order rounds a term at most length - 1 times, a product once more. In pieces: its length in the
    piece, then once for each piece, then once for the rest.
    """
    return (length if length <= 2 * CHUNK else piece(length) + length // piece(length) + 1) + 2

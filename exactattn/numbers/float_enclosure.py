"""Enclosures of whole tensors as float64 midpoints and radii: the face of an `Enclosure`, without making fractions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from exactattn.numbers.balls import TooCoarse
from exactattn.numbers.enclosure import Enclosure, Interval
from exactattn.numbers.near import Floats, nothing_lost, up


class FloatEnclosure:
    """An array of reals t with |t - mid| <= rad; undefined where mid is NaN, unknown where rad is infinite.

    Shapes: any; both alike.
    """

    __slots__ = ("mid", "rad")

    def __init__(self, mid: Floats, rad: Floats) -> None:
        assert mid.shape == rad.shape
        self.mid, self.rad = mid, rad

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("an enclosure has no ==: ask about its elements")

    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.mid.shape

    @property
    def defined(self) -> NDArray[np.bool_]:
        """Where there is a real number at all."""
        return ~np.isnan(self.mid)

    def indices(self) -> Iterator[tuple[int, ...]]:
        """Every index, row by row."""
        return iter(np.ndindex(*self.shape))

    def __getitem__(self, index: tuple[int, ...]) -> Interval | None:
        """One element, exactly; None where undefined. Errors: TooCoarse where nothing is known."""
        mid, rad = float(self.mid[index]), float(self.rad[index])
        if np.isnan(mid):
            return None
        if not np.isfinite(rad):
            raise TooCoarse(f"no finite bound at {index}")
        return Interval(Fraction(mid) - Fraction(rad), Fraction(mid) + Fraction(rad))

    def part(self, index: Any) -> FloatEnclosure:
        """A part of the array, by NumPy's indices."""
        return FloatEnclosure(self.mid[index], self.rad[index])

    def transposed(self) -> FloatEnclosure:
        """Rows and columns exchanged."""
        return FloatEnclosure(self.mid.T, self.rad.T)

    def exact(self) -> Enclosure:
        """The same with rational ends. Errors: TooCoarse where nothing is known."""
        lower, upper = np.empty(self.shape, object), np.empty(self.shape, object)
        for index in self.indices():
            one = self[index]
            lower[index], upper[index] = (None, None) if one is None else (one.lower, one.upper)
        return Enclosure(lower, upper)

    def error_of(self, data: NDArray[Any]) -> tuple[Floats, Floats]:
        """The signed error data - t as float64 midpoint and radius; NaN where t is undefined or unknown, or data not
        finite.

        Shapes: both of the shape of `data`, whose values float64 must hold exactly.
        Rounding or proof: the difference of two floats errs by at most 2**-53 of itself and does not underflow; a
        difference without an error is exact. `up` rounds the sum outward.
        """
        assert data.shape == self.shape
        with np.errstate(all="ignore"):
            mid = np.asarray(data, dtype=np.float64) - self.mid
            exact = (self.rad == 0) & nothing_lost(np.asarray(data, dtype=np.float64), self.mid, mid)
            rad = np.where(exact, 0.0, up(self.rad + np.abs(mid) * 2.0**-53))
        unknown = ~(np.isfinite(mid) & np.isfinite(rad))
        return np.where(unknown, np.nan, mid), np.where(unknown, np.nan, rad)

"""Enclosures as float64 pairs: two numbers near each real and a bound of what they leave out, about 106 bits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exactattn.numbers.balls import TooCoarse
from exactattn.numbers.enclosure import Interval
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import Format
from exactattn.numbers.near import Floats, nothing_lost
from exactattn.numbers.spacing import spacing


@dataclass(frozen=True, slots=True, eq=False)
class FloatPairs:
    """Enclosed reals t with |t - (high + low)| <= rest; NaN where undefined, unknown or beyond float64.

    Shapes: any; all three alike.
    """

    high: Floats
    low: Floats
    rest: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.high.shape

    @property
    def defined(self) -> NDArray[np.bool_]:
        """Where there is an enclosure at all."""
        return ~np.isnan(self.high)

    def __getitem__(self, index: tuple[int, ...]) -> Interval | None:
        """One element, exactly; None where undefined. Errors: TooCoarse where only the bound is missing."""
        high, low, rest = (float(part[index]) for part in (self.high, self.low, self.rest))
        if np.isnan(high):
            return None
        if not np.isfinite(rest):
            raise TooCoarse(f"no finite bound at {index}")
        middle = Fraction(high) + Fraction(low)
        return Interval(middle - Fraction(rest), middle + Fraction(rest))

    def floats(self) -> FloatEnclosure:
        """The same with one float64 each. Rounding or proof: |low| + rest, rounded up."""
        with np.errstate(invalid="ignore"):
            whole = (self.low == 0) & (self.rest == 0)
            return FloatEnclosure(self.high, np.where(whole, 0.0, np.nextafter(np.abs(self.low) + self.rest, np.inf)))

    def error_of(self, data: Floats) -> tuple[Floats, Floats]:
        """The signed error data - t as midpoint and radius: `Enclosure.error_of` for whole arrays.

        Rounding or proof: two subtractions, each within 2**-53 of its result relatively (float64 differences do not
        underflow); the factor 2**-51 in place of 2 * 2**-53 covers the rounding of the radius itself. The radius is 0
        where nothing was rounded or left out.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            first = data - self.high
            mid = first - self.low
            rad = (np.abs(first) + np.abs(mid)) * 2.0**-51 + self.rest * (1 + 2.0**-51)
            exact = nothing_lost(data, self.high, first) & (self.low == 0) & (self.rest == 0)
            return mid, np.where(exact, 0.0, np.nextafter(rad, np.inf))

    def ulps(self, fmt: Format) -> Floats:
        """The ulp of a format at each |t|, as `Format.ulp` of high + low."""
        size = np.abs(self.high)
        # high = 2**e may stand for a number just below it, which lies in the next lower binade.
        return spacing(np.where(self.low * np.sign(self.high) < 0, np.nextafter(size, 0), size), fmt)

    def least_ulps(self, fmt: Format) -> Floats:
        """No more than the ulp of a format at any real that may be t."""
        return spacing(self.least(), fmt)

    def least(self) -> Floats:
        """No more than any |t|.

        Rounding or proof: |t| >= |high| + inward with inward = low (signed as high) - rest, whose computed sign is
        right. Where it is negative, the factor covers its rounding and the step down that of the sum.
        """
        size, inward = np.abs(self.high), self.low * np.sign(self.high) - self.rest
        least = np.nextafter(size + inward * (1 + 2.0**-51), -np.inf)
        return np.where(inward < 0, np.maximum(least, 0), size)

    def largest(self) -> Floats:
        """No less than any |t|. Rounding or proof: the factor 2 covers the rounding of the sum of the small parts, the
        next float64 up that of the whole.
        """
        return np.asarray(np.nextafter(np.abs(self.high) + 2 * (np.abs(self.low) + self.rest), np.inf))

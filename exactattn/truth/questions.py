"""Questions about floats beside true values: within so many ulps, within a bound, on which side; each answered YES, NO
or CANNOT_TELL from the error as midpoint and radius."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from exactattn.errors import ProblemError
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import Format
from exactattn.numbers.near import Floats

Answers = NDArray[np.object_]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The error data - t of some elements, |error - mid| <= rad, and bounds of |t|.

    Shapes: all of one shape. NaN where nothing is known. `least` <= |t| <= `largest`.
    """

    mid: Floats
    rad: Floats
    least: Floats
    largest: Floats


class Question(Protocol):
    """Something to be told about each element."""

    def answers(self, error: Measured, where: Any) -> Answers:
        """An answer for each element; `where` is its place in the whole array, for bounds that differ."""


@dataclass(frozen=True, slots=True)
class WithinUlps:
    """Is |data - t| at most so many ulps, the ulp of the format at t?"""

    fmt: Format
    ulps: float = 0.5

    def answers(self, error: Measured, where: Any) -> Answers:  # noqa: ARG002 - one bound for all
        """See `_at_most`; the ulp does not fall as |t| grows. A bound that underflows is rounded outward."""
        from exactattn.numbers.spacing import spacing

        low, high = (spacing(size, self.fmt) for size in (error.least, error.largest))
        least, largest = self.ulps * low, self.ulps * high
        with np.errstate(all="ignore"):
            least = np.where(least / low <= self.ulps, least, np.nextafter(least, 0))
            largest = np.where(largest / high >= self.ulps, largest, np.nextafter(largest, np.inf))
        return _at_most(error, least, largest)


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """Is |data - t| at most a bound, one number or one for each element?"""

    bound: Any

    def answers(self, error: Measured, where: Any) -> Answers:
        """See `_at_most`."""
        bound = np.asarray(self.bound, dtype=np.float64)
        if bound.ndim and (bound.shape[1:] != error.mid.shape[1:] or np.max(where, initial=-1) >= len(bound)):
            raise ProblemError(f"the bound has shape {bound.shape}: give one number, or one for each element of a head")
        here = np.broadcast_to(bound if bound.ndim == 0 else bound[where], error.mid.shape)
        return _at_most(error, here, here)


@dataclass(frozen=True, slots=True)
class Above:
    """Is data > t? NO means data <= t."""

    def answers(self, error: Measured, where: Any) -> Answers:  # noqa: ARG002 - one question for all
        """From the sign of the error; the factors cover the rounding of each side."""
        with np.errstate(all="ignore"):
            exact = error.rad == 0
            low = np.where(exact, error.mid, error.mid - error.rad * (1 + 2.0**-40))
            high = np.where(exact, error.mid, error.mid + error.rad * (1 + 2.0**-40))
            return told(low > 0, high <= 0)


def _at_most(error: Measured, least: Floats, largest: Floats) -> Answers:
    """YES where |error| is surely at most `least`, NO where it is surely more than `largest`.

    Rounding or proof: the factors 1 +- 2**-40 cover the few roundings on each side; a radius of 0 needs none. NaN
    decides nothing.
    """
    size = np.abs(error.mid)
    with np.errstate(all="ignore"):
        most = np.where(error.rad == 0, size, (size + error.rad) * (1 + 2.0**-40))
        fewest = np.where(error.rad == 0, size, (size - error.rad) * (1 - 2.0**-40))
        return told(most <= least, fewest > largest)


def told(yes: Any, no: Any) -> Answers:
    """Answers from what is proven."""
    out = np.full(yes.shape, Answer.CANNOT_TELL, dtype=object)
    out[yes], out[no] = Answer.YES, Answer.NO
    return out

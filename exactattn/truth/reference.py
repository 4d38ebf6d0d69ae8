"""A truth in float64 pairs: what float runs are measured against, array by array."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn import plugins
from exactattn.attention.definition import Where, stages
from exactattn.attention.spec import Stage
from exactattn.numbers.balls import FIRST_BITS, TooCoarse, interval
from exactattn.numbers.enclosure import Interval
from exactattn.numbers.formats import Format
from exactattn.numbers.spacing import spacing
from exactattn.truth.ladder import Truth
from exactattn.truth.rows import trimmed

Floats = NDArray[np.float64]


class Reference:
    """A truth made ready for many runs: each stage as two float64 numbers and a bound of what they leave out.

    Rounding or proof: balls, of more bits where one has no ends.
    """

    def __init__(self, truth: Truth) -> None:
        assert not truth.given, "a run is judged by what the problem truly gives"
        self.truth = truth
        self._balls: dict[int, dict[Where, Any]] = {}
        self._parts: dict[Where, Parts] = {}

    def of(self, stage: Stage, head: int) -> Parts:
        """One stage of one head, tokens as rows."""
        if (stage, head) not in self._parts:
            self._parts[stage, head] = self._made(stage, head)
        return self._parts[stage, head]

    def _made(self, stage: Stage, head: int) -> Parts:
        engine = plugins.get("engines", "ball")
        bits = FIRST_BITS
        while True:
            with engine.precision(bits):
                if bits not in self._balls:
                    self._balls[bits] = stages(self.truth.problem, engine.arithmetic())
                try:
                    empty = self.truth.without_lse if stage is Stage.LSE else self.truth.undefined
                    return Parts.of(self._balls[bits][stage, head], engine, empty)
                except TooCoarse:
                    if bits >= self.truth.most_bits:
                        raise
            bits *= 4


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Enclosed reals t with |t - (high + low)| <= rest; NaN where undefined or beyond float64.

    `balls` are the same reals; `may_be_zero` marks those that are not proven to differ from 0.
    """

    balls: NDArray[np.object_]
    high: Floats
    low: Floats
    rest: Floats
    may_be_zero: NDArray[np.bool_]

    @staticmethod
    def of(balls: NDArray[np.object_], engine: Any, undefined: Iterable[int] = ()) -> Parts:
        """From balls. Rounding or proof: `engine.floats`. Errors: TooCoarse when a ball is not finite."""
        high, low, rest = engine.floats(balls)
        for part in (high, low, rest):
            part[list(undefined)] = np.nan
        # A ball with 0 in it has |high| <= |low| + rest; the factor 2 covers the rounding of that sum.
        zero = np.abs(high) <= 2 * (np.abs(low) + rest)
        for row, column in zip(*np.nonzero(zero), strict=True):
            zero[row, column] = balls[row, column].contains(0)
        return Parts(balls, high, low, rest, zero)

    def at(self, place: tuple[int, int]) -> Interval:
        """The exact enclosure of one of them."""
        return trimmed(interval(self.balls[place]))

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
            exact = (first == 0) & (self.low == 0) & (self.rest == 0)
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
        """No less than any |t|. Rounding or proof: the factor 2 covers the rounding of the sum of the small parts."""
        return np.nextafter(np.abs(self.high) + 2 * (np.abs(self.low) + self.rest), np.inf)

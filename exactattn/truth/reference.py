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
from exactattn.numbers.float_pairs import FloatPairs
from exactattn.truth.ladder import Truth
from exactattn.truth.rows import trimmed


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
class Parts(FloatPairs):
    """The same reals as float64 pairs and as balls; `may_be_zero` marks those not proven to differ from 0."""

    balls: NDArray[np.object_]
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
        return Parts(high, low, rest, balls, zero)

    def at(self, place: tuple[int, int]) -> Interval:
        """The exact enclosure of one of them."""
        return trimmed(interval(self.balls[place]))

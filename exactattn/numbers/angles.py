"""Tables of cosines and sines of whole multiples of given angles, as exact numbers and, quickly, as floats.

A table is a matrix of exact numbers to whoever reads its rows; large ones take too long that way, so `near` encloses
all elements at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from exactattn.numbers.ball_floats import pairs
from exactattn.numbers.balls import BallField, TooCoarse, precision
from exactattn.numbers.exact import ONE, ZERO, Exact, cos, evaluate, mul, neg, sin
from exactattn.numbers.near import Floats, Near, up

BITS = 160
Column = tuple[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Angles:
    """A row for each multiple m, a column for each ("cos", l), ("sin", l), ("-sin", l), ("1", 0) or ("0", 0).

    Exact value: factor times cos or sin of m turns[l]; 1 and 0 as they are. Shapes: (multiples, columns).
    """

    multiples: Sequence[int]
    turns: tuple[Exact, ...]
    factor: Exact
    layout: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.multiples)

    def __iter__(self) -> Iterator[tuple[Exact, ...]]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> tuple[Exact, ...]:
        """One row, exactly."""
        angles = [mul(Fraction(int(self.multiples[index])), turn) for turn in self.turns]
        made: dict[str, Callable[[Exact], Exact]] = {"cos": cos, "sin": sin, "-sin": _minus_sin}
        fixed = {"1": ONE, "0": ZERO}
        return tuple(
            fixed[kind] if kind in fixed else mul(self.factor, made[kind](angles[place])) for kind, place in self.layout
        )

    def near(self) -> Near:
        """The same as floats with a radius for each element. Errors: TooCoarse where balls bound nothing.

        Rounding or proof: balls enclose each angle, its cosine and sine; `pairs` bounds what one float64 leaves out.
        """
        multiples = [int(m) for m in self.multiples]
        shape = (len(multiples), len(self.turns))
        with precision(BITS):
            field = BallField()
            turns = [evaluate(turn, field) for turn in self.turns]
            factor = evaluate(self.factor, field)
            both = [(turn * m).sin_cos() for m in multiples for turn in turns]
            parts = {name: _floats([factor * x[i] for x in both], shape) for i, name in enumerate(("sin", "cos"))}
        mid, rad = np.empty((shape[0], len(self.layout))), np.zeros((shape[0], len(self.layout)))
        for column, (kind, place) in enumerate(self.layout):
            if kind in ("1", "0"):
                mid[:, column] = float(kind)
            else:
                values, radii = parts[kind.lstrip("-")]
                mid[:, column] = -values[:, place] if kind.startswith("-") else values[:, place]
                rad[:, column] = radii[:, place]
        return Near(mid, np.zeros((1, 1)), rad)


def _minus_sin(x: Exact) -> Exact:
    return neg(sin(x))


def _floats(balls: list[object], shape: tuple[int, int]) -> tuple[Floats, Floats]:
    high, low, rest, _ = pairs(balls)  # type: ignore[arg-type]
    if np.isnan(high).any():
        raise TooCoarse("an angle is too large for balls of so many bits")
    radius = np.where((low == 0) & (rest == 0), 0.0, up(np.abs(low) + rest))
    return high.reshape(shape), radius.reshape(shape)

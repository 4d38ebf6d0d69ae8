"""Tables of cosines and sines of whole multiples of given angles, as exact numbers and, quickly, as floats.

A table is a matrix of exact numbers to whoever reads its rows; large ones take too long that way, so `near` encloses
all elements at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import sub
from typing import Any

import numpy as np

from exactattn.numbers.ball_floats import near
from exactattn.numbers.balls import BallField, TooCoarse, precision
from exactattn.numbers.exact import ONE, ZERO, Exact, cos, evaluate, mul, neg, sin
from exactattn.numbers.near import Floats, Near

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

    def balls(self) -> list[Any]:
        """Every element, row by row, in balls of the working precision."""
        field = BallField()
        turns = [evaluate(turn, field) for turn in self.turns]
        fixed = {"1": field.rational(ONE), "0": field.rational(ZERO)}
        factor = None if self.factor == ONE else evaluate(self.factor, field)
        out: list[Any] = []
        for m in self.multiples:
            both = [(turn * int(m)).sin_cos() for turn in turns]
            if factor is not None:
                both = [(factor * s, factor * c) for s, c in both]
            made = {"cos": [c for _, c in both], "sin": [s for s, _ in both], "-sin": [-s for s, _ in both]}
            out += [fixed[kind] if kind in fixed else made[kind][place] for kind, place in self.layout]
        return out

    def near(self) -> Near:
        """The same as floats with a radius for each element. Errors: TooCoarse where balls bound nothing.

        Rounding or proof: balls enclose each angle, its cosine and sine; see `_floats` for what one float64 leaves out.
        """
        shape = (len(self.multiples), len(self.turns))
        parts = _parts(tuple(int(m) for m in self.multiples), self.turns, self.factor)
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


@lru_cache(maxsize=32)  # every head of a problem asks for the same
def _parts(multiples: tuple[int, ...], turns: tuple[Exact, ...], factor: Exact) -> Mapping[str, tuple[Floats, Floats]]:
    """The sines and cosines times the factor, each with its radius. Shapes: (multiples, turns)."""
    shape = (len(multiples), len(turns))
    with precision(BITS):
        field = BallField()
        angles = [evaluate(turn, field) for turn in turns]
        both = [(angle * m).sin_cos() for m in multiples for angle in angles]
        scale = None if factor == ONE else evaluate(factor, field)
        lists = {name: [x[i] for x in both] for i, name in enumerate(("sin", "cos"))}
        return {name: _floats(xs if scale is None else [scale * x for x in xs], shape) for name, xs in lists.items()}


def _floats(balls: list[Any], shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Midpoints and radii. Errors: TooCoarse where a ball has no finite end.

    Rounding or proof: a ball minus a float64 encloses every difference, `abs_upper` is no less than any of them, and
    the next float64 is no less than that, as float() errs by under one ulp. Both parts are not to be changed.
    """
    middle = near(balls)
    bounds = [x.abs_upper() for x in map(sub, balls, middle.tolist())]
    if not np.isfinite(middle).all():
        raise TooCoarse("an angle is too large for balls of so many bits")
    exact = np.fromiter((x.is_zero() for x in bounds), np.bool_, len(bounds))
    radius = np.where(exact, 0.0, np.nextafter(near(bounds), np.inf))
    return middle.reshape(shape), radius.reshape(shape)

"""Values of expressions whose names are known only to lie in intervals: inputs that were rounded before being printed.

Rounding or proof: the mean value form. With m the middle of the box X, f(x) = f(m) + sum_i d_i f(y) (x_i - m_i) for
some y between x and m, so f(m) + sum_i d_i f(X) (X_i - m_i), with the derivatives taken over the whole box in balls,
encloses f(x) for every x in X; so does f(X) itself, and both hold at once. Where derivatives keep one sign over the
box, the ends are taken there, and are as sharp as the balls are.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

import flint

from exactattn.numbers.balls import FIRST_BITS, BallField, TooCoarse, interval, precision
from exactattn.numbers.enclosure import Interval
from exactattn.numbers.exact import Exact, evaluate_shared

_BALLS = BallField()


@dataclass(frozen=True, slots=True)
class _Dual:
    """A value over the box and at its middle, and the derivatives over the box by name."""

    box: flint.arb
    middle: flint.arb
    slopes: Mapping[str, flint.arb]


class BoxField:
    """The `Field` of values over a box, with derivatives."""

    def __init__(self, boxes: Mapping[str, Interval]) -> None:
        self.boxes = boxes

    def rational(self, x: Fraction) -> _Dual:
        """The number itself."""
        ball = _BALLS.rational(x)
        return _Dual(ball, ball, {})

    def add(self, a: _Dual, b: _Dual) -> _Dual:
        """The sum."""
        return _Dual(a.box + b.box, a.middle + b.middle, _sum(a.slopes, flint.arb(1), b.slopes, flint.arb(1)))

    def mul(self, a: _Dual, b: _Dual) -> _Dual:
        """The product."""
        return _Dual(a.box * b.box, a.middle * b.middle, _sum(a.slopes, b.box, b.slopes, a.box))

    def div(self, a: _Dual, b: _Dual) -> _Dual:
        """The quotient."""
        box = a.box / b.box
        return _Dual(box, a.middle / b.middle, _sum(a.slopes, 1 / b.box, b.slopes, -box / b.box))

    def power(self, a: _Dual, exponent: Fraction) -> _Dual:
        """A rational power: its slope is e x^(e - 1)."""
        slope = _BALLS.rational(exponent) * _BALLS.power(a.box, exponent - 1)
        return self._of(a, _BALLS.power(a.box, exponent), _BALLS.power(a.middle, exponent), slope)

    def exp(self, a: _Dual) -> _Dual:
        """The exponential."""
        box = a.box.exp()
        return self._of(a, box, a.middle.exp(), box)

    def log(self, a: _Dual) -> _Dual:
        """The natural logarithm."""
        return self._of(a, a.box.log(), a.middle.log(), 1 / a.box)

    def sin(self, a: _Dual) -> _Dual:
        """The sine."""
        return self._of(a, a.box.sin(), a.middle.sin(), a.box.cos())

    def cos(self, a: _Dual) -> _Dual:
        """The cosine."""
        return self._of(a, a.box.cos(), a.middle.cos(), -a.box.sin())

    def pi(self) -> _Dual:
        """The number pi."""
        return _Dual(flint.arb.pi(), flint.arb.pi(), {})

    def name(self, label: str) -> _Dual:
        """A number of the box."""
        bounds = self.boxes[label]
        if bounds.lower == bounds.upper:
            return self.rational(bounds.lower)
        box = _BALLS.rational(bounds.lower).union(_BALLS.rational(bounds.upper))
        return _Dual(box, _BALLS.rational(bounds.midpoint), {label: flint.arb(1)})

    @staticmethod
    def _of(a: _Dual, box: flint.arb, middle: flint.arb, slope: flint.arb) -> _Dual:
        return _Dual(box, middle, {label: slope * d for label, d in a.slopes.items()})


def _sum(a: Mapping[str, flint.arb], x: flint.arb, b: Mapping[str, flint.arb], y: flint.arb) -> dict[str, flint.arb]:
    out = {label: d * x for label, d in a.items()}
    for label, d in b.items():
        out[label] = out[label] + d * y if label in out else d * y
    return out


@dataclass
class Boxes:
    """Intervals by name, with what was evaluated over them and over those that begin or end at their ends."""

    of: Mapping[str, Interval]
    bits: int = FIRST_BITS
    duals: dict[int, tuple[Exact, _Dual]] = field(default_factory=dict)
    parts: dict[tuple[frozenset[str], frozenset[str]], Boxes] = field(default_factory=dict)

    def is_wide(self, label: str) -> bool:
        """Is a name not known exactly?"""
        return self.of[label].lower < self.of[label].upper

    def pinned(self, high: frozenset[str], low: frozenset[str]) -> Boxes:
        """The same with some names at their upper ends and some at their lower ends."""
        if (high, low) not in self.parts:
            ends = {label: self.of[label].upper for label in high} | {label: self.of[label].lower for label in low}
            points = {label: Interval(x, x) for label, x in ends.items()}
            self.parts[high, low] = Boxes({**self.of, **points}, self.bits)
        return self.parts[high, low]


def over_box(x: Exact, known: Boxes) -> Interval:
    """An enclosure of every value that x takes while its names run through their intervals. Errors: TooCoarse.

    Proof: where x grows (or falls) with some of its names all over the box, its least value stands where these are at
    their lower (upper) ends, whatever the others are; so those are put there, and the same is done with the rest.
    """
    with precision(known.bits):
        value = evaluate_shared(x, BoxField(known.of), known.duals)
        found = []
        for ball in (value.box, _mean_value(value, known.of)):
            with suppress(TooCoarse):
                found.append(interval(ball))
    moving = {label: slope for label, slope in value.slopes.items() if known.is_wide(label)}
    rising = frozenset(label for label, slope in moving.items() if slope > 0)
    falling = frozenset(label for label, slope in moving.items() if slope < 0)
    if rising or falling:
        with suppress(TooCoarse):
            low = over_box(x, known.pinned(falling, rising)).lower
            found.append(Interval(low, over_box(x, known.pinned(rising, falling)).upper))
    if not found:
        raise TooCoarse("no finite ends over the box")
    return Interval(max(f.lower for f in found), min(f.upper for f in found))


def _mean_value(value: _Dual, boxes: Mapping[str, Interval]) -> flint.arb:
    out = value.middle
    for label, slope in value.slopes.items():
        radius = _BALLS.rational((boxes[label].upper - boxes[label].lower) / 2)
        out += slope * radius.union(-radius)
    return out

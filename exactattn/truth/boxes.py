"""Values of expressions whose names are known only to lie in intervals: inputs that were rounded before being printed.

Rounding or proof: the mean value form. With m the middle of the box X, f(x) = f(m) + sum_i d_i f(y) (x_i - m_i) for
some y between x and m, so f(m) + sum_i d_i f(X) (X_i - m_i), with the derivatives taken over the whole box in balls,
encloses f(x) for every x in X; so does f(X) itself, and both hold at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import flint

from exactattn.numbers.balls import BallField, TooCoarse, interval, precision
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


Known = dict[int, tuple[Exact, _Dual]]


def over_box(x: Exact, boxes: Mapping[str, Interval], bits: int, known: Known) -> Interval:
    """An enclosure of every value that x takes while its names run through their intervals. Errors: TooCoarse."""
    with precision(bits):
        value = evaluate_shared(x, BoxField(boxes), known)
        found = []
        for ball in (value.box, _mean_value(value, boxes)):
            try:
                found.append(interval(ball))
            except TooCoarse:
                continue
    if not found:
        raise TooCoarse("no finite ends over the box")
    return Interval(max(f.lower for f in found), min(f.upper for f in found))


def _mean_value(value: _Dual, boxes: Mapping[str, Interval]) -> flint.arb:
    out = value.middle
    for label, slope in value.slopes.items():
        radius = _BALLS.rational((boxes[label].upper - boxes[label].lower) / 2)
        out += slope * radius.union(-radius)
    return out

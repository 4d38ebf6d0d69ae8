"""Where the weight of one key is exactly at a bound, as the factor b on the scores runs over all real numbers.

p(b) = 1 / g(b) with g(b) = sum_l e^(b d_l), d_l = s_l - s_key, so the question is where g(b) = 1/bound. How many
crossings there are is decided exactly or in balls; floats only guess where to look, and a guess that cannot be
certified is `TooFlat`, never "none".

Proof: g is convex, and strictly so unless all d_l are 0. Let m be the number of d_l that are 0.
- All d_l <= 0, some below: g falls from infinity to m and never reaches m: one crossing if bound * m < 1, else none.
  All d_l >= 0 is the mirror image.
- Both signs: g has one minimum. A point where g < 1/bound in balls proves exactly two crossings, one on each side.
  Points b0 < b1 with g'(b0) < 0 < g'(b1) in balls hold the minimum between them, and there the tangent gives
  g >= g(b0) + g'(b0)(b1 - b0); when that is above 1/bound there is none.
Each crossing is then enclosed by opposite signs, in balls, of g - 1/bound at both ends of an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import flint

from exactattn.numbers.balls import interval
from exactattn.numbers.enclosure import Interval

Side = tuple[Fraction | None, Fraction | None]  # a crossing lies above the first and below the second
STEP = Fraction(1, 1 << 100)  # half the width of a certified crossing, times the span of the scores
MOST_DOUBLINGS = 200


class TooFlat(ArithmeticError):
    """A weight touches its bound at its peak, or so nearly that the crossings cannot be certified."""


def crossings(differences: list[Fraction], bound: Fraction) -> list[Interval]:
    """Every factor b with sum_l e^(b d_l) = 1/bound, enclosed, from left to right. 0 < bound < 1, some d_l not 0.

    Errors: TooFlat. Rounding or proof: see the module; the working precision of Arb is the caller's.
    """
    span = max(abs(d) for d in differences)
    scaled = [d / span for d in differences]  # so that b is measured in units of the span
    floats, target = [float(d) for d in scaled], float(bound)
    positive, negative = any(d > 0 for d in scaled), any(d < 0 for d in scaled)

    def excess(b: float) -> float:
        exponents = [b * d for d in floats]
        top = max(exponents)
        return top + math.log(sum(math.exp(e - top) for e in exponents)) + math.log(target)

    if not (positive and negative):
        if bound * scaled.count(Fraction(0)) >= 1:
            return []
        fall = -1.0 if positive else 1.0  # the direction in which g falls
        guesses = [_bisect(excess, _far(lambda b: excess(b) <= 0, fall), _far(lambda b: excess(b) > 0, -fall))]
        sides: list[Side] = [(None, None)]
    else:
        bottom = Fraction(_bottom(floats))
        low = _sum(scaled, bottom) - 1 / _ball(bound)
        if not low < 0:
            _show_none(scaled, bottom, bound)
            return []
        sides = [(None, bottom), (bottom, None)]
        guesses = [_bisect(excess, float(bottom), _away(excess, float(bottom), way)) for way in (-1.0, 1.0)]
    return [_certified(scaled, bound, *pair).times(1 / span) for pair in zip(guesses, sides, strict=True)]


def _certified(differences: list[Fraction], bound: Fraction, guess: float, side: Side) -> Interval:
    """The crossing near a guess, on its side of the minimum: Newton's steps, then opposite signs at both ends."""
    factor, target = Fraction(guess), 1 / _ball(bound)
    for _ in range(6):
        slope = _slope(differences, factor)
        if slope.contains(0):
            raise TooFlat
        step = interval((_sum(differences, factor) - target) / slope).midpoint
        factor -= Fraction(round(step * (1 << 160)), 1 << 160)
    found = Interval(factor - STEP, factor + STEP)
    low, high = side
    if (low is not None and found.lower <= low) or (high is not None and found.upper >= high):
        raise TooFlat
    left, right = (_sum(differences, end) - target for end in (found.lower, found.upper))
    if not ((left < 0 and right > 0) or (left > 0 and right < 0)):
        raise TooFlat
    return found


def _show_none(differences: list[Fraction], bottom: Fraction, bound: Fraction) -> None:
    """Proves that g stays above 1/bound. Errors: TooFlat when it cannot."""
    for exponent in (3, 6, 9, 12):
        reach = (1 + abs(bottom)) / 10**exponent
        left, right = bottom - reach, bottom + reach
        slope = _slope(differences, left)
        holds_minimum = slope < 0 and _slope(differences, right) > 0
        if holds_minimum and _sum(differences, left) + slope * _ball(2 * reach) > 1 / _ball(bound):
            return
    raise TooFlat


def _sum(differences: list[Fraction], factor: Fraction) -> flint.arb:
    """g as a ball. A comparison of balls is true only when it is proven."""
    return sum((_ball(factor * d).exp() for d in differences), flint.arb(0))


def _slope(differences: list[Fraction], factor: Fraction) -> flint.arb:
    """g' as a ball."""
    return sum((_ball(d) * _ball(factor * d).exp() for d in differences), flint.arb(0))


def _ball(x: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


def _bottom(differences: list[float]) -> float:
    """About where g is least: where the mean of d under the softmax changes sign, as it grows with b."""

    def mean(b: float) -> float:
        top = max(b * d for d in differences)
        return sum(d * math.exp(b * d - top) for d in differences)

    below, above = _far(lambda b: mean(b) < 0, -1.0), _far(lambda b: mean(b) > 0, 1.0)
    return _bisect(lambda b: -mean(b), above, below)


def _far(right: Callable[[float], bool], way: float) -> float:
    """A point far enough in a direction that something is so. Errors: TooFlat."""
    for doubling in range(MOST_DOUBLINGS):
        if right(way * 2.0**doubling):
            return way * 2.0**doubling
    raise TooFlat


def _away(function: Callable[[float], float], start: float, way: float) -> float:
    """A point on one side of a start where a function is positive."""
    return start + _far(lambda step: function(start + step) > 0, way)


def _bisect(function: Callable[[float], float], inside: float, outside: float) -> float:
    """Where a function changes sign between a point where it is not positive and one where it is."""
    for _ in range(2000):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        inside, outside = (middle, outside) if function(middle) <= 0 else (inside, middle)
    return (inside + outside) / 2

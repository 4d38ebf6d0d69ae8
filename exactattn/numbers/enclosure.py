"""Enclosed reals and the questions one may ask of them.

An `Interval` is one real number known to lie between two rationals; an `Enclosure` is an array of them. Neither has
`<` or `==`: a question is a method whose answer is `Answer.YES`, `NO` or `CANNOT_TELL`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray


class Answer(Enum):
    """Yes, no, or cannot tell; it has no truth value, so nobody can branch on "cannot tell" by accident."""

    YES = "yes"
    NO = "no"
    CANNOT_TELL = "cannot tell"

    def __bool__(self) -> NoReturn:
        raise TypeError("an Answer has three values: compare it with Answer.YES, NO or CANNOT_TELL")

    @property
    def negated(self) -> Answer:
        """The answer to the opposite question."""
        return {Answer.YES: Answer.NO, Answer.NO: Answer.YES}.get(self, self)

    @staticmethod
    def every(*answers: Answer) -> Answer:
        """YES when all are, NO when one is, else CANNOT_TELL."""
        if Answer.NO in answers:
            return Answer.NO
        return Answer.CANNOT_TELL if Answer.CANNOT_TELL in answers else Answer.YES

    @staticmethod
    def known(yes: bool, no: bool) -> Answer:
        """From what is proven: yes, no, or neither."""
        return Answer.YES if yes else Answer.NO if no else Answer.CANNOT_TELL


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """One real number t with lower <= t <= upper, both ends exact rationals.

    Rounding or proof: whoever makes it proves the containment; the questions below are exact rational comparisons.
    """

    lower: Fraction
    upper: Fraction

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("an enclosed real has no ==: ask equals, below, above, within or disjoint")

    __hash__ = None  # type: ignore[assignment]

    @property
    def midpoint(self) -> Fraction:
        """Half way between the ends."""
        return (self.lower + self.upper) / 2

    @property
    def radius(self) -> Fraction:
        """Half the distance of the ends."""
        return (self.upper - self.lower) / 2

    def below(self, x: Fraction) -> Answer:
        """Is t < x?"""
        return Answer.known(self.upper < x, self.lower >= x)

    def above(self, x: Fraction) -> Answer:
        """Is t > x?"""
        return Answer.known(self.lower > x, self.upper <= x)

    def at_most(self, x: Fraction) -> Answer:
        """Is t <= x?"""
        return self.above(x).negated

    def at_least(self, x: Fraction) -> Answer:
        """Is t >= x?"""
        return self.below(x).negated

    def equals(self, x: Fraction) -> Answer:
        """Is t = x? YES only for an interval of no width."""
        return Answer.known(self.lower == self.upper == x, not self.lower <= x <= self.upper)

    def contains(self, x: Fraction) -> bool:
        """Does the interval hold x? (A plain fact about the two ends, not a question about t.)"""
        return self.lower <= x <= self.upper

    def within(self, centre: Fraction, distance: Fraction) -> Answer:
        """Is |t - centre| <= distance?"""
        return Answer.every(self.at_least(centre - distance), self.at_most(centre + distance))

    def disjoint(self, other: Interval) -> Answer:
        """Are the two real numbers different? YES when the intervals do not meet, NO when both are one point."""
        apart = self.upper < other.lower or other.upper < self.lower
        same = self.lower == self.upper == other.lower == other.upper
        return Answer.known(apart, same)

    def less(self, other: Interval) -> Answer:
        """Is t < the other real number?"""
        return Answer.known(self.upper < other.lower, self.lower >= other.upper)

    def meets(self, other: Interval) -> bool:
        """Do the two intervals share a point?"""
        return not (self.upper < other.lower or other.upper < self.lower)

    def minus(self, x: Fraction) -> Interval:
        """The enclosure of t - x."""
        return Interval(self.lower - x, self.upper - x)

    def times(self, x: Fraction) -> Interval:
        """The enclosure of t * x."""
        ends = (self.lower * x, self.upper * x)
        return Interval(min(ends), max(ends))

    def magnitude(self) -> Interval:
        """The enclosure of |t|."""
        if self.lower >= 0:
            return self
        if self.upper <= 0:
            return Interval(-self.upper, -self.lower)
        return Interval(Fraction(0), max(-self.lower, self.upper))

    def decimal(self, digits: int) -> str | None:
        """t correctly rounded to so many significant digits (ties to even), or None when the interval is too wide."""
        if self.lower <= 0 <= self.upper and self.lower != self.upper:
            return None  # the ends have no digits in common; one of them may have a hundred thousand
        low, high = significant(self.lower, digits), significant(self.upper, digits)
        return low if low == high else None


class Enclosure:
    """An array of enclosed reals; an element may be undefined (a row with no allowed key).

    Shapes: any; `lower` and `upper` are object arrays of `Fraction`, None where undefined.
    """

    __slots__ = ("lower", "upper")

    def __init__(self, lower: NDArray[np.object_], upper: NDArray[np.object_]) -> None:
        assert lower.shape == upper.shape
        self.lower, self.upper = lower, upper

    @staticmethod
    def of(bounds: list[list[tuple[Fraction, Fraction] | None]]) -> Enclosure:
        """From rows of (lower, upper) pairs, None where undefined."""
        shape = (len(bounds), len(bounds[0]) if bounds else 0)
        lower, upper = np.empty(shape, object), np.empty(shape, object)
        for i, row in enumerate(bounds):
            for j, pair in enumerate(row):
                lower[i, j], upper[i, j] = (None, None) if pair is None else pair
        return Enclosure(lower, upper)

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("an Enclosure has no ==: ask about its elements")

    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.lower.shape

    def indices(self) -> Iterator[tuple[int, ...]]:
        """Every index, row by row."""
        return iter(np.ndindex(*self.shape))

    def __getitem__(self, index: tuple[int, ...]) -> Interval | None:
        """One element, or None where undefined."""
        low, high = self.lower[index], self.upper[index]
        return None if low is None else Interval(low, high)

    def transposed(self) -> Enclosure:
        """Rows and columns exchanged."""
        return Enclosure(self.lower.T, self.upper.T)

    def error_of(self, data: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The signed error data - t as float64 midpoint and radius.

        Shapes: both of the shape of `data`. Exact value: every real data - t lies within midpoint +- radius.
        Rounding or proof: the rational ends of data - t are converted to float64 (correctly rounded, hence within
        half an ulp) and the radius is then widened by one ulp of each end, which covers both conversions and the
        halving. NaN where t is undefined, the data is not finite or the error is beyond float64.
        """
        mid = np.full(self.shape, np.nan)
        rad = np.full(self.shape, np.nan)
        for index in self.indices():
            y = float(data[index])
            if self.lower[index] is None or not np.isfinite(y):
                continue
            low, high = _nearest(Fraction(y) - self.upper[index]), _nearest(Fraction(y) - self.lower[index])
            if not (np.isfinite(low) and np.isfinite(high)):
                continue
            mid[index] = centre = low / 2 + high / 2
            slack = np.spacing(abs(low)) + np.spacing(abs(high))
            rad[index] = np.nextafter(max(high - centre, centre - low) + 2 * slack, np.inf)
        return mid, rad


def _nearest(x: Fraction) -> float:
    """x correctly rounded to float64; infinite beyond its range."""
    try:
        return float(x)
    except OverflowError:
        return np.inf if x > 0 else -np.inf


def significant(x: Fraction, digits: int) -> str:
    """x correctly rounded to so many significant digits, ties to even, in plain or exponent form.

    Exact value: the decimal of that many digits nearest to x. Rounding or proof: integer arithmetic only.
    """
    if x == 0:
        return "0"
    sign, x = ("-" if x < 0 else ""), abs(x)
    exponent = _decimal_exponent(x)
    scaled = _rounded(x, digits - 1 - exponent)
    if scaled == 10**digits:
        scaled, exponent = scaled // 10, exponent + 1
    text = str(scaled)
    if -7 <= exponent < digits:
        if exponent < 0:
            return f"{sign}0.{'0' * (-exponent - 1)}{text}"
        whole, part = text[: exponent + 1], text[exponent + 1 :]
        return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"
    tail = f".{text[1:]}" if digits > 1 else ""
    return f"{sign}{text[0]}{tail}e{exponent:+03d}"


def _rounded(x: Fraction, power: int) -> int:
    """The integer nearest to x * 10**power, ties to even, without bringing a fraction to lowest terms."""
    top, bottom = x.numerator, x.denominator
    if power >= 0:
        top *= 10**power
    else:
        bottom *= 10**-power
    whole, rest = divmod(top, bottom)
    return whole + (2 * rest > bottom or (2 * rest == bottom and whole % 2 == 1))


def outward(interval: Interval, digits: int) -> tuple[str, str]:
    """Decimal ends of an interval, rounded outward, so that the printed interval still holds t.

    The quantum is 10**-digits relative to the larger end; exact for rationals that need no more digits.
    """
    size = max(abs(interval.lower), abs(interval.upper))
    quantum = Fraction(10) ** ((_decimal_exponent(size) if size else 0) + 1 - digits)
    low = (interval.lower / quantum).__floor__() * quantum
    high = (interval.upper / quantum).__ceil__() * quantum
    return _short(low, digits), _short(high, digits)


def _short(x: Fraction, digits: int) -> str:
    """A decimal of at most digits + 1 significant digits (a carry adds one), without the digit when it is 0."""
    text = significant(x, digits)
    return text if Fraction(text) == x else significant(x, digits + 1)


def _decimal_exponent(x: Fraction) -> int:
    """The integer e with 10**e <= x < 10**(e + 1), for x > 0."""
    estimate = (x.numerator.bit_length() - x.denominator.bit_length()) * 30103 // 100000
    while Fraction(10) ** estimate > x:
        estimate -= 1
    while Fraction(10) ** (estimate + 1) <= x:
        estimate += 1
    return estimate

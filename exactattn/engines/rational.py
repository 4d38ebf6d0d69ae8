"""Engine `rational`: exact rational arithmetic, for the questions that balls cannot decide (equality, ties).

It has no exponential but e^0 = 1 and no logarithm but ln 1 = 0; whatever needs another raises `Unavailable`, and
the ladder goes on to SymPy.
"""

from __future__ import annotations

from fractions import Fraction

from exactattn.errors import Unavailable
from exactattn.numbers.elementwise import Array, Elementwise, each
from exactattn.numbers.enclosure import Enclosure
from exactattn.numbers.exact import power


class RationalField:
    """The `Field` of rational numbers."""

    def rational(self, x: Fraction) -> Fraction:
        """The number itself."""
        return x

    def add(self, a: Fraction, b: Fraction) -> Fraction:
        """The sum."""
        return a + b

    def mul(self, a: Fraction, b: Fraction) -> Fraction:
        """The product."""
        return a * b

    def div(self, a: Fraction, b: Fraction) -> Fraction:
        """The quotient."""
        return a / b

    def power(self, a: Fraction, exponent: Fraction) -> Fraction:
        """A power, where it is rational."""
        found = power(a, exponent)
        if not isinstance(found, Fraction):
            raise Unavailable("a root is not rational")
        return found

    def exp(self, a: Fraction) -> Fraction:
        """e^0 = 1; e to any other rational power is irrational (Lindemann)."""
        if a != 0:
            raise Unavailable("exp of another rational than 0 is not rational")
        return Fraction(1)

    def log(self, a: Fraction) -> Fraction:
        """ln 1 = 0; the logarithm of any other rational is irrational (Lindemann)."""
        if a != 1:
            raise Unavailable("the logarithm of another rational than 1 is not rational")
        return Fraction(0)

    def sin(self, a: Fraction) -> Fraction:
        """sin 0 = 0; the sine of any other rational is irrational (Lindemann)."""
        if a != 0:
            raise Unavailable("the sine of another rational than 0 is not rational")
        return Fraction(0)

    def cos(self, a: Fraction) -> Fraction:
        """cos 0 = 1; the cosine of any other rational is irrational (Lindemann)."""
        if a != 0:
            raise Unavailable("the cosine of another rational than 0 is not rational")
        return Fraction(1)

    def pi(self) -> Fraction:
        """Not rational."""
        raise Unavailable("pi is not rational")

    def name(self, label: str) -> Fraction:
        """Not a number."""
        raise Unavailable(f"{label} has no value here")


class RationalEngine:
    """Runs anything written over an `Arithmetic` in exact rationals, as far as they go."""

    name = "rational"
    guarantee = "exact; refuses what is not rational"

    def arithmetic(self) -> Elementwise[Fraction]:
        """Exact rationals; the shift of a row is its maximum."""
        return Elementwise("rational", RationalField())

    def enclosure(self, array: Array) -> Enclosure:
        """Enclosures of no width."""
        return Enclosure(each(Fraction, array), each(Fraction, array))


ENGINE = RationalEngine()

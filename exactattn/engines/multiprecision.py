"""Engine `multiprecision`: mpmath at any number of digits; readable, independent of Arb, with no guarantee.

Each arithmetic has a context of its own, so mpmath's global precision is neither read nor changed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactattn.errors import NumeralError
from exactattn.numbers.elementwise import Array, Elementwise, dyadic, each

GUARD_DIGITS = 15


class MultiprecisionField:
    """The `Field` of mpmath numbers in one context."""

    def __init__(self, digits: int) -> None:
        from mpmath.ctx_mp import MPContext

        self.context = MPContext()
        self.context.dps = digits + GUARD_DIGITS

    def rational(self, x: Fraction) -> Any:
        """x rounded to the context's precision."""
        return self.context.mpf(x.numerator) / x.denominator

    def add(self, a: Any, b: Any) -> Any:
        """The sum."""
        return a + b

    def mul(self, a: Any, b: Any) -> Any:
        """The product."""
        return a * b

    def div(self, a: Any, b: Any) -> Any:
        """The quotient."""
        return a / b

    def power(self, a: Any, exponent: Fraction) -> Any:
        """A rational power."""
        return self.context.power(a, self.rational(exponent))

    def exp(self, a: Any) -> Any:
        """The exponential."""
        return self.context.exp(a)

    def log(self, a: Any) -> Any:
        """The natural logarithm."""
        return self.context.log(a)

    def pi(self) -> Any:
        """The number pi."""
        return +self.context.pi

    def name(self, label: str) -> Any:
        """No variables here."""
        raise NumeralError(f"{label} has no value here: give it one, or use a number")


class MultiprecisionEngine:
    """Runs anything written over an `Arithmetic` in mpmath."""

    name = "multiprecision"
    guarantee = "none; agreement with `ball` is tested"

    def arithmetic(self, digits: int = 30) -> Elementwise[Any]:
        """mpmath numbers of so many digits, and 15 more to work with; the shift of a row is its maximum."""
        return Elementwise("multiprecision", MultiprecisionField(digits))

    def values(self, array: Array) -> Array:
        """The computed numbers as exact dyadic `Fraction`s."""
        return each(lambda x: dyadic(int(x.man) * (1, -1)[x < 0 and x.man > 0], int(x.exp)), array)


ENGINE = MultiprecisionEngine()

"""Engine `multiprecision`: mpmath at any number of digits; readable, independent of Arb, with no guarantee.

Each arithmetic has a context of its own, so mpmath's global precision is neither read nor changed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactattn.errors import NumeralError
from exactattn.numbers.balls import TooCoarse
from exactattn.numbers.elementwise import Array, Elementwise, dyadic, each

GUARD_DIGITS = 15
MOST_EXPONENT = 4_000_000


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

    def sin(self, a: Any) -> Any:
        """The sine."""
        return self.context.sin(a)

    def cos(self, a: Any) -> Any:
        """The cosine."""
        return self.context.cos(a)

    def pi(self) -> Any:
        """The number pi."""
        return +self.context.pi

    def name(self, label: str) -> Any:
        """No variables here."""
        raise NumeralError(f"{label} has no value here: give it one, or use a number")


class MultiprecisionArithmetic(Elementwise[Any]):
    """mpmath numbers; the shift of a row is its maximum."""

    def __init__(self, digits: int) -> None:
        field = MultiprecisionField(digits)
        super().__init__("multiprecision", field)
        self.context = field.context

    def tanh(self, a: Array) -> Array:
        """The hyperbolic tangent."""
        return each(self.context.tanh, a)


class MultiprecisionEngine:
    """Runs anything written over an `Arithmetic` in mpmath."""

    name = "multiprecision"
    guarantee = "none; agreement with `ball` is tested"

    def arithmetic(self, digits: int = 30) -> Elementwise[Any]:
        """mpmath numbers of so many digits, and 15 more to work with; the shift of a row is its maximum."""
        return MultiprecisionArithmetic(digits)

    def values(self, array: Array) -> Array:
        """The computed numbers as exact dyadic `Fraction`s.

        Errors: TooCoarse for one that is not finite, or beyond 2**4000000 or 2**-4000000, whose digits would fill the
        memory.
        """
        return each(_exact, array)


def _exact(x: Any) -> Fraction:
    negative, mantissa, exponent, bits = x._mpf_
    if not mantissa and exponent:
        raise TooCoarse(str(x))  # infinity or not a number
    if mantissa and abs(exponent + bits) > MOST_EXPONENT:
        raise TooCoarse(f"a number beyond 2**{MOST_EXPONENT} or 2**-{MOST_EXPONENT}")
    return dyadic(-int(mantissa) if negative else int(mantissa), int(exponent))


ENGINE = MultiprecisionEngine()

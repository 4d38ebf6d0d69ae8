"""Balls (midpoint and radius, Arb through python-flint): proven enclosures of single exact numbers.

python-flint keeps its working precision in one global; `precision` sets it around a piece of work and puts it
back. A ball is right at any precision, only wider at a low one, so no result depends on it for its truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import inf, isnan, nextafter
from threading import RLock

import flint

from exactattn.errors import NumeralError
from exactattn.numbers.elementwise import dyadic
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact, evaluate
from exactattn.numbers.formats import Format

FIRST_BITS = 128
MOST_BITS = 16384
_SMALLEST = -300_000  # values below 2**-300000 are enclosed by (0, 2**-300000): their digits would fill the memory
_LARGEST = 300_000


class TooCoarse(ArithmeticError):
    """A ball has no finite ends at this precision; more bits may help."""


_TURN = RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """The working precision of Arb, in bits, for a piece of work.

    It is one number for all threads, so they take turns: else one would work with the bits of another, and the last to
    leave would put back what the first had set.
    """
    with _TURN:
        before = flint.ctx.prec
        flint.ctx.prec = bits
        try:
            yield
        finally:
            flint.ctx.prec = before


class BallField:
    """The `Field` of Arb balls at the working precision. Proof: Arb's own (Johansson 2017, arXiv 1611.02831)."""

    def rational(self, x: Fraction) -> flint.arb:
        """A ball that holds x."""
        return flint.arb(flint.fmpq(x.numerator, x.denominator))

    def add(self, a: flint.arb, b: flint.arb) -> flint.arb:
        """The sum."""
        return a + b

    def mul(self, a: flint.arb, b: flint.arb) -> flint.arb:
        """The product."""
        return a * b

    def div(self, a: flint.arb, b: flint.arb) -> flint.arb:
        """The quotient."""
        return a / b

    def power(self, a: flint.arb, exponent: Fraction) -> flint.arb:
        """A rational power; the square root by its own function, which is sharper."""
        return a.sqrt() if exponent == Fraction(1, 2) else a ** flint.arb(flint.fmpq(*exponent.as_integer_ratio()))

    def exp(self, a: flint.arb) -> flint.arb:
        """The exponential."""
        return a.exp()

    def log(self, a: flint.arb) -> flint.arb:
        """The natural logarithm."""
        return a.log()

    def sin(self, a: flint.arb) -> flint.arb:
        """The sine."""
        return a.sin()

    def cos(self, a: flint.arb) -> flint.arb:
        """The cosine."""
        return a.cos()

    def pi(self) -> flint.arb:
        """The number pi."""
        return flint.arb.pi()

    def name(self, label: str) -> flint.arb:
        """Balls have no variables."""
        raise NumeralError(f"{label} has no value here: give it one, or use a number")


def largest_middle(balls: Iterable[flint.arb]) -> flint.arb:
    """The largest midpoint, as an exact point."""
    return max((ball.mid() for ball in balls), key=_Order)


class _Order:
    """Order of exact (radius 0) balls, for which Arb's comparison is decided."""

    __slots__ = ("point",)

    def __init__(self, point: flint.arb) -> None:
        self.point = point

    def __lt__(self, other: _Order) -> bool:
        return bool(self.point < other.point)


def interval(ball: flint.arb) -> Interval:
    """The two ends of a ball as exact rationals.

    Errors: TooCoarse when the ball has no finite ends. Rounding or proof: midpoint and radius are dyadic, so the
    ends are exact; a value of magnitude below 2**-300000 is widened to an end of that size.
    """
    if not ball.is_finite():
        raise TooCoarse(str(ball))
    mid, rad = ball.mid().man_exp(), ball.rad().man_exp()
    if _top(mid) > _LARGEST or _top(rad) > _LARGEST:
        raise TooCoarse(f"a number above 2**{_LARGEST}")
    tiny = Fraction(1, 1 << -_SMALLEST)
    small_mid, small_rad = _top(mid) < _SMALLEST, _top(rad) < _SMALLEST
    if small_mid and small_rad and mid[0]:
        sign = 0 if ball.contains(0) else (1 if mid[0] > 0 else -1)
        return Interval(Fraction(0) if sign > 0 else -tiny, Fraction(0) if sign < 0 else tiny)
    centre = Fraction(0) if small_mid else dyadic(int(mid[0]), int(mid[1]))
    radius = (tiny if rad[0] else Fraction(0)) if small_rad else dyadic(int(rad[0]), int(rad[1]))
    radius += tiny if small_mid and mid[0] else 0
    return Interval(centre - radius, centre + radius)


def _top(pair: tuple[flint.fmpz, flint.fmpz]) -> int:
    """The exponent just above a dyadic number; far below everything for 0."""
    return int(pair[0].bit_length()) + int(pair[1]) if pair[0] else -(1 << 62)


def enclose(x: Exact, bits: int = FIRST_BITS) -> Interval:
    """An enclosure of a closed number. Rounding or proof: ball arithmetic; exact and of no width for a rational."""
    if isinstance(x, Fraction):
        return Interval(x, x)
    with precision(bits):
        return interval(evaluate(x, BallField()))


def decide(x: Exact, question: Callable[[Interval], Answer], most_bits: int = MOST_BITS) -> Answer:
    """The answer about a closed number, with the precision doubled until it is known or `most_bits` is reached."""
    bits = FIRST_BITS
    while True:
        try:
            answer = question(enclose(x, bits))
        except TooCoarse:
            answer = Answer.CANNOT_TELL
        if answer is not Answer.CANNOT_TELL or bits >= most_bits:
            return answer
        bits *= 2


def nearest(x: Exact, fmt: Format) -> float:
    """The closed number x correctly rounded to a format.

    Errors: TooCoarse when x is too near a tie of the format to decide at the most precision. Rounding or proof:
    rounding is monotone, so when both ends of an enclosure round alike, x does.
    """
    if isinstance(x, Fraction):
        return _nearest_rational(x, fmt)
    bits = FIRST_BITS
    while bits <= MOST_BITS:
        bounds = enclose(x, bits)
        low, high = fmt.round(bounds.lower), fmt.round(bounds.upper)
        if low == high or (isnan(low) and isnan(high)):
            return low
        bits *= 2
    raise TooCoarse(f"{x} lies too near the middle of two {fmt.name} numbers")


def _nearest_rational(x: Fraction, fmt: Format) -> float:
    """x correctly rounded, most often by way of float64.

    Rounding or proof: Python divides two integers correctly rounded, to nearest with ties to even, subnormals too;
    that is the answer in float64. x lies between the two neighbours of that quotient, so where these round alike in
    the format, x does, rounding being monotone. Otherwise, and past float64, from the integers.
    """
    try:
        near = x.numerator / x.denominator
    except OverflowError:
        return fmt.round(x)
    if fmt.precision == 53:
        return near
    low, high = fmt.round(nextafter(near, -inf)), fmt.round(nextafter(near, inf))
    return low if low == high != 0 else fmt.round(x)  # a zero has a sign

"""The chi-square law by balls: its distribution function, its quantiles, and products of two such variables."""

from __future__ import annotations

from fractions import Fraction

import flint

from exactattn.numbers.balls import FIRST_BITS, interval, precision
from exactattn.numbers.enclosure import Answer, Interval

STEPS = 40  # halvings of a bracket round a quantile
CELLS = 64  # of the grid for a product
RATIO = Fraction(5, 4)  # of its steps
MOST_DEGREES = 10_000


def below(x: Fraction, degrees: int) -> Interval:
    """P(X <= x) for X chi-square with so many degrees of freedom, with h = x/2.

    Exact value: even degrees 2 m: 1 - e^-h sum_(j < m) h^j/j!; odd degrees 2 m + 1: erf(sqrt(h)) - e^-h
    sum_(j < m) h^(j + 1/2)/Gamma(j + 3/2), which follow from the derivative by integration by parts. Rounding or
    proof: balls; at most `MOST_DEGREES`/2 terms, all positive.
    """
    assert degrees <= MOST_DEGREES
    if x <= 0:
        return Interval(Fraction(0), Fraction(0))
    with precision(FIRST_BITS):
        half = flint.arb(flint.fmpq(x.numerator, 2 * x.denominator))
        odd, count = degrees % 2, degrees // 2
        term = 2 * (half / flint.arb.pi()).sqrt() if odd else flint.arb(1)
        total = flint.arb(0)
        for j in range(count):
            total += term
            term = term * half / (flint.arb(2 * j + 3) / 2 if odd else j + 1)
        found = interval((half.sqrt().erf() if odd else flint.arb(1)) - (-half).exp() * total)
    return Interval(max(found.lower, Fraction(0)), min(found.upper, Fraction(1)))


def quantile(probability: Fraction, degrees: int) -> Interval:
    """The x with P(X <= x) = probability, between 0 and 1. Rounding or proof: a bracket, halved while balls decide."""
    low, high = Fraction(0), Fraction(1)
    while below(high, degrees).below(probability) is Answer.YES:
        low, high = high, 2 * high
    for _ in range(STEPS):
        middle = (low + high) / 2
        answer = below(middle, degrees).below(probability)
        if answer is Answer.CANNOT_TELL:
            break
        low, high = (middle, high) if answer is Answer.YES else (low, middle)
    return Interval(low, high)


def product_below(limit: Fraction, degrees: int, others: int) -> Fraction:
    """A lower bound of P(X Y <= limit), X and Y independent chi-square.

    Proof: with x_0 < x_1 < ..., the cells x_(i-1) < X <= x_i are disjoint and in each X Y <= limit follows from
    Y <= limit/x_i; so the probability is at least the sum of P(X in the cell) P(Y <= limit/x_i), lower ends of balls.
    """
    total, before = Fraction(0), Interval(Fraction(0), Fraction(0))
    for cell in range(-CELLS // 2, CELLS // 2):
        x = degrees * RATIO**cell
        here = below(x, degrees)
        inside = here.lower - before.upper
        if inside > 0:
            total += inside * below(limit / x, others).lower
        before = here
    return total

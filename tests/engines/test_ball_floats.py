"""`floats` of the ball engine against the exact ends of the same balls."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.engines.ball import ENGINE
from exactattn.numbers.balls import TooCoarse, interval

TINY, LARGEST = (1, -1074), (2**53 - 1, 971)
MIDDLES = {
    "zero": (0, 0),
    "one": (1, 0),
    "a tie between two numbers": (2**53 + 1, -53),
    "just below a tie": (2**200 * (2**53 + 1) - 1, -253),
    "just above a tie": (2**200 * (2**53 + 1) + 1, -253),
    "just below a power of two": (2**400 - 1, -400),
    "107 bits": (2**107 - 1, -107),
    "a third of 128 bits": ((2**128 - 1) // 3, -128),
    "smallest subnormal": TINY,
    "half of it, a tie": (1, -1075),
    "one and a half of it": (3, -1075),
    "below all subnormals": (1, -1080),
    "far below": (1, -(10**12)),
    "largest subnormal and a bit": (2**53 - 1, -1075),
    "smallest normal": (1, -1022),
    "largest": LARGEST,
    "below the tie past it": (2**55 - 3, 969),
}
RADII = {
    "none": (0, 0),
    "far below": (1, -(10**12)),
    "subnormal": TINY,
    "thin": (3, -130),
    "wide": (1, -20),
    "one": (1, 0),
}
BEYOND = {
    "the tie past the largest": (2**54 - 1, 970),
    "just past it": (1, 1024),
    "a huge number": (1, 10**12),
}


def check(middle, radius, bits):
    with ENGINE.precision(bits):
        ball = flint.arb(flint.arb(middle), flint.arb(radius))
        high, low, rest = (Fraction(float(part[0, 0])) for part in ENGINE.floats(np.array([[ball]])))
    point = flint.arb((int(ball.mid().man_exp()[0]), int(ball.mid().man_exp()[1])))
    if ball.is_exact() and interval(point - float(high) - float(low)).equals(Fraction(0)).name == "YES":
        assert rest == 0
    ends = interval(ball)
    assert max(abs(ends.lower - high - low), abs(ends.upper - high - low)) <= rest + Fraction(1, 2**300000)
    if abs(ends.midpoint) >= Fraction(1, 2**900):
        assert rest <= (ends.radius + abs(ends.midpoint) / 2 ** min(bits, 105)) * (1 + Fraction(1, 2**27))


@pytest.mark.parametrize("bits", [53, 128, 2000])
@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("middle", MIDDLES)
def test_adversarial_values_are_contained(middle, radius, bits):
    mantissa, exponent = MIDDLES[middle]
    for sign in (1, -1):
        check((sign * mantissa, exponent), RADII[radius], bits)


@given(st.integers(-(2**260), 2**260), st.integers(-1400, 700), st.integers(0, 2**30 - 1), st.integers(-1400, 900))
def test_random_values_are_contained(mantissa, exponent, radius, radius_exponent):
    check((mantissa, exponent), (radius, radius_exponent), 128)


@pytest.mark.parametrize("middle", BEYOND)
def test_what_lies_beyond_float64_is_not_a_number(middle):
    mantissa, exponent = BEYOND[middle]
    balls = np.array([[flint.arb((mantissa, exponent)), flint.arb((-mantissa, exponent)), flint.arb(1)]])
    for part in ENGINE.floats(balls):
        assert list(np.isnan(part[0])) == [True, True, False]
    wide = np.array([[flint.arb(1, flint.arb((mantissa, exponent + 1)))]])
    assert all(np.isnan(part).all() for part in ENGINE.floats(wide))


def test_two_numbers_hold_107_bits_and_nothing_is_left():
    balls = np.array([[flint.arb((2**100 + 1, -100)), flint.arb(0)]])
    high, low, rest = ENGINE.floats(balls)
    assert (high.tolist(), low.tolist(), rest.tolist()) == ([[1.0, 0.0]], [[2.0**-100, 0.0]], [[0.0, 0.0]])


@pytest.mark.parametrize("ball", [flint.arb("nan"), flint.arb("inf"), flint.arb(1) / flint.arb(0)])
def test_a_ball_without_ends_is_too_coarse(ball):
    with pytest.raises(TooCoarse):
        ENGINE.floats(np.array([[ball]]))


def test_shapes():
    assert [part.shape for part in ENGINE.floats(np.empty((0, 3), object))] == [(0, 3)] * 3

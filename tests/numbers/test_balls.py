"""The rational ends of a ball, where its numbers are too small to be written out."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction as F
from time import sleep

import flint
import pytest

from exactattn.numbers.balls import TooCoarse, interval, precision

TINY = -400_000


def ball(mid, rad):
    """The ball of two dyadic numbers (mantissa, exponent)."""
    return flint.arb(flint.arb(mid), flint.arb(rad))


def dyadic(mantissa, exponent):
    return F(mantissa) * F(2) ** exponent


@pytest.mark.parametrize(
    ("mid", "rad"),
    [
        ((1, TINY), (1, -10)), ((-1, TINY), (1, -10)),  # a small middle of a wide ball
        ((1, TINY), (1, TINY + 1)), ((-1, TINY), (1, TINY + 1)),  # both small, and 0 inside
        ((3, TINY), (1, TINY)), ((-3, TINY), (1, TINY)),  # both small, and one sign
        ((1, 0), (1, TINY)), ((0, 0), (1, TINY)), ((0, 0), (0, 0)), ((5, -3), (1, -7)),
    ],
)  # fmt: skip
def test_the_ends_enclose_the_ball(mid, rad):
    found = interval(ball(mid, rad))
    assert found.lower <= dyadic(*mid) - dyadic(*rad)
    assert found.upper >= dyadic(*mid) + dyadic(*rad)
    assert found.upper.denominator.bit_length() < 300_100


def test_a_small_number_keeps_its_sign():
    assert interval(ball((3, TINY), (1, TINY))).lower == 0
    assert interval(ball((-3, TINY), (1, TINY))).upper == 0


@pytest.mark.parametrize("huge", [(1, 400_000), (-1, 400_000)])
def test_a_huge_number_has_no_ends(huge):
    with pytest.raises(TooCoarse):
        interval(ball(huge, (0, 0)))


def test_threads_take_turns_with_the_one_precision_of_arb():
    """None works with that of another, and the last one leaves what was there before."""
    before = flint.ctx.prec

    def work(bits):
        with precision(bits):
            sleep(0.002)
            return flint.ctx.prec

    asked = list(range(100, 140))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, asked)) == asked
    assert flint.ctx.prec == before

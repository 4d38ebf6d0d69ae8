"""Closed expressions: folded rationals, one meaning in every number system."""

from fractions import Fraction as F

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.errors import NumeralError
from exactattn.numbers import exact
from exactattn.numbers.balls import decide, enclose, nearest
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import FORMATS
from exactattn.numbers.numerals import parse_exact


def test_perfect_powers_become_rational():
    assert exact.sqrt(F(9, 4)) == F(3, 2)
    assert exact.power(F(27, 8), F(-2, 3)) == F(4, 9)
    assert isinstance(exact.sqrt(F(2)), exact.Expr)
    assert isinstance(exact.sqrt(F(10**40 + 1)), exact.Expr)


@given(st.integers(0, 10**30), st.integers(2, 7))
def test_integer_roots_are_exact(n, degree):
    assert exact.power(F(n**degree), F(1, degree)) == n
    if n > 1:
        assert isinstance(exact.power(F(n**degree + 1), F(1, degree)), exact.Expr)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # values from mpmath below; here only the expressions
        ("1/sqrt(2)", lambda m: 1 / m.sqrt(2)),
        ("exp(1/sqrt(2))/(2*exp(1/sqrt(2)) + 1)", lambda m: m.exp(1 / m.sqrt(2)) / (2 * m.exp(1 / m.sqrt(2)) + 1)),
        ("ln(18/11)", lambda m: m.log(m.mpf(18) / 11)),
        ("2*pi - 7**(1/3)", lambda m: 2 * m.pi - m.cbrt(7)),
        ("-exp(-100)", lambda m: -m.exp(-100)),
    ],
)
def test_balls_hold_what_mpmath_computes(text, value):
    with mpmath.workdps(80):
        oracle = value(mpmath)
        man, exp = int(oracle.man), int(oracle.exp)
        sign = -1 if oracle < 0 and man > 0 else 1
        number = sign * (F(man) * F(2) ** exp)
    slack = abs(number) / 10**75
    for bits in (64, 128, 200):
        bounds = enclose(parse_exact(text), bits)
        assert bounds.lower - slack <= number <= bounds.upper + slack
        assert bounds.radius <= abs(number) / 2 ** (bits - 12)


def test_a_closed_number_is_rounded_correctly_to_a_format():
    # 1/sqrt(2) in float32: numpy's float64 value is far from a tie of float32, so rounding it twice is right here
    assert nearest(parse_exact("1/sqrt(2)"), FORMATS["float32"]) == 0.7071067690849304
    assert nearest(F(1, 3), FORMATS["float16"]) == 0.333251953125


def test_questions_are_decided_by_more_bits_or_not_at_all():
    tiny = parse_exact("exp(1) - exp(1)*(1 + 1/10**60)")
    assert decide(tiny, lambda t: t.below(F(0))) is Answer.YES
    zero = exact.sub(exact.mul(exact.sqrt(F(2)), exact.sqrt(F(3))), exact.sqrt(F(6)))
    assert decide(zero, lambda t: t.equals(F(0)), most_bits=512) is Answer.CANNOT_TELL


def test_values_too_small_to_write_out_are_still_enclosed():
    bounds = enclose(parse_exact("exp(-10**9)"))
    assert 0 <= bounds.lower < bounds.upper < F(1, 2**100_000)
    below = enclose(parse_exact("0 - exp(-10**9)"))
    assert -F(1, 2**100_000) < below.lower < below.upper <= 0
    beside = enclose(parse_exact("1 + exp(-10**9)"))
    assert beside.contains(F(1)) or beside.lower > 1


def test_a_name_without_a_value_is_refused():
    with pytest.raises(NumeralError, match="d_k"):
        enclose(exact.name("d_k"))


def test_substitution_folds():
    scale = exact.power(exact.name("d_k"), F(-1, 2))
    assert exact.substitute(scale, {"d_k": F(16)}) == F(1, 4)
    assert exact.names_in(scale) == {"d_k"}


TIES = [F(2**24 + 1, 2**k) for k in (0, 24, 150, 173, 174)] + [F(1, 2**150), F(3, 2**150), F(1, 2**1075), F(65520)]


@pytest.mark.parametrize("name", FORMATS)
def test_nearest_by_way_of_float64_is_the_rounding_of_the_format(name):
    """Ties of every format, a hair to either side of them, and what float64 cannot hold: never rounded twice."""
    fmt = FORMATS[name]
    edges = [fmt.max, fmt.overflow_threshold, fmt.min_subnormal / 2, fmt.min_subnormal * F(3, 2), fmt.min_normal]
    ties = [1 + fmt.unit_roundoff, 1 + 3 * fmt.unit_roundoff]
    for x in [*TIES, *edges, *ties, F(0), F(1, 3), F(10) ** 400, F(1, 10**400)]:
        for hair in (0, F(1, 2**60), F(1, 10**40), F(1, 10**400)):
            for y in (x * (1 + hair), x * (1 - hair), -x * (1 + hair), -x * (1 - hair)):
                assert repr(nearest(y, fmt)) == repr(fmt.round(y))

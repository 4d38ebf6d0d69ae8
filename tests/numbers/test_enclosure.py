"""Questions about enclosed reals: three answers, exact comparisons, honest decimals."""

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.numbers.enclosure import Answer, Enclosure, Interval, outward, significant

rationals = st.fractions(max_denominator=10**9)


def test_an_answer_has_no_truth_value():
    for answer in Answer:
        with pytest.raises(TypeError, match="three values"):
            bool(answer)


@pytest.mark.parametrize("thing", [Interval(F(0), F(1)), Enclosure.of([[(F(0), F(1))]])])
def test_enclosures_have_no_equality_and_no_order(thing):
    with pytest.raises(TypeError):
        _ = thing == thing
    with pytest.raises(TypeError):
        _ = thing < thing


@pytest.mark.parametrize(
    ("question", "x", "answer"),
    [
        ("below", F(3), Answer.YES), ("below", F(2), Answer.CANNOT_TELL), ("below", F(1), Answer.NO),
        ("above", F(0), Answer.YES), ("above", F(1), Answer.CANNOT_TELL), ("above", F(2), Answer.NO),
        ("at_most", F(2), Answer.YES), ("at_most", F(3, 2), Answer.CANNOT_TELL), ("at_most", F(1, 2), Answer.NO),
        ("at_least", F(1), Answer.YES), ("at_least", F(2), Answer.CANNOT_TELL), ("at_least", F(5), Answer.NO),
        ("equals", F(1), Answer.CANNOT_TELL), ("equals", F(3), Answer.NO),
    ],
)  # fmt: skip
def test_questions_at_and_beside_the_ends(question, x, answer):
    assert getattr(Interval(F(1), F(2)), question)(x) is answer


def test_equality_only_without_width():
    assert Interval(F(1), F(1)).equals(F(1)) is Answer.YES
    assert Interval(F(1), F(1)).disjoint(Interval(F(1), F(1))) is Answer.NO


@given(rationals, rationals, rationals, rationals)
def test_a_decided_question_is_true_of_every_point(a, b, x, share):
    low, high = min(a, b), max(a, b)
    interval = Interval(low, high)
    inside = low + (high - low) * abs(share) / (1 + abs(share))
    truths = {"below": inside < x, "above": inside > x, "at_most": inside <= x, "at_least": inside >= x}
    for question, truth in truths.items():
        answer = getattr(interval, question)(x)
        assert answer is Answer.CANNOT_TELL or (answer is Answer.YES) == truth
    size = interval.magnitude()
    assert size.lower <= abs(inside) <= size.upper


@given(rationals, st.integers(1, 25))
def test_significant_digits_agree_with_decimal(x, digits):
    # oracle: Python's decimal, whose division is correctly rounded
    wanted = Context(prec=digits, rounding=ROUND_HALF_EVEN).divide(Decimal(x.numerator), Decimal(x.denominator))
    assert Decimal(significant(x, digits)) == wanted


def test_a_wide_interval_has_no_decimal():
    assert Interval(F("0.244"), F("0.246")).decimal(2) is None
    assert Interval(F("0.2512"), F("0.2513")).decimal(2) == "0.25"


@given(rationals, st.fractions(min_value=0, max_value=1, max_denominator=10**6), st.integers(2, 20))
def test_outward_decimals_still_hold_the_interval(x, width, digits):
    low, high = outward(Interval(x, x + width), digits)
    assert F(low) <= x
    assert F(high) >= x + width


@given(st.floats(-1e30, 1e30, allow_nan=False), rationals, st.fractions(0, 1, max_denominator=10**12))
def test_error_of_contains_the_true_error(y, t, width):
    enclosure = Enclosure.of([[(t, t + width)]])
    mid, rad = enclosure.error_of(np.array([[y]]))
    for end in (t, t + width):
        assert abs(F(y) - end - F(float(mid[0, 0]))) <= F(float(rad[0, 0]))


def test_error_of_says_nothing_of_what_is_not_finite_or_not_defined():
    enclosure = Enclosure.of([[(F(0), F(1)), None, (F(0), F(0))]])
    mid, _ = enclosure.error_of(np.array([[np.nan, 1.0, np.inf]]))
    assert np.isnan(mid).all()


@pytest.mark.parametrize("t", [F(10) ** 400, F(-(10**400)), F(2) ** 1024])
def test_an_error_beyond_float64_is_said_to_be_unknown(t):
    mid, rad = Enclosure.of([[(t, t), (F(0), abs(t)), (F(1), F(1))]]).error_of(np.array([[1.0, 1.0, 1.5]]))
    assert np.isnan(mid[0, :2]).all()
    assert np.isnan(rad[0, :2]).all()
    assert abs(mid[0, 2] - 0.5) <= rad[0, 2]

"""Values over intervals contain what the expression takes inside them, and are sharp where it is monotone."""

from fractions import Fraction as F

import mpmath
from hypothesis import given
from hypothesis import strategies as st

from exactattn.numbers.enclosure import Interval
from exactattn.numbers.exact import add, cos, div, exp, log, mul, name, power, sin, sub
from exactattn.truth.boxes import Boxes, over_box

A, B = name("a"), name("b")
EXPRESSIONS = {
    "share": (div(exp(A), add(exp(A), exp(B))), lambda a, b: mpmath.exp(a) / (mpmath.exp(a) + mpmath.exp(b))),
    "product": (mul(A, sub(B, F(1))), lambda a, b: a * (b - 1)),
    "root": (power(add(mul(A, A), F(3)), F(1, 2)), lambda a, b: mpmath.sqrt(a * a + 3)),
    "log": (log(add(exp(A), F(1))), lambda a, b: mpmath.log(mpmath.exp(a) + 1)),
    "waves": (add(sin(A), cos(mul(B, A))), lambda a, b: mpmath.sin(a) + mpmath.cos(b * a)),
    "twice": (sub(A, A), lambda a, b: mpmath.mpf(0)),
}
PLACES = st.fractions(0, 1, max_denominator=50)


@given(
    st.sampled_from(sorted(EXPRESSIONS)),
    *(st.fractions(-3, 3, max_denominator=20) for _ in "ab"),
    *(st.fractions(0, 1, max_denominator=20) for _ in "ab"),
    PLACES,
    PLACES,
)
def test_every_value_inside_the_box_is_enclosed(which, a, b, wide_a, wide_b, at_a, at_b):
    # Source: mpmath at 40 digits, at a point of the box
    expression, function = EXPRESSIONS[which]
    found = over_box(expression, Boxes({"a": Interval(a, a + wide_a), "b": Interval(b, b + wide_b)}))
    with mpmath.workdps(40):
        x, y = (mpmath.mpf(p.numerator) / p.denominator for p in (a + at_a * wide_a, b + at_b * wide_b))
        value = function(x, y)
        lower, upper = (mpmath.mpf(end.numerator) / end.denominator for end in (found.lower, found.upper))
        assert lower - mpmath.mpf(10) ** -30 <= value <= upper + mpmath.mpf(10) ** -30


def test_a_monotone_value_is_as_sharp_as_its_corners():
    # e^a / (e^a + e^b) grows with a and falls with b
    found = over_box(EXPRESSIONS["share"][0], Boxes(dict.fromkeys("ab", Interval(F(0), F(1, 10)))))
    with mpmath.workdps(40):
        low = 1 / (1 + mpmath.exp(mpmath.mpf(1) / 10))
        high = 1 - low
        assert abs(float(found.lower) - float(low)) < 1e-16
        assert abs(float(found.upper) - float(high)) < 1e-16
    assert float(found.lower) != float(found.upper)


def test_a_share_of_what_is_not_known_is_a_share_also_over_rounded_scores():
    # e^a / (e^a + e^b) * u with a in [3.05, 3.15], b in [2.15, 2.25], u in [0, 1]: from 0 to 1/(1 + e^-1) = 0.731
    expression = mul(EXPRESSIONS["share"][0], name("u"))
    ends = {"a": (F(305, 100), F(315, 100)), "b": (F(215, 100), F(225, 100)), "u": (F(0), F(1))}
    found = over_box(expression, Boxes({label: Interval(*pair) for label, pair in ends.items()}))
    assert found.lower == 0
    assert abs(float(found.upper) - float(1 / (1 + mpmath.exp(-1)))) < 1e-15


def test_what_cancels_is_found_by_the_mean_value_form():
    # a (1 - a) near its top: the plain interval product is 0.16 wide, the mean value form 0.04
    expression = mul(A, sub(F(1), A))
    found = over_box(expression, Boxes({"a": Interval(F(4, 10), F(6, 10))}))
    assert found.upper - found.lower < F(5, 100)
    assert found.contains(F(1, 4))
    assert found.contains(F(24, 100))


def test_a_share_of_what_is_not_known_goes_down_to_exactly_nothing():
    found = over_box(mul(F(1, 3), name("x[...]")), Boxes({"x[...]": Interval(F(0), F(1))}))
    assert found.lower == 0
    assert abs(found.upper - F(1, 3)) < F(1, 10**30)

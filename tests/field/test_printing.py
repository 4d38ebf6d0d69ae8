"""The helper itself: digits that are cut, off by one, exchanged, missing or too many are noticed."""

from fractions import Fraction as F

import pytest
from field.answers import attend, numbers
from field.fixtures import ONE
from field.printing import PROVEN, assert_prints, assert_undefined, assert_zero, half_unit, read

from exactattn.numbers.exact import sqrt

TWO_THIRDS = numbers(F(2, 3))


@pytest.mark.parametrize(
    ("text", "digits"), [("0.66666667", 8), ("0.67", None), ("2/3", 8), ("0.6666666666667", 8), ("1", None)]
)
def test_what_is_rounded_is_right(text, digits):
    PROVEN.clear()
    assert_prints(TWO_THIRDS, text, digits)
    assert [text] == PROVEN


@pytest.mark.parametrize(
    ("text", "digits"), [("0.66666666", 8), ("0.66", None), ("0.67", 8), ("0.66666668", 8), ("667/1000", 8), ("0", 8)]
)
def test_what_is_cut_or_off_is_wrong(text, digits):
    PROVEN.clear()
    with pytest.raises(AssertionError, match=r"is printed .*: Answer\.NO"):
        assert_prints(TWO_THIRDS, text, digits)
    assert PROVEN == []


def test_what_no_enclosure_decides_is_not_proven():
    """The root of 2 lies within a few 10**-39 of its own first 40 digits, and no one knows on which side of a tie."""
    found = attend(([[1]], [[1]], [[0.1]])).context
    with pytest.raises(AssertionError, match=r"Answer\.CANNOT_TELL"):
        assert_prints(found, "0.10000000000000000555111512312578")


def test_shapes_and_order_count():
    found = numbers(F(1), F(2))
    assert_prints(found, "[1, 2]")
    assert_prints(numbers(sqrt(F(2))), "1.4142136")
    for text in ("[2, 1]", "[1]", "[1, 2, 3]", "[[1, 2], [1, 2]]"):
        with pytest.raises(AssertionError):
            assert_prints(found, text)


def test_undefined_and_zero_are_different():
    zero, nothing = (attend(ONE, key_lengths=[0], masked_row=rule).context for rule in ("zero", "undefined"))
    assert_zero(zero)
    assert_undefined(nothing)
    for wrong in (lambda: assert_zero(TWO_THIRDS), lambda: assert_undefined(zero), lambda: assert_prints(nothing, "0")):
        with pytest.raises((AssertionError, AttributeError)):
            wrong()


def test_half_units():
    (one, small, zero), _ = read("[1.0, 4.5397869e-5, 0]")
    assert half_unit(one, 8) == F(1, 2 * 10**7)
    assert half_unit(one, None) == F(1, 20)
    assert half_unit(small, 8) == half_unit(small, None) == F(1, 2 * 10**12)
    assert half_unit(zero, 8) == F(1, 2 * 10**8)

"""The unit of the last digit as each program's way of printing implies it."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.documents.forms import magnitude, with_units
from exactattn.numbers.numerals import parse_numeral


def units(rows: list[list[str]], form: str, dtype: str | None = None) -> list[list[tuple[Fraction | None, int | None]]]:
    read = [[parse_numeral(text) for text in row] for row in rows]
    return [[(n.unit, n.digits) for n in row if n is not None] for row in with_units(read, form, dtype)]


def ten(power: int) -> Fraction:
    return Fraction(10) ** power


def test_plain_keeps_what_was_printed() -> None:
    assert units([["0.5", "12", "1/3"]], "plain") == [[(ten(-1), 1), (ten(0), 2), (None, None)]]


def test_numpy_pads_a_block() -> None:
    # numpy.array([[0.5, 0.25], [1, 10]]) prints [[ 0.5   0.25] [ 1.   10.  ]]
    got = units([["0.5", "0.25"], ["1.", "10."]], "numpy")
    assert got == [[(ten(-2), 2), (ten(-2), 2)], [(ten(-2), 3), (ten(-2), 4)]]


def test_r_pads_a_column() -> None:
    # print(matrix(c(0.5, 1, 0.25, 3), 2)) in R gives the columns 0.5 1.0 and 0.25 3.00
    got = units([["0.5", "0.25"], ["1", "3"]], "r")
    assert got == [[(ten(-1), 1), (ten(-2), 2)], [(ten(-1), 2), (ten(-2), 3)]]


def test_a_spreadsheet_has_seventeen_digits() -> None:
    got = units([["0.25768992519603773", "7.652050458229058E-2", "20"]], "spreadsheet")
    assert got == [[(ten(-17), 17), (ten(-17), 16), (ten(-15), 17)]]
    single = units([["0.257689925", "20", "0"]], "spreadsheet", "float32")
    assert single == [[(ten(-9), 9), (ten(-7), 9), (ten(-9), 1)]]


def test_closed_forms_and_holes_stay() -> None:
    assert units([["0.5", "sqrt(2)"]], "numpy")[0][1] == (None, None)
    assert with_units([[None, parse_numeral("1")]], "r", None)[0][0] is None


@pytest.mark.parametrize(
    ("text", "power"), [("1", 0), ("9.99", 0), ("10", 1), ("0.1", -1), ("-0.099", -2), ("1e-4000", -4000)]
)
def test_magnitude(text: str, power: int) -> None:
    value = parse_numeral(text).value
    assert isinstance(value, Fraction)
    assert magnitude(value) == power


@given(st.fractions().filter(lambda x: x != 0))
def test_magnitude_is_a_floor_of_the_logarithm(x: Fraction) -> None:
    power = magnitude(x)
    assert ten(power) <= abs(x) < ten(power + 1)

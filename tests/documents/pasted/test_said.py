"""One number in the words and marks of its author. Expected values are written out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.documents.pasted import PastedError, read_chain, read_said
from exactattn.numbers.exact import spell

TENTH, HUNDREDTH = Fraction(1, 10), Fraction(1, 100)


@pytest.mark.parametrize(
    ("text", "value", "unit", "digits", "mark"),
    [
        ("≈ 0.33", Fraction(33, 100), HUNDREDTH, 2, "~"),
        ("~0.33", Fraction(33, 100), HUNDREDTH, 2, "~"),
        ("= 0.30", Fraction(3, 10), HUNDREDTH, 2, "="),
        (r"\approx 0.33", Fraction(33, 100), HUNDREDTH, 2, "~"),
        (r"\le 2.5", Fraction(5, 2), TENTH, 2, "<="),
        ("> 7", Fraction(7), Fraction(1), 1, ">"),
        ("about 150", Fraction(150), Fraction(10), 2, "~"),
        ("about 617", Fraction(617), Fraction(1), 3, "~"),
        ("600", Fraction(600), Fraction(1), 3, "="),
        ("around 600 million", Fraction(600_000_000), Fraction(100_000_000), 1, "~"),
        ("600 million", Fraction(600_000_000), Fraction(1_000_000), 3, "="),
        ("just under 58 billion", Fraction(58_000_000_000), Fraction(10**9), 2, "<"),
        ("1.5 million or so", Fraction(1_500_000), Fraction(100_000), 2, "~"),
        ("约为0.33", Fraction(33, 100), HUNDREDTH, 2, "~"),
        ("約0.33", Fraction(33, 100), HUNDREDTH, 2, "~"),
        ("0.33。", Fraction(33, 100), HUNDREDTH, 2, "="),
        ("大约 40", Fraction(40), Fraction(10), 1, "~"),
        ("4亿左右", Fraction(400_000_000), Fraction(100_000_000), 1, "~"),
        ("etwa 0,4", Fraction(2, 5), TENTH, 1, "~"),
        ("knapp 1,5 Milliarden", Fraction(1_500_000_000), Fraction(10**8), 2, "<"),
        ("28.4 %", Fraction(284, 1000), Fraction(1, 1000), 3, "="),
        ("50 per cent", Fraction(1, 2), HUNDREDTH, 2, "="),
        ("about 50 percent", Fraction(1, 2), TENTH, 1, "~"),
        ("about 12.50 %", Fraction(1, 8), Fraction(1, 10_000), 4, "~"),
        (r"28.4\%", Fraction(284, 1000), Fraction(1, 1000), 3, "="),
        ("128k", Fraction(128_000), Fraction(1000), 3, "="),
        ("2 GiB", Fraction(2 * 2**30), Fraction(2**30), 1, "="),
        ("39.06 GB", Fraction(39_060_000_000), Fraction(10**7), 4, "="),
        ("512 KiB", Fraction(512 * 1024), Fraction(1024), 3, "="),
        ("1e-5", Fraction(1, 100_000), Fraction(1, 100_000), 1, "="),
        ("6.02 × 10^{23}", Fraction(602 * 10**21), Fraction(10**21), 3, "="),
        ("1,234,567", Fraction(1_234_567), Fraction(1), 7, "="),
        ("1.234.567", Fraction(1_234_567), Fraction(1), 7, "="),
        ("1 234 567", Fraction(1_234_567), Fraction(1), 7, "="),
        (r"1\,234\,567", Fraction(1_234_567), Fraction(1), 7, "="),
        ("about 12,288", Fraction(12_288), Fraction(1), 5, "~"),
        ("1.234,5", Fraction(12_345, 10), TENTH, 5, "="),
        ("1,234.5", Fraction(12_345, 10), TENTH, 5, "="),
        (".84", Fraction(84, 100), HUNDREDTH, 2, "="),
        ("−.5", Fraction(-1, 2), TENTH, 1, "="),
        ("－０．４０", Fraction(-2, 5), HUNDREDTH, 2, "="),
        ("1.66082 (5 decimals)", Fraction(166_082, 100_000), Fraction(1, 10**5), 6, "="),
        ("1.5 (保留四位小数)", Fraction(3, 2), Fraction(1, 10**4), 5, "="),
        (r"\boxed{0.4011}", Fraction(4011, 10_000), Fraction(1, 10**4), 4, "="),
        (r"$\mathbf{0.40}$", Fraction(2, 5), HUNDREDTH, 2, "="),
    ],
)
def test_a_number_as_it_is_stated(text: str, value: Fraction, unit: Fraction, digits: int, mark: str) -> None:
    said = read_said(text)
    assert (said.numeral.value, said.numeral.unit, said.numeral.digits, said.mark) == (value, unit, digits, mark)


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("1/3", "1/3"),
        (r"\frac{1}{3}", "1/3"),
        (r"-\tfrac13", "-1/3"),
        (r"e^{1/\sqrt{2}}", "exp(1/sqrt(2))"),
        ("e^{1/√2}", "exp(1/sqrt(2))"),
        (r"\dfrac{1}{\sqrt{2}}", "1/sqrt(2)"),
        (r"\exp\left(-1\right)", "exp(-1)"),
        ("10⁻³", "1/1000"),
        (r"2\sqrt{3}", "2*sqrt(3)"),
        (r"\frac{1}{2\sqrt{2}}", "1/(2*sqrt(2))"),
        (r"\frac{e}{e+2}", "exp(1)/(exp(1)+2)"),
        (r"\sqrt[3]{2}", "2**(1/3)"),
        (r"0.4 \cdot 10 + 0.2 \times 5", "5"),
    ],
)
def test_closed_forms_are_exact(text: str, closed: str) -> None:
    from exactattn.numbers.numerals import parse_exact

    said = read_said(text)
    assert said.numeral.value == parse_exact(closed) or spell(said.numeral.value) == spell(parse_exact(closed))
    assert said.numeral.unit is None


def test_fractions_keep_their_form() -> None:
    assert read_said(r"\frac{27}{78}").numeral.form == "fraction"
    assert read_said("28.4%").numeral.form == "percent"


@pytest.mark.parametrize("text", ["0.4011...", "0.4011…", r"0.4011\ldots", "≈ 0.4011…"])
def test_more_digits_are_announced(text: str) -> None:
    said = read_said(text)
    assert said.truncated
    assert said.numeral.value == Fraction(4011, 10_000)


def test_words_are_kept() -> None:
    said = read_said("just under 58 billion parameters")
    assert (said.scale_word, said.unit_word, said.approximate) == ("billion", "parameters", True)
    assert read_said("39.06 GB").unit_word == "GB"


def test_a_comma_with_two_readings_is_an_error_that_names_both() -> None:
    with pytest.raises(
        PastedError, match=r"'1,234': 1234 with a decimal point, 1.234 with a decimal comma.*decimal: comma"
    ):
        read_said("1,234")
    assert read_said("1,234", decimal="comma").numeral.value == Fraction(1234, 1000)
    assert read_said("1,234", decimal="point").numeral.value == 1234


@pytest.mark.parametrize(
    ("text", "column", "part"),
    [
        ("", 1, "found nothing"),
        ("a third", 1, "wanted a number"),
        ("7B", 2, "billion, or bytes"),
        ("0.33 0.5", 6, "found '0.5'"),
        (r"0.5 \foo", 5, r"LaTeX command '\\\\foo'"),
        (r"\frac{1}", 8, "an argument is wanted"),
        (r"\frac{1", 6, "without its"),
        ("12,34,56", 1, "neither with a decimal point nor with a decimal comma"),
        ("1.66 (1 decimals)", 1, "more digits than the 1 decimals"),
        ("< > 5", 1, "two marks"),
        ("1/2√2", 4, "a root behind a quotient"),
        ("0.40–0.45", 1, "found a range"),
        ("about 10-20", 7, "wanted one number"),
        ("~" * 30 + "5", 9, "more than 8 words and marks"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, column: int, part: str) -> None:
    with pytest.raises(PastedError, match=part) as caught:
        read_said(text)
    assert (caught.value.line, caught.value.column) == (1, column)


def test_every_link_of_a_chain_has_its_mark() -> None:
    chain = read_chain(r"0.36/1.44 = 0.250 \approx 25.0\%")
    assert [(said.mark, said.numeral.value, said.numeral.unit) for said in chain] == [
        ("=", Fraction(1, 4), None),
        ("=", Fraction(1, 4), Fraction(1, 1000)),
        ("~", Fraction(1, 4), Fraction(1, 1000)),
    ]


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**6), max_value=10**6))
def test_decimals_come_back_in_every_spelling(number) -> None:
    text = f"{number:f}"
    said = read_said(text)
    assert said.numeral.value == Fraction(text)
    assert said.numeral.unit == Fraction(1, 10**4)
    comma = f"{number:,f}".replace(",", " ").replace(".", ",")
    assert read_said(comma).numeral.value == Fraction(text) or "," not in comma
    assert read_said(f"{number:,f}", decimal="point").numeral.value == Fraction(text)
    assert read_said("≈ " + text.replace("-", "−")).numeral.value == Fraction(text)


@given(st.integers(min_value=1, max_value=10**12))
def test_an_approximate_integer_ends_in_its_last_digit_that_is_not_zero(number: int) -> None:
    unit = read_said(f"about {number}").numeral.unit
    assert unit is not None
    assert number % unit == 0
    assert (number // unit) % 10 != 0

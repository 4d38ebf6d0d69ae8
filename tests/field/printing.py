"""Printed numbers held against proven ones."""

from __future__ import annotations

import re
from fractions import Fraction

from exactattn.numbers.enclosure import Answer
from exactattn.numbers.numerals import parse_numeral

DIGITS = 8  # significant digits that the cases are printed with; zeros at the end were left out
CLOSE = Fraction(1, 10**12)  # how near a printed fraction must be
UNDERFLOW = Fraction(1, 10**300)
PROVEN: list[str] = []  # what the functions below have proven since somebody emptied it, for the table of the cases


def assert_prints(found, text, digits=DIGITS):
    """The numbers as printed, by every engine: |true - printed| is proven to be at most half a unit of the last digit.

    The last digit is that of so many significant ones where fewer are printed, as zeros at the end were left out;
    with `digits` None the last one printed. Text of a list has the shape of the array but for axes of length 1.
    """
    printed, shape = read(text)
    for array in found.arrays:
        assert tuple(n for n in array.shape if n != 1) == tuple(n for n in shape if n != 1), (array.shape, text)
        for t, numeral in zip(array.ravel(), printed, strict=True):
            assert t is not None, f"undefined, printed {numeral.text}"
            answer = t.within(numeral.value, half_unit(numeral, digits))
            assert answer is Answer.YES, f"{t.decimal(12)} is printed {numeral.text}: {answer}"
    PROVEN.append(text)


def assert_undefined(found):
    """There is no real number anywhere, by every engine."""
    for array in found.arrays:
        assert all(t is None for t in array.ravel())
    PROVEN.append("undefined")


def assert_zero(found):
    """Every number is 0 exactly, by balls; the bounds in float64 leave room for an underflow."""
    for array in found.arrays:
        assert all(t.within(Fraction(0), UNDERFLOW) is Answer.YES for t in array.ravel())
    assert all(t.equals(Fraction(0)) is Answer.YES for t in found.arrays[-1].ravel())
    PROVEN.append("exactly 0")


def assert_empty(make, rows, mean):
    """Rows with no key: undefined, zero, or the mean of the values, as the rule says; without lse under each rule."""
    ruled = {rule: make(masked_row=rule) for rule in ("undefined", "zero", "uniform")}
    assert_undefined(ruled["undefined"].context[rows])
    assert_zero(ruled["zero"].context[rows])
    assert_prints(ruled["uniform"].context[rows], mean)
    for found in ruled.values():
        assert_undefined(found.lse[rows])


def half_unit(numeral, digits):
    """Half a unit of the last digit of a printed number."""
    if numeral.unit is None:
        return CLOSE
    if digits is None:
        return numeral.unit / 2
    top = Fraction(1)
    size = abs(numeral.value)
    while size and size >= 10 * top:
        top *= 10
    while size and size < top:
        top /= 10
    return min(numeral.unit, top / 10 ** (digits - 1 if size else digits)) / 2


def read(text):
    """The numbers of a printed list, row by row, and its shape."""
    numerals = [parse_numeral(part) for part in re.split(r"[\[\],]", text) if part.strip()]
    depth = len(text) - len(text.lstrip("["))
    rows = text.count("]") - 1 if depth == 2 else 1
    assert len(numerals) % rows == 0
    assert depth < 2 or len(set(map(len, (row.split(",") for row in text[2:-2].split("], ["))))) == 1
    return numerals, (rows, len(numerals) // rows)

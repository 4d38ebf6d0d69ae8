"""How programs print: which unit the last digit of a number in a block stands for.

`plain` keeps every digit. NumPy pads a whole block to its finest digit and then trims the zeros, R does so in a
column; a spreadsheet shows up to 17 significant digits (9 from single precision) and trims zeros.
Source: DESIGN section 5, `How a printed number is judged`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor, log10

from exactattn.numbers.numerals import Numeral

SPREADSHEET_DIGITS = {"float64": 17, "float32": 9}


def with_units(block: Sequence[Sequence[Numeral | None]], form: str, dtype: str | None) -> list[list[Numeral | None]]:
    """The numerals with the unit and number of digits that their form implies; None stays None."""
    if form == "plain":
        return [list(row) for row in block]
    finest = _finest([numeral for row in block for numeral in row])
    out = []
    for row in block:
        new: list[Numeral | None] = []
        for column, numeral in enumerate(row):
            unit = finest
            if form == "r":
                unit = _finest([other[column] for other in block if column < len(other)])
            elif form == "spreadsheet" and unit is not None and numeral is not None:
                unit = max(unit, _unit_of_digit(numeral, SPREADSHEET_DIGITS[dtype or "float64"]))
            new.append(numeral if numeral is None or unit is None or numeral.unit is None else with_unit(numeral, unit))
        out.append(new)
    return out


def with_unit(numeral: Numeral, unit: Fraction) -> Numeral:
    """The numeral with another unit of its last digit, and its significant digits down to that."""
    if not isinstance(numeral.value, Fraction):
        return replace(numeral, unit=unit, digits=None)
    places = 0 if numeral.value == 0 else magnitude(numeral.value) - magnitude(unit)
    return replace(numeral, unit=unit, digits=max(places + 1, 1))


def magnitude(x: Fraction) -> int:
    """The power of ten of the first digit: floor(log10 abs(x)), for x != 0."""
    size = abs(x)
    power = floor((size.numerator.bit_length() - size.denominator.bit_length()) * log10(2))  # off by one or two
    while Fraction(10) ** (power + 1) <= size:
        power += 1
    while Fraction(10) ** power > size:
        power -= 1
    return power


def _finest(numerals: Sequence[Numeral | None]) -> Fraction | None:
    return min((n.unit for n in numerals if n is not None and n.unit is not None), default=None)


def _unit_of_digit(numeral: Numeral, digit: int) -> Fraction:
    """The unit of the n-th significant digit of a number; of zero, nothing limits it."""
    if not isinstance(numeral.value, Fraction) or numeral.value == 0:
        return Fraction(0)
    return Fraction(10) ** (magnitude(numeral.value) - digit + 1)

"""Numbers that a claim states, compared with proven enclosures of what they should be.

A decimal or a percentage is right when it is the true value correctly rounded to its last digit; a whole number, a
fraction and a closed form only when it is the true value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from exactattn.errors import NumeralError, UsageError
from exactattn.laws.formulas import shown
from exactattn.laws.proof import Proof
from exactattn.numbers.balls import FIRST_BITS, TooCoarse, enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact, names_in
from exactattn.numbers.expressions import parse_expression
from exactattn.numbers.folding import NO_NAMES, Array, evaluate_array
from exactattn.numbers.numerals import parse_numeral
from exactattn.numbers.tokens import Numeral, shorten

MOST_NUMBERS = 10_000
MOST_WHOLE = 10**15
DIGITS = 12  # of a true value that is shown
BITS = (FIRST_BITS, 512, 2048)  # tried one after the other

Enclose = Callable[[int], Interval]


def number(options: Mapping[str, str], option: str) -> Numeral:
    """The number that an option states, as printed. Errors: NumeralError with the place."""
    return parse_numeral(str(options[option]))


def rational(options: Mapping[str, str], option: str, default: str | None = None) -> Fraction:
    """The rational number that an option states. Errors: UsageError when there is none; NumeralError."""
    text = options.get(option, default)
    if text is None:
        raise UsageError(f"this claim needs `{option}`, and it is not given")
    value = parse_numeral(str(text)).value
    if not isinstance(value, Fraction):
        raise UsageError(f"found {option} {str(text)[:60]!r}, wanted a rational number")
    return value


def whole(options: Mapping[str, str], option: str, least: int = 1, most: int = MOST_WHOLE) -> int:
    """The whole number that an option states. Errors: UsageError when there is none, or it is out of bounds."""
    value = rational(options, option)
    if value.denominator != 1 or not least <= value <= most:
        raise UsageError(f"found {option} {str(options[option])[:60]!r}, wanted a whole number from {least} to {most}")
    return int(value)


def listed(options: Mapping[str, str], option: str) -> list[Exact]:
    """The numbers of a list or of rows of numbers, row by row. Errors: UsageError, NumeralError."""

    def no_name(label: str, indices: object) -> Array:  # noqa: ARG001 - a list of numbers has no names
        raise NumeralError(f"unknown name {label[:60]!r}, wanted numbers")

    found = _flat(evaluate_array(parse_expression(str(options[option])), NO_NAMES, no_name))
    if not 1 <= len(found) <= MOST_NUMBERS:
        raise UsageError(f"found {len(found)} numbers in {option}, wanted 1 to {MOST_NUMBERS}")
    return found


def _flat(array: Array) -> list[Exact]:
    return [x for item in array for x in _flat(item)] if isinstance(array, tuple) else [] if array is None else [array]


def closed(x: Exact) -> Enclose:
    """The enclosures of a closed number."""
    assert not names_in(x)
    return lambda bits: enclose(x, bits)


def agrees(stated: Numeral, true: Enclose) -> Answer:
    """Is a stated number the true value, to the digits that it has? Decided by enclosures of more and more bits."""
    for bits in BITS:
        found = seen(true, bits)
        if found is None:
            continue
        if stated.form in ("decimal", "percent") and stated.unit is not None and isinstance(stated.value, Fraction):
            answer = found.within(stated.value, stated.unit / 2)
        elif isinstance(stated.value, Fraction):
            answer = found.equals(stated.value)
        else:
            answer = found.disjoint(enclose(stated.value, bits)).negated
        if answer is not Answer.CANNOT_TELL:
            return answer
    return Answer.CANNOT_TELL


def compare_number(proof: Proof, what: str, stated: Numeral, true: Enclose, by: str) -> str | None:
    """Adds the step that a stated number is the true value, and says what is true where it is not."""
    answer = agrees(stated, true)
    proof.add(f"{what} is {shorten(stated.text)}", by, answer)
    return f"it is {told(true)}, not {shorten(stated.text)}" if answer is Answer.NO else None


def seen(true: Enclose, bits: int) -> Interval | None:
    """An enclosure with finite ends, or None where so many bits give none."""
    try:
        return true(bits)
    except TooCoarse:
        return None


def told(true: Enclose) -> str:
    """A true value in decimals, with as many bits as its digits need."""
    for bits in BITS:
        found = seen(true, bits)
        if found is not None and (found.lower == found.upper or found.decimal(DIGITS) is not None):
            return shown(found, DIGITS)
    return "a number whose digits cannot be told"

"""What a call hands its function, read by name: integers, doubles, yes and no, sizes.

A number becomes the double that the tool itself makes of the text, correctly rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exactattn.errors import NumeralError, close
from exactattn.generators.calls import Argument, Call, Number, Sequence, Value, Word
from exactattn.numbers.tokens import shorten

MAX_NUMBERS = 20_000  # numbers of one draw, all calls together
MAX_AXES = 8
LARGEST = 10**300  # of a double in a call: no draw from it leaves the doubles


@dataclass(frozen=True)
class Language:
    """How a tool hands over arguments.

    `keywords_first`: keywords take their names, then the other values fill what is left, in any order (R); else
    values come before keywords (Python). `whole_doubles`: 1e2 and 3.0 are integers where one is wanted.
    """

    flags: Mapping[str, bool]
    nothing: str
    keywords_first: bool
    whole_doubles: bool


PYTHON = Language({"True": True, "False": False}, "None", keywords_first=False, whole_doubles=False)
R = Language({"TRUE": True, "T": True, "FALSE": False, "F": False}, "NULL", keywords_first=True, whole_doubles=True)


class Arguments:
    """The arguments of a call under the names that the function gives them."""

    def __init__(self, call: Call, names: str, language: Language) -> None:
        self.call = call
        self.language = language
        self.values = _bound(call, names.split(), language)

    def has(self, name: str) -> bool:
        """Is it given, and not None?"""
        value = self.values.get(name)
        return value is not None and not (isinstance(value, Word) and value.text == self.language.nothing)

    def value(self, name: str) -> Value:
        """What was given. Errors: NumeralError when nothing was."""
        if not self.has(name):
            place = self.values[name].offset if name in self.values else self.call.offset
            raise NumeralError(f"{shorten(self.call.function)} needs {name!r}", place)
        return self.values[name]

    def integer(self, name: str, low: int, high: int) -> int:
        """An integer from low to high. Errors: NumeralError."""
        return integer(self.value(name), name, low, high, self.language)

    def real(self, name: str, default: float) -> float:
        """The double of a number, or the default. Errors: NumeralError."""
        if not self.has(name):
            return default
        value = self.value(name)
        if not isinstance(value, Number) or abs(value.value) > LARGEST:
            raise NumeralError(f"wanted one number as {name!r}, at most 1e300 in size", value.offset)
        return float(value.value)

    def flag(self, name: str, default: bool) -> bool:
        """Yes or no, or the default. Errors: NumeralError."""
        if not self.has(name):
            return default
        value = self.value(name)
        if not isinstance(value, Word) or value.text not in self.language.flags:
            raise NumeralError(f"wanted one of {', '.join(self.language.flags)} as {name!r}", value.offset)
        return self.language.flags[value.text]

    def size(self, name: str = "size") -> tuple[int, ...] | None:
        """The shape of an array, None for a single number. Errors: NumeralError."""
        return shape(self.value(name), name) if self.has(name) else None


def _bound(call: Call, names: list[str], language: Language) -> dict[str, Value]:
    """Each value under its name. Errors: NumeralError for an unknown name, a name given twice, a value too many."""
    keywords: dict[str, Value] = {}
    positional: list[Argument] = []
    for argument in call.arguments:
        if argument.keyword is None:
            if keywords and not language.keywords_first:
                raise NumeralError("found a value after a keyword; values come first", argument.offset)
            positional.append(argument)
        elif argument.keyword not in names:
            raise NumeralError(_unknown(call, argument.keyword, names), argument.offset)
        elif argument.keyword in keywords:
            raise NumeralError(f"{argument.keyword!r} is given twice", argument.offset)
        else:
            keywords[argument.keyword] = argument.value
    open_names = [name for name in names if name not in keywords] if language.keywords_first else names
    if len(positional) > len(open_names):
        raise NumeralError(
            f"{shorten(call.function)} takes at most {len(names)} values: {', '.join(names)}",
            positional[len(open_names)].offset,
        )
    placed = {name: argument.value for name, argument in zip(open_names, positional, strict=False)}
    for name in placed.keys() & keywords.keys():
        raise NumeralError(f"{name!r} is given twice", keywords[name].offset)
    return placed | keywords


def _unknown(call: Call, keyword: str, names: list[str]) -> str:
    return f"{shorten(call.function)} has no {shorten(keyword)!r} that is read here{close(keyword[:60], names)}"


def integer(value: Value, what: str, low: int, high: int, language: Language = PYTHON) -> int:
    """An integer from low to high. Errors: NumeralError with the place."""
    whole = isinstance(value, Number) and (value.whole or (language.whole_doubles and value.value.denominator == 1))
    if not isinstance(value, Number) or not whole:
        raise NumeralError(f"wanted an integer as {what!r}", value.offset)
    if not low <= value.value <= high:
        raise NumeralError(f"wanted an integer from {low} to {high} as {what!r}", value.offset)
    return int(value.value)


def shape(value: Value, what: str = "size") -> tuple[int, ...]:
    """An integer or a tuple of integers, each at least 1. Errors: NumeralError with the place."""
    if not isinstance(value, Sequence):
        return (integer(value, what, 1, MAX_NUMBERS),)
    if not 1 <= len(value.items) <= MAX_AXES:
        raise NumeralError(f"wanted 1 to {MAX_AXES} axes as {what!r}, found {len(value.items)}", value.offset)
    return tuple(integer(item, what, 1, MAX_NUMBERS) for item in value.items)


def dimensions(call: Call) -> tuple[int, ...] | None:
    """The shape of rand(3, 4), its axes one by one; None for rand(). Errors: NumeralError."""
    for argument in call.arguments:
        if argument.keyword is not None:
            raise NumeralError(f"{shorten(call.function)} takes the axes only, such as (3, 4)", argument.offset)
    if len(call.arguments) > MAX_AXES:
        raise NumeralError(f"wanted at most {MAX_AXES} axes", call.arguments[MAX_AXES].offset)
    return tuple(integer(a.value, "axis", 1, MAX_NUMBERS) for a in call.arguments) or None

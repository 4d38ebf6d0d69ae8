"""Text -> tokens, and one printed number -> its exact value and how many digits were printed.

The ground of `expressions` and `numerals`. A decimal goes through integers only, never through a float. The
caps below are checked before the work they bound.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from exactattn.errors import NumeralError
from exactattn.numbers.exact import Exact

MAX_TEXT = 10_000  # characters of one scalar or one statement
MAX_TOKENS = 2_000  # tokens of one text; every node of the tree takes at least one
MAX_DIGITS = 2_000  # digits of one printed number
MAX_DECIMAL_EXPONENT = 4_000  # |e| of one printed number
SHOWN = 60  # characters of the user's text, or names, that a message repeats

Form = Literal["integer", "decimal", "percent", "fraction", "closed"]
Kind = Literal["number", "name", "relation", "operator", "end"]


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as printed.

    `unit` is the unit of the last printed digit: 1/100 for `0.40`, 1/1000 for `28.4%`, 1 for `12`. `digits`
    counts the printed digits from the first that is not 0 (`0.0030` and `30` have two); a zero has one.
    Both are None where no digits were printed: fractions, products and other closed forms.
    """

    text: str
    value: Exact
    unit: Fraction | None
    digits: int | None
    form: Form


@dataclass(frozen=True, slots=True)
class Token:
    """One word of the language, as written, and its place in the text."""

    kind: Kind
    text: str
    offset: int


# Minus, times and full-width signs; one character for one, so that places stay where they were.
_FULL_WIDTH = "\uff05\uff08\uff09\uff0c\uff1a\uff1d\uff0b\uff1c\uff1e\uff3b\uff3d"
_SAME = str.maketrans("\u2212\u00d7\u00b7\u22c5" + _FULL_WIDTH, "-***%(),:=+<>[]")
_NUMBER = re.compile(r"([0-9]*)(\.?)([0-9]*)(?:e([+-]?)([0-9]+))?\s*(%?)", re.I)
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?(?:\s*%)?)
    | (?P<not_finite>(?:[.\\]|['"][-+]?)?(?:[qs]?nan|inf(?:inity|ty)?)(?!\w)
        | \#(?:[qs]?nan|inf|ind)[0-9]* | ∞)
    | (?P<name>[^\W\d]\w*)
    | (?P<relation>==|<=|>=|!=|[=<>~≈≤≥≠])
    | (?P<operator>\*\*|[-+*/^()\[\],:√])""",
    re.VERBOSE | re.IGNORECASE,
)


def shorten(text: str) -> str:
    """Text of the user, fit for a message: at most `SHOWN` characters, none of them a control character."""
    head = text if len(text) <= SHOWN else text[: SHOWN - 3]
    clean = "".join(c if c.isprintable() else "?" for c in head)
    return clean if len(text) <= SHOWN else clean + "..."


def suggestion(word: str, known: Iterable[str]) -> str:
    """The tail of a message about an unknown word: the nearest known one, and all of them."""
    names = sorted(known)
    if not names:
        return "no names are known here"
    near = difflib.get_close_matches(word[:SHOWN], names, 1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    more = ", ..." if len(names) > SHOWN else ""
    return f"{guess}known: {', '.join(names[:SHOWN])}{more}"


def tokenize(text: str) -> list[Token]:
    """The tokens of a text, the last of kind `end`."""
    if len(text) > MAX_TEXT:
        raise NumeralError(
            f"found a text of {len(text)} characters, at most {MAX_TEXT} are read; split it into several",
            MAX_TEXT,
        )
    same = text.translate(_SAME)
    tokens: list[Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(same, place)
        kind = _kind(match, text, place)
        assert match is not None
        end = match.end()
        if kind is not None:
            if len(tokens) == MAX_TOKENS:
                raise NumeralError(f"more than {MAX_TOKENS} numbers, names and signs; split the text", place)
            tokens.append(Token(kind, text[place:end] if kind == "number" else match.group(), place))
        place = end
    return [*tokens, Token("end", "", len(text))]


def _kind(match: re.Match[str] | None, text: str, place: int) -> Kind | None:
    """The kind of a match, None for space; refuses what is not in the language."""
    found = None if match is None else match.lastgroup
    if match is not None and found == "not_finite":
        raise NumeralError(
            f"found {shorten(match.group())!r}, but an exact, finite number is wanted; "
            "positions that are not attended to are given with `mask:`",
            place,
        )
    if match is None or (found == "name" and not match.group().isidentifier()):
        raise NumeralError(
            f"found {shorten(text[place])!r}, which is not part of the language; wanted numbers, names, "
            "+ - * / ** ( ) [ ] and relations",
            place,
        )
    kinds: dict[str | None, Kind] = {
        "number": "number",
        "name": "name",
        "relation": "relation",
        "operator": "operator",
    }
    return kinds.get(found)


def read_literal(text: str, offset: int = 0) -> Numeral:
    """An unsigned integer, decimal or percentage, as the tokenizer cut it out.

    Exact value: the digits as one integer times a power of ten.
    """
    match = _NUMBER.fullmatch(text.translate(_SAME))
    assert match is not None, text
    whole, point, decimals, sign, exponent, percent = match.groups()
    digits = whole + decimals
    if len(digits) > MAX_DIGITS:
        raise NumeralError(f"found a number of {len(digits)} digits, at most {MAX_DIGITS} are read; shorten it", offset)
    size = (exponent or "").lstrip("0")
    if len(size) > len(str(MAX_DECIMAL_EXPONENT)) or int(size or 0) > MAX_DECIMAL_EXPONENT:
        raise NumeralError(
            f"found the number {shorten(text)!r} with a decimal exponent beyond {MAX_DECIMAL_EXPONENT}; "
            "give the problem in another unit",
            offset,
        )
    shift = (-int(size or 0) if sign == "-" else int(size or 0)) - len(decimals) - (2 if percent else 0)
    unit = Fraction(10**shift) if shift >= 0 else Fraction(1, 10**-shift)
    form: Form = "percent" if percent else "decimal" if point or exponent else "integer"
    return Numeral(text, int(digits) * unit, unit, max(1, len(digits.lstrip("0"))), form)

"""The calls of a generator as people write them: text -> a small tree. Nothing is ever run as code.

    call     = NAME "(" [argument ("," argument)* [","]] ")"
    argument = [NAME "="] value
    value    = ["-"] NUMBER [":" ["-"] NUMBER] | NAME | call | "(" list ")" | "[" list "]"
    list     = [value ("," value)* [","]]

A name may have dots (`np.random.rand`), a number R's `L`. `(3)` is 3 and `(3,)` a sequence of one, as in Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, cast

from exactattn.errors import NumeralError
from exactattn.numbers.tokens import read_literal, shorten

MAX_TEXT = 2_000  # characters of one call
MAX_DEPTH = 10  # brackets and calls inside each other

Kind = Literal["space", "number", "name", "sign", "end"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written; `whole` when it is written as an integer."""

    value: Fraction
    whole: bool
    offset: int


@dataclass(frozen=True, slots=True)
class Word:
    """A name that stands alone, such as TRUE."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Span:
    """R's `first:last`, both ends included."""

    first: int
    last: int
    offset: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """A tuple or a list."""

    items: tuple[Value, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Argument:
    """A value handed to a function, with its keyword if it has one."""

    keyword: str | None
    value: Value
    offset: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function and what it is handed."""

    function: str
    arguments: tuple[Argument, ...]
    offset: int


Value: TypeAlias = Number | Word | Span | Sequence | Call

_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+L?+(?![\w.]))"
    r"|(?P<name>[A-Za-z_][\w.]*)"
    r"|(?P<sign>[-(),=:\[\]])"
)


@dataclass(frozen=True, slots=True)
class Token:
    """One word or sign, and its place in the text."""

    kind: Kind
    text: str
    offset: int


def parse(text: str) -> Call:
    """The tree of one call. Errors: NumeralError with the place."""
    parser = _Parser(text)
    call = parser.value(0)
    if parser.now.kind != "end":
        hint = "; give the call alone, one call a text"
        raise _unexpected(parser.now, "the end", hint)
    if not isinstance(call, Call):
        raise NumeralError("wanted a call, a name followed by '(', such as randn(3, 4)", call.offset)
    return call


def _tokenize(text: str) -> list[Token]:
    """The tokens without the space, the last of kind `end`."""
    if len(text) > MAX_TEXT:
        raise NumeralError(f"found a call of {len(text)} characters, at most {MAX_TEXT} are read", MAX_TEXT)
    tokens: list[Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise NumeralError(
                f"found {shorten(text[place:])!r}, which is not part of a call; wanted names, numbers, keywords with "
                "'=', tuples and lists, one call alone",
                place,
            )
        if match.lastgroup != "space":
            tokens.append(Token(cast(Kind, match.lastgroup), match.group(), place))
        place = match.end()
    return [*tokens, Token("end", "", len(text))]


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokenize(text)
        self.place = 0

    @property
    def now(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.now
        self.place += token.kind != "end"
        return token

    def at(self, sign: str) -> bool:
        return self.now.kind == "sign" and self.now.text == sign

    def value(self, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise NumeralError(f"brackets are nested more than {MAX_DEPTH} deep", self.now.offset)
        if self.now.kind == "number" or self.at("-"):
            return self._number()
        token = self.take()
        if token.kind == "name":
            return self._call(token, depth) if self.at("(") else Word(token.text, token.offset)
        if token.kind == "sign" and token.text in ("(", "["):
            return self._sequence(token, depth)
        raise _unexpected(token, "a number, a name, '(' or '['")

    def _number(self) -> Number | Span:
        first = self._signed()
        if not self.at(":"):
            return first
        self.take()
        last = self._signed()
        if not (first.whole and last.whole):
            raise NumeralError("wanted integers on both sides of ':'", first.offset)
        return Span(int(first.value), int(last.value), first.offset)

    def _signed(self) -> Number:
        start = self.now.offset
        negative = self.at("-")
        if negative:
            self.take()
        token = self.take()
        if token.kind != "number":
            raise _unexpected(token, "a number")
        numeral = read_literal(token.text.removesuffix("L"), token.offset)
        value = cast(Fraction, numeral.value)
        return Number(-value if negative else value, numeral.form == "integer", start)

    def _sequence(self, opening: Token, depth: int) -> Value:
        closing = ")" if opening.text == "(" else "]"
        items: list[Value] = []
        comma = False
        while not self.at(closing):
            items.append(self.value(depth + 1))
            comma = self._comma(closing)
        self.take()
        alone = opening.text == "(" and len(items) == 1 and not comma
        return items[0] if alone else Sequence(tuple(items), opening.offset)

    def _call(self, name: Token, depth: int) -> Call:
        self.take()
        arguments: list[Argument] = []
        while not self.at(")"):
            start = self.now
            keyword = self._keyword()
            arguments.append(Argument(keyword, self.value(depth + 1), start.offset))
            self._comma(")")
        self.take()
        return Call(name.text, tuple(arguments), name.offset)

    def _keyword(self) -> str | None:
        following = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        if self.now.kind != "name" or (following.kind, following.text) != ("sign", "="):
            return None
        name = self.take().text
        self.take()
        return name

    def _comma(self, closing: str) -> bool:
        """Takes a comma, or stands at the closing bracket."""
        if self.at(","):
            self.take()
            return True
        if not self.at(closing):
            raise _unexpected(self.now, f"',' or {closing!r}")
        return False


def _unexpected(token: Token, wanted: str, hint: str = "") -> NumeralError:
    found = "the end of the text" if token.kind == "end" else repr(shorten(token.text))
    return NumeralError(f"found {found}, wanted {wanted}{hint}", token.offset)

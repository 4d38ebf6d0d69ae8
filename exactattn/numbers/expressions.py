"""The language of claims: text -> a small tree.

    statement  = expression (RELATION expression)+
    expression = product (("+" | "-") product)*
    product    = signed (("*" | "/") signed)*
    signed     = ("-" | "+") signed | power
    power      = primary [("**" | "^") signed]
    primary    = NUMBER | NAME | NAME "(" list ")" | NAME "[" index ("," index)* "]"
               | "(" expression ")" | "[" list "]" | "√" primary
    list       = expression ("," expression)*
    index      = INTEGER | ":"

Precedence is Python's. Nothing is computed here: `folding` gives the trees their values. No code is ever run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias, TypeVar, cast

from exactattn.errors import NumeralError
from exactattn.numbers.tokens import Numeral, Token, read_literal, shorten, tokenize

MAX_DEPTH = 50  # brackets, signs and powers inside each other
MAX_HEIGHT = 128  # operations above each other, so terms of a sum too: readers of the tree recurse

Relation = Literal["=", "!=", "<", "<=", ">", ">=", "~"]
Operator = Literal["+", "-", "*", "/", "**"]


class Slice(Enum):
    """An index that stands for a whole axis."""

    ALL = ":"


Index: TypeAlias = int | Slice


@dataclass(frozen=True, slots=True)
class Number:
    """A number as printed."""

    numeral: Numeral
    offset: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A name without index."""

    label: str
    offset: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """A name with indices, counted from 0; fewer indices than axes mean a row, a matrix."""

    label: str
    indices: tuple[Index, ...]
    offset: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function by name; `√x` is `sqrt`."""

    function: str
    args: tuple[Node, ...]
    offset: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """A sign."""

    op: Literal["+", "-"]
    operand: Node
    offset: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """An operation; `offset` is the place of its sign."""

    op: Operator
    left: Node
    right: Node
    offset: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class ListNode:
    """A vector, or a matrix as a list of rows."""

    items: tuple[Node, ...]
    offset: int = field(compare=False)


Node: TypeAlias = Number | Name | Reference | Call | Unary | Binary | ListNode


@dataclass(frozen=True, slots=True)
class Chain:
    """`a = b < c`: n operands and the n - 1 relations between them, in one spelling each."""

    operands: tuple[Node, ...]
    relations: tuple[Relation, ...]
    offset: int = field(compare=False)


_OTHER_SPELLINGS: dict[str, Relation] = {"==": "=", "≠": "!=", "≤": "<=", "≥": ">=", "≈": "~"}
N = TypeVar("N", bound=Node)


def parse_expression(text: str) -> Node:
    """The tree of one expression. Errors: NumeralError with the place."""
    parser = _Parser(text)
    node = parser.expression()
    parser.end()
    return node


def parse_statement(text: str) -> Chain:
    """The chain of one statement, at least one relation. Errors: NumeralError with the place."""
    parser = _Parser(text)
    start = parser.now.offset
    operands = [parser.expression()]
    relations: list[Relation] = []
    while parser.now.kind == "relation":
        sign = parser.take().text
        relations.append(_OTHER_SPELLINGS.get(sign, cast(Relation, sign)))
        operands.append(parser.expression())
    parser.end()
    if not relations:
        raise NumeralError("a statement needs a relation; write one of = != < <= > >= ~", parser.now.offset)
    return Chain(tuple(operands), tuple(relations), start)


class _Parser:
    """Recursive descent over the tokens of one text; thrown away after an error."""

    def __init__(self, text: str) -> None:
        self.tokens = tokenize(text)
        self.place = 0
        self.depth = 0
        self.heights: dict[int, int] = {}  # by id: every node made here lives in the tree being built

    @property
    def now(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.now
        self.place += 1
        return token

    def at(self, *signs: str) -> bool:
        return self.now.kind == "operator" and self.now.text in signs

    def want(self, sign: str) -> None:
        if not self.at(sign):
            raise _unexpected(self.now, repr(sign))
        self.take()

    def end(self) -> None:
        if self.now.kind != "end":
            raise _unexpected(self.now, "an operator or the end")

    def expression(self) -> Node:
        return self._left(("+", "-"), lambda: self._left(("*", "/"), self._signed))

    def _left(self, signs: tuple[str, ...], operand: Callable[[], Node]) -> Node:
        node = operand()
        while self.at(*signs):
            sign = self.take()
            right = operand()
            node = self._grow(Binary(cast(Operator, sign.text), node, right, sign.offset), node, right)
        return node

    def _signed(self) -> Node:
        self._descend()
        if self.at("-", "+"):
            sign = self.take()
            operand = self._signed()
            unary = Unary(cast(Literal["+", "-"], sign.text), operand, sign.offset)
            node: Node = self._grow(unary, operand)
        else:
            node = self._power()
        self.depth -= 1
        return node

    def _power(self) -> Node:
        base = self._primary()
        if not self.at("**", "^"):
            return base
        sign = self.take()
        exponent = self._signed()
        return self._grow(Binary("**", base, exponent, sign.offset), base, exponent)

    def _primary(self) -> Node:
        token = self.take()
        if token.kind == "number":
            return Number(read_literal(token.text, token.offset), token.offset)
        if token.kind == "name":
            return self._named(token)
        if token.kind == "operator" and token.text == "(":
            node = self.expression()
            self.want(")")
            return node
        if token.kind == "operator" and token.text == "[":
            items = self._list("]")
            return self._grow(ListNode(items, token.offset), *items)
        if token.kind == "operator" and token.text == "√":
            self._descend()
            operand = self._primary()
            self.depth -= 1
            return self._grow(Call("sqrt", (operand,), token.offset), operand)
        raise _unexpected(token, "a number, a name, '(' or '['")

    def _named(self, token: Token) -> Node:
        if self.at("("):
            self.take()
            args = self._list(")")
            return self._grow(Call(token.text, args, token.offset), *args)
        if not self.at("["):
            return Name(token.text, token.offset)
        self.take()
        indices = [self._index()]
        while self.at(","):
            self.take()
            indices.append(self._index())
        self.want("]")
        return Reference(token.text, tuple(indices), token.offset)

    def _list(self, closing: str) -> tuple[Node, ...]:
        items = [self.expression()]
        while self.at(","):
            self.take()
            items.append(self.expression())
        self.want(closing)
        return tuple(items)

    def _index(self) -> Index:
        if self.at(":"):
            self.take()
            return Slice.ALL
        token = self.take()
        if token.kind != "number" or not token.text.isdecimal():
            raise _unexpected(token, "an index counted from 0, or ':' for a whole axis")
        value = read_literal(token.text, token.offset).value
        return int(cast(int, value))

    def _descend(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NumeralError(
                f"brackets, signs or powers are nested more than {MAX_DEPTH} deep; write it flatter",
                self.now.offset,
            )

    def _grow(self, node: N, *children: Node) -> N:
        """The node, if the tree under it is not too high."""
        height = 1 + max(self.heights.get(id(child), 0) for child in children)
        if height > MAX_HEIGHT:
            raise NumeralError(
                f"more than {MAX_HEIGHT} operations follow each other; group them with brackets",
                node.offset,
            )
        self.heights[id(node)] = height
        return node


def _unexpected(token: Token, wanted: str) -> NumeralError:
    """What was found, what was wanted, and for the usual slips what to write."""
    found = "the end of the text" if token.kind == "end" else repr(shorten(token.text))
    hint = ""
    if token.kind == "name" and token.text.startswith("_"):
        hint = "; write the digits of a number without underscores"
    elif wanted.startswith("an index") or token.text == ":":
        hint = "; write for example weights[2, 0] or weights[2, :]"
    elif token.kind == "number":
        hint = "; put a comma between numbers, '*' between factors, and write the digits of one number together"
    elif token.text == "[":
        hint = "; only a name has indices: give what stands before it a name of its own, or write products with '*'"
    elif token.kind == "name" or token.text == "(":
        hint = "; write products with '*'"
    elif token.text == ",":
        hint = "; write decimals with a point, lists in [ ]"
    elif token.kind == "relation":
        hint = "; relations stand in statements, between two whole expressions"
    return NumeralError(f"found {found}, wanted {wanted}{hint}", token.offset)

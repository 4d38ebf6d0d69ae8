r"""A document -> its equations, each a chain of sides: from mathematics, from code, and from lines of prose.

A matrix inside a side is one character of its own, so that what stands around it can be read as one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from exactattn.documents.pasted import PastedError
from exactattn.documents.pasted.found import pieces
from exactattn.documents.pasted.latex import Matrix, matrices
from exactattn.documents.pasted.source import Source
from exactattn.findings import Place

FIRST = 0xE000  # matrices are written as characters of the private use area
MOST_MATRICES = 2_000
MOST_SIDES = 50  # of one chain; a longer one is left out
_INLINE = re.compile(r"(?<![\\$])\$(?!\$)([^$\n]{1,2000})\$(?!\$)|\\\(((?:[^\n\\]|\\[^()\n])*+)\\\)")
_RELATION = re.compile(
    r"(?P<other><=|>=|!=|<|>|\\(?:leq?|geq?|lt|gt|neq?)(?![a-zA-Z]))|(?P<equal>:=|==|=)"
    r"|(?P<about>≈|\\(?:approx|simeq)(?![a-zA-Z]))|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>(?<![0-9\\]),|(?<!\\),(?![0-9]))"
)
_ROW = re.compile(r"\\\\(?:\[[-0-9.]{1,6}[a-z]{2}\])?|\\(?:quad|qquad|newline)(?![a-zA-Z])|。|；|\n\s*\n")
_SENTENCE = re.compile(r"[.;。；](?=\s|\Z)|\s(?:and|und|et|so|also|thus)\s|[→⇒]|，")
_OPENING = re.compile(r"\s*(?:\$\$|\\\[|\\begin\{[a-z]+\*?\}(?:\{[0-9]+\})?)")
_CLOSING = re.compile(r"(?:\$\$|\\\]|\\end\{[a-z]+\*?\})\s*\Z")
_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_AROUND = re.compile(r"\\left\s?(?:\\?[\[({|.]|\\lbrack)(\s*)([\ue000-\uf8ff])(\s*)\\right\s?(?:\\?[\])}|.]|\\rbrack)")


@dataclass(frozen=True, slots=True)
class Statement:
    """A chain of sides with the relations between them (`=` or `~`); `low` to `high` is its range in the document."""

    sides: tuple[str, ...]
    relations: tuple[str, ...]
    place: Place
    low: int
    high: int
    mathematics: bool
    matrices: dict[str, tuple[tuple[str, ...], ...]]

    @property
    def text(self) -> str:
        """All of it, for people."""
        words = [self.sides[0]]
        for relation, side in zip(self.relations, self.sides[1:], strict=True):
            words += ["≈" if relation == "~" else "=", side]
        text = " ".join(" ".join(words).split())
        return re.sub("[\ue000-\uf8ff]", "[..]", text)


def statements(source: Source, comma: bool = False) -> Iterator[Statement]:
    """The equations of a document in order; with `comma`, 0,5 is one number."""
    for low, high, mathematics in _ranges(source):
        yield from _read(source, low, high, mathematics, comma)


def _ranges(source: Source) -> Iterator[tuple[int, int, bool]]:
    """The ranges that can hold an equation: displays whole, code and prose by the line, mathematics in a line."""
    for piece in pieces(source):
        if piece.kind == "mathematics":
            yield (*_inside(source, piece.low, piece.high), True)
            continue
        for low, high in source.lines(piece.low, piece.high):
            inside = [] if piece.kind == "code" else list(_INLINE.finditer(source.text, low, high))
            rest, at = "", low
            for found in inside:
                rest, at = rest + source.text[at : found.start()], found.end()
            if "=" in rest + source.text[at:high] or "≈" in rest + source.text[at:high]:
                yield low, high, False
            else:
                yield from ((*_span(found), True) for found in inside)


def _inside(source: Source, low: int, high: int) -> tuple[int, int]:
    """A display without what opens and closes it."""
    opening, closing = _OPENING.match(source.text, low, high), _CLOSING.search(source.text, max(low, high - 40), high)
    return (low if opening is None else opening.end()), (high if closing is None else closing.start())


def _span(found: re.Match[str]) -> tuple[int, int]:
    return found.span(1) if found[1] is not None else found.span(2)


def _read(source: Source, low: int, high: int, mathematics: bool, comma: bool) -> Iterator[Statement]:
    text = source.text[low:high]
    if "=" not in text and "≈" not in text and "approx" not in text:
        return
    text, known = _without_matrices(source, low, high)
    text = _COMMA.sub(".", text) if comma else text
    chain: list[tuple[int, int]] = []
    relations: list[str] = []
    for begin, end in _rows(text, mathematics):
        sides, signs = _sides(text, begin, end)
        first = text[slice(*sides[0])].replace("&", "").strip(" \n\t{}")
        if chain and signs and not re.sub(r"\\(?:begin|end)\{\w+\*?\}", "", first):
            sides, signs = [*chain, *sides[1:]], [*relations, *signs]
        elif 1 < len(chain) <= MOST_SIDES:
            yield _statement(source, low, text, chain, relations, mathematics, known)
        chain, relations = sides, signs
    if 1 < len(chain) <= MOST_SIDES:
        yield _statement(source, low, text, chain, relations, mathematics, known)


def _without_matrices(source: Source, low: int, high: int) -> tuple[str, dict[str, tuple[tuple[str, ...], ...]]]:
    """The text of a range, equally long, with one character and spaces for each matrix."""
    text = re.sub("[\ue000-\uf8ff]", "?", source.text[low:high])
    known: dict[str, tuple[tuple[str, ...], ...]] = {}
    try:
        found = matrices(source, low, high, lenient=True)
    except PastedError:  # the numbers of it are listed as unreadable where they are looked for
        found = []
    for number, matrix in enumerate(found[:MOST_MATRICES]):
        sign = chr(FIRST + number)
        known[sign] = _texts(source, matrix)
        begin, end = matrix.start - low, matrix.end - low
        text = text[:begin] + sign + " " * (end - begin - 1) + text[end:]
    return _AROUND.sub(lambda match: match[2].ljust(len(match[0])), text), known


def _texts(source: Source, matrix: Matrix) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(source.text[low:high] for low, high in row) for row in matrix.rows)


def _rows(text: str, mathematics: bool) -> Iterator[tuple[int, int]]:
    """The lines of a display, or the sentences of a line."""
    at = 0
    for cut in (_ROW if mathematics else _SENTENCE).finditer(text):
        if text[at : cut.start()].strip():
            yield at, cut.start()
        at = cut.end()
    if text[at:].strip():
        yield at, len(text)


def _sides(text: str, low: int, high: int) -> tuple[list[tuple[int, int]], list[str]]:
    """The sides of one chain; what follows a comma after the last relation begins another statement and is left out."""
    sides, relations, begin, depth = list[tuple[int, int]](), list[str](), low, 0
    for word in _RELATION.finditer(text, low, high):
        kind = word.lastgroup
        depth = max(0, depth + (kind == "open") - (kind == "close"))
        if kind == "comma" and not depth and relations:
            high = word.start()
            break
        if depth or kind in ("open", "close", "comma"):
            continue
        if kind == "other":
            return [(low, high)], []
        sides.append((begin, word.start()))
        relations.append("=" if kind == "equal" else "~")
        begin = word.end()
    return [*sides, (begin, high)], relations


def _statement(
    source: Source, low: int, text: str, chain: list[tuple[int, int]], relations: list[str], mathematics: bool,
    known: dict[str, tuple[tuple[str, ...], ...]],
) -> Statement:  # fmt: skip
    begin, end = source.trim(low + chain[0][0], low + chain[-1][1])
    sides = tuple(text[slice(*side)].strip(" \n\t&") for side in chain)
    return Statement(sides, tuple(relations), Place(*source.place(begin)), begin, end, mathematics, known)

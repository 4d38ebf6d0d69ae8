"""The sentences of a document: its prose with the mathematics in it, without code and without numbers in displays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from exactattn.documents.pasted.found import pieces
from exactattn.documents.pasted.source import Source
from exactattn.findings import Place

MOST_CHARACTERS = 2_000  # of one sentence
_END = re.compile(
    r"(?<=[.!?])\s+(?=[\"'(*$`\\]?[A-ZÄÖÜ$])|[。！？；]|\n(?=[ \t]*(?:[-*+]|[0-9]+[.)])[ \t])|\n(?=[ \t]*#)"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence and its range in the document."""

    text: str
    source: Source
    low: int
    high: int
    prose: bool = True

    def at(self, offset: int) -> Place:
        """The place of a character of it."""
        return Place(*self.source.place(self.low + offset))

    def near(self, offset: int) -> str:
        """Some words from there on, on one line."""
        return " ".join(self.text[offset : offset + 60].split())


def sentences(source: Source) -> Iterator[Sentence]:
    """Every sentence of the prose and every display, in order; one that is too long is cut into parts."""
    for piece in pieces(source):
        if piece.kind in {"code", "table"}:
            continue
        if piece.kind == "mathematics":
            text = source.text[piece.low : min(piece.high, piece.low + MOST_CHARACTERS)]
            yield Sentence(text, source, piece.low, piece.high, False)
            continue
        at = piece.low
        for cut in _END.finditer(source.text, piece.low, piece.high):
            yield from _one(source, at, cut.start())
            at = cut.end()
        yield from _one(source, at, piece.high)


def _one(source: Source, low: int, high: int) -> Iterator[Sentence]:
    while low < high and source.text[low].isspace():
        low += 1
    for begin in range(low, high, MOST_CHARACTERS):
        end = min(high, begin + MOST_CHARACTERS)
        yield Sentence(source.text[begin:end], source, begin, end)

"""Weights told one by one under each other: `- 0.4 (itself): the weight of the first token on itself`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from exactattn.documents.notes.model import Block, Role
from exactattn.documents.notes.wordlist import row_in_words
from exactattn.documents.pasted import Cell, Pasted, PastedError, read_said
from exactattn.documents.pasted.source import Source
from exactattn.findings import Place

LINES_BACK = 12  # to the words that say which token
_ITEM = re.compile(
    r"[-•*·\s]*\$?(?P<number>[0-9]+(?:[.,][0-9]+)?\s?%?)\$?\s*(?:[(:—]|->|→|=|表示|是|for\b|is\b|on\b|to\b|für\b|auf\b|ist\b)"
)
_WEIGHT = re.compile(r"weight|权重|Gewicht|poids|peso|attention|Aufmerksamkeit", re.IGNORECASE)


def told_weights(source: Source, decimal: str | None) -> Iterator[Block]:
    """Every run of lines that begin with a number and speak of weights, as one row of them."""
    run: list[tuple[int, int]] = []
    for low, high in [*source.lines(0, len(source.text)), (len(source.text), len(source.text))]:
        line = source.text[low : min(high, low + 500)]
        if _ITEM.match(line) and _WEIGHT.search(line) and (not run or _next(source, run[-1][0], low)):
            run.append((low, high))
            continue
        block = _row(source, run, decimal) if len(run) > 1 else None
        if block is not None:
            yield block
        run = [(low, high)] if _ITEM.match(line) and _WEIGHT.search(line) else []


def _next(source: Source, low: int, following: int) -> bool:
    return source.place(following)[0] == source.place(low)[0] + 1


def _row(source: Source, run: list[tuple[int, int]], decimal: str | None) -> Block | None:
    """The numbers of a run, for the token that the nearest words before it count."""
    row = _row_before(source, run[0][0])
    cells = []
    for low, high in run:
        item = _ITEM.match(source.text, low, high)
        if item is None or row is None:
            return None
        try:
            cells.append(Cell(item["number"], read_said(item["number"], decimal), *source.place(item.start("number"))))
        except PastedError:
            return None
    place = Place(cells[0].line, cells[0].column)
    return Block(
        Role("weights", row),
        Pasted("list", (tuple(cells),), vector=True),
        place,
        cells[-1].line,
        "the words beside the numbers",
    )


def _row_before(source: Source, low: int) -> int | None:
    line = source.place(low)[0]
    for number in range(line - 1, max(0, line - 1 - LINES_BACK), -1):
        text = source.text[source.starts[number - 1] : source.starts[number]]
        row = row_in_words(text[:500])
        if row is not None:
            return row
    return None

"""A print below a code cell, `Output:` or nothing in between, is what the cell printed last: its last expression.

In a session it is what was typed on the line above it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from exactattn.documents.notes.prompts import without_prompt
from exactattn.documents.pasted.found import Piece, pieces
from exactattn.documents.pasted.source import Source

_ANNOUNCED = re.compile(
    r"[\W_]*(?:(?:the |this )?(?:outputs?|out|result|prints?|printed|gives|Ausgabe|Ergebnis|ergibt|输出"
    r"|结果|sortie|salida)"
    r"(?: (?:is|of the cell|of the code|cell))?)?[\W_]*",
    re.IGNORECASE,
)
_PRINT = re.compile(r"print\s*\((?P<what>.*)\)\s*(?:#.*)?")
_ROUNDED = re.compile(r"(?:np\.|numpy\.|torch\.)?round\((?P<what>.+?)(?:,\s*(?:decimals\s*=\s*)?[0-9]+)?\)")
_TYPED = re.compile(r"\s*(?:>>>|\.\.\.)\s*(?P<what>[^'\"=#]+?)\s*")
_NAME = re.compile(r"[^\W\d]\w*(?:\[[0-9]{1,3}\])?")
UNKNOWN = "?"  # a label of what a cell printed, where it is not one expression


def printed_by_cells(source: Source) -> dict[int, str]:
    """For each line of a print below a cell: the expression whose value it is, or `?` where that is not clear."""
    cells, out = [piece for piece in pieces(source) if piece.kind == "code"], dict[int, str]()
    for before, piece in pairwise(cells):
        label = _printed_by(source, before, piece)
        if label is not None:
            last = source.place(max(piece.low, piece.high - 1))[0]
            out |= dict.fromkeys(range(source.place(piece.low)[0], last + 1), label)
    return out


def typed(before: str) -> str | None:
    """The expression of a line such as `>>> Q` or `>>> print(Q)`, whose value stands below it; else None."""
    found = _TYPED.fullmatch(before)
    if found is None:
        return None
    printed = _PRINT.fullmatch(found["what"])
    return found["what"] if printed is None else _unrounded(printed["what"].strip())


def is_name(expression: str) -> bool:
    """Is an expression a name, or an element of one?"""
    return _NAME.fullmatch(expression) is not None


def _unrounded(expression: str) -> str:
    rounded = _ROUNDED.fullmatch(expression)
    return rounded["what"] if rounded is not None else re.sub(r"\.round\([0-9]?\)\Z", "", expression)


def _printed_by(source: Source, before: Piece, piece: Piece) -> str | None:
    if piece.low - before.high > 80 or not _ANNOUNCED.fullmatch(source.text[before.high : piece.low]):
        return None
    lines = [line for line in source.text[before.low : before.high].split("\n")[1:] if line.strip()]
    body = [without_prompt(line) for line in lines if not re.match(r"[ \t>]*(?:```|~~~)", line)]
    if not body or not any(re.search(r"[A-Za-z_]", line) for line in body):
        return None
    return _last(body)


def _last(body: list[str]) -> str | None:
    """What the last line prints; nothing where no line prints and the last is no expression (it is no cell of code)."""
    prints = [found for line in body if (found := _PRINT.fullmatch(line.strip())) is not None]
    last = body[-1].strip()
    found = _PRINT.fullmatch(last)
    if found is None:
        code = any(re.match(r"\s*(?:import |from \w+ import |\w+\s*=[^=])", line) for line in body)
        if not code:
            return None
        return last if not prints and re.fullmatch(r"[\w.@ ()\[\],/*+:-]+", last) and "=" not in last else UNKNOWN
    what = _unrounded(found["what"].strip())
    return what if len(prints) == 1 and not re.search(r"['\"]|,\s*\w+\s*(?:,|\Z)", what) else UNKNOWN

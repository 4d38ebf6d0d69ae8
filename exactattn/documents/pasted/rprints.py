"""What R prints: `[1] 0.1 0.2`, matrices with `[1,]` and `[,1]` or names, in several groups of columns when wide."""

from __future__ import annotations

import re

from exactattn.documents.pasted.block import Block, Span, bound, looks_like_number
from exactattn.documents.pasted.source import Source
from exactattn.documents.pasted.vectors import pieces

_VECTOR, _ROW, _COLUMN = re.compile(r"\[[0-9]+\]"), re.compile(r"\[[0-9]+,\]"), re.compile(r"\[,[0-9]+\]")


def looks_like_r(source: Source, low: int, high: int) -> bool:
    """Do row or column labels of R stand at the ends of a line?"""
    for start, end in source.lines(low, high):
        line = source.text[start : min(end, start + 40)]
        if _ROW.match(line) or _COLUMN.match(line) or re.match(r"\[1\]\s+\S", line):
            return True
    return False


def read_r(source: Source, low: int, high: int) -> list[Block]:
    """The blocks of a print, columns by columns. Errors: PastedError."""
    lines = [pieces(source, *line) for line in source.lines(low, high)]
    texts = [[source.text[slice(*piece)] for piece in line] for line in lines]
    bound(source, lines)
    if any(_VECTOR.fullmatch(line[0]) for line in texts):
        return [_vector(source, lines, texts, (low, high))]
    rows: dict[str, list[Span]] = {}
    columns: list[str] = []
    width, seen = 0, set[str]()
    for line, words in zip(lines, texts, strict=True):
        if _is_header(words):
            columns, width, seen = [*columns, *words], len(words), set()
            continue
        label = "".join(words[: len(words) - width]) if width and len(words) > width else words[0]
        if width == len(words) and not _ROW.fullmatch(words[0]) and looks_like_number(words[0]):
            label = f"[{len(rows) + 1},]" if not seen else str(len(seen))
            cells = line
        else:
            cells = line[len(words) - width :] if width else line[1:]
        if label in seen:
            raise source.error(f"found the row {label!r} twice under one header", line[0][0], "paste one print")
        seen.add(label)
        rows.setdefault(label, []).extend(cells)
    block = Block("r", list(rows.values()), trims="r", span=(low, high))
    block.row_labels = None if all(_ROW.fullmatch(label) for label in rows) else list(rows)
    block.column_labels = None if all(_COLUMN.fullmatch(name) for name in columns) else columns
    return [block]


def _is_header(words: list[str]) -> bool:
    return all(_COLUMN.fullmatch(word) for word in words) or not any(looks_like_number(word) for word in words)


def _vector(source: Source, lines: list[list[Span]], texts: list[list[str]], span: Span) -> Block:
    """A vector over lines, each behind the index of its first number."""
    cells: list[Span] = []
    for line, words in zip(lines, texts, strict=True):
        if not _VECTOR.fullmatch(words[0]) or int(words[0][1:-1]) != len(cells) + 1:
            message = f"found {words[0]!r}, wanted [{len(cells) + 1}]: the index of the next number"
            raise source.error(message, line[0][0], "paste one vector, all of its lines")
        cells += line[1:]
    return Block("r", [cells], vector=True, trims="r", span=span)

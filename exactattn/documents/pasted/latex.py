r"""Matrices of LaTeX: `\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}` and its relatives -> ranges of cells."""

from __future__ import annotations

import re
from dataclasses import dataclass

from exactattn.documents.pasted.source import Source

MATRICES = (
    "matrix",
    "bmatrix",
    "pmatrix",
    "vmatrix",
    "Vmatrix",
    "Bmatrix",
    "smallmatrix",
    "array",
    "tabular",
    "psmallmatrix",
)
Span = tuple[int, int]
_EDGE = re.compile(r"\\(begin|end)[ ]?\{([a-zA-Z]+\*?)\}")
_RULES = re.compile(r"\\(?:hline|toprule|midrule|bottomrule|hdashline|cr)(?![a-zA-Z])|\\(?:cline|cmidrule)\{[-0-9 ]*\}")
_SPACE_BELOW = re.compile(r"\*?\s?\[[-0-9.]{1,6} ?[a-z]{2}\]")


@dataclass
class Matrix:
    """One environment: its range, and the ranges of its cells."""

    start: int
    end: int
    rows: list[list[Span]]
    tabular: bool = False


def matrices(source: Source, low: int, high: int, lenient: bool = False) -> list[Matrix]:
    r"""The matrices of a range, in order; those inside `align` and the like too.

    Errors: PastedError for `\begin` without `\end` and for a matrix inside a matrix; `lenient` passes over them.
    """
    out: list[Matrix] = []
    opened: re.Match[str] | None = None
    for edge in _EDGE.finditer(source.text, low, high):
        kind, name = edge[1], edge[2].rstrip("*")
        if name not in MATRICES:
            continue
        shown = edge[0].replace(" ", "")
        if kind == "begin":
            if opened is not None and not lenient:
                line = source.place(opened.start())[0]
                raise source.error(
                    f"found {shown} inside the {opened[0]} of line {line}, which is not closed",
                    edge.start(),
                    "write one matrix after the other",
                )
            opened = edge
        elif opened is None or opened[2].rstrip("*") != name:
            if not lenient:
                raise source.error(
                    f"found {shown} without its \\begin{{{name}}}", edge.start(), "paste the whole matrix"
                )
        else:
            begin = _after_columns(source, opened, edge.start())
            rows = body(source, begin, edge.start())
            out.append(Matrix(opened.start(), edge.end(), rows, name == "tabular"))
            opened = None
    if opened is not None and not lenient:
        message = f"{opened[0]} on line {source.place(opened.start())[0]} is not closed"
        raise source.error(message, opened.start(), f"write \\end{{{opened[2]}}} behind it")
    return out


def _after_columns(source: Source, opened: re.Match[str], end: int) -> int:
    r"""The place after `\begin{array}{cc}`."""
    at = opened.end()
    if opened[2] not in ("array", "tabular"):
        return at
    while at < end and source.text[at].isspace():
        at += 1
    if source.text[at] == "[":
        at = source.text.find("]", at, end) + 1 or opened.end()
    if source.text[at] != "{":
        return at
    depth = 0
    for place in range(at, end):
        depth += (source.text[place] == "{") - (source.text[place] == "}")
        if depth == 0:
            return place + 1
    raise source.error("the columns of the array are not closed", at, "write for example {cc}")


def body(source: Source, low: int, high: int) -> list[list[Span]]:
    r"""The cells of a body: `&` sets cells apart, `\\` rows, both outside of braces; rules are left out."""
    text, rows, row = source.text, list[list[Span]](), list[Span]()
    depth, begin, at = 0, low, low
    while at < high:
        char = text[at]
        if char == "\\" and text[at + 1 : at + 2] == "\\" and depth == 0:
            row.append((begin, at))
            rows.append(row)
            row, at = [], at + 2
            below = _SPACE_BELOW.match(text, at, high)
            at = begin = at if below is None else below.end()
        elif char == "\\":
            rule = _RULES.match(text, at, high)
            at = at + 2 if rule is None else rule.end()
            begin = at if rule is not None and not text[begin : rule.start()].strip() else begin
        elif char == "&" and depth == 0:
            row.append((begin, at))
            at = begin = at + 1
        else:
            depth += (char == "{") - (char == "}")
            at += 1
    row.append((begin, high))
    rows.append(row)
    cells = [[source.trim(*cell) for cell in row] for row in rows]
    return [row for row in cells if len(row) > 1 or row[0][0] < row[0][1]]

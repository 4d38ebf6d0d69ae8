"""One line of a file with a mark under a place of it, safe to show."""

from __future__ import annotations

import unicodedata

from exactattn.documents.nodes import escaped
from exactattn.findings import Place

BEFORE, AFTER = 44, 24  # characters of a long line that are shown before and after the place


def excerpt(text: str, place: Place) -> str:
    """The line of a place, and below it a caret under its column; "" where there is no such line.

    Control characters are escaped, and a long line is cut around the place.
    """
    lines = text.splitlines()
    if not 0 < place.line <= len(lines) or not lines[place.line - 1].strip():
        return ""
    line, column = lines[place.line - 1], place.column - 1
    start, end = max(0, column - BEFORE), column + AFTER
    start, end = (0 if start <= 3 else start), (len(line) if len(line) <= end + 3 else end)
    before = ("..." if start else "") + escaped(line[start:column])
    after = escaped(line[column:end]) + ("..." if end < len(line) else "")
    margin = f"  {place.line} | "
    return f"{margin}{before}{after}\n{' ' * (len(margin) - 2)}| {' ' * _width(before)}^"


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)

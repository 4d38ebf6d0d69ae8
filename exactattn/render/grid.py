"""Printed against true as lines of fixed width, for the terminal: rows with a number that differs, as wide as fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exactattn.findings import Finding
from exactattn.render.blocks import Block, off_of, printed_of, rows_of, true_of
from exactattn.render.text import clean

MOST_ROWS = 8
GAP = "  "
Cell = tuple[str, str, str]
TITLES = ("printed", "true", "off by")


def grid(block: Block, width: int, every: bool = False) -> list[str]:
    """Lines of at most `width` characters where a single column fits; the first rows only, unless all are wanted."""
    rows = rows_of(block, differing=True)
    shown = rows if every else rows[:MOST_ROWS]
    labels = [f"[{row.label}{',' if row.label else ''}:]" for row in shown]
    cells = [dict(zip(row.columns, map(_cell, row.cells), strict=True)) for row in shown]
    margin = max(map(len, labels), default=0) + len(GAP) + len(TITLES[0]) + len(GAP)
    lines: list[str] = []
    header = None
    for columns, numbers in _parts(cells, width - margin):
        for number in numbers:
            widths = [_width(cells, column) for column in columns]
            if header != columns:
                lines.append(" " * margin + _joined(map(str, columns), widths))
                header = columns
            lines += _row(labels[number], [cells[number].get(c, ("", "", "")) for c in columns], widths, margin)
    if len(rows) > len(shown):
        lines.append(f"... and {len(rows) - len(shown)} more rows with a number that differs: see --verbose")
    return [line.rstrip() for line in lines]


def _cell(finding: Finding | None) -> Cell:
    if finding is None:
        return "", "", ""
    return clean(printed_of(finding)), clean(true_of(finding)), clean(off_of(finding))


def _width(cells: Sequence[dict[int, Cell]], column: int) -> int:
    from rich.cells import cell_len

    return max(len(str(column)), *(cell_len(text) for row in cells for text in row.get(column, ("",))))


def _parts(cells: Sequence[dict[int, Cell]], room: int) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """The columns cut into groups that fit, and the rows that have any of them."""
    group: list[int] = []
    used = 0
    columns = sorted({column for row in cells for column in row})
    for column in columns:
        need = _width(cells, column) + len(GAP)
        if group and used + need - len(GAP) > room:
            yield tuple(group), [n for n, row in enumerate(cells) if any(c in row for c in group)]
            group, used = [], 0
        group.append(column)
        used += need
    if group:
        yield tuple(group), [n for n, row in enumerate(cells) if any(c in row for c in group)]


def _row(label: str, cells: Sequence[Cell], widths: Sequence[int], margin: int) -> Iterator[str]:
    """Printed, true, and how far off, each on a line; the last only where something is."""
    for number, title in enumerate(TITLES):
        texts = [cell[number] for cell in cells]
        if number == 0 or any(texts):
            start = label if number == 0 else ""
            unit = f"{GAP}units of the last digit" if number == 2 else ""
            head = start.ljust(margin - len(TITLES[0]) - len(GAP)) + title.ljust(len(TITLES[0]) + len(GAP))
            yield head + _joined(texts, widths).rstrip() + unit


def _joined(texts: Iterator[str] | Sequence[str], widths: Sequence[int]) -> str:
    from rich.cells import cell_len

    return GAP.join(text + " " * (width - cell_len(text)) for text, width in zip(texts, widths, strict=True))

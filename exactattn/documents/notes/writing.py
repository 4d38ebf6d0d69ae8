"""YAML text, line by line, that remembers which place of the document every number of it came from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from exactattn.documents.notes.model import Block
from exactattn.documents.pasted import Cell
from exactattn.findings import Place

WIDTH = 110
_PLAIN = re.compile(r"[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?%?|[-+]?[0-9]+/[0-9]+|-inf|\.\.\.|[A-Za-z][\w-]*")
_WORDS = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff\ue000-\uf8ff]")


def quoted(text: str) -> str:
    """A scalar, in quotes where it needs them."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def flow(value: object) -> str:
    """A text, or a mapping or list of them, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(str(key))}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return quoted(str(value))


def spelled(cell: Cell) -> str:
    """A number as a case writes it: its digits as printed, with the marks that its author gave it."""
    if cell.said is None:
        return "-inf" if cell.minus_infinity else "..."
    return cell.said.numeral.text


@dataclass
class Writer:
    """The lines so far, and for each the place it came from."""

    lines: list[str] = field(default_factory=list)
    places: dict[tuple[int, int], Place] = field(default_factory=dict)
    owners: dict[int, Place] = field(default_factory=dict)
    keys: dict[int, object] = field(default_factory=dict)  # what stands on a line, to leave it out if it cannot be read

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.lines) + "\n"

    def add(self, text: str, place: Place | None = None, key: object = None) -> None:
        """One line."""
        self.lines.append(text)
        number = len(self.lines)
        if place is not None:
            self.owners[number] = place
        if key is not None:
            self.keys[number] = key

    def comment(self, indent: str, text: str) -> None:
        """A comment of one line."""
        words = _UNPRINTABLE.sub(" ", " ".join(text.split()))
        self.lines.append(f"{indent}# {words[: WIDTH + 40]}")

    def numbers(self, head: str, rows: Sequence[Sequence[Cell]], flat: bool, tail: str, block: Block) -> None:
        """`head`, rows of numbers in brackets, `tail`: on one line, or a line for each row where that is too long."""
        start = len(self.lines) + 1
        pieces = [[(spelled(cell), Place(cell.line, cell.column)) for cell in row] for row in rows]
        length = sum(len(quoted(text)) + 2 for row in pieces for text, _ in row) + len(head)
        indent = " " * (len(head) - len(head.lstrip()) + 4)
        line = head + ("" if flat else "[")
        for number, row in enumerate(pieces):
            if number and length > WIDTH:
                self.lines.append(line.rstrip())
                line = indent
            line = self._row(line + "[", row) + ("]" if number == len(pieces) - 1 else "], ")
        self.lines.append(line + ("" if flat else "]") + tail)
        for number in range(start, len(self.lines) + 1):
            self.owners[number] = block.place
            self.keys[number] = block

    def _row(self, line: str, cells: Iterable[tuple[str, Place]]) -> str:
        for number, (text, place) in enumerate(cells):
            line += ", " if number else ""
            self.places[len(self.lines) + 1, len(line) + 1] = place
            line += quoted(text)
        return line

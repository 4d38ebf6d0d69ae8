"""Pasted text in a case file: a block of numbers as one value, read cell by cell with the places of the file.

`pasted` is imported only where something was pasted, so that other cases do not wait for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Names
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exactattn.documents.nodes import Mistakes, Scalar
from exactattn.documents.words import PASTED_FORMS
from exactattn.errors import NumeralError
from exactattn.findings import Place
from exactattn.numbers.exact import ONE, Exact, spell
from exactattn.numbers.expressions import ListNode, parse_expression
from exactattn.numbers.folding import CONSTANTS, SCALAR_FUNCTIONS
from exactattn.numbers.numerals import parse_exact

_PLAIN = re.compile(r"[-+−]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?%?")
_WORD = re.compile(r"[^\W\d_]+")
_SEVERAL = re.compile(r"[-+−]?[0-9]*[.,][0-9]+%?(;\s*|\s+)[-+−]?[0-9]*[.,][0-9]+")  # decimals one after the other
_COMMA = re.compile(r"\d,\d")
_MARK = re.compile(r"[~∼≈≃≅<>≤≥…]|\.\.|\d[,'  ]\d|\\|\{")

if TYPE_CHECKING:
    from exactattn.documents.pasted import Cell, Pasted, Said


@dataclass(frozen=True, slots=True)
class Paste:
    """A pasted block as cells of the file, with what was said of each number, by the id of its cell.

    Cells of a text that is no literal block may have one place, so a place would not tell them apart.
    """

    cells: list[list[Scalar]]
    said: dict[int, Said]
    block: Pasted

    def factor(self, names: Names[str, Exact], mistakes: Mistakes, at: Scalar) -> Exact | None:
        """The factor in front, 1 where there is none; None after noting what is wrong with it."""
        try:
            return ONE if self.block.times is None else parse_exact(self.block.times, names)
        except NumeralError as error:
            mistakes.add(f"in the factor before a pasted block: {error}", at)
            return None

    def exact_cells(self) -> list[list[Scalar]]:
        """The cells of what is given, not printed: each as the exact number that its digits are."""
        return [[self._exact(cell) for cell in row] for row in self.cells]

    def _exact(self, cell: Scalar) -> Scalar:
        said = self.said.get(id(cell))
        plain = said is not None and (said.mark, said.truncated) == ("=", False)
        return Scalar(spell(said.numeral.value), cell.place, False) if said is not None and plain else cell


def is_paste(node: object) -> bool:
    """Is a value a text that may be a block of numbers, and not one number or a word?"""
    if not isinstance(node, Scalar) or not any(c.isdigit() for c in node.text):
        return False
    text = node.text.strip()
    if "\n" in text or _SEVERAL.match(text):
        return True
    if text[0] in "\\$":
        return "\\begin" in text or "[" in text  # else one number as LaTeX has it
    if text.startswith("("):
        return not _is_expression(text)
    return text[0] in "[{|" or text.startswith(("tensor", "array", "np.", "torch."))


def _is_expression(text: str) -> bool:
    """Is it one expression, such as (1 + sqrt(5))/2, and no list?"""
    try:
        return not isinstance(parse_expression(text), ListNode)
    except NumeralError:
        return False


def read_paste(node: Scalar, form: str | None, decimal: str | None, mistakes: Mistakes) -> Paste | None:
    """The block of numbers that a text is, or None after noting what cannot be read, at its place in the file."""
    from exactattn.documents.pasted import PastedError, read_pasted

    try:
        block = read_pasted(node.text, form if form in PASTED_FORMS else None, decimal)
    except PastedError as error:
        place, mistake = inside(node, error.line, error.column), error.mistake
        mistakes.add(f"in a pasted block: {mistake.message}", place, mistake.hint)
        return None
    said: dict[int, Said] = {}
    rows = [[_scalar(node, cell, said) for cell in row] for row in block.rows]
    return Paste(rows, said, block)


def _scalar(node: Scalar, cell: Cell, said: dict[int, Said]) -> Scalar:
    text = "-inf" if cell.minus_infinity else cell.text if cell.said is not None else "..."
    made = Scalar(text, inside(node, cell.line, cell.column), False)
    if cell.said is not None:
        said[id(made)] = cell.said
    return made


def said_of(node: Scalar, decimal: str | None, mistakes: Mistakes) -> Said | None:
    """A number in the words and marks of its author; None where it is no such number.

    What is wrong with commas between digits is noted here; the reader of plain numbers would not know them.
    """
    from exactattn.documents.pasted import PastedError, read_said

    try:
        return read_said(node.text, decimal)
    except PastedError as error:
        if _COMMA.search(node.text):
            mistakes.add(error.mistake.message, inside(node, error.line, error.column), error.mistake.hint)
    except NumeralError:
        pass
    return None


def is_said(node: Scalar, names: Iterable[str]) -> bool:
    """Is a text more than digits and an expression: has it a mark, words, or a sign that ends an announced number?"""
    text = node.text.strip()
    if _PLAIN.fullmatch(text):
        return False
    known = {*names, *SCALAR_FUNCTIONS, *CONSTANTS, "e", "E"}
    words = [word for word in _WORD.findall(text) if word not in known]
    return bool(words) or _MARK.search(text) is not None


def inside(node: Scalar, line: int, column: int) -> Place:
    """The place in the file of a place in the text of a value."""
    if node.start is not None:
        return Place(node.start.line + line - 1, node.start.column + column - 1)
    if line == 1:
        return Place(node.place.line, node.place.column + column - (1 if node.plain else 0))
    return node.place

"""What reading a paste gives: numbers as their author stated them, each at its place."""

from __future__ import annotations

from dataclasses import dataclass

from exactattn.errors import Mistake, NumeralError
from exactattn.numbers.numerals import Numeral

MAX_CHARACTERS = 200_000  # of one paste or document
MAX_CELLS = 20_000  # numbers of one paste or document
MAX_CELL = 2_000  # characters of one number
MAX_NESTING = 8  # lists or environments inside each other
MINUS_INFINITY = ("-inf", "-infinity", "-infty", "-∞", "-oo")


class PastedError(NumeralError):
    """A paste that cannot be read: where, what was found, what was wanted, what to do.

    Lines and columns count from 1 inside the text that was given.
    """

    def __init__(
        self, message: str, line: int, column: int, hint: str | None = None, offset: int | None = None
    ) -> None:
        self.mistake = Mistake(message, line, column, hint)
        super().__init__(str(self.mistake), offset)
        self.line, self.column, self.hint = line, column, hint


@dataclass(frozen=True, slots=True)
class Said:
    """One number and how it was stated.

    `numeral` has the exact value and the unit of its last stated digit, both scaled by the words (`600 million`).
    `mark` is one of = ~ < > <= >=; `truncated` says that more digits were announced to follow (`0.4011...`);
    `approximate` that the words say "about", also beside a mark (`just under 58 billion`).
    """

    numeral: Numeral
    mark: str = "="
    truncated: bool = False
    scale_word: str | None = None
    unit_word: str | None = None
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of a block: its text, and the number in it.

    `said` is None for an ellipsis (some numbers that were not printed) and for minus infinity.
    """

    text: str
    said: Said | None
    line: int
    column: int
    minus_infinity: bool = False


@dataclass(frozen=True, slots=True)
class Pasted:
    """One block of numbers.

    Shapes: `rows` are equally long; a `vector` was written flat and is one row. `times` is a factor in front, in the
    language of `numbers.expressions`; `dtype` the precision of the program that printed; `trims` the name in
    `documents.forms` of what the program does to trailing zeros; `label` the left side of an equation;
    `joined` says that the block is a part of a product, a sum or a call.
    """

    form: str
    rows: tuple[tuple[Cell, ...], ...]
    vector: bool = False
    times: str | None = None
    dtype: str | None = None
    trims: str | None = "plain"
    row_labels: tuple[str, ...] | None = None
    column_labels: tuple[str, ...] | None = None
    label: str | None = None
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A block in a document, from line to line; without a left side `label` is None and `before` helps."""

    start_line: int
    end_line: int
    label: str | None
    pasted: Pasted
    before: str | None = None

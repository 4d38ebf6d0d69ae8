"""Nodes -> exact numbers: scalars and matrices, each number with its place.

The work of a file is bounded before it is done: how many numbers, and how many characters of expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Mapping as Names
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction

from exactattn.documents.nodes import Mapping, Mistakes, Node, Scalar, Sequence, quoted
from exactattn.documents.paste import is_paste, read_paste
from exactattn.errors import NumeralError
from exactattn.findings import Place
from exactattn.numbers.balls import decide
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import ONE, Exact, Matrix, mul
from exactattn.numbers.numerals import Numeral, parse_numeral

MAX_CELLS = 20_000  # numbers of one file
MAX_EXPRESSIONS = 40_000  # characters of all numbers that are more than digits
SIGN_BITS = 1024
# stands for the sizes of a problem that cannot be used, so that expressions over them are read for their own mistakes
ANY_SIZES: Names[str, Exact] = {name: Fraction(2) for name in ("d_k", "d_v", "d_model", "n", "L", "S", "H")}
NO_NAMES: Names[str, Exact] = {}
COMMAS = "decimal commas may be meant: write 0.67, not 0,67"
PROSE = "words and marks such as ~ are not part of a number: write the number alone, for example 0.33 or 1/3"
_MARK = re.compile(r"\s*[~∼≈≃≅<>≤≥=±]|.*([±?!]|\.\.|…)", re.DOTALL)
_WORD = re.compile(r"(?<!\S)[^\W\d_]+(?!\S)")  # letters alone between spaces
_WHOLE, _DECIMALS = re.compile("[-+−]?[0-9]{1,3}"), re.compile("[0-9]+")
NOT_PROSE = ("e", "pi", "π", "nan", "inf", "infinity")  # these have messages of their own
_LITERAL = re.compile(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?%?")


@dataclass
class Reader:
    """Reads the numbers of one file. Equal texts are read once.

    `folder` is the only one that other files are read from; None for a text that is in none.
    """

    mistakes: Mistakes
    folder: str | None = None
    cells: int = 0
    characters: int = 0
    known: dict[str, Numeral] = field(default_factory=dict)

    def numeral(self, node: Node, names: Names[str, Exact] = NO_NAMES) -> Numeral | None:
        """One printed number, or None after noting the mistake."""
        if not isinstance(node, Scalar) or not node.text.strip():
            self.mistakes.wrong_kind(node, "a number")
            return None
        self.count(node)
        if node.text in self.known:
            return self.known[node.text]
        try:
            numeral = parse_numeral(node.text, names)
        except NumeralError as error:
            if _is_prose(node.text, names):
                self.mistakes.add(f"found {quoted(node.text)}, wanted a number", node, PROSE)
            else:
                self.note(error, node)
            return None
        if numeral.digits is not None or not names:
            self.known[node.text] = numeral
        return numeral

    def exact(self, node: Node, names: Names[str, Exact] = NO_NAMES) -> Exact | None:
        """The value of one number or expression, or None after noting the mistake."""
        numeral = self.numeral(node, names)
        return None if numeral is None else numeral.value

    def note(self, error: NumeralError, node: Scalar) -> None:
        """A number that cannot be read, with the place inside it where there is one."""
        place = node.place
        if node.plain and error.offset is not None:
            place = Place(place.line, place.column + error.offset)
        self.mistakes.add(str(error), place)

    def count(self, node: Scalar) -> None:
        """Counts a number or expression before it is read. Errors: CaseError when there are too many."""
        self.cells += 1
        if self.cells > MAX_CELLS:
            self.mistakes.stop(f"more than {MAX_CELLS} numbers in one file", node, "a case is judged number by number")
        if node.text not in self.known and not _LITERAL.fullmatch(node.text):
            self.characters += len(node.text)
            if self.characters > MAX_EXPRESSIONS:
                message = f"more than {MAX_EXPRESSIONS} characters of expressions in one file"
                self.mistakes.stop(message, node, "write shorter expressions, or plain decimals")

    def rows(self, node: Node, what: str = "a matrix") -> list[list[Scalar]] | None:
        """The cells of a list of rows of equal length, or None after noting every mistake of its shape."""
        wanted = f"{what}: a list of rows, for example [[1, 0], [0, 1]]"
        if not isinstance(node, Sequence) or not node.items:
            self.mistakes.wrong_kind(node, wanted)
            return None
        if all(isinstance(item, Scalar) for item in node.items):
            count = len(node.items)
            hint = "write [[...]] for one row, [[.], [.]] for one column"
            self.mistakes.add(f"found a list of {count} numbers, wanted {wanted}", node, hint)
            return None
        before = len(self.mistakes)
        rows = [self._row(item) for item in node.items]
        width, widths = len(rows[0]), {len(row) for row in rows}
        commas = len(widths) == 2 and any(len(row) == 2 * min(widths) and looks_like_commas([row]) for row in rows)
        for number, (row, item) in enumerate(zip(rows, node.items, strict=True)):
            if row and width and len(row) != width:
                message = f"row {number} has {len(row)} {'number' if len(row) == 1 else 'numbers'}, row 0 has {width}"
                hint = "every row of a matrix needs equally many"
                self.mistakes.add(message, item, f"{hint}; {COMMAS}" if commas else hint)
        return None if len(self.mistakes) > before else rows

    def _row(self, node: Node) -> list[Scalar]:
        if not isinstance(node, Sequence) or not node.items:
            self.mistakes.wrong_kind(node, "a row of numbers, for example [1, 0]")
            return []
        for item in node.items:
            if not isinstance(item, Scalar):
                self.mistakes.wrong_kind(item, "a number")
        return [item for item in node.items if isinstance(item, Scalar)]

    def matrix(self, node: Node) -> Matrix | None:
        """An exact matrix: rows, or {times: factor, values: rows}; None after noting every mistake."""
        factor: Exact | None = ONE
        if isinstance(node, Mapping):
            factor = self.exact(node.values["times"]) if "times" in node.values else ONE
            if "values" not in node.values:
                return None  # a mistake of the shape, noted there
            node = node.values["values"]
        if isinstance(node, Scalar) and is_paste(node):
            paste = read_paste(node, None, None, self.mistakes)
            if paste is None:
                return None
            pasted = paste.factor(NO_NAMES, self.mistakes, node)
            factor = None if pasted is None or factor is None else mul(factor, pasted)
            cells: list[list[Scalar]] | None = paste.exact_cells()
        else:
            cells = self.rows(node)
        read = [[self.exact(cell) for cell in row] for row in cells or ()]
        whole = tuple(tuple(mul(factor, x) for x in row if x is not None) for row in read if factor is not None)
        complete = factor is not None and all(x is not None for row in read for x in row)
        return whole if whole and complete else None


def looks_like_commas(rows: Iterable[Iterable[Scalar]]) -> bool:
    """Could these be numbers with decimal commas, each of which the commas of a list have cut in two?"""
    texts = [[cell.text.strip() for cell in row] for row in rows]
    wholes = [text for row in texts for text in row[::2]]
    decimals = [text for row in texts for text in row[1::2]]
    return all(map(_WHOLE.fullmatch, wholes)) and all(map(_DECIMALS.fullmatch, decimals))


def _is_prose(text: str, names: Names[str, Exact]) -> bool:
    """Is a text that cannot be read as a number written for people: `about a third`, `~0.33`, `zero`?"""
    words = {word for word in _WORD.findall(text) if word not in names and word.lower() not in NOT_PROSE}
    near = any(get_close_matches(word, names, n=1) for word in words) and len(text.split()) == 1
    return _MARK.match(text) is not None or (bool(words) and not near)


def sign(x: Exact) -> int | None:
    """The sign of an exact number; None when it cannot be told. Proof: an enclosure on one side of 0."""
    if isinstance(x, Fraction):
        return (x > 0) - (x < 0)
    try:
        if decide(x, lambda t: Answer.known(t.lower > 0, t.upper <= 0), SIGN_BITS) is Answer.YES:
            return 1
        return -1 if decide(x, lambda t: Answer.known(t.upper < 0, t.lower >= 0), SIGN_BITS) is Answer.YES else None
    except (NumeralError, ArithmeticError):
        return None

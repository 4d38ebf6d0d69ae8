"""Text -> PrintedBlock: numbers as somebody printed them, each at its place in a stage."""

from __future__ import annotations

import re
from collections.abc import Mapping as Names
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from exactattn.attention.sheet import StepName, Where
from exactattn.attention.spec import Problem, Stage
from exactattn.documents.cells import ANY_SIZES, Reader, sign
from exactattn.documents.forms import with_unit, with_units
from exactattn.documents.masks import MINUS_INFINITY_FORM, is_minus_infinity
from exactattn.documents.nodes import NONE, Mapping, Node, Scalar, Sequence, quoted
from exactattn.documents.owners import Owned, free_indices, missing_step
from exactattn.documents.paste import Paste, is_paste, is_said, read_paste, said_of
from exactattn.documents.shape import NUMBERS
from exactattn.documents.sheets import SheetMaker
from exactattn.documents.words import DECIMALS, DTYPE_WORDS, DTYPES, FORMS, ROUNDINGS, TRIMMING
from exactattn.findings import PrintedBlock, PrintedCell
from exactattn.numbers.exact import ONE, Exact, mul, neg, spell
from exactattn.numbers.numerals import Numeral

if TYPE_CHECKING:
    from exactattn.documents.pasted import Said

_NOT_FINITE = re.compile(r"""[-+]?(\.|np\.|math\.|torch\.)?(inf(inity)?|nan|∞|oo)|-?float\(.*\)|n/?a|none""", re.I)
NOT_JUDGED = ("...", "…")  # stands for a number that the author did not print


def read_block(
    name: Scalar, node: Node, problem: Problem | None, reader: Reader, maker: SheetMaker | None = None
) -> PrintedBlock | None:
    """One block of printed numbers, or None after noting every mistake in it.

    Without a problem (it has mistakes of its own) the numbers are read and nothing is compared with its shapes. A
    block with a formula, or of numbers whose origin is not given, becomes a step of the sheet that `maker` makes.
    """
    before = len(reader.mistakes)
    block = _Block(name, node, problem, reader, maker).read()
    return block if len(reader.mistakes) == before else None


@dataclass
class _Block(Owned):
    """Reads one block; `words` has what was said of its numbers, by the ids of their cells."""

    paste: Paste | None = None
    words: dict[int, Said] = field(default_factory=dict)

    def read(self) -> PrintedBlock | None:
        mistakes = self.reader.mistakes
        values = self.get("values") if isinstance(self.node, Mapping) else self.node
        unknown = self.get("missing") is not None
        stage = None if unknown else self.where()
        head, cells = self.head(), None if values is None else self.cells(values)
        dtype = self.dtype()
        if cells is None or values is None or (stage is None and not unknown):
            return None
        heads = 0 if self.problem is None or not self.problem.several_heads else len(self.problem.heads)
        if stage is not None and stage.per_head and head is None and heads:
            hint = f"write {{head: 0, values: ...}}; heads are counted from 0 to {heads - 1}"
            mistakes.add(f"{stage.value!r} belongs to one head, and no head is named", self.name, hint)
            return None
        numerals = self.numerals(cells, dtype, stage)
        index = self.placed(cells, stage, head, values)
        factor, size = self.factor(stage is Stage.MASKED and any(is_minus_infinity(x) for row in cells for x in row))
        if index is None:
            return None
        printed = [
            _cell(index[i][j], cell, numeral, factor, size, self.words.get(id(cell)))
            for i, (row, texts) in enumerate(zip(numerals, cells, strict=True))
            for j, (numeral, cell) in enumerate(zip(row, texts, strict=True))
            if numeral is not None or (stage is Stage.MASKED and is_minus_infinity(cell))
        ]
        times = None if factor == ONE else spell(factor)
        tolerance, rounding = self.tolerance(), self.choice("rounding", ROUNDINGS)
        if stage is None and self.maker is not None:
            holes = len(printed) < sum(map(len, cells))
            stage = missing_step(self.maker, self.name, printed, self.role(), rounding == "truncated", holes)
        if stage is None:
            return None
        return PrintedBlock(self.name.text, stage, tuple(printed), head, dtype, times, tolerance, rounding)

    def placed(
        self, cells: list[list[Scalar]], stage: Where | None, head: int | None, values: Node
    ) -> list[list[tuple[int, ...]]] | None:
        """The index of every cell in its stage or step."""
        if stage is None:
            return free_indices(cells, values)
        if isinstance(stage, StepName):
            return self.step_indices(cells, stage, values)
        return self.indices(cells, stage, head, values)

    def head(self) -> int | None:
        """The head that the block names; only a problem with `heads` has any."""
        node = self.get("head")
        if node is None:
            return None
        head = self.index(node)
        if head is None or self.problem is None:
            return head
        if not self.problem.several_heads:
            self.reader.mistakes.add("found a head, but the problem lists no `heads`", node, "remove it")
        elif head >= len(self.problem.heads):
            self.reader.mistakes.add(f"found head {head}, wanted 0 to {len(self.problem.heads) - 1}", node)
        return head

    def tolerance(self) -> Exact | None:
        """How far off the author says that the numbers may be."""
        node = self.get("tolerance")
        x = None if node is None else self.reader.exact(node, self.names())
        if node is not None and x is not None and sign(x) == -1:
            self.reader.mistakes.add("found a negative tolerance, wanted one of at least 0", node)
        return x

    def choice(self, key: str, known: tuple[str, ...], others: Names[str, str] = NONE) -> str | None:
        node, what = self.get(key), " or ".join(map(repr, known))
        return None if node is None else self.reader.mistakes.choice(node, known, what, others)

    def cells(self, values: Node) -> list[list[Scalar]] | None:
        """The printed texts, row by row. A list is one row, or with one `columns` and no `rows` that column."""
        if isinstance(values, Scalar) and is_paste(values):
            form, decimal = self.choice("form", FORMS), self.choice("decimal", DECIMALS)
            self.paste = read_paste(values, form, decimal, self.reader.mistakes)
            return None if self.paste is None else self.paste.cells
        if isinstance(values, Scalar) and any(c.isdigit() for c in values.text):
            return [[values]]
        if isinstance(values, Sequence) and values.items and all(isinstance(item, Scalar) for item in values.items):
            cells = [item for item in values.items if isinstance(item, Scalar)]
            columns = self.listed("columns")
            as_column = columns is not None and len(columns) == 1 and self.get("rows") is None
            return [[cell] for cell in cells] if as_column else [cells]
        if not isinstance(values, Sequence):
            self.reader.mistakes.wrong_kind(values, NUMBERS)
            return None
        return self.reader.rows(values, "numbers")

    def names(self) -> Names[str, Exact]:
        if self.maker is not None and self.maker.started:
            return self.maker.scalars
        return ANY_SIZES if self.problem is None else self.problem.names

    def numerals(self, cells: list[list[Scalar]], dtype: str | None, stage: Where | None) -> list[list[Numeral | None]]:
        """The numbers with the unit of their last digits; None where no number was printed, or a mistake is."""
        read = [[self.numeral(cell, stage) for cell in row] for row in cells]
        node, form = self.get("unit"), self.trims()
        if node is None:
            return with_units(read, form, dtype)
        unit = self.reader.exact(node, self.names())
        if unit is not None and (not isinstance(unit, Fraction) or unit <= 0):
            self.reader.mistakes.add(f"found the unit {quoted(str(unit))}, wanted a positive rational number", node)
        if not isinstance(unit, Fraction) or unit <= 0:
            return read
        return [[None if x is None else with_unit(x, unit) for x in row] for row in read]

    def numeral(self, cell: Scalar, stage: Where | None) -> Numeral | None:
        if cell.text.strip() in NOT_JUDGED:
            return None
        if is_minus_infinity(cell) and stage is Stage.MASKED:
            self.reader.count(cell)
            return None
        if _NOT_FINITE.fullmatch(cell.text.strip()):
            hint = "write `...` for a number that is not judged"
            if is_minus_infinity(cell):
                hint += "; with `stage: masked`, -inf says that no key is allowed there, and is judged"
            self.reader.mistakes.add(f"found {quoted(cell.text)}, wanted a finite number", cell, hint)
            return None
        said = None if self.paste is None else self.paste.said.get(id(cell))
        if said is None and is_said(cell, self.names()):
            before = len(self.reader.mistakes)
            said = said_of(cell, self.choice("decimal", DECIMALS), self.reader.mistakes)
            if len(self.reader.mistakes) > before:
                return None
        if said is None:
            return self.reader.numeral(cell, self.names())
        self.reader.count(cell)
        self.words[id(cell)] = said
        return said.numeral

    def trims(self) -> str:
        """How the program that printed these trims zeros, as the block says or as what was pasted shows."""
        form = self.choice("form", FORMS) or "plain"
        if self.paste is not None and form not in TRIMMING:
            return self.paste.block.trims or "plain"
        return form if form in TRIMMING else "plain"

    def dtype(self) -> str | None:
        """The float format that the block states, or that what was pasted shows."""
        stated = self.choice("dtype", DTYPES, DTYPE_WORDS)
        shown = None if self.paste is None else self.paste.block.dtype
        return stated or (shown if shown in DTYPES else None)

    def factor(self, infinite: bool) -> tuple[Exact, Exact]:
        """The factor in front of the block, and its magnitude; `infinite` says that a -inf stands in the block."""
        node = self.get("times")
        factor = ONE if node is None else self.reader.exact(node, self.names())
        if self.paste is not None and factor is not None:
            pasted = self.paste.factor(self.names(), self.reader.mistakes, self.name)
            factor = None if pasted is None else mul(factor, pasted)
        if factor is None:
            return ONE, ONE
        direction = sign(factor)
        if not direction:
            self.reader.mistakes.add("wanted a factor that is not 0", node)
        if direction == -1 and infinite:
            hint = "multiply it in, and write -inf where no key is allowed"
            self.reader.mistakes.add("found a negative factor in front of -inf, which makes +inf of it", node, hint)
        return factor, neg(factor) if direction == -1 else factor


def _cell(
    index: tuple[int, ...], cell: Scalar, numeral: Numeral | None, factor: Exact, size: Exact, said: Said | None
) -> PrintedCell:
    """A number at its place; without a numeral it is -inf, which has no value."""
    if numeral is None:
        return PrintedCell(index, cell.text.strip(), None, None, None, MINUS_INFINITY_FORM, cell.place)
    unit = None if numeral.unit is None else mul(size, numeral.unit)
    text = numeral.text if said is None else " ".join(cell.text.split())
    mark, cut, word = ("=", False, None) if said is None else (said.mark, said.truncated, said.unit_word)
    value = mul(factor, numeral.value)
    bound = said is not None and mark in "<=>=" and mark != "=" and not said.approximate
    return PrintedCell(index, text, value, unit, numeral.digits, numeral.form, cell.place, mark, cut, word, bound)

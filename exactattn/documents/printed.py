"""Text -> PrintedBlock: numbers as somebody printed them, each at its place in a stage."""

from __future__ import annotations

from collections.abc import Mapping as Names
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from exactattn.attention.spec import Problem, Stage
from exactattn.documents.cells import ANY_SIZES, Reader, sign
from exactattn.documents.forms import with_unit, with_units
from exactattn.documents.nodes import Mapping, Node, Scalar, Sequence, quoted
from exactattn.documents.shape import NUMBERS
from exactattn.documents.words import DTYPES, FORMS
from exactattn.errors import close
from exactattn.findings import PrintedBlock, PrintedCell
from exactattn.numbers.exact import ONE, Exact, mul, neg, spell
from exactattn.numbers.numerals import Numeral

NOT_JUDGED = ("...", "…")  # stands for a number that the author did not print


def read_block(name: Scalar, node: Node, problem: Problem | None, reader: Reader) -> PrintedBlock | None:
    """One block of printed numbers, or None after noting every mistake in it.

    Without a problem (it has mistakes of its own) the numbers are read and nothing is compared with its shapes.
    """
    before = len(reader.mistakes)
    block = _Block(name, node, problem, reader).read()
    return block if len(reader.mistakes) == before else None


@dataclass
class _Block:
    name: Scalar
    node: Node
    problem: Problem | None
    reader: Reader

    def get(self, key: str) -> Node | None:
        return self.node.values.get(key) if isinstance(self.node, Mapping) else None

    def read(self) -> PrintedBlock | None:
        mistakes = self.reader.mistakes
        values = self.get("values") if isinstance(self.node, Mapping) else self.node
        stage, head, dtype = self.stage(), self.head(), self.choice("dtype", DTYPES)
        cells = None if values is None else self.cells(values)
        if cells is None or stage is None:
            return None
        if stage.per_head and head is None and self.problem is not None and self.problem.several_heads:
            hint = f"write {{head: 0, values: ...}}; heads are counted from 0 to {len(self.problem.heads) - 1}"
            mistakes.add(f"{stage.value!r} belongs to one head, and no head is named", self.name, hint)
            return None
        numerals = self.numerals(cells, dtype)
        index = self.indices(cells, stage, head, values)
        factor, size = self.factor()
        if index is None:
            return None
        printed = [
            _cell(index[i][j], cell, numeral, factor, size)
            for i, (row, texts) in enumerate(zip(numerals, cells, strict=True))
            for j, (numeral, cell) in enumerate(zip(row, texts, strict=True))
            if numeral is not None
        ]
        times = None if factor == ONE else spell(factor)
        return PrintedBlock(self.name.text, stage, tuple(printed), head, dtype, times)

    def stage(self) -> Stage | None:
        """The stage that the block names, or that its own name is."""
        node = self.get("stage")
        known = [stage.value for stage in Stage]
        if node is not None:
            chosen = self.reader.mistakes.choice(node, known, "a stage")
            return None if chosen is None else Stage(chosen)
        if self.name.text in known:
            return Stage(self.name.text)
        hint = f"write {{stage: ..., values: ...}}{close(self.name.text[:60], known)}"
        self.reader.mistakes.add(f"{quoted(self.name.text)} is no stage, and the block names none", self.name, hint)
        return None

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

    def choice(self, key: str, known: tuple[str, ...]) -> str | None:
        node = self.get(key)
        return None if node is None else self.reader.mistakes.choice(node, known, " or ".join(map(repr, known)))

    def index(self, node: Node) -> int | None:
        """A count from 0, or None after noting the mistake."""
        if isinstance(node, Scalar) and node.text.isascii() and node.text.isdigit() and len(node.text) < 7:
            return int(node.text)
        self.reader.mistakes.wrong_kind(node, "an index: a whole number counted from 0")
        return None

    def listed(self, key: str) -> list[int] | None:
        """The rows or columns that the block names, or None when it names none, or not all can be read."""
        node = self.get(key)
        if not isinstance(node, Sequence):
            return None  # a value of another kind is a mistake of the shape, noted there
        found = [self.index(item) for item in node.items]
        known = [index for index in found if index is not None]
        if len(set(known)) < len(known):
            self.reader.mistakes.add(f"a number stands twice in `{key}`", node)
        return known if len(known) == len(found) else None

    def cells(self, values: Node) -> list[list[Scalar]] | None:
        """The printed texts, row by row. A list is one row, or with one `columns` and no `rows` that column."""
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
        return ANY_SIZES if self.problem is None else self.problem.names

    def numerals(self, cells: list[list[Scalar]], dtype: str | None) -> list[list[Numeral | None]]:
        """The numbers with the unit of their last digits; None where nothing was printed, or a mistake is."""
        read = [[self.numeral(cell) for cell in row] for row in cells]
        node, form = self.get("unit"), self.choice("form", FORMS) or "plain"
        if node is None:
            return with_units(read, form, dtype)
        unit = self.reader.exact(node, self.names())
        if unit is not None and (not isinstance(unit, Fraction) or unit <= 0):
            self.reader.mistakes.add(f"found the unit {quoted(str(unit))}, wanted a positive rational number", node)
        if not isinstance(unit, Fraction) or unit <= 0:
            return read
        return [[None if x is None else with_unit(x, unit) for x in row] for row in read]

    def numeral(self, cell: Scalar) -> Numeral | None:
        if cell.text.strip() in NOT_JUDGED:
            return None
        if cell.text.strip().lower().lstrip("-+.") in ("inf", "infinity", "∞"):
            hint = "write `...` for an entry that is not judged, such as a masked score"
            self.reader.mistakes.add(f"found {quoted(cell.text)}, wanted a finite number", cell, hint)
            return None
        return self.reader.numeral(cell, self.names())

    def factor(self) -> tuple[Exact, Exact]:
        """The factor in front of the block, and its magnitude."""
        node = self.get("times")
        factor = ONE if node is None else self.reader.exact(node, self.names())
        if factor is None:
            return ONE, ONE
        direction = sign(factor)
        if not direction:
            self.reader.mistakes.add("wanted a factor that is not 0", node)
        return factor, neg(factor) if direction == -1 else factor

    def indices(
        self, cells: list[list[Scalar]], stage: Stage, head: int | None, values: Node | None
    ) -> list[list[tuple[int, ...]]] | None:
        """The index of every cell in its stage as shown, or None after noting why they do not fit."""
        shape = (len(cells), len(cells[0])) if self.problem is None else shape_of(self.problem, stage, head or 0)
        if shape is None:
            message = f"the problem has no {stage.value!r}: its scores are given directly"
            self.reader.mistakes.add(message, self.name, "print scores, or give Q and K")
            return None
        if len(shape) == 1:
            return self.indices_of_list(cells, shape[0], stage, values)
        rows = self.axis("rows", len(cells), shape[0], stage, shape)
        columns = self.axis("columns", len(cells[0]), shape[1], stage, shape)
        if rows is None or columns is None:
            return None
        return [[(i, j) for j in columns] for i in rows]

    def indices_of_list(
        self, cells: list[list[Scalar]], length: int, stage: Stage, values: Node | None
    ) -> list[list[tuple[int, ...]]] | None:
        """The same for a stage with one number for each query (lse), which is printed as a list."""
        if len(cells) != 1:
            self.reader.mistakes.add(f"{stage.value!r} has one number for each query, wanted one list", values)
            return None
        key: Literal["rows", "columns"] = "columns" if self.get("columns") is not None else "rows"
        axis = self.axis(key, len(cells[0]), length, stage, (length,))
        return None if axis is None else [[(i,) for i in axis]]

    def axis(
        self, key: Literal["rows", "columns"], count: int, size: int, stage: Stage, shape: tuple[int, ...]
    ) -> list[int] | None:
        """Which indices of an axis the printed ones are."""
        node, listed = self.get(key), self.listed(key)
        shown = f"{stage.value!r} is {' x '.join(map(str, shape))} here"
        if len(shape) == 1:
            shown = f"{stage.value!r} has {size} numbers here"
        if node is not None and listed is None:
            return None  # noted where it was read
        if listed is None:
            if count == size:
                return list(range(size))
            which = f"say which with `{key}: [...]`, counted from 0"
            hint = which if count < size else "check the shapes of the problem"
            message = f"{shown}, and the number of printed {key if len(shape) > 1 else 'ones'} is {count}"
            self.reader.mistakes.add(message, self._place(), hint)
            return None
        if len(listed) != count:
            self.reader.mistakes.add(f"`{key}` names {len(listed)}, and {count} {key} are printed", node)
            return None
        outside = [index for index in listed if index >= size]
        if outside and self.problem is not None:
            message = f"{shown}, so there is no {key[:-1]} {outside[0]}"
            self.reader.mistakes.add(message, node, f"wanted 0 to {size - 1}")
            return None
        return listed

    def _place(self) -> Node:
        values = self.get("values")
        return self.node if values is None else values


def _cell(index: tuple[int, ...], cell: Scalar, numeral: Numeral, factor: Exact, size: Exact) -> PrintedCell:
    unit = None if numeral.unit is None else mul(size, numeral.unit)
    return PrintedCell(index, numeral.text, mul(factor, numeral.value), unit, numeral.digits, numeral.form, cell.place)


def shape_of(problem: Problem, stage: Stage, head: int) -> tuple[int, ...] | None:
    """The shape of a stage as shown in the problem's orientation; None when the problem has no such stage.

    Shapes: tokens as rows, q (L, d_k), k (S, d_k), v (S, d_v), scores to weights (L, S), lse (L,), context (L, d_v),
    concat (L, H*d_v), output (L, columns of W_O); tokens as columns, all but lse turned.
    """
    form = problem.row_form
    queries, keys = problem.lengths
    part = form.heads[min(head, len(form.heads) - 1)]
    if stage is Stage.LSE:
        return (queries,)
    widths = [len((h.v or h.W_V or ((),))[0]) for h in form.heads]
    key = part.k or part.W_K
    wide = {
        Stage.Q: len(key[0]) if key else 0,
        Stage.K: len(key[0]) if key else 0,
        Stage.V: widths[min(head, len(widths) - 1)],
        Stage.CONTEXT: widths[min(head, len(widths) - 1)],
        Stage.CONCAT: sum(widths),
        Stage.OUTPUT: len(form.W_O[0]) if form.W_O else sum(widths),
    }.get(stage, keys)
    if wide == 0:
        return None
    long = keys if stage in (Stage.K, Stage.V) else queries
    return (wide, long) if problem.spec.orientation == "columns" else (long, wide)

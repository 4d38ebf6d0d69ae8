"""What a statement such as `weights[2,:] = [0.3, 0.3, 0.4]` says: its operands, with the values of its names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from exactattn.attention.spec import HEAD_PARTS, Stage
from exactattn.errors import NumeralError
from exactattn.findings import PrintedBlock, PrintedCell
from exactattn.numbers.exact import Exact
from exactattn.numbers.expressions import Index, ListNode, Name, Node, Number, Reference, Unary, parse_statement
from exactattn.numbers.folding import Array, evaluate_array, shape
from exactattn.numbers.tokens import shorten, suggestion, tokenize
from exactattn.truth.arrays import cells_of, cells_of_array, flat, map_array, pick
from exactattn.truth.functions import FUNCTIONS
from exactattn.truth.ladder import Truth
from exactattn.truth.sheet import SheetTruth
from exactattn.truth.values import Values

MOST_VALUES = 100_000  # elements of one operand
STAGES: Mapping[str, Stage] = {str(stage): stage for stage in Stage} | {"Q": Stage.Q, "K": Stage.K, "V": Stage.V}
_PRINTED = re.compile(r"\bprinted\.(?=[^\W\d])")  # printed.NAME is read as a name of the same length


@dataclass(frozen=True, slots=True)
class Print:
    """How a number was printed: the unit of its last digit (None: no digits end it), and is it a bare integer?"""

    unit: Exact | None
    whole: bool


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a relation: its text, its elements row by row, and how they were printed if it is but a print."""

    text: str
    shape: tuple[int, ...]
    values: tuple[Exact, ...]
    prints: tuple[Print, ...] | None


@dataclass(frozen=True, slots=True)
class Statement:
    """n operands and the n - 1 relations between them."""

    operands: tuple[Operand, ...]
    relations: tuple[str, ...]


class Scope:
    """What names mean in a statement: sizes, inputs, stages (their true values) and `printed.NAME` (somebody's).

    With `as_printed` the stages themselves are somebody's prints. A `sheet` adds its inputs and steps.
    """

    def __init__(
        self,
        truth: Truth | None = None,
        printed: Iterable[PrintedBlock] = (),
        as_printed: bool = False,
        sheet: SheetTruth | None = None,
    ) -> None:
        self.values = Values(truth, None if sheet is None else sheet.sheet.boxes)
        self.sheet = sheet
        self.truth = truth
        self.blocks = tuple(printed)
        self.as_printed = as_printed
        self.sizes: Mapping[str, Exact] = {} if truth is None else dict(truth.problem.names)

    def read(self, text: str) -> Statement:
        """The statement of a text. Errors: NumeralError with the place."""
        text = _PRINTED.sub("printed_", text)
        chain = parse_statement(text)
        signs = [token for token in tokenize(text) if token.kind == "relation"]
        starts = [0, *(token.offset + len(token.text) for token in signs)]
        ends = [*(token.offset for token in signs), len(text)]
        parts = [text[a:b].strip().replace("printed_", "printed.") for a, b in zip(starts, ends, strict=True)]
        operands = tuple(self._operand(part, node) for part, node in zip(parts, chain.operands, strict=True))
        return Statement(operands, tuple(chain.relations))

    def _operand(self, text: str, node: Node) -> Operand:
        value = evaluate_array(node, self.sizes, self._lookup, FUNCTIONS)
        values = tuple(flat(value))
        if len(values) > MOST_VALUES:
            raise NumeralError(f"{len(values)} numbers in one operand, at most {MOST_VALUES} are judged")
        prints = self._prints(node)
        return Operand(text, shape(value), values, None if prints is None else tuple(prints))

    def _prints(self, node: Node) -> list[Print] | None:
        """How the numbers of an operand were printed, if it is nothing but printed numbers."""
        match node:
            case Number():
                return [Print(node.numeral.unit, node.numeral.form == "integer")]
            case Unary():
                return self._prints(node.operand)
            case ListNode():
                parts = [self._prints(item) for item in node.items]
                return None if None in parts else [one for part in parts for one in part or ()]
            case Name() | Reference():
                cells = self._cells(node.label)
                indices = node.indices if isinstance(node, Reference) else ()
                found = () if cells is None else flat(pick(cells, indices))
                return None if cells is None else [Print(cell.unit, cell.form == "integer") for cell in found]
        return None

    def _cells(self, label: str) -> dict[tuple[int, ...], PrintedCell] | None:
        """The printed cells of a name by the indices that findings have; None when it names no print."""
        wanted = label.removeprefix("printed_")
        if wanted != label:
            blocks = [block for block in self.blocks if block.name == wanted]
        elif self.as_printed and label in STAGES:
            blocks = [block for block in self.blocks if block.stage is STAGES[label]]
        elif self.as_printed and self.sheet is not None and self.sheet.sheet.step(label) is not None:
            blocks = [block for block in self.blocks if str(block.stage) == label]
        else:
            return None
        if not blocks:
            known = suggestion(wanted, {block.name for block in self.blocks})
            raise NumeralError(f"nothing printed is called {shorten(wanted)!r}; {known}")
        cells: dict[tuple[int, ...], PrintedCell] = {}
        for block in blocks:
            several = self.truth is not None and self.truth.problem.several_heads and block.stage.per_head
            for cell in block.cells:
                cells.setdefault(((block.head or 0, *cell.index) if several else cell.index), cell)
        return cells

    def _lookup(self, label: str, indices: tuple[Index, ...]) -> Array:
        cells = self._cells(label)
        if cells is not None:
            return cast(Array, map_array(lambda cell: cell.number, pick(cells, indices)))
        if self.sheet is not None and self.sheet.names(label):
            array = self.sheet.array(label)
            return cast(Array, pick(cells_of_array(array), indices)) if indices else cast(Array, array)
        if self.truth is None:
            raise NumeralError(
                f"{shorten(label)!r} needs a problem, and the case has none: add `problem:` with its inputs"
            )
        given = _inputs(self.truth, label)
        if given is not None:
            return cast(Array, pick(given, indices))
        if label not in STAGES:
            known = suggestion(label, {*self.sizes, *STAGES, "X", "W_O", "W_Q", "W_K", "W_V", "printed.NAME"})
            raise NumeralError(f"unknown name {shorten(label)!r}; {known}")
        found = pick(self._stage(STAGES[label]), indices)
        return cast(Array, map_array(lambda where: self.values.element(*where[0]), found))

    def _stage(self, stage: Stage) -> dict[tuple[int, ...], list[Any]]:
        """Where each element of a stage is, by the indices that findings have."""
        truth = self.truth
        assert truth is not None
        if not truth.has(stage):
            raise NumeralError(f"this problem has no stage {stage}: its scores are given directly")
        several = truth.problem.several_heads and stage.per_head
        return {
            ((e.head, *e.index) if several else e.index): [(e.stage, e.index, e.head)] for e in truth.elements(stage)
        }


def decimals(values: Values, operand: Operand, digits: int, most: int = 64) -> Any:
    """The values of an operand for evidence: one text, or a list of the first `most`."""
    texts = [values.decimal(x, digits) or str(x) for x in operand.values[:most]]
    return texts if operand.shape else texts[0]


def _inputs(truth: Truth, label: str) -> dict[tuple[int, ...], Exact] | None:
    """An input matrix by its name in the case file, with the head first when there are several."""
    problem = truth.problem
    if label in ("X", "W_O"):
        return cells_of(getattr(problem, label))
    if label not in HEAD_PARTS or label in STAGES:
        return None
    if not problem.several_heads:
        return cells_of(getattr(problem.heads[0], label))
    parts = [cells_of(getattr(head, label)) or {} for head in problem.heads]
    return {(h, *index): x for h, part in enumerate(parts) for index, x in part.items()} or None

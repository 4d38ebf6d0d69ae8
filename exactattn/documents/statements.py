"""What a statement names, held against what the case has: stages, inputs, printed numbers, their indices, functions.

Nothing is computed here; a name or index that is not there is a mistake of the file, with its place in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from exactattn.attention.sheet import StepName
from exactattn.attention.spec import HEAD_PARTS, Problem, Stage, shape
from exactattn.documents.masks import MINUS_INFINITY_FORM
from exactattn.documents.nodes import nearest, quoted
from exactattn.documents.positions import shape_of
from exactattn.documents.words import STAGE_WORDS
from exactattn.errors import NumeralError
from exactattn.findings import PrintedBlock
from exactattn.numbers.expressions import Call, Index, Name, Node, Reference, Slice
from exactattn.numbers.folding import CONSTANTS, SCALAR_FUNCTIONS
from exactattn.numbers.folding import shape as array_shape
from exactattn.numbers.trees import parts_below
from exactattn.truth.arrays import flat, pick
from exactattn.truth.functions import FUNCTIONS as ARRAY_FUNCTIONS
from exactattn.truth.sheet import SheetTruth

STAGES: Mapping[str, Stage] = {str(stage): stage for stage in Stage} | {"Q": Stage.Q, "K": Stage.K, "V": Stage.V}
INPUTS = ("X", "W_O", *(part for part in HEAD_PARTS if part not in STAGES))
FUNCTIONS = (*SCALAR_FUNCTIONS, "sum", *ARRAY_FUNCTIONS)
PRINTED = "printed_"  # how `printed.NAME` is read: a name of the same length
_AXES = {0: (), 1: ("row",), 2: ("row", "column"), 3: ("head", "row", "column")}


@dataclass
class Scope:
    """What a statement can name: a problem, its blocks of printed numbers (None for one with mistakes), and a sheet."""

    problem: Problem | None
    blocks: Mapping[str, PrintedBlock | None]
    sheet: SheetTruth | None = None
    _cells: dict[str, _Cells] = field(default_factory=dict)

    @property
    def names(self) -> Mapping[str, object]:
        """The sizes of the problem."""
        return {} if self.problem is None else self.problem.names

    def check(self, operands: Iterable[Node], note: Callable[[NumeralError], None]) -> None:
        """Notes every name, index and function that is not there."""
        for node in operands:
            for part in parts_below(node):
                try:
                    self._check(part)
                except NumeralError as error:
                    note(error)

    def _check(self, node: Node) -> None:
        match node:
            case Call():
                _function(node)
            case Name():
                if node.label not in CONSTANTS and node.label not in self.names:
                    self._named(node)
            case Reference():
                self._named(node)

    def _named(self, node: Name | Reference) -> None:
        label, offset = node.label, node.offset
        if label.startswith(PRINTED):
            self._printed(label.removeprefix(PRINTED), node)
            return
        if self.sheet is not None and self.sheet.names(label):
            _in_shape(node, array_shape(self.sheet.array(label)))
            return
        sizes = self._shape(label)
        if sizes is not None:
            _in_shape(node, sizes)
            return
        if self.problem is None:
            known = [] if self.sheet is None else [*self.sheet.sheet.inputs, *map(str, self._steps())]
            known += [f"printed.{name}" for name in self.blocks]
            raise NumeralError(f"unknown name {quoted(label)}; {nearest(label, known)}", offset)
        if label in STAGES:
            message = f"this problem has no stage {label}: its scores are given directly; use scores, or give Q and K"
        elif label in CONSTANTS or label in self.names:
            message = f"{label} is one number, so it has no indices"
        elif label in INPUTS:
            message = f"this problem states no {label}; give it, or write the stage that is meant"
        else:
            known = [*self.names, *STAGES, *INPUTS, *(f"printed.{name}" for name in self.blocks)]
            message = f"unknown name {quoted(label)}; {nearest(label, known, STAGE_WORDS)}"
        raise NumeralError(message, offset)

    def _steps(self) -> list[StepName]:
        return [] if self.sheet is None else [step.name for step in self.sheet.sheet.steps if step.formula is not None]

    def _shape(self, label: str) -> tuple[int, ...] | None:
        """The shape of a stage or input, the head first where the case has several; None when there is none."""
        problem = self.problem
        if problem is None:
            return None
        if label in STAGES:
            stage = STAGES[label]
            sizes = shape_of(problem, stage, 0)
            several = problem.several_heads and stage.per_head
            return (len(problem.heads), *sizes) if sizes is not None and several else sizes
        if label not in INPUTS:
            return None
        owner = problem if label in ("X", "W_O") else problem.heads[0]
        matrix = getattr(owner, label)
        if matrix is None:
            return None
        several = problem.several_heads and owner is not problem
        return (len(problem.heads), *shape(matrix)) if several else shape(matrix)

    def _printed(self, name: str, node: Name | Reference) -> None:
        if name not in self.blocks:
            known = f"; {nearest(name, self.blocks)}" if self.blocks else ""
            raise NumeralError(f"nothing printed is called {quoted(name)}{known}", node.offset)
        block = self.blocks[name]
        if block is None or not block.cells:
            return
        cells = self._cells.get(name) or _Cells(block, self.problem)
        self._cells[name] = cells
        try:
            cells.check(node.indices if isinstance(node, Reference) else ())
        except NumeralError as error:
            raise NumeralError(f"printed.{name}: {error}", node.offset) from error


class _Cells:
    """The cells of a block by the indices that findings have."""

    def __init__(self, block: PrintedBlock, problem: Problem | None) -> None:
        several = problem is not None and problem.several_heads and block.stage.per_head
        self.cells = {((block.head or 0, *cell.index) if several else cell.index): cell for cell in block.cells}
        self.axes = [set(axis) for axis in zip(*self.cells, strict=True)]
        whole = prod(map(len, self.axes)) == len(self.cells)
        self.simple = whole and all(cell.form != MINUS_INFINITY_FORM for cell in block.cells)

    def check(self, indices: tuple[Index, ...]) -> None:
        """Errors: NumeralError for an index that is not there, for a part with holes, and for -inf."""
        known = all(isinstance(i, Slice) or i in axis for i, axis in zip(indices, self.axes, strict=False))
        if self.simple and known and len(indices) <= len(self.axes):
            return
        if any(cell.form == MINUS_INFINITY_FORM for cell in flat(pick(self.cells, indices))):
            raise NumeralError("a -inf is printed there, and nothing computes with it; name finite numbers of it")


def _function(node: Call) -> None:
    if node.function not in FUNCTIONS:
        hint = nearest(node.function, FUNCTIONS)
        raise NumeralError(f"unknown function {quoted(node.function)}; {hint}", node.offset)


def _in_shape(node: Name | Reference, sizes: tuple[int, ...]) -> None:
    """Notes more indices than axes, or one that is too large."""
    indices = node.indices if isinstance(node, Reference) else ()
    if not sizes and not indices:
        return
    axes = " x ".join(f"{axis}s" for axis in _AXES[len(sizes)])
    shown = f"{node.label} is {' x '.join(map(str, sizes))} here ({axes})"
    if len(indices) > len(sizes):
        raise NumeralError(f"found {len(indices)} indices, and {shown}; write at most {len(sizes)}", node.offset)
    for axis, index, size in zip(_AXES[len(sizes)], indices, sizes, strict=False):
        if not isinstance(index, Slice) and index >= size:
            message = f"{shown}, so there is no {axis} {index}; wanted 0 to {size - 1}, indices count from 0"
            raise NumeralError(message, node.offset)

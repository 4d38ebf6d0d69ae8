"""Which stage or step the numbers of a block are, and where they stand in it."""

from __future__ import annotations

from dataclasses import dataclass

from exactattn.attention.sheet import SCALE, Where
from exactattn.attention.spec import Stage
from exactattn.documents.nodes import Mapping, Node, Scalar, nearest, quoted
from exactattn.documents.positions import Part
from exactattn.documents.sheets import SheetMaker
from exactattn.documents.words import STAGE_WORDS
from exactattn.errors import NumeralError
from exactattn.findings import PrintedCell
from exactattn.numbers.expressions import Node as Tree
from exactattn.numbers.expressions import parse_expression
from exactattn.numbers.folding import shape

STAGES = [stage.value for stage in Stage]


@dataclass
class Owned(Part):
    """A block with the sheet that its steps go to."""

    maker: SheetMaker | None = None

    def where(self) -> Where | None:
        """The stage or step that the block names, makes, or has the name of; None after noting why there is none."""
        of = self.get("of")
        if of is not None:
            return self._made(of)
        node = self.get("stage")
        step = None if self.maker is None else self.maker.sheet.step(self.name.text if node is None else _text(node))
        if step is not None:
            return step.name
        if self.problem is not None and self.maker is not None and (_text(node) if node else self.name.text) == SCALE:
            return self.maker.scale()
        if node is not None:
            steps = [] if self.maker is None else [str(step.name) for step in self.maker.sheet.steps]
            chosen = self.reader.mistakes.choice(node, [*STAGES, *steps], "a stage", STAGE_WORDS)
            return None if chosen is None else self._stage(Stage(chosen), node)
        if self.name.text in STAGES:
            return self._stage(Stage(self.name.text), self.name)
        if self.maker is not None and self.name.text in self.maker.broken:
            return None
        hint = f"write {{stage: ..., values: ...}}; {nearest(self.name.text, STAGES, STAGE_WORDS)}"
        if self.maker is not None and self.maker.started:
            hint = "say by a formula what they are: {of: softmax(scaled), values: ...}"
        self.reader.mistakes.add(f"{quoted(self.name.text)} is no stage, and the block names none", self.name, hint)
        return None

    def _stage(self, stage: Stage, place: Scalar | Node) -> Stage | None:
        """The stage, which only an attention problem has."""
        if self.problem is None and self.maker is not None and self.maker.started:
            hint = "say by a formula what they are, {of: softmax(scaled), values: ...}, or by `missing: why`"
            self.reader.mistakes.add(f"the problem has inputs and formulas, and no stage {stage.value!r}", place, hint)
            return None
        return stage

    def role(self) -> Stage | None:
        """Which stage of attention a step plays: the one it states, or the one it is called like."""
        node = self.get("stage")
        if node is not None:
            chosen = self.reader.mistakes.choice(node, STAGES, "a stage", STAGE_WORDS)
            return None if chosen is None else Stage(chosen)
        return Stage(self.name.text) if self.name.text in STAGES else None

    def _made(self, of: Node) -> Where | None:
        """A new step of the sheet."""
        if self.maker is None or not isinstance(of, Scalar):
            return None  # a mistake of the problem or of the shape, noted there
        role, others = self.role(), self._others()
        if not self.maker.named(self.name) or not self.maker.step(self.name, of, role, others):
            return None
        step = self.maker.sheet.step(self.name.text)
        return None if step is None else step.name

    def _others(self) -> dict[str, Tree]:
        """The other formulas that may have been meant."""
        node = self.get("readings")
        out: dict[str, Tree] = {}
        for key, value in node.values.items() if isinstance(node, Mapping) else ():
            if isinstance(value, Scalar):
                try:
                    out[key] = parse_expression(value.text)
                    if self.maker is not None:
                        self.maker.truth.evaluate(out[key])
                except NumeralError as error:
                    self.reader.note(error, value)
        return out

    def step_indices(self, cells: list[list[Scalar]], where: Where, values: Node) -> list[list[tuple[int, ...]]] | None:
        """The index of every cell of a step, whose value is one number, a list or a matrix."""
        assert self.maker is not None
        sizes = shape(self.maker.truth.array(str(where)))
        if not sizes:
            if len(cells) == len(cells[0]) == 1:
                return [[()]]
            message = f"{str(where)!r} is one number, and {sum(map(len, cells))} are printed"
            self.reader.mistakes.add(message, values, "check the formula, or print a list")
            return None
        if len(sizes) == 1:
            return self.list_indices(cells, sizes[0], where, values)
        return self.matrix_indices(cells, where, (sizes[0], sizes[1]))


def free_indices(cells: list[list[Scalar]], values: Node) -> list[list[tuple[int, ...]]]:
    """The indices of numbers that nothing says the shape of: one number, a list, or rows as written."""
    if isinstance(values, Scalar):
        return [[()]]
    if len(cells) == 1:
        return [[(j,) for j in range(len(cells[0]))]]
    return [[(i, j) for j in range(len(row))] for i, row in enumerate(cells)]


def missing_step(
    maker: SheetMaker, name: Scalar, cells: list[PrintedCell], role: Stage | None, cut: bool, holes: bool
) -> Where | None:
    """The step of numbers that are made from what is not given; `cut`: not rounded, `holes`: not all are printed."""
    return maker.missing(name, tuple(cells), role, cut, holes) if maker.named(name) else None


def _text(node: Node) -> str:
    return node.text if isinstance(node, Scalar) else ""

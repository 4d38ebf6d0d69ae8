"""Text -> Sheet: named inputs, and steps as formulas over them, each checked where it stands."""

from __future__ import annotations

from collections.abc import Mapping as Names
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from exactattn.attention.sheet import FIRST_ORDER, SCALE, SCALE_ORDER, Sheet, Step, StepName
from exactattn.attention.spec import Problem, Stage
from exactattn.documents.cells import Reader
from exactattn.documents.draws import PARTS
from exactattn.documents.forms import with_units
from exactattn.documents.nodes import Mapping, Node, Scalar, Sequence, quoted
from exactattn.documents.paste import is_paste, read_paste
from exactattn.errors import NumeralError
from exactattn.findings import PrintedCell
from exactattn.numbers.enclosure import Interval
from exactattn.numbers.exact import ONE, Exact, Expr, depth_of, mul, name
from exactattn.numbers.expressions import Node as Tree
from exactattn.numbers.expressions import Number, parse_expression
from exactattn.numbers.folding import CONSTANTS, shape
from exactattn.numbers.numerals import Numeral
from exactattn.truth.arrays import cells_of_array
from exactattn.truth.functions import Rest
from exactattn.truth.sheet import SheetTruth

KEYS = ("inputs", "draws", "steps")  # of a problem that is, or has, a sheet
MOST_STEPS = 500
MOST_ELEMENTS = 10_000  # of one step
MOST_DEPTH = 300  # operations inside each other, over all formulas
ELLIPSES = ("...", "…")
HALF = Fraction(1, 2)
NONE: Names[str, Tree] = MappingProxyType({})
INPUT = "a number, a list of numbers, rows of them, or {values: ..., rounded: true}"


@dataclass
class SheetMaker:
    """Makes the sheet of one problem step by step, so that a formula that does not fit is named at its own place."""

    reader: Reader
    problem: Problem | None = None
    truth: SheetTruth = field(init=False)
    started: bool = False
    depths: dict[int, tuple[Exact, int]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)  # names whose own mistakes are noted, so what uses them is not read

    def __post_init__(self) -> None:
        self.truth = SheetTruth(Sheet({}, problem=self.problem))

    @property
    def sheet(self) -> Sheet:
        """What was made so far."""
        return self.truth.sheet

    @property
    def scalars(self) -> Names[str, Exact]:
        """The inputs that are one number, which printed expressions may name."""
        sizes = {} if self.problem is None else dict(self.problem.names)
        return sizes | {key: x for key, x in self.sheet.inputs.items() if not isinstance(x, tuple)}

    def read(self, body: Mapping, drawn: list[tuple[Scalar, Any]]) -> None:
        """The inputs and steps that a problem states, after those that were drawn for it."""
        self.started = True
        for key, array in drawn:
            if not (self.problem is not None and key.text in PARTS) and self.named(key):
                self.given(key.text, array)
        for key, node in _entries(body, "inputs"):
            if self.named(key):
                self.input(key, node)
        for key, node in _entries(body, "steps"):
            if self.named(key) and isinstance(node, Scalar):
                self.step(key, node)

    def named(self, key: Scalar) -> bool:
        """Is a name fit for an input or step? Notes why not."""
        text = key.text
        if not text.isidentifier() or text in CONSTANTS or text.startswith("printed"):
            hint = "use letters, digits and _, not starting with a digit or with `printed`"
            hint += "; a formula with commas needs quotes inside { }" if set(text) & set("()") else ""
            self.reader.mistakes.add(f"found {quoted(text)} as a name in formulas", key, hint)
        elif text in self.sheet.inputs or self.sheet.step(text) is not None:
            self.reader.mistakes.add(f"the name {quoted(text)} is taken already", key, "choose another")
        elif self.problem is not None and text in list(Stage):
            hint = "the problem has a stage of that name; choose another"
            self.reader.mistakes.add(f"found {quoted(text)} as the name of a formula", key, hint)
        else:
            return True
        self.broken.add(text)
        return False

    def input(self, key: Scalar, node: Node) -> None:
        """One input."""
        array, boxes = _Input(key, self.reader).read(node)
        if array is None:
            self.broken.add(key.text)
            return
        sheet = self.sheet
        self.replace(Sheet({**sheet.inputs, key.text: array}, sheet.steps, {**sheet.boxes, **boxes}, sheet.problem))

    def given(self, label: str, array: Any) -> None:
        """One input that is already exact."""
        self.replace(replace(self.sheet, inputs={**self.sheet.inputs, label: array}))

    def replace(self, sheet: Sheet) -> None:
        """Another sheet, which begins with this one."""
        self.truth = SheetTruth(sheet)

    def step(self, key: Scalar, node: Scalar, role: Stage | None = None, others: Names[str, Tree] = NONE) -> bool:
        """One step by its formula. False after noting what is wrong with it."""
        self.started = True
        steps = self.sheet.steps
        if len(steps) >= MOST_STEPS:
            self.reader.mistakes.stop(f"more than {MOST_STEPS} formulas in one problem", node, "split the case")
        formula = self.formula(node)
        made = Step(StepName(key.text, FIRST_ORDER + len(steps), role), formula, others)
        before = self.truth
        truth = SheetTruth(replace(self.sheet, steps=(*steps, made)))
        truth.take(before)
        if formula is None or not self.fits(truth, key, node):
            self.broken.add(key.text)
            return False
        self.truth = truth
        return True

    def scale(self) -> StepName:
        """The step of a printed scale, which is that of the problem."""
        assert self.problem is not None
        self.started = True
        step = self.sheet.step(SCALE)
        if step is None:
            x = self.problem.scale
            formula = Number(Numeral(str(x), x, None, None, "closed"), 0)
            step = Step(StepName(SCALE, SCALE_ORDER), formula)
            self.replace(replace(self.sheet, steps=(*self.sheet.steps, step)))
        return step.name

    def formula(self, node: Scalar) -> Tree | None:
        """The tree of a formula, or None after noting the mistake in it."""
        self.reader.count(node)
        try:
            return parse_expression(node.text)
        except NumeralError as error:
            self.reader.note(error, node)
            return None

    def fits(self, truth: SheetTruth, key: Scalar, node: Scalar) -> bool:
        """Has a step a value of a sensible shape?"""
        try:
            array = truth.array(key.text)
            sizes = shape(array)
        except NumeralError as error:
            if not any(f"'{label}'" in str(error) for label in self.broken):
                self.reader.note(error, node)
            return False
        except ZeroDivisionError:
            self.reader.mistakes.add(f"the formula of {quoted(key.text)} divides by zero", node)
            return False
        if len(sizes) > 2 or len(cells_of_array(array)) > MOST_ELEMENTS:
            shown = " x ".join(map(str, sizes))
            hint = "a step is one number, a list or a matrix of at most 10000 numbers"
            self.reader.mistakes.add(f"the formula of {quoted(key.text)} gives {shown} numbers", node, hint)
            return False
        if any(depth_of(x, self.depths) > MOST_DEPTH for x in cells_of_array(array).values() if isinstance(x, Expr)):
            message = f"the formula of {quoted(key.text)} has more than {MOST_DEPTH} operations one inside another"
            self.reader.mistakes.add(message, node, "earlier formulas count too; begin again from printed numbers")
            return False
        return True

    def missing(
        self, key: Scalar, cells: tuple[PrintedCell, ...], role: Stage | None, cut: bool, holes: bool
    ) -> StepName:
        """A step made from what is not given: later formulas use its prints, each known to its last digit.

        They are taken to be rounded, or cut where the author says so. Where an ellipsis leaves some out, no formula can
        use them: nobody knows how many there are.
        """
        self.started = True
        sheet, array, boxes = self.sheet, {}, dict(self.sheet.boxes)
        for cell in cells:
            array[cell.index], box = _boxed(key.text, cell.index, cell.number, cell.unit, cut or cell.cut)
            boxes |= box
        step = Step(StepName(key.text, FIRST_ORDER + len(sheet.steps), role), None)
        prints = dict(sheet.prints) if holes else {**sheet.prints, key.text: _nested(array)}
        self.replace(Sheet(sheet.inputs, (*sheet.steps, step), boxes, sheet.problem, prints))
        return step.name


def _entries(body: Mapping, key: str) -> list[tuple[Scalar, Node]]:
    node = body.values.get(key)
    return [(node.keys[label], node.values[label]) for label in node.keys] if isinstance(node, Mapping) else []


def _boxed(
    label: str, index: tuple[int, ...], x: Exact, unit: Exact | None, cut: bool = False
) -> tuple[Exact, dict[str, Interval]]:
    """A number known to its last digit as a name for it, and the interval it lies in.

    Exact value: within half a unit of what was rounded; up to a unit further from zero for what was cut toward it.
    """
    if not isinstance(x, Fraction) or not isinstance(unit, Fraction):
        return x, {}
    shown = f"{label}[{','.join(map(str, index))}]"
    if cut:
        return name(shown), {shown: Interval(x - unit if x <= 0 else x, x + unit if x >= 0 else x)}
    return name(shown), {shown: Interval(x - unit * HALF, x + unit * HALF)}


def _nested(cells: Names[tuple[int, ...], Any]) -> Any:
    """Elements by index as nested tuples."""
    if () in cells:
        return cells[()]
    first = sorted({place[0] for place in cells})
    return tuple(_nested({place[1:]: x for place, x in cells.items() if place[0] == i}) for i in first)


@dataclass
class _Input:
    """Reads one input."""

    key: Scalar
    reader: Reader
    boxes: dict[str, Interval] = field(default_factory=dict)
    rounded: bool = False
    factor: Exact = ONE

    def read(self, node: Node) -> tuple[Any, dict[str, Interval]]:
        """The input as nested tuples, None after noting every mistake, and the intervals of its rounded numbers."""
        before = len(self.reader.mistakes)
        if isinstance(node, Mapping):
            node = self.options(node)
        array = self.array(node, ())
        return (None if len(self.reader.mistakes) > before else array), self.boxes

    def options(self, body: Mapping) -> Node:
        for label, key in body.keys.items():
            if label not in ("values", "rounded", "times"):
                self.reader.mistakes.add(f"unknown key {quoted(label)}", key, f"an input is {INPUT}")
        rounded = body.values.get("rounded")
        if rounded is not None:
            self.rounded = self.reader.mistakes.choice(rounded, ("true", "false"), "true or false") == "true"
        if "times" in body.values:
            self.factor = self.reader.exact(body.values["times"]) or ONE
        if "values" not in body.values:
            self.reader.mistakes.add(f"the input {quoted(self.key.text)} has no key 'values'", body, f"wanted {INPUT}")
        return body.values.get("values", Sequence((), body.place))

    def array(self, node: Node, index: tuple[int, ...]) -> Any:
        if not index and isinstance(node, Scalar) and is_paste(node):
            return self.pasted(node)
        if isinstance(node, Sequence) and node.items and len(index) < 2:
            items = [self.array(item, (*index, i)) for i, item in enumerate(node.items)]
            rest = isinstance(items[-1], Rest)
            if any(isinstance(item, Rest) for item in items[:-1]) or (rest and len(items) < 2):
                self.reader.mistakes.add("an ellipsis ends a list of known numbers", node, "write [8.5, -2.1, ...]")
            if len({shape(item) for item in items[: len(items) - rest]}) > 1:
                self.reader.mistakes.add("the rows are not equally long", node, "every row needs equally many numbers")
            return tuple(items)
        if isinstance(node, Scalar):
            if node.text.strip() in ELLIPSES and index:
                share = f"{self.key.text}[...]"
                self.boxes[share] = Interval(Fraction(0), Fraction(1))
                return Rest(share)
            return self.number(node, index)
        self.reader.mistakes.wrong_kind(node, INPUT)
        return None

    def pasted(self, node: Scalar) -> Any:
        """A list or rows from a block of text."""
        paste = read_paste(node, None, None, self.reader.mistakes)
        if paste is None:
            return None
        pasted = paste.factor({}, self.reader.mistakes, node)
        if pasted is None:
            return None
        self.factor = mul(self.factor, pasted)
        numerals = [[None if (said := paste.said.get(id(cell))) is None else said.numeral for cell in row]
                    for row in paste.cells]  # fmt: skip
        numerals = with_units(numerals, paste.block.trims or "plain", paste.block.dtype)
        rows = []
        for i, row in enumerate(numerals):
            places = [(j,) if paste.block.vector else (i, j) for j in range(len(row))]
            rows.append(tuple(self.exact(x, paste.cells[i][j], places[j]) for j, x in enumerate(row)))
        return rows[0] if paste.block.vector else tuple(rows)

    def number(self, node: Scalar, index: tuple[int, ...]) -> Exact | None:
        return self.exact(self.reader.numeral(node), node, index)

    def exact(self, numeral: Numeral | None, node: Scalar, index: tuple[int, ...]) -> Exact | None:
        """The value of a number, or a name for it where its digits were rounded."""
        if numeral is None:
            if node.text.strip() in (*ELLIPSES, "-inf"):
                self.reader.mistakes.add(f"found {quoted(node.text)} in an input, wanted a number", node)
            return None
        x = mul(self.factor, numeral.value)
        if not self.rounded:
            return x
        unit = numeral.unit
        if unit is None or not isinstance(x, Fraction) or not isinstance(self.factor, Fraction):
            hint = "give it as a decimal, or leave out `rounded`"
            self.reader.mistakes.add(f"{quoted(node.text)} has no last digit, so it was not rounded", node, hint)
            return None
        value, box = _boxed(self.key.text, index, x, unit * abs(self.factor))
        self.boxes |= box
        return value

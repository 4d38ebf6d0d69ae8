"""What the steps of a sheet truly give, with the face of `Truth`, so that prints of them are judged alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from exactattn.attention.definition import stages
from exactattn.attention.sheet import SCALE, Sheet, StepName
from exactattn.attention.sheet import Where as StageOrStep
from exactattn.attention.spec import Problem, Stage
from exactattn.errors import NumeralError, Unavailable
from exactattn.numbers.balls import FIRST_BITS, MOST_BITS, BallField, TooCoarse, enclose, interval, precision
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact, Expr, evaluate_shared, names_in, size_of, sub
from exactattn.numbers.expressions import Index, Name, Reference, parts_below
from exactattn.numbers.folding import evaluate_array, shape
from exactattn.numbers.tokens import shorten, suggestion
from exactattn.truth.arrays import cells_of_array, flat, pick
from exactattn.truth.boxes import Boxes, over_box
from exactattn.truth.closed import Closed
from exactattn.truth.functions import FUNCTIONS
from exactattn.truth.ladder import Element, Reread, Truth, difference
from exactattn.truth.values import Values

MOST_SHOWN = 40  # operations of a closed form that is for reading
UNBOUNDED = "its value cannot be enclosed: it is too large, or its formula has none for some of the possible inputs"
UNFINISHED = "[...]"  # ends the name of what an ellipsis leaves out
MOST_PROVEN = 2_000  # operations of what SymPy is asked to prove equal


class SheetTruth:
    """What a sheet truly gives, or what follows from it once some elements are given."""

    def __init__(self, sheet: Sheet, given: Mapping[Element, Exact] | None = None, most_bits: int = MOST_BITS) -> None:
        self.sheet = sheet
        self.given = dict(given or {})
        self.most_bits = most_bits
        at_stages = {element: x for element, x in self.given.items() if isinstance(element.stage, Stage)}
        problem = _scaled(sheet.problem, self.given)
        self.attention = None if problem is None else Truth(problem, at_stages, most_bits)
        self._arrays: dict[str, Any] = dict(sheet.inputs)
        self._by_step: dict[str, dict[tuple[int, ...], Exact]] = {}
        for element, x in self.given.items():
            self._by_step.setdefault(str(element.stage), {})[element.index] = x
        self._like: SheetTruth | None = None  # whose steps have the shapes of these
        self._without: set[str] = set()  # steps that have no value once the given numbers stand
        self._pinned: SheetTruth | None = None
        self._stages: Mapping[tuple[Stage, int], Any] | None = None
        self._balls: dict[int, dict[int, tuple[Exact, Any]]] = {}
        self._boxes = Boxes(sheet.boxes)
        self._values: dict[tuple[Element, int], Interval | None] = {}

    def following(self, given: Mapping[Element, Exact]) -> SheetTruth:
        """The truth once these elements are put in place of the computed ones, before anything later uses them."""
        other = SheetTruth(self.sheet, given, self.most_bits)
        changed = {element for element, x in other.given.items() if self.given.get(element) != x}
        changed |= self.given.keys() - other.given.keys()
        other.take_before(self, min((element.stage.order for element in changed), default=0))
        other._like = self
        return other

    def pinned(self) -> SheetTruth:
        """The same with every number of a box at its middle: to see what rests on what, not to judge by."""
        if not self.sheet.boxes:
            return self
        if self._pinned is None:
            boxes = {label: Interval(b.midpoint, b.midpoint) for label, b in self.sheet.boxes.items()}
            self._pinned = SheetTruth(replace(self.sheet, boxes=boxes), self.given, self.most_bits)
        return self._pinned

    def reached_from(self, stage: StageOrStep) -> set[int] | None:
        """The orders of the steps that a step may depend on once the given numbers stand; None for all.

        Proof: a formula uses the steps it names; of those that are given whole it uses nothing but what is given.
        """
        if self.sheet.problem is not None or isinstance(stage, Stage):
            return None
        reached: set[int] = set()
        waiting = [str(stage)]
        while waiting:
            step = self.sheet.step(waiting.pop())
            parts = () if step is None or step.formula is None else parts_below(step.formula)
            for label in {part.label for part in parts if isinstance(part, (Name, Reference))}:
                used = self.sheet.step(label)
                if used is not None and used.name.order not in reached:
                    reached.add(used.name.order)
                    whole = self._all_given(label, self._by_step.get(label, {})) is not None
                    waiting += [] if whole else [label]
        return reached

    def take_before(self, other: SheetTruth, order: int) -> None:
        """Takes over the steps before an order from a truth of the same sheet that is given the same there."""
        known = {str(step.name) for step in self.sheet.steps if step.name.order < order}
        self._arrays.update({name: array for name, array in other._arrays.items() if name in known})

    def take(self, other: SheetTruth) -> None:
        """Takes over what another truth has formed already; this sheet begins with all of that one."""
        self._arrays.update(other._arrays)

    @property
    def problem(self) -> Problem | None:
        """The attention problem beside the steps, if there is one."""
        return self.sheet.problem

    def sharpens(self, element: Element) -> bool:
        """Can more bits tell more about an element? Not where digits of the inputs are missing."""
        if isinstance(element.stage, Stage):
            return True
        x = self.exact(element)
        return not (isinstance(x, Expr) and self.sheet.boxes and names_in(x))

    def is_constant(self, element: Element) -> bool:
        """Is it one number whose formula names no input and no step, such as 1/sqrt(2)?"""
        step = None if isinstance(element.stage, Stage) else self.sheet.step(str(element.stage))
        if step is None or step.formula is None or element.index:
            return False
        return not any(isinstance(part, (Name, Reference)) for part in parts_below(step.formula))

    def unfinished(self, element: Element) -> bool:
        """Does an element depend on the part of a vector that an ellipsis leaves out?"""
        x = None if isinstance(element.stage, Stage) else self.exact(element)
        return isinstance(x, Expr) and any(label.endswith(UNFINISHED) for label in names_in(x))

    def unknown(self, element: Element) -> str | None:
        """Why an element has no true value; None where it has one."""
        if isinstance(element.stage, Stage):
            assert self.attention is not None
            return self.attention.unknown(element)
        step = self.sheet.step(str(element.stage))
        if step is not None and step.formula is None:
            return "what it is made from is not given"
        has, x = self._cell(element)
        if not has:
            return "its formula has no value"
        return UNBOUNDED if x is not None and self.value(element) is None else None

    def names(self, label: str) -> bool:
        """Is it an input, or a step with a value?"""
        step = self.sheet.step(label)
        return label in self.sheet.inputs or (step is not None and step.formula is not None)

    def array(self, name: str) -> Any:
        """An input or a step as nested tuples of exact numbers. Errors: NumeralError where a formula has no value."""
        if name not in self._arrays:
            step = self.sheet.step(name)
            if step is None:
                raise KeyError(name)
            given = self._by_step.get(name, {})
            made = self.sheet.prints[name] if step.formula is None else self._all_given(name, given)
            if made is None and step.formula is not None:
                made = self.evaluate(step.formula, step.name)
            for index, x in given.items():
                made = _replaced(made, index, x)
            self._arrays[name] = made
        return self._arrays[name]

    def _all_given(self, name: str, given: Mapping[tuple[int, ...], Exact]) -> Any:
        """An array of the shape of a step of which every element is given, so that its formula says nothing."""
        like = None if self._like is None else self._like._arrays.get(name)
        return like if like is not None and len(given) == len(flat(like)) else None

    def _cell(self, element: Element) -> tuple[bool, Exact | None]:
        """Has the step of an element a value, and the element; None is a masked score.

        What follows from printed numbers may have none: an author's 0 for a sum divides nothing.
        """
        name = str(element.stage)
        if name not in self._without:
            try:
                x = self.array(name)
            except (NumeralError, ZeroDivisionError):
                self._without.add(name)
            else:
                for index in element.index:
                    x = x[index]
                return True, x
        return False, None

    def evaluate(self, formula: Any, at: StepName | None = None) -> Any:
        """The exact value of a formula over inputs and steps (before `at`). Errors: NumeralError with the place."""
        return evaluate_array(formula, {}, self._lookup(at), FUNCTIONS)

    def _lookup(self, at: StepName | None) -> Callable[[str, tuple[Index, ...]], Any]:
        def look(label: str, indices: tuple[Index, ...]) -> Any:
            other = self.sheet.step(label)
            if other is not None and at is not None and other.name.order >= at.order:
                raise NumeralError(f"{label} comes later in the file than {at}; put it before")
            array = self._stage(Stage(label)) if self._is_stage(label) else self._named(label, at)
            return pick(cells_of_array(array), indices) if indices else array

        return look

    def _named(self, label: str, at: StepName | None) -> Any:
        try:
            return self.array(label)
        except KeyError:
            stages = list(map(str, Stage)) if self.sheet.problem is not None else []
            steps = [str(s.name) for s in self.sheet.steps if at is None or s.name.order < at.order]
            known = suggestion(label, {*self.sheet.inputs, *self.sheet.prints, *steps, *stages})
            raise NumeralError(f"unknown name {shorten(label)!r}; {known}") from None

    def _is_stage(self, label: str) -> bool:
        known = label in self.sheet.inputs or self.sheet.step(label) is not None
        return not known and self.sheet.problem is not None and label in list(Stage)

    def _stage(self, stage: Stage) -> Any:
        """A stage of the problem beside the steps as nested tuples, as shown; several heads one deeper."""
        assert self.attention is not None
        problem = self.attention.problem
        if self._stages is None:
            cells: dict[tuple[Stage, int], dict[tuple[int, int], Exact]] = {}
            for element, x in self.given.items():
                if isinstance(element.stage, Stage):
                    cells.setdefault((element.stage, element.head), {})[element.place(problem)] = x
            self._stages = stages(problem, Closed(), cells)
        heads = range(len(problem.heads)) if stage.per_head else range(1)
        turned = problem.spec.orientation == "columns" and stage is not Stage.LSE
        shown = [self._stages[stage, h].T if turned else self._stages[stage, h] for h in heads]
        nested = [tuple(map(tuple, matrix)) for matrix in shown]
        if stage is Stage.LSE:
            nested = [tuple(row[0] for row in matrix) for matrix in nested]
        return tuple(nested) if problem.several_heads and stage.per_head else nested[0]

    def exact(self, element: Element) -> Exact | None:
        """One element of a step; None where it is masked or has no true value."""
        step = self.sheet.step(str(element.stage))
        return None if step is not None and step.formula is None else self._cell(element)[1]

    def value(self, element: Element, bits: int = FIRST_BITS) -> Interval | None:
        """The enclosure of one element; None where it is masked, unknown, or has no finite ends at `most_bits`.

        Rounding or proof: ball arithmetic.
        """
        if isinstance(element.stage, Stage):
            assert self.attention is not None
            return self.attention.value(element, bits)
        key = (element, bits)
        if key not in self._values:
            self._values[key] = None
            with suppress(TooCoarse):
                self._values[key] = self._value(self.exact(element), bits)
        return self._values[key]

    def _value(self, x: Exact | None, bits: int) -> Interval | None:
        if x is None or isinstance(x, Fraction):
            return None if x is None else Interval(x, x)
        if self.sheet.boxes and names_in(x):
            return over_box(x, self._boxes)
        while True:
            try:
                with precision(bits):
                    return interval(evaluate_shared(x, BallField(), self._balls.setdefault(bits, {})))
            except TooCoarse:
                if bits >= self.most_bits:
                    raise
                bits *= 4

    def is_minus_infinity(self, element: Element) -> bool:
        """Is it a masked score?"""
        if isinstance(element.stage, Stage):
            assert self.attention is not None
            return self.attention.is_minus_infinity(element)
        return self.unknown(element) is None and self.exact(element) is None

    def rational(self, element: Element) -> Fraction | None:
        """The element where it is known to be rational."""
        if isinstance(element.stage, Stage):
            assert self.attention is not None
            return self.attention.rational(element)
        x = self.exact(element)
        return x if isinstance(x, Fraction) else None

    def ask(self, element: Element, question: Callable[[Interval], Answer], minus: Exact = Fraction(0)) -> Answer:
        """The answer to a question about t - minus, by balls of more and more bits."""
        if isinstance(element.stage, Stage):
            assert self.attention is not None
            return self.attention.ask(element, question, minus)
        bits = FIRST_BITS
        while True:
            answer = Answer.CANNOT_TELL
            with suppress(TooCoarse):
                t = self.value(element, bits)
                if t is None:
                    return answer
                answer = question(difference(t, enclose(minus, bits)))
            if answer is not Answer.CANNOT_TELL or bits >= self.most_bits or not self.sharpens(element):
                return answer
            bits *= 4

    def equals(self, element: Element, x: Exact) -> Answer:
        """Is t = x? Balls refute, rationals and SymPy prove."""
        if isinstance(element.stage, Stage):
            assert self.attention is not None
            return self.attention.equals(element, x)
        t = self.exact(element)
        if t is None:
            return Answer.CANNOT_TELL
        if isinstance(t, Fraction) and isinstance(x, Fraction):
            return Answer.known(t == x, t != x)
        near = self.value(element)
        if near is not None and difference(near, enclose(x)).equals(Fraction(0)) is Answer.NO:
            return Answer.NO
        if not self.sharpens(element) or size_of(t, MOST_PROVEN) >= MOST_PROVEN:
            return self.ask(element, lambda d: d.equals(Fraction(0)), x)
        try:
            sign = Values().sign(sub(t, x))
        except Unavailable:
            sign = None
        return Answer.known(sign == 0, sign in (-1, 1))

    def closed_form(self, element: Element) -> str | None:
        """The element as it is spelt in case files, where that is short."""
        if isinstance(element.stage, Stage):
            assert self.attention is not None
            return self.attention.closed_form(element)
        x = self.exact(element)
        short = x is not None and size_of(x, MOST_SHOWN) < MOST_SHOWN and self.sharpens(element)
        return str(x) if short else None

    def readings(self, stage: StageOrStep) -> Iterator[Reread]:
        """The other readings of a step: those that the case lists, and what the catalogue makes of its softmax."""
        from exactattn.truth.step_readings import step_readings

        if isinstance(stage, Stage):
            if self.attention is not None:
                yield from self.attention.readings(stage)
            return
        sizes = shape(self.array(str(stage)))
        for name, owner, formula in step_readings(self, stage):
            with suppress(NumeralError, KeyError, ZeroDivisionError):
                other = SheetTruth(self.sheet.with_formula(owner, formula), None, self.most_bits)
                if not self.given:
                    other.take_before(self, owner.order)
                if shape(other.array(str(stage))) == sizes:
                    yield Reread(name, other)


def _scaled(problem: Problem | None, given: Mapping[Element, Exact]) -> Problem | None:
    """The problem with the scale that somebody printed and used on, where they did."""
    scales = [x for e, x in given.items() if isinstance(e.stage, StepName) and e.stage.name == SCALE]
    return problem.with_spec(scale=scales[0]) if problem is not None and scales else problem


def _replaced(array: Any, index: tuple[int, ...], x: Exact) -> Any:
    """Nested tuples with one element replaced."""
    if not index:
        return x
    return tuple(_replaced(item, index[1:], x) if i == index[0] else item for i, item in enumerate(array))

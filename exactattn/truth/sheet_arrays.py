"""The steps of a sheet as arrays of closed expressions, and what becomes of them once some elements are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exactattn.attention.definition import stages
from exactattn.attention.sheet import SCALE, Sheet, StepName
from exactattn.attention.sheet import Where as StageOrStep
from exactattn.attention.spec import Problem, Stage
from exactattn.errors import NumeralError
from exactattn.numbers.exact import Exact
from exactattn.numbers.expressions import Index, Name, Reference
from exactattn.numbers.folding import evaluate_array
from exactattn.numbers.tokens import shorten, suggestion
from exactattn.numbers.trees import parts_below
from exactattn.truth.arrays import cells_of_array, flat, pick
from exactattn.truth.closed import Closed
from exactattn.truth.elements import Element
from exactattn.truth.functions import FUNCTIONS


class SheetArrays:
    """Inputs and steps by name, formed when they are asked for; given elements stand in place of computed ones."""

    def __init__(self, sheet: Sheet, given: Mapping[Element, Exact] | None = None) -> None:
        self.sheet = sheet
        self.given = dict(given or {})
        self._arrays: dict[str, Any] = dict(sheet.inputs)
        self._by_step: dict[str, dict[tuple[int, ...], Exact]] = {}
        for element, x in self.given.items():
            self._by_step.setdefault(str(element.stage), {})[element.index] = x
        self._like: SheetArrays | None = None  # whose steps have the shapes of these
        self._without: set[str] = set()  # steps that have no value once the given numbers stand
        self._stages: Mapping[tuple[Stage, int], Any] | None = None

    @property
    def scaled_problem(self) -> Problem | None:
        """The problem with the scale that somebody printed and used on, where they did."""
        scales = [x for e, x in self.given.items() if isinstance(e.stage, StepName) and e.stage.name == SCALE]
        problem = self.sheet.problem
        return problem.with_spec(scale=scales[0]) if problem is not None and scales else problem

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

    def take_before(self, other: SheetArrays, order: int) -> None:
        """Takes over the steps before an order from a truth of the same sheet that is given the same there."""
        known = {str(step.name) for step in self.sheet.steps if step.name.order < order}
        self._arrays.update({name: array for name, array in other._arrays.items() if name in known})

    def take(self, other: SheetArrays) -> None:
        """Takes over what another truth has formed already; this sheet begins with all of that one."""
        self._arrays.update(other._arrays)

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
            if step.formula is None and name not in self.sheet.prints:
                raise NumeralError(f"{name} is not known, and an ellipsis leaves out some of its prints")
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
        problem = self.scaled_problem
        assert problem is not None
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


def _replaced(array: Any, index: tuple[int, ...], x: Exact) -> Any:
    """Nested tuples with one element replaced."""
    if not index:
        return x
    return tuple(_replaced(item, index[1:], x) if i == index[0] else item for i, item in enumerate(array))

"""What the steps of a sheet truly give, with the face of `Truth`, so that prints of them are judged alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from exactattn.attention.sheet import Sheet
from exactattn.attention.sheet import Where as StageOrStep
from exactattn.attention.spec import Problem, Stage
from exactattn.errors import NumeralError, Unavailable
from exactattn.numbers.balls import FIRST_BITS, MOST_BITS, BallField, TooCoarse, enclose, interval, precision
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact, Expr, evaluate_shared, names_in, size_of, sub
from exactattn.numbers.expressions import Name, Reference
from exactattn.numbers.folding import shape
from exactattn.numbers.trees import parts_below
from exactattn.truth.boxes import Boxes, over_box
from exactattn.truth.elements import Element, Reread
from exactattn.truth.ladder import Truth, difference
from exactattn.truth.sheet_arrays import SheetArrays
from exactattn.truth.values import Values

MOST_SHOWN = 40  # operations of a closed form that is for reading
UNBOUNDED = "its value cannot be enclosed: it is too large, or its formula has none for some of the possible inputs"
UNFINISHED = "[...]"  # ends the name of what an ellipsis leaves out
MOST_PROVEN = 2_000  # operations of what SymPy is asked to prove equal


class SheetTruth(SheetArrays):
    """What a sheet truly gives, or what follows from it once some elements are given."""

    def __init__(self, sheet: Sheet, given: Mapping[Element, Exact] | None = None, most_bits: int = MOST_BITS) -> None:
        super().__init__(sheet, given)
        self.most_bits = most_bits
        at_stages = {element: x for element, x in self.given.items() if isinstance(element.stage, Stage)}
        problem = self.scaled_problem
        self.attention = None if problem is None else Truth(problem, at_stages, most_bits)
        self._pinned: SheetTruth | None = None
        self._balls: dict[int, dict[int, tuple[Exact, Any]]] = {}
        self._boxes = Boxes(sheet.boxes)
        self._values: dict[tuple[Element, int], Interval | None] = {}
        self.memo: dict[tuple[str, StageOrStep], Any] = {}  # what fits and readings found out about a step

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

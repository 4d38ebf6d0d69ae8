"""The true value of every element of every stage, and answers about it, by the cheapest engine that can decide.

Balls first, with more and more bits; where they cannot end (an equality, a tie) exact rationals, then SymPy; and
"cannot tell" at a stated limit. `following` gives the same for what follows from somebody's own earlier numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any

from exactattn import plugins
from exactattn.attention.conventions import readings
from exactattn.attention.definition import Given, Where, stages, undefined_rows
from exactattn.attention.spec import Problem, Stage
from exactattn.errors import Unavailable
from exactattn.numbers.balls import FIRST_BITS, MOST_BITS, TooCoarse, enclose
from exactattn.numbers.enclosure import Answer, Enclosure, Interval
from exactattn.numbers.exact import Exact
from exactattn.truth.elements import Element, Reread
from exactattn.truth.rearranged import other_masks, rearranged_weights
from exactattn.truth.work import products

MOST_SYMBOLIC_CELLS = 400
MOST_LOOKS = 40_000  # values and signs that the statements about one problem may ask for; some seconds
MOST_PRODUCTS = {"symbolic": 20_000, "rational": 1_000_000}  # of the matrix products of a problem; about a second
NEEDS = {
    Stage.Q_READY: (Stage.Q,),
    Stage.K_READY: (Stage.K,),
    Stage.SCORES: (Stage.Q_READY, Stage.K_READY),
    Stage.SCALED: (Stage.SCORES,),
    Stage.CAPPED: (Stage.SCALED,),
    Stage.MASKED: (Stage.CAPPED,),
    Stage.WEIGHTS: (Stage.MASKED,),
    Stage.LSE: (Stage.MASKED,),
    Stage.CONTEXT: (Stage.WEIGHTS, Stage.V),
    Stage.CONCAT: (Stage.CONTEXT,),
    Stage.OUTPUT: (Stage.CONCAT,),
}
MOST_SHOWN_CELLS = 100  # closed forms are for reading, and each takes SymPy a while


class Truth:
    """What a problem truly gives, or what follows from it once some elements are given."""

    def __init__(
        self, problem: Problem, given: Mapping[Element, Exact] | None = None, most_bits: int = MOST_BITS
    ) -> None:
        self.problem = problem
        self.given = dict(given or {})
        self.most_bits = most_bits
        self.undefined = undefined_rows(problem)
        self.without_lse = undefined_rows(problem, Stage.LSE)
        self._balls: dict[int, dict[Where, Any]] = {}
        self._enclosures: dict[tuple[Where, int], Enclosure] = {}
        self._readings: list[Reread] | None = None
        self._rearranged: list[Reread] | None = None
        self.looks = 0
        self._too_coarse: dict[tuple[Where, int], TooCoarse] = {}
        self._exact: dict[tuple[str, Stage], tuple[Any, dict[Where, Any]] | None] = {}

    def sharpens(self, element: Element) -> bool:  # noqa: ARG002 - the inputs of a problem are exact
        """Can more bits tell more about an element?"""
        return True

    def is_constant(self, element: Element) -> bool:  # noqa: ARG002 - every stage depends on the inputs
        """Is it a number that depends on no input?"""
        return False

    def reached_from(self, stage: Stage) -> set[int]:
        """The orders of the stages that a stage may depend on once the given numbers stand.

        Proof: a stage is computed from those in `NEEDS`; of one that is given whole nothing else is used.
        """
        reached: set[int] = set()
        waiting = [stage]
        while waiting:
            for used in NEEDS.get(waiting.pop(), ()):
                if used.order not in reached:
                    reached.add(used.order)
                    waiting += [] if self._all_given(used) else [used]
        return reached

    def _all_given(self, stage: Stage) -> bool:
        count = sum(element.stage is stage for element in self.given)
        heads = len(self.problem.heads) if stage.per_head else 1
        return count > 0 and count == heads * math.prod(self.shape(stage))

    def pinned(self) -> Truth:
        """The same with every number of an interval at its middle; a problem has none."""
        return self

    def unknown(self, element: Element) -> str | None:
        """Why an element has no true value; None where it has one."""
        rows = self.without_lse if element.stage is Stage.LSE else self.undefined
        if element.stage.order >= Stage.WEIGHTS.order and element.place(self.problem)[0] in rows:
            return "this query has no allowed key"
        return None

    def readings(self, stage: Stage) -> list[Reread]:
        """The other readings of the catalogue: of the scale and base, and from the weights on of their arrangement."""
        if self._readings is None:
            self._readings = [Reread(r.name, Truth(r.problem, None, self.most_bits)) for r in readings(self.problem)]
        if stage.order < Stage.WEIGHTS.order or stage is Stage.LSE:
            return self._readings
        if self._rearranged is None:
            self._rearranged = list(self._others())
        return self._readings + self._rearranged

    def _others(self) -> Iterator[Reread]:
        """The readings that change more than a number."""
        for name, problem in other_masks(self.problem):
            yield Reread(name, Truth(problem, None, self.most_bits))
        for name, truth in self._rearranged_under({}):
            yield Reread(name, truth, partial(self._follow_rearranged, name))

    def _rearranged_under(self, given: Mapping[Element, Exact]) -> Iterator[tuple[str, Truth]]:
        """The problem with its weights rearranged as they follow from given elements; given weights stay."""
        columns = self.problem.spec.orientation == "columns"
        earlier = {element: x for element, x in given.items() if element.stage.order < Stage.WEIGHTS.order}
        for name, cells in rearranged_weights(self.problem, self._placed(earlier)):
            made = {Element(Stage.WEIGHTS, (j, i) if columns else (i, j), h): x for (h, i, j), x in cells.items()}
            yield name, Truth(self.problem, {**made, **given}, self.most_bits)

    def _follow_rearranged(self, name: str, given: Mapping[Element, Exact]) -> Truth:
        return next(truth for label, truth in self._rearranged_under(given) if label == name)

    def following(self, given: Mapping[Element, Exact]) -> Truth:
        """The truth once these elements are put in place of the computed ones, before anything later uses them."""
        return Truth(self.problem, given, self.most_bits)

    def shape(self, stage: Stage) -> tuple[int, ...]:
        """The shape of a stage as shown (one head's)."""
        rows, columns = self.enclosure(stage).shape
        if stage is Stage.LSE:
            return (rows,)
        return (columns, rows) if self.problem.spec.orientation == "columns" else (rows, columns)

    def elements(self, stage: Stage) -> Iterator[Element]:
        """Every element of a stage, head by head, row by row as shown."""
        import numpy as np

        for head in range(len(self.problem.heads) if stage.per_head else 1):
            for index in np.ndindex(*self.shape(stage)):
                yield Element(stage, tuple(map(int, index)), head)

    def look(self) -> None:
        """Counts a value or a sign that a statement asks for. Errors: Unavailable after `MOST_LOOKS`."""
        self.looks += 1
        if self.looks > MOST_LOOKS:
            raise Unavailable(
                f"the statements of this case ask for more than {MOST_LOOKS} values of one problem; give each its own "
                "case, or name fewer elements"
            )

    def has(self, stage: Stage) -> bool:
        """Does this problem have the stage?"""
        return self.problem.has(stage)

    def enclosure(self, stage: Stage, head: int = 0, bits: int = FIRST_BITS) -> Enclosure:
        """A stage of one head, tokens as rows, with at least so many bits: with more where so few give no finite ends.

        Rounding or proof: ball arithmetic. Errors: TooCoarse where `most_bits` give none either.
        """
        key = ((stage, head), bits)
        if key not in self._enclosures:
            if key in self._too_coarse:
                raise self._too_coarse[key]
            try:
                self._enclosures[key] = self._enclosed(stage, head, bits)
            except TooCoarse as error:
                self._too_coarse[key] = error
                if bits >= self.most_bits:
                    raise
                self._enclosures[key] = self.enclosure(stage, head, 4 * bits)
        return self._enclosures[key]

    def _enclosed(self, stage: Stage, head: int, bits: int) -> Enclosure:
        engine = plugins.get("engines", "ball")
        with engine.precision(bits):
            if (stage, head) not in self._balls.setdefault(bits, {}):
                # what follows from prints is asked for one stage, and never for a later one
                until = stage if self.given else Stage.OUTPUT
                self._balls[bits] = stages(self.problem, engine.arithmetic(), self._given(), until)
            enclosure: Enclosure = engine.enclosure(self._balls[bits][stage, head])
        return enclosure

    def value(self, element: Element, bits: int = FIRST_BITS) -> Interval | None:
        """The enclosure of one element; None where it is undefined (a row with no allowed key) or -inf."""
        if self.unknown(element) is not None or self.is_minus_infinity(element):
            return None
        return self.enclosure(element.stage, element.head, bits)[element.place(self.problem)]

    def is_minus_infinity(self, element: Element) -> bool:
        """Is it a masked score of a key that is not allowed, which is shown as -inf?"""
        return element.stage is Stage.MASKED and not self.problem.allowed[element.place(self.problem)]

    def ask(self, element: Element, question: Callable[[Interval], Answer], minus: Exact = Fraction(0)) -> Answer:
        """The answer to a question about t - minus, by balls of more and more bits; undefined elements cannot tell."""
        bits = FIRST_BITS
        while True:
            answer = Answer.CANNOT_TELL
            try:
                t = self.value(element, bits)
                if t is None:
                    return answer
                answer = question(difference(t, enclose(minus, bits)))
            except TooCoarse:
                pass
            if answer is not Answer.CANNOT_TELL or bits >= self.most_bits:
                return answer
            bits *= 4

    def equals(self, element: Element, x: Exact) -> Answer:
        """Is t = x? Balls refute, rationals and SymPy prove."""
        try:
            t = self.value(element)
            quick = Answer.CANNOT_TELL if t is None else difference(t, enclose(x)).equals(Fraction(0))
        except TooCoarse:
            quick = Answer.CANNOT_TELL
        if quick is not Answer.CANNOT_TELL:
            return quick
        for engine in ("rational", "symbolic"):
            proven = self._equal_by(engine, element, x)
            if proven is not Answer.CANNOT_TELL:
                return proven
        return self.ask(element, lambda d: d.equals(Fraction(0)), x)

    def compare(self, a: Element, b: Element) -> tuple[Answer, Answer]:
        """Is t_a < t_b, and is t_a = t_b?"""
        ball = Answer.CANNOT_TELL
        bits = FIRST_BITS
        while ball is Answer.CANNOT_TELL and bits <= self.most_bits:
            left, right = self.value(a, bits), self.value(b, bits)
            if left is None or right is None:
                return Answer.CANNOT_TELL, Answer.CANNOT_TELL
            if left.disjoint(right) is Answer.YES:
                return left.less(right), Answer.NO
            if bits == FIRST_BITS and self._same(a, b) is Answer.YES:
                return Answer.NO, Answer.YES
            bits *= 4
        return Answer.CANNOT_TELL, Answer.CANNOT_TELL

    def closed_form(self, element: Element) -> str | None:
        """The element in closed form as SymPy spells it; None for a large problem."""
        found = self.stages_by("symbolic", element.stage) if self._cells() <= MOST_SHOWN_CELLS else None
        if found is None or self.value(element) is None:
            return None
        arithmetic, values = found
        closed = arithmetic.closed(values[element.stage, element.head][element.place(self.problem)])
        return None if closed is None else str(closed)

    def rational(self, element: Element) -> Fraction | None:
        """The element as a rational number, where exact rational arithmetic reaches it."""
        found = self.stages_by("rational", element.stage)
        if found is None:
            return None
        return Fraction(found[1][element.stage, element.head][element.place(self.problem)])

    def _given(self) -> Given:
        return self._placed(self.given)

    def _placed(self, given: Mapping[Element, Exact]) -> Given:
        """Elements by stage and head, at their places with tokens as rows."""
        cells: dict[Where, dict[tuple[int, int], Exact]] = {}
        for element, x in given.items():
            cells.setdefault((element.stage, element.head), {})[element.place(self.problem)] = x
        return cells

    def _equal_by(self, engine: str, element: Element, x: Exact) -> Answer:
        found = self.stages_by(engine, element.stage)
        if found is None:
            return Answer.CANNOT_TELL
        arithmetic, values = found
        t = values[element.stage, element.head][element.place(self.problem)]
        if engine == "rational":
            return Answer.known(t == x, isinstance(x, Fraction) and t != x)
        answer: Answer = arithmetic.equal(t, arithmetic.scalar(x))
        return answer

    def _same(self, a: Element, b: Element) -> Answer:
        for engine in ("rational", "symbolic"):
            found = self.stages_by(engine, max(a.stage, b.stage, key=lambda stage: stage.order))
            if found is None:
                continue
            arithmetic, values = found
            left, right = (values[e.stage, e.head][e.place(self.problem)] for e in (a, b))
            if engine == "rational":
                return Answer.known(left == right, left != right)
            answer: Answer = arithmetic.equal(left, right)
            return answer
        return Answer.CANNOT_TELL

    def stages_by(self, engine: str, until: Stage) -> tuple[Any, dict[Where, Any]] | None:
        """The arithmetic of an exact engine and the stages up to `until` in it; None where it cannot, or too large."""
        if (engine, until) not in self._exact:
            stuck = any(e == engine and s.order <= until.order and x is None for (e, s), x in self._exact.items())
            self._exact[engine, until] = None if stuck else self._stages_by(engine, until)
        return self._exact[engine, until]

    def _stages_by(self, engine: str, until: Stage) -> tuple[Any, dict[Where, Any]] | None:
        if products(self.problem) > MOST_PRODUCTS[engine]:
            return None
        if engine == "symbolic" and self._cells() > MOST_SYMBOLIC_CELLS:
            return None
        arithmetic = plugins.get("engines", engine).arithmetic()
        with suppress(Unavailable):
            return arithmetic, stages(self.problem, arithmetic, self._given(), until)
        return None

    def _cells(self) -> int:
        queries, keys = self.problem.lengths
        return queries * keys * len(self.problem.heads)


def difference(a: Interval, b: Interval) -> Interval:
    """The enclosure of the difference of two enclosed reals."""
    return Interval(a.lower - b.upper, a.upper - b.lower)

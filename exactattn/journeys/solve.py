"""The answer itself: any stage of a problem, to any number of digits, with the enclosure that proves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from exactattn import plugins
from exactattn.attention.definition import stages
from exactattn.attention.spec import Problem, Stage
from exactattn.errors import UsageError, close
from exactattn.findings import as_text, name_index
from exactattn.journeys.solution import Solution, Value, Wanted
from exactattn.numbers.balls import FIRST_BITS, MOST_BITS, TooCoarse
from exactattn.numbers.enclosure import Interval, outward, significant
from exactattn.truth.elements import Element
from exactattn.truth.ladder import Truth

ENGINES = ("ball", "multiprecision", "symbolic")
ALIASES = {"arb": "ball", "mpmath": "multiprecision", "sympy": "symbolic"}  # the libraries behind them
MOST_CLOSED = 64  # elements whose closed form is sought unasked
BITS_PER_DIGIT = 3.33


def solve(problem: Problem, wanted: Wanted | None = None) -> Solution:
    """The elements of a stage. Errors: UsageError for a name, head or index that the problem does not have."""
    wanted = wanted or Wanted()
    wanted = replace(wanted, engine=ALIASES.get(wanted.engine, wanted.engine))
    truth = Truth(problem)
    elements = _elements(truth, wanted)
    small = len(elements) <= MOST_CLOSED or wanted.engine == "symbolic"
    find = {"ball": _by_balls, "multiprecision": _by_mpmath, "symbolic": _by_sympy}[wanted.engine]
    value_of = find(truth, wanted, small)
    values = tuple(_special(truth, element) or value_of(element) for element in elements)
    return Solution(wanted, truth.shape(elements[0].stage), plugins.get("engines", wanted.engine).guarantee, values)


def choose(problems: Mapping[str, Problem], name: str | None) -> Problem:
    """The problem of that name, or the only one. Errors: UsageError with the names there are."""
    if name is None and len(problems) == 1:
        return next(iter(problems.values()))
    if not problems:
        raise UsageError("the case has no problem to solve: add `problem:` with its inputs")
    if name is None:
        raise UsageError(f"the case has several problems: choose one with --problem ({', '.join(problems)})")
    if name not in problems:
        raise UsageError(f"the case has no problem {name!r}{close(name, problems)}")
    return problems[name]


def _elements(truth: Truth, wanted: Wanted) -> list[Element]:
    names = [str(stage) for stage in Stage]
    if wanted.stage not in names:
        raise UsageError(f"there is no stage {wanted.stage!r}{close(wanted.stage, names)}")
    if wanted.engine not in ENGINES:
        raise UsageError(f"no engine {wanted.engine!r} can solve{close(wanted.engine, (*ENGINES, *ALIASES))}")
    stage = Stage(wanted.stage)
    if not truth.has(stage):
        raise UsageError(f"this problem has no stage {wanted.stage}: {_missing(truth, stage)}")
    heads = len(truth.problem.heads) if stage.per_head else 1
    if wanted.head is not None and not 0 <= wanted.head < heads:
        raise UsageError(f"there is no head {wanted.head} of {wanted.stage}; heads are counted from 0 to {heads - 1}")
    found = [
        element
        for element in truth.elements(stage)
        if wanted.head in (None, element.head) and _is_in(element.index, wanted.index)
    ]
    if not found:
        size = " x ".join(map(str, truth.shape(stage)))
        asked = ",".join(":" if i is None else str(i) for i in wanted.index or ())
        raise UsageError(f"there is no element {asked} of {wanted.stage}; it is {size}, counted from 0")
    return found


def _is_in(index: tuple[int, ...], wanted: tuple[int | None, ...] | None) -> bool:
    """Is it the element asked for, or in the row or column that is?"""
    if wanted is None:
        return True
    return len(wanted) <= len(index) and all(w in (None, i) for w, i in zip(wanted, index, strict=False))


def _id(truth: Truth, element: Element) -> str:
    head = element.head if truth.problem.several_heads and element.stage.per_head else None
    return name_index(str(element.stage), head, *element.index)


def _special(truth: Truth, element: Element) -> Value | None:
    """An element that is no number: undefined, or not allowed."""
    row, column = element.place(truth.problem)
    if element.stage.order >= Stage.WEIGHTS.order and row in truth.undefined:
        return Value(_id(truth, element), "undefined")
    if element.stage is Stage.MASKED and not truth.problem.allowed[row, column]:
        return Value(_id(truth, element), "not allowed")
    return None


Finder = Callable[[Element], Value]


def _by_balls(truth: Truth, wanted: Wanted, small: bool) -> Finder:
    """Balls with more bits until the digits are decided; an exact rational is shown as it is."""

    def find(element: Element) -> Value:
        closed = truth.closed_form(element) if small else None
        exact = _rational(closed)
        id = _id(truth, element)
        if exact is not None:
            shown = _exact_decimal(exact, wanted.digits)
            return Value(id, "value", shown, outward(Interval(exact, exact), wanted.digits + 3), closed, True)
        decimal, interval, bits = _climb(truth, element, wanted.digits)
        if decimal is None and closed is None:
            closed = truth.closed_form(element)  # the answer itself, where its digits are not decided
        ends = None if interval is None else outward(interval, wanted.digits + 3)
        return Value(id, "undecided" if decimal is None else "value", decimal, ends, closed, bits=bits)

    return find


def _climb(truth: Truth, element: Element, digits: int) -> tuple[str | None, Interval | None, int]:
    """The decimal, the enclosure and the bits that decided it, or None at the limit."""
    bits = FIRST_BITS
    while bits < digits * BITS_PER_DIGIT + 32:
        bits *= 2
    most, interval = max(MOST_BITS, 4 * bits), None
    while True:
        try:
            interval = truth.value(element, bits)
            assert interval is not None
            if interval.lower == interval.upper:
                return _exact_decimal(interval.lower, digits), interval, bits
            decimal = interval.decimal(digits)
        except TooCoarse:
            decimal = None
        if decimal is not None or bits >= most:
            return decimal, interval, bits
        bits *= 2


def _by_mpmath(truth: Truth, wanted: Wanted, small: bool) -> Finder:  # noqa: ARG001 - one form for the three engines
    """mpmath with guard digits; nothing is proven."""
    engine, stage = plugins.get("engines", "multiprecision"), Stage(wanted.stage)
    arrays = stages(truth.problem, engine.arithmetic(wanted.digits), until=stage)

    def find(element: Element) -> Value:
        row, column = element.place(truth.problem)
        try:
            x = engine.values(arrays[stage, element.head][row : row + 1, column : column + 1])[0, 0]
        except TooCoarse:
            return Value(_id(truth, element), "undecided")
        return Value(_id(truth, element), "value", significant(x, wanted.digits))

    return find


def _by_sympy(truth: Truth, wanted: Wanted, small: bool) -> Finder:  # noqa: ARG001
    """SymPy: the closed form, and its decimal by SymPy's own evaluation."""
    arithmetic, stage = plugins.get("engines", "symbolic").arithmetic(), Stage(wanted.stage)
    arrays = stages(truth.problem, arithmetic, until=stage)

    def find(element: Element) -> Value:
        closed = arithmetic.closed(arrays[stage, element.head][element.place(truth.problem)])
        id = _id(truth, element)
        if closed is None:
            return Value(id, "undecided")
        exact = _rational(str(closed))
        if exact is not None:
            return Value(id, "value", _exact_decimal(exact, wanted.digits), None, str(closed), True)
        number = closed.evalf(wanted.digits + 15, maxn=10000)
        try:
            (x,) = plugins.get("engines", "multiprecision").values(np.array([number], object))
        except TooCoarse:
            return Value(id, "undecided", closed_form=str(closed))
        return Value(id, "value", significant(x, wanted.digits), None, str(closed))

    return find


def _rational(closed: str | None) -> Fraction | None:
    """The number that a closed form is, when it is an integer or a fraction."""
    try:
        return None if closed is None else Fraction(closed)
    except ValueError:
        return None


def _exact_decimal(x: Fraction, digits: int) -> str:
    """All digits of a short decimal, else so many significant ones."""
    text = as_text(x) or ""
    return text if "/" not in text and len(text) <= digits + 2 else significant(x, digits)


def _missing(truth: Truth, stage: Stage) -> str:
    if stage is Stage.CAPPED:
        return "it has no softcap"
    scores = truth.problem.heads[0].scores is not None
    return "it gives the scores themselves" if scores else "nothing norms or rotates q and k"

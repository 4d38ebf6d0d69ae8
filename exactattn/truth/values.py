"""Expressions over true values: their signs, enclosures and digits.

A true value stands in an expression as a name. `Values.sign` decides the sign of any such expression: balls of more
and more bits tell it from 0; exact rationals and SymPy prove that it is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, cast

from exactattn import plugins
from exactattn.attention.spec import Stage
from exactattn.errors import NumeralError, Unavailable
from exactattn.findings import as_text
from exactattn.numbers.balls import FIRST_BITS, MOST_BITS, BallField, TooCoarse, interval, precision
from exactattn.numbers.enclosure import Answer, Interval, outward
from exactattn.numbers.exact import Exact, Expr, Field, evaluate, name, names_in
from exactattn.truth.boxes import Boxes, over_box
from exactattn.truth.elements import Element
from exactattn.truth.ladder import Truth

DIGIT_BITS = 4096  # bits spent on the digits that are shown


class Values:
    """The true values of a problem as names in expressions, and what can be told about those. No problem: no names."""

    def __init__(self, truth: Truth | None = None, boxes: Mapping[str, Interval] | None = None) -> None:
        self.truth = truth
        self.boxes = boxes or {}
        self._elements: dict[str, Element] = {}

    def element(self, stage: Stage, index: tuple[int, ...], head: int = 0) -> Exact:
        """One true value: a rational where it is known to be one, else a name for it.

        Errors: NumeralError where it is undefined.
        """
        element = Element(stage, index, head)
        if self.truth is not None:
            self.truth.look()
        value = self._value(element, FIRST_BITS)
        if value.lower == value.upper:
            return value.lower
        label = f"{stage}[{head};{','.join(map(str, index))}]"
        self._elements[label] = element
        return name(label)

    def sign(self, x: Exact) -> int | None:
        """The sign of x: -1, 0 or 1; None when it cannot be told.

        Proof: a ball that excludes 0 has the sign of its ends; 0 itself is proven by rationals or SymPy, and only
        for what a ball shows to be a real number at all. Errors: Unavailable after `MOST_LOOKS`.
        """
        if isinstance(x, Fraction):
            return (x > 0) - (x < 0)
        if self.truth is not None:
            self.truth.look()
        bits, tried = FIRST_BITS, False
        while bits <= MOST_BITS:
            found = self.enclose(x, bits)
            if found is not None and not found.contains(Fraction(0)):
                return 1 if found.lower > 0 else -1
            if found is not None and not tried:
                exact, tried = self._exact_sign(x), True
                if exact is not None:
                    return exact
            if self.boxes and names_in(x) & self.boxes.keys():
                return None  # more bits do not give the missing digits
            bits *= 4
        return None

    def enclose(self, x: Exact, bits: int = FIRST_BITS) -> Interval | None:
        """An enclosure of x, or None where so many bits give none."""
        if isinstance(x, Fraction):
            return Interval(x, x)
        if self.boxes and names_in(x) & self.boxes.keys():
            return self._over_box(x)
        balls = BallField()

        def ball(label: str) -> Any:
            value = self._value(self._elements[label], bits)
            return balls.rational(value.lower).union(balls.rational(value.upper))

        try:
            with precision(bits):
                return interval(evaluate(x, with_names(balls, ball)))
        except TooCoarse:
            return None

    def _over_box(self, x: Exact) -> Interval | None:
        """An enclosure over the intervals of the names; None where true values stand beside them."""
        try:
            return over_box(x, Boxes(self.boxes)) if names_in(x) <= self.boxes.keys() else None
        except TooCoarse:
            return None

    def decimal(self, x: Exact, digits: int) -> str | None:
        """x in so many significant digits, fewer when it ends before; None when they cannot be told."""
        if isinstance(x, Fraction):
            text = as_text(x)
            if text is not None and len(text) <= digits + 2 and "/" not in text:
                return text
        bits = FIRST_BITS
        while bits <= DIGIT_BITS:
            found = self.enclose(x, bits)
            if found is not None and self.boxes and names_in(x) & self.boxes.keys():
                return found.decimal(digits) or " to ".join(outward(found, min(digits, 8)))
            text = None if found is None else found.decimal(digits)
            if text is not None:
                return text
            bits *= 2
        return "0" if self.sign(x) == 0 else None

    def _value(self, element: Element, bits: int) -> Interval:
        assert self.truth is not None
        value = self.truth.value(element, bits)
        if value is None:
            place = ",".join(map(str, element.index))
            raise NumeralError(f"{element.stage}[{place}] has no value: no key is allowed there")
        return value

    def _exact_sign(self, x: Expr) -> int | None:
        """By exact rationals the sign, by SymPy only 0; None when neither decides."""
        if names_in(x) & self.boxes.keys():
            return None
        elements = {label: self._elements[label] for label in names_in(x)}
        if not elements:
            arithmetic = plugins.get("engines", "symbolic").arithmetic()
            return _zero(arithmetic, arithmetic.scalar(x))
        assert self.truth is not None
        last = max((element.stage for element in elements.values()), key=lambda stage: stage.order)
        for engine in ("rational", "symbolic"):
            # Truth keeps these stages, so one computation serves every statement of a case.
            found = self.truth.stages_by(engine, last)
            if found is None:
                continue
            arithmetic, stages = found
            at: Mapping[str, Any] = {
                label: stages[e.stage, e.head][e.place(self.truth.problem)] for label, e in elements.items()
            }
            try:
                value = evaluate(x, with_names(arithmetic.field, at.__getitem__))
            except (Unavailable, ZeroDivisionError):
                continue
            return (value > 0) - (value < 0) if engine == "rational" else _zero(arithmetic, value)
        return None


def _zero(arithmetic: Any, value: Any) -> int | None:
    """0 when SymPy proves it."""
    return 0 if arithmetic.equal(value, arithmetic.scalar(Fraction(0))) is Answer.YES else None


class _Named:
    """A number system in which names have values."""

    def __init__(self, field: Field[Any], value: Callable[[str], Any]) -> None:
        self._field = field
        self.name = value

    def __getattr__(self, operation: str) -> Any:
        return getattr(self._field, operation)


def with_names(field: Field[Any], value: Callable[[str], Any]) -> Field[Any]:
    """The same number system, with values for names."""
    return cast("Field[Any]", _Named(field, value))

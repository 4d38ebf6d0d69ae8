"""A second judge of printed numbers, for tests: DESIGN section 5 in code of its own, at 120 digits of mpmath.

It imports nothing of exactattn and shares none of its ways: no enclosures, no exact algebra, no formulas as trees. A
document is a list of steps, each a Python function of what comes before it, and the numbers somebody printed for them.
Two values are one when they agree to 100 decimals, which no example that people write comes near by chance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mpmath import mp, mpf

mp.dps = 120
ONE = mpf(1)
SAME = mpf(10) ** -100
MINUS_INFINITY = None  # stands for a masked score
ROUNDED = ("exact", "rounded", "float-noise")
FLOATS = {"float64": (15, 53), "float32": (7, 24)}  # least significant digits, bits

Index = tuple[int, ...]
Values = dict[str, dict[Index, Any]]  # of each step by index
Formula = Callable[[Values], dict[Index, Any]]


@dataclass(frozen=True)
class Step:
    """What a step computes, and the other readings of it: the formulas of steps that each reading replaces."""

    name: str
    formula: Formula
    readings: Mapping[str, Mapping[str, Formula]] = field(default_factory=dict)


@dataclass
class Print:
    """One printed number, as text; and what the judge says of it.

    times   the factor in front of its block;  block  where one step is printed twice, which of the two
    """

    step: str
    index: Index
    text: str
    times: Any = ONE
    block: str = ""
    dtype: str = "float64"
    reason: str = ""
    origin: str | None = None
    by_accident: bool = False
    tie: bool = False
    readings: tuple[str, ...] = ()
    rests_on: frozenset[str] = frozenset()
    roots: frozenset[str] = frozenset()
    true: Any = None

    def __post_init__(self) -> None:
        self.value, self.unit, self.digits, self.whole = _read(self.text)
        if self.value is not None:
            self.value *= self.times
        if self.unit is not None:
            self.unit *= abs(self.times)

    @property
    def fails(self) -> bool:
        """Is it wrong?"""
        return self.reason in ("propagated", "convention", "new")

    @property
    def is_error(self) -> bool:
        """Is it an error, or does it carry one on? Mere rounding that is carried on is none."""
        return self.fails and self.origin != "rounding"

    @property
    def row(self) -> Index:
        """The row it is printed in; a list or a number is one row."""
        return self.index[:1] if len(self.index) > 1 else ()


def _read(text: str) -> tuple[Any, Any, int | None, bool]:
    """Value, unit of the last digit, significant digits, and whether it is a bare integer."""
    text = text.strip()
    if text == "-inf":
        return MINUS_INFINITY, None, None, False
    fraction = re.fullmatch(r"(-?)\\frac\{(\d+)\}\{(\d+)\}|(-?)(\d+)/(\d+)", text)
    if fraction:
        sign, top, bottom = (part for part in fraction.groups() if part is not None)
        return (-1 if sign else 1) * mpf(int(top)) / int(bottom), None, None, False
    body = text.removesuffix("%")
    sign, digits = (-1 if body.startswith("-") else 1), body.lstrip("-")
    whole, _, decimals = digits.partition(".")
    assert (whole + decimals).isdigit(), text
    unit = mpf(10) ** -(len(decimals) + (2 if text.endswith("%") else 0))
    count = len((whole + decimals).lstrip("0")) or 1
    return sign * int(whole + decimals) * unit, unit, count, digits.isdigit() and not text.endswith("%")


def relation(t: Any, x: Print) -> tuple[str, bool, bool]:
    """How a print stands to a value, whether that is a tie, and whether it is (also) the value cut toward zero."""
    if abs(t - x.value) < SAME:
        return "exact", False, True
    if x.unit is None:
        return "off", False, False
    # cut toward zero: the sign is kept, the size is not above that of t, and less than a unit below it
    same_side = x.value == 0 or (x.value > 0) == (t > 0)
    left_over = abs(t) - abs(x.value)
    cut = bool(same_side and left_over > 0 and left_over < x.unit - SAME)
    gap = abs(t - x.value) - x.unit / 2
    if gap < SAME:
        return "rounded", bool(abs(gap) < SAME), cut
    if _noise(t, x):
        return "float-noise", False, cut
    return ("truncated" if cut else "off"), False, cut


def _noise(t: Any, x: Print) -> bool:
    least, bits = FLOATS[x.dtype]
    if (x.digits or 0) < least or x.value == 0:
        return False
    size, exponent = abs(x.value), 0
    while size >= 2:
        size, exponent = size / 2, exponent + 1
    while size < 1:
        size, exponent = size * 2, exponent - 1
    return bool(abs(t - x.value) <= 4 * mpf(2) ** (exponent - bits + 1))


class Judge:
    """Judges a document. `steps` are in the order of the data flow."""

    def __init__(self, steps: Iterable[Step], prints: Iterable[Print]) -> None:
        self.steps, self.prints = list(steps), list(prints)
        self.order = {step.name: place for place, step in enumerate(self.steps)}
        self.truth = self.values({})

    def values(
        self,
        given: Mapping[tuple[str, Index], Any],
        replaced: Mapping[str, Formula] | None = None,
        base: Values | None = None,
    ) -> Values:
        """Every step, with some elements given in place of the computed ones and some formulas replaced.

        `base` has the values without any of that, which stand before the first step that is touched.
        """
        replaced = replaced or {}
        touched = {name for name, _ in given} | set(replaced)
        first = min((self.order[name] for name in touched), default=0)
        out: Values = {}
        for place, step in enumerate(self.steps):
            if base is not None and place < first:
                out[step.name] = base[step.name]
                continue
            made = dict(replaced.get(step.name, step.formula)(out))
            for (name, index), x in given.items():
                if name == step.name:
                    made[index] = x
            out[step.name] = made
        return out

    def run(self) -> str | None:
        """Fills in what is to be said of every print. Gives the first wrong step."""
        for step in self.steps:
            here = [x for x in self.prints if x.step == step.name]
            if here:
                self._judge_step(step, here)
        wrong = [x.step for x in self.prints if x.fails]
        return min(wrong, key=self.order.__getitem__, default=None)

    def _judge_step(self, step: Step, here: list[Print]) -> None:
        everything: dict[tuple[str, Index], Any] = {}
        kept: dict[tuple[str, Index], Print] = {}
        for x in self.prints:
            key = (x.step, x.index)
            if self.order[x.step] < self.order[step.name] and key not in everything and x.value is not None:
                everything[key], kept[key] = x.value, x
        wrong = {key: x for key, x in everything.items() if kept[key].fails}
        errors = [key for key in wrong if kept[key].is_error]
        follow_all = self.values(everything, None, self.truth)[step.name] if everything else None
        follow_wrong = self.values(wrong, None, self.truth)[step.name] if wrong else None
        moved = {}
        for label, given, f in (("wrong", wrong, follow_wrong), ("all", everything, follow_all)):
            base = None if f is None else self.values(given, None, self.truth)
            for number, group in enumerate(_rows(errors, kept)):
                changed = dict(given)
                for place, key in enumerate(group):
                    changed[key] += 1 / mpf(997 + 10 * place * place + 7 * number)
                moved[label, group] = self.values(changed, None, base)[step.name]
        for x in here:
            self._judge_one(step, x, follow_all, follow_wrong, moved, kept)
        self._readings(step, here, everything, follow_all)

    def _judge_one(self, step, x, follow_all, follow_wrong, moved, kept) -> None:
        x.true = t = self.truth[step.name][x.index]
        if t is None or x.value is None:
            x.reason = "exact" if t is None and x.value is None else "new"
            return
        resting = {}
        for label, f in (("wrong", follow_wrong), ("all", follow_all)):
            resting[label] = {
                group: key for (kind, group), values in moved.items() for key in group[:1]
                if kind == label and abs(values[x.index] - f[x.index]) > SAME
            }  # fmt: skip
        rests = set(resting["wrong"])
        x.rests_on = frozenset(key[0] for group in rests for key in group)
        x.roots = frozenset(root for group in rests for key in group for root in (kept[key].roots or {key[0]}))
        found, x.tie, _ = relation(t, x)
        if found in ROUNDED:
            x.reason, x.by_accident = found, bool(rests)
            return
        for label, f in (("wrong", follow_wrong), ("all", follow_all)):
            if f is None:
                continue
            fits, _, _ = relation(f[x.index], x)
            from_wrong = bool(rests) and bool(resting[label])
            if fits in ROUNDED or (fits == "truncated" and from_wrong):
                x.reason, x.origin = "propagated", "wrong" if from_wrong else "rounding"
                if not from_wrong:
                    x.roots = frozenset()
                return
        x.by_accident = found == "truncated" and bool(rests)
        x.reason = "truncated" if found == "truncated" else "new"

    def _readings(self, step: Step, here: list[Print], everything: Mapping[Any, Any], follow_all: Any) -> None:
        """Rule 6, and the readings that make a whole block right."""
        truth = self.truth[step.name]
        blocks: dict[str, list[Print]] = {}
        for x in here:
            if truth[x.index] is not None and x.value is not None:
                blocks.setdefault(x.block, []).append(x)
        for block in blocks.values():
            if not any(x.fails for x in block):
                continue
            others = {}
            for name, replaced in step.readings.items():
                values = self.values({}, replaced, self.truth)
                if any(_differ(values[step.name].get(x.index), truth[x.index]) for x in block):
                    others[name] = values[step.name], replaced
            fitting = tuple(name for name, (values, _) in others.items() if _explains(values, block, block))
            for x in block:
                x.readings = fitting
            for x in [x for x in block if x.reason == "new"]:
                self._convention(x, step, block, others, everything, follow_all)

    def _convention(self, x, step, block, others, everything, follow_all) -> None:
        whole = [n for n, (values, _) in others.items() if _explains(values, block, block) and _digits(values, block)]
        parts = []
        row = [y for y in block if y.row == x.row]
        for name, (values, replaced) in others.items():
            groups = [row] + [[y for y in row if y is not odd] for odd in row if odd is not x and len(row) >= 3]
            if not any(_explains(values, group, block) and _digits(values, row) for group in groups):
                continue
            if follow_all is not None:
                under = self.values(everything, replaced, self.values(everything, None, self.truth))[step.name]
                if not _differ(under.get(x.index), follow_all[x.index]):
                    continue
            parts.append(name)
        apart: list[str] = []
        for name in whole or parts:
            values = others[name][0]
            if not any(all(not _differ(values.get(y.index), others[o][0].get(y.index)) for y in block) for o in apart):
                apart.append(name)
        if len(apart) == 1:
            x.reason = "convention"


def _rows(errors: Iterable[tuple[str, Index]], kept: Mapping[Any, Print]) -> list[tuple[Any, ...]]:
    rows: dict[Any, list[Any]] = {}
    for key in errors:
        rows.setdefault((kept[key].block, key[0], kept[key].row), []).append(key)
    return [tuple(group) for group in rows.values()]


def _differ(a: Any, b: Any) -> bool:
    return a is not None and b is not None and abs(a - b) > SAME


def _explains(values: Mapping[Index, Any], group: list[Print], block: list[Print]) -> bool:
    """Are all of a group rounded, or all truncated? A bare integer among decimals is meant exactly."""
    decimals = any("." in x.text and not x.text.endswith("%") for x in block)
    rounded, cut = [], []
    for x in group:
        t = values.get(x.index)
        found, _, is_cut = ("off", False, False) if t is None else relation(t, x)
        if decimals and x.whole and found in ("rounded", "truncated"):
            found, is_cut = "off", False
        rounded.append(found in ROUNDED)
        cut.append(is_cut)
    return all(rounded) or all(cut)


def _digits(values: Mapping[Index, Any], group: list[Print]) -> bool:
    """Have the prints two digits at least? Zeros, whole numbers and fractions that are exact need none."""

    def enough(x: Print) -> bool:
        exempt = x.digits is None or x.whole or x.value == 0
        return (x.digits or 0) >= 2 or (exempt and _found_exact(values.get(x.index), x))

    return all(map(enough, group))


def _found_exact(t: Any, x: Print) -> bool:
    return t is not None and abs(t - x.value) < SAME

"""Does a formula compute what it is said to compute? Refuted by small integer examples, proven by SymPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any
from zlib import crc32

import numpy as np

from exactattn import plugins
from exactattn.attention.definition import Given, stages
from exactattn.attention.formula_tree import FRESH, FRESH_ROW, Formula, Symbol, degree, indices_in, nodes, symbols
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.attention.symbols import OTHER, SIZES, Notation, Slot, ranges
from exactattn.errors import NumeralError
from exactattn.findings import Verdict
from exactattn.numbers.balls import TooCoarse, interval, precision
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact, name, power, substitute
from exactattn.truth.formula_values import Entry, Evaluation, Setting

BITS = 128
MOST_INDICES = 6  # free ones: a formula is compared at every place
MOST_FACTORS = 12  # symbols multiplied with each other, for SymPy
SMALL = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 2))  # tokens, components
_PRIMES = {"n": 3, "d_v": 5, "d_model": 7, "H": 2, "d_k": 2}  # sizes told apart where a formula uses them as numbers


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a formula.

    verdict   NOT_RUN when its meaning could not be compared, with the reason in `how`
    sizes     at which it was proven or refuted
    example   when it fails: the inputs, the place, and both sides there
    """

    verdict: Verdict
    how: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    example: Mapping[str, Any] | None = None


def compare(formula: Formula, notation: Notation, spec: AttentionSpec) -> tuple[Outcome, Notation]:
    """The outcome, and the notation that it is about.

    A left side such as e_ij is called "score" with and without the scale: whichever of the two the right side computes.
    """
    outcome = Comparison(formula, notation, spec).decide()
    left = formula.left
    if outcome.verdict is not Verdict.FAILS or not isinstance(left, Symbol):
        return outcome, notation
    settled = left.base in notation.means or any(symbol.base == left.base for symbol in symbols(formula.right))
    if settled or notation.source(left.base) != "scaled":
        return outcome, notation
    unscaled = replace(notation, means={**notation.means, left.base: "scores"})
    other = Comparison(formula, unscaled, spec).decide()
    return (other, unscaled) if other.verdict is Verdict.HOLDS else (outcome, notation)


class Comparison:
    """One formula with its notation, compared with attention under a spec.

    A scale of None in the spec means 1/sqrt(d_k), with d_k a variable wherever SymPy proves.
    """

    def __init__(self, formula: Formula, notation: Notation, spec: AttentionSpec) -> None:
        self.formula, self.notation, self.spec = formula, notation, spec
        self.symbols = list(dict.fromkeys([*symbols(formula.left), *symbols(formula.right)]))
        self.slots: dict[Symbol, Slot] = {symbol: notation.slot(symbol) for symbol in self.symbols}
        self.ranges = ranges(self.slots.values())
        self.numbers = frozenset(str(slot.columns) for slot in self.slots.values() if slot.is_size)
        sources = (slot.source for slot in self.slots.values())
        self.sources = frozenset(source for source in sources if source not in (None, "size"))
        found = indices_in(formula.left) | indices_in(formula.right)
        other = {OTHER} & self.ranges.keys()
        heads = {s.head for s in self.slots.values() if s.head and not s.head.isdigit()} - _bound(formula)
        self.free = sorted((found | other | heads) - {FRESH, FRESH_ROW})
        if len(self.free) > MOST_INDICES:
            raise NumeralError(f"found {len(self.free)} free indices, at most {MOST_INDICES} are compared")

    def decide(self) -> Outcome:
        """Holds, fails, undecided, or not compared."""
        nameless = [slot.why for slot in self.slots.values() if slot.source is None]
        if nameless:
            return Outcome(Verdict.NOT_RUN, nameless[0])
        if not self.sources:
            return Outcome(Verdict.NOT_RUN, "it names no stage of attention, so there is nothing to compare it with")
        if any(self._refuted(setting, entry) for setting, entry in self._generic()):
            setting, example = self._smallest()
            return Outcome(Verdict.FAILS, "balls: the two sides are apart", setting.sizes, example)
        if max(degree(self.formula.left), degree(self.formula.right)) > MOST_FACTORS:
            return Outcome(Verdict.UNDECIDED, f"no counterexample found; more than {MOST_FACTORS} factors for SymPy")
        for sizes in ({}, {"d_k": 1, "d_v": 1, "d_model": 1}):
            setting = self._setting({**dict.fromkeys(("n", "d_k", "d_v", "d_model"), 2), **sizes}, symbolic=True)
            if self._proven(setting):
                return Outcome(Verdict.HOLDS, "SymPy: the difference cancels to 0", setting.sizes)
        return Outcome(Verdict.UNDECIDED, "no counterexample found, and the difference was not shown to cancel")

    def _setting(self, wanted: Mapping[str, int], symbolic: bool = False) -> Setting:
        """A setting of these sizes, but with sizes told apart that the formula uses as numbers."""
        sizes = {"H": 2 if self.notation.heads else 1, **wanted}
        if not symbolic:
            sizes |= {size: max(_PRIMES[size], 2) for size in self.numbers - {"d_k", "H"} if size in sizes}
        for size, meaning in self.notation.sizes.items():
            sizes[size] = max(1, int(meaning.value({**_PRIMES, **sizes})))
        numbers: dict[str, Exact] = {size: Fraction(sizes[size]) for size in SIZES}
        if symbolic:
            numbers["d_k"] = name("d_k")
        scale = power(name("d_k"), Fraction(-1, 2)) if self.spec.scale is None else self.spec.scale
        return Setting(sizes, numbers, self.sources, replace(self.spec, scale=substitute(scale, numbers)))

    def _generic(self) -> Iterator[tuple[Setting, Entry]]:
        """Unremarkable examples, for a first look."""
        for n, salt in ((3, 1), (2, 2)):
            yield self._setting({"n": n, "d_k": 2, "d_v": 2, "d_model": 2}), _entries(salt)

    def _smallest(self) -> tuple[Setting, dict[str, Any]]:
        """The smallest sizes at which an unremarkable example refutes, and that example with what can be made 0.

        Only called when one of `_generic` refutes; those come last here.
        """
        for n, d in SMALL:
            setting = self._setting({"n": n, "d_k": d, "d_v": d, "d_model": d})
            for salt in (1, 2, 3):
                entry = _entries(salt)
                if self._refuted(setting, entry):
                    return setting, self._shrunk(setting, entry)
        setting, entry = next(pair for pair in self._generic() if self._refuted(*pair))
        return setting, self._shrunk(setting, entry)

    def _shrunk(self, setting: Setting, entry: Entry) -> dict[str, Any]:
        """The example with every entry that can be 0, or else 1, made so, one after the other."""
        cells: dict[tuple[str, int, int], Exact] = {}

        def note(*cell: Any) -> Exact:
            return cells.setdefault(cell, entry(*cell))

        setting.problem(note)
        found = self._refuted(setting, entry)
        for cell in reversed(tuple(cells)):
            for simpler in (Fraction(0), Fraction(1)):
                if cells[cell] in (0, simpler):
                    break
                trial = {**cells, cell: simpler}
                example = self._refuted(setting, lambda *c, t=trial: t[c])
                if example is not None:
                    cells, found = trial, example
                    break
        assert found is not None
        return found

    def _refuted(self, setting: Setting, entry: Entry) -> dict[str, Any] | None:
        """Where the two sides differ in one example. Proof: two enclosures that do not meet."""
        engine = plugins.get("engines", "ball")
        problem = setting.problem(entry)
        with precision(BITS):
            ar = engine.arithmetic()
            evaluation = self._evaluation(ar, setting, setting.tables(ar, problem))
            for env in self._places(evaluation):
                left, right = (evaluation.value(side, env) for side in (self.formula.left, self.formula.right))
                for index in np.ndindex(*left.shape):
                    a, b = _ends(left[index]), _ends(right[index])
                    if a is not None and b is not None and a.disjoint(b) is Answer.YES:
                        return self._example(setting, entry, env, index, left.shape, (a, b))
        return None

    def _proven(self, setting: Setting) -> bool:
        """Do the two sides cancel, first with the earliest stage as free variables, then as it is computed?"""
        attempts: list[Given | None] = [None]
        first = setting.stages[0] if setting.stages else None
        if first is not None and self.sources.isdisjoint(("X", "W_Q", "W_K", "W_V")) and len(set(setting.stages)) > 1:
            attempts.insert(0, self._free_stage(setting, first))
        return any(self._cancels(setting, given) for given in attempts)

    def _free_stage(self, setting: Setting, stage: Stage) -> Given:
        ar = plugins.get("engines", "ball").arithmetic()
        shapes = stages(setting.problem(lambda *_: Fraction(0)).with_spec(scale=Fraction(1)), ar, until=stage)
        return {
            where: {(i, j): name(f"{stage}{where[1]}_{i}{j}") for i, j in np.ndindex(*a.shape)}
            for where, a in shapes.items()
            if where[0] is stage
        }

    def _cancels(self, setting: Setting, given: Given | None) -> bool:
        ar = plugins.get("engines", "symbolic").arithmetic()
        problem = setting.problem(lambda label, i, j: name(f"{label}_{i}{j}"))
        evaluation = self._evaluation(ar, setting, setting.tables(ar, problem, given))
        for env in self._places(evaluation):
            left, right = (evaluation.value(side, env) for side in (self.formula.left, self.formula.right))
            for a, b in zip(left.flat, right.flat, strict=True):
                if ar.equal(a, b) is not Answer.YES:
                    return False
        return True

    def _evaluation(self, ar: Any, setting: Setting, tables: Mapping[tuple[str, int], Any]) -> Evaluation:
        return Evaluation(ar, setting, tables, self.notation, self.ranges)

    def _places(self, evaluation: Evaluation) -> Iterator[dict[str, int]]:
        """Every place of the free indices."""
        for places in product(*(range(evaluation.size_of(index)) for index in self.free)):
            evaluation.steps = 0
            yield dict(zip(self.free, places, strict=True))

    def _example(
        self, setting: Setting, entry: Entry, env: Mapping[str, int], index: tuple[int, ...], shape: tuple[int, ...],
        sides: tuple[Interval, Interval],
    ) -> dict[str, Any]:  # fmt: skip
        inputs: dict[str, list[list[str]]] = {}
        setting.problem(lambda *cell: _note(inputs, cell, entry(*cell)))
        if self.sources.isdisjoint(("v", "context", "concat", "output")):
            inputs = {label: rows for label, rows in inputs.items() if label[0] != "v"}
        left, right = _apart(*sides)
        return {
            "inputs": {_label(label, self.notation.heads): rows for label, rows in inputs.items()},
            "sizes": {size: setting.sizes[size] for size in SIZES},
            "at": {("the unnamed token" if i == OTHER else i): place + 1 for i, place in env.items()},
            "component": [] if shape == (1, 1) else [i + 1 for i in index],
            "left": left,
            "right": right,
        }


def _bound(formula: Formula) -> set[str]:
    """The indices that some sum or family binds."""
    return {
        str(index)
        for side in (formula.left, formula.right)
        for node in nodes(side)
        if (index := getattr(node, "index", None)) is not None
    }


def _label(label: str, heads: bool) -> str:
    """An input as it is called in examples: Q, or Q_1 with several heads."""
    if not label[-1].isdigit():
        return label
    called = {"q": "Q", "k": "K", "v": "V", "s": "scores"}.get(label[:-1], label[:-1])
    return f"{called}_{int(label[-1]) + 1}" if heads else called


def _note(inputs: dict[str, list[list[str]]], cell: tuple[str, int, int], x: Exact) -> Exact:
    """Writes one entry down, row by row."""
    label, i, j = cell
    rows = inputs.setdefault(label, [])
    if i == len(rows):
        rows.append([])
    assert j == len(rows[i])
    rows[i].append(str(x))
    return x


def _entries(salt: int) -> Entry:
    """Small integers in no order, the same on every machine."""
    return lambda label, i, j: Fraction(crc32(f"{label},{i},{j},{salt}".encode()) % 7 - 3)


def _ends(ball: Any) -> Interval | None:
    try:
        return interval(ball)
    except TooCoarse:
        return None


def _apart(a: Interval, b: Interval) -> tuple[str, str]:
    """Both in as many digits as tell them apart."""
    for digits in (8, 16, 30):
        left, right = a.decimal(digits), b.decimal(digits)
        if left is not None and right is not None and left != right:
            return _trimmed(left), _trimmed(right)
    return str(float(a.midpoint)), str(float(b.midpoint))


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text

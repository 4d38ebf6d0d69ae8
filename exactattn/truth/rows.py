"""Questions about the rows of a problem, decided with as many bits as it takes, and how rows are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from exactattn.attention.spec import Problem, Stage
from exactattn.findings import Verdict, as_text
from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.balls import FIRST_BITS, TooCoarse, decide, enclose
from exactattn.numbers.enclosure import Answer, Enclosure, Interval, significant
from exactattn.numbers.exact import log
from exactattn.truth.ladder import Truth

K = TypeVar("K")
Row = tuple[int, int]  # head, query
MOST_NAMED = 10
MASKING_BIAS = Fraction(-(10**4))  # a bias of at most this is there to mask its key: e**-10000 is 0 in every format
_FINEST = 4000  # ends of enclosures finer than 2**-4000 are rounded outward to it


def beyond(value: Interval, limit: Interval) -> Answer:
    """Is one enclosed number greater than another?"""
    return limit.less(value)


@dataclass(frozen=True, slots=True)
class Decided(Generic[K]):
    """Answers to one question about several things, and with how many bits the last of them was found."""

    answers: Mapping[K, Answer]
    bits: int

    @property
    def hits(self) -> list[K]:
        """Those with the answer yes."""
        return [key for key, answer in self.answers.items() if answer is Answer.YES]

    @property
    def unknown(self) -> list[K]:
        """Those that stayed undecided."""
        return [key for key, answer in self.answers.items() if answer is Answer.CANNOT_TELL]

    @property
    def verdict(self) -> Verdict:
        """Of the hazard that yes stands for: fails with one hit, holds when every answer is no."""
        if self.hits:
            return Verdict.FAILS
        return Verdict.UNDECIDED if self.unknown else Verdict.HOLDS

    def evidence(self, problem: Problem) -> dict[str, Any]:
        """Which and how many, and by what this was decided."""
        unknown = {"undecided": named(problem, self.unknown)} if self.unknown else {}  # type: ignore[arg-type]
        rows: Any = self.hits
        return {"rows": named(problem, rows), "count": len(rows), **unknown, **proof(self.bits)}


def proof(bits: int) -> dict[str, Any]:
    """The evidence of who proved it."""
    return {"engine": "ball", "bits": bits, "proof": f"ball, {bits} bits"}


def climb(truth: Truth, keys: Iterable[K], ask: Callable[[K, int], Answer]) -> Decided[K]:
    """The answers about several things, with more bits for those that cannot be told, up to the limit of the truth."""

    def answer(key: K) -> Answer:
        try:
            return ask(key, bits)
        except TooCoarse:
            return Answer.CANNOT_TELL

    bits = FIRST_BITS
    answers = {key: answer(key) for key in keys}
    while bits < truth.most_bits and Answer.CANNOT_TELL in answers.values():
        bits *= 4
        answers |= {key: answer(key) for key, known in answers.items() if known is Answer.CANNOT_TELL}
    return Decided(answers, bits)


class Logits:
    """What exp is taken of: masked times ln(base), natural, for the keys that a row may see.

    `rows` are those with a key. Shapes: tokens as rows. Rounding or proof: balls at the bits asked for.
    """

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        allowed = truth.problem.allowed
        self.keys = {i: [int(j) for j in seen.nonzero()[0]] for i, seen in enumerate(allowed) if seen.any()}
        self.rows = [(head, i) for head in range(len(truth.problem.heads)) for i in self.keys]
        self._extremes: dict[tuple[Row, int], tuple[Interval, Interval]] = {}

    def at(self, row: Row, key: int, bits: int = FIRST_BITS) -> Interval:
        """One logit."""
        head, query = row
        return self._natural(self.truth.enclosure(Stage.MASKED, head, bits), (query, key), bits)

    def top(self, row: Row, bits: int = FIRST_BITS) -> Interval:
        """The largest logit of a row."""
        return self._ends(row, bits)[1]

    def lowest(self, row: Row, bits: int = FIRST_BITS) -> Interval:
        """The smallest logit of a row."""
        return self._ends(row, bits)[0]

    def _ends(self, row: Row, bits: int) -> tuple[Interval, Interval]:
        if (row, bits) not in self._extremes:
            values = [self.at(row, key, bits) for key in self.keys[row[1]]]
            lowest = Interval(min(v.lower for v in values), min(v.upper for v in values))
            self._extremes[row, bits] = lowest, largest(values)
        return self._extremes[row, bits]

    def lse(self, row: Row, bits: int = FIRST_BITS) -> Interval:
        """The natural log-sum-exp of a row."""
        head, query = row
        return self._natural(self.truth.enclosure(Stage.LSE, head, bits), (query, 0), bits)

    def _natural(self, values: Enclosure, index: tuple[int, int], bits: int) -> Interval:
        value = values[index]
        assert value is not None
        base = self.truth.problem.spec.base
        return value if base is None else product(value, enclose(log(base), bits))


def largest(values: Iterable[Interval]) -> Interval:
    """The enclosure of the largest of some enclosed reals; there is at least one."""
    ends = list(values)
    return Interval(max(v.lower for v in ends), max(v.upper for v in ends))


def product(a: Interval, b: Interval) -> Interval:
    """The enclosure of the product of two enclosed reals."""
    ends = [a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper]
    return Interval(min(ends), max(ends))


def trimmed(value: Interval) -> Interval:
    """The same real in an enclosure whose ends are multiples of 2**-4000 where they were finer.

    Rounding or proof: the lower end is rounded down and the upper one up. Exact arithmetic on the ends e**-700000
    has would take seconds, and no format here can tell that number from 0.
    """

    def cut(x: Fraction) -> Fraction:
        if x.denominator.bit_length() <= _FINEST:
            return x
        return Fraction((x.numerator << _FINEST) // x.denominator, 1 << _FINEST)

    return Interval(cut(value.lower), -cut(-value.upper))


def shown(value: Interval, digits: int) -> str:
    """An enclosed real for people: correctly rounded to so many digits, or to as many as are proven, or its bounds."""
    if value.lower == value.upper:
        exact = as_text(value.lower)
        return exact if exact is not None and "/" not in exact else significant(value.lower, digits)
    value = trimmed(value)
    for count in (digits, *range(min(digits, 17), 0, -1)):
        text = value.decimal(count)
        if text is not None:
            return text
    size = max(abs(value.lower), abs(value.upper))
    bound = significant(size * Fraction(11, 10), 2)
    if value.lower >= 0:
        return f"less than {bound}"
    return f"between -{bound} and {bound}"


def named(problem: Problem, rows: Iterable[Row]) -> list[Any]:
    """The first ten rows for evidence: the query, or [head, query] where stages carry a head."""
    first = list(rows)[:MOST_NAMED]
    return [list(row) for row in first] if problem.several_heads else [row[1] for row in first]


def masked_by_bias(problem: Problem) -> Mask:
    """Which allowed keys an added bias masks: those it lowers by at least -MASKING_BIAS. Shapes: (L, S)."""
    bias = problem.row_form.bias
    if bias is None:
        return np.zeros(problem.lengths, dtype=np.bool_)
    low = [[decide(x, lambda t: t.at_most(MASKING_BIAS)) is Answer.YES for x in row] for row in bias]
    return problem.allowed & np.array(low, dtype=np.bool_)


def without_masked(problem: Problem) -> Problem:
    """The problem with the keys that its bias masks not allowed at all."""
    masked = masked_by_bias(problem)
    if not masked.any():
        return problem
    kept = problem.allowed & ~masked
    shown_so = kept.T if problem.spec.orientation == "columns" else kept
    return replace(problem, mask=tuple(tuple(map(bool, row)) for row in shown_so))


def bias_mask_evidence(masked: int) -> dict[str, Any]:
    """How many entries were taken for a mask, and by what rule; nothing where none was."""
    return {"masked_by_bias": {"count": masked, "rule": f"bias at most {MASKING_BIAS}"}} if masked else {}


def counted(count: int, noun: str) -> str:
    """A count with its noun: 1 row, 2 rows."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def part_of(rows: int, of: int, whose: str = "") -> str:
    """How many rows of how many, in words: 1 of 3 rows, all 3 rows, the only row."""
    if rows == of:
        return "the only row" if of == 1 else f"all {of} rows{whose}"
    return f"{rows} of {of} rows{whose}"


def count_of(problem: Problem, rows: int, of: int) -> str:
    """The same for rows that each head has of its own."""
    return part_of(rows, of, " of the heads" if problem.several_heads else "")

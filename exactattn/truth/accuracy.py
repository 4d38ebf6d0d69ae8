"""The error of a float run against a truth, stage by stage, in units in the last place of its format."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.definition import Where
from exactattn.attention.spec import Stage
from exactattn.findings import name_index
from exactattn.numbers.balls import FIRST_BITS, TooCoarse
from exactattn.numbers.enclosure import Enclosure, Interval
from exactattn.numbers.formats import Format
from exactattn.truth.ladder import Truth
from exactattn.truth.rows import shown, trimmed
from exactattn.truth.runs import Run

Floats = NDArray[np.float64]
_LARGEST = Fraction(np.finfo(np.float64).max)


@dataclass(slots=True)
class Accuracy:
    """The largest error of a stage.

    max_ulps  |error| / ulp of the format at the true value, its radius added, over elements proven not to be 0
    at, computed, true   where that is, and both values
    max_abs   the largest absolute error of all elements; at_zero: of those whose true value may be 0
    """

    max_ulps: float = 0.0
    at: str | None = None
    computed: str | None = None
    true: Interval | None = None
    max_abs: float = 0.0
    at_zero: float = 0.0

    def evidence(self, digits: int) -> dict[str, Any]:
        """For a report."""
        return {
            "max_ulps": _short(self.max_ulps),
            "at": self.at,
            "computed": self.computed,
            "true": None if self.true is None else shown(self.true, digits),
            "max_abs": _short(self.max_abs),
            "at_zero": _short(self.at_zero),
        }


def judged_stages(truth: Truth) -> tuple[Stage, ...]:
    """What a run is judged by; context only where the output is something else."""
    same = len(truth.problem.heads) == 1 and truth.problem.W_O is None
    return (Stage.WEIGHTS, Stage.LSE, *(() if same else (Stage.CONTEXT,)), Stage.OUTPUT)


class Reference:
    """A truth made ready for many runs: each stage as two float64 numbers and a bound of what they leave out."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self._parts: dict[Where, Parts] = {}

    def of(self, stage: Stage, head: int) -> Parts:
        """One stage of one head, tokens as rows."""
        if (stage, head) not in self._parts:
            self._parts[stage, head] = Parts.of(enclosed(self.truth, stage, head))
        return self._parts[stage, head]


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Enclosed reals t with |t - (high + low)| <= rest; NaN where undefined or beyond float64.

    `may_be_zero` marks those that are not proven to differ from 0.
    """

    true: Enclosure
    high: Floats
    low: Floats
    rest: Floats
    may_be_zero: NDArray[np.bool_]

    @staticmethod
    def of(true: Enclosure) -> Parts:
        """From an enclosure. Rounding: high and low to nearest, rest upward."""
        high, low, rest = (np.full(true.shape, np.nan) for _ in range(3))
        zero = np.zeros(true.shape, dtype=np.bool_)
        for index in true.indices():
            t = true[index]
            if t is None or max(abs(t.lower), abs(t.upper)) > _LARGEST:
                continue
            high[index] = float(t.midpoint)
            left = t.midpoint - Fraction(high[index])
            low[index] = float(left)
            rest[index] = np.nextafter(float(abs(left - Fraction(low[index])) + t.radius), np.inf)
            zero[index] = t.contains(Fraction(0))
        return Parts(true, high, low, rest, zero)

    def error_of(self, data: Floats) -> tuple[Floats, Floats]:
        """The signed error data - t as midpoint and radius: `Enclosure.error_of` for whole arrays.

        Rounding or proof: two subtractions, each within 2**-53 of its result relatively (float64 differences do not
        underflow); the factor 2**-51 in place of 2 * 2**-53 covers the rounding of the radius itself.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            first = data - self.high
            mid = first - self.low
            return mid, np.nextafter((np.abs(first) + np.abs(mid)) * 2.0**-51 + self.rest * (1 + 2.0**-51), np.inf)

    def ulps(self, fmt: Format) -> Floats:
        """The ulp of a format at each |t|, as `Format.ulp` of high + low."""
        fraction, exponent = np.frexp(self.high)
        # high = 2**e may stand for a number just below it, which lies in the next lower binade.
        below = (np.abs(fraction) == 0.5) & (self.low * self.high < 0)
        exponent = np.where(self.high == 0, fmt.emin, exponent - 1 - below)
        ulps: Floats = np.ldexp(1.0, np.maximum(exponent, fmt.emin) - fmt.precision + 1)
        return ulps


def measure(reference: Reference, done: Run) -> dict[Stage, Accuracy]:
    """The error of a run in every stage that it formed, undefined rows left out.

    Rounding or proof: midpoint and radius of the error are proven; both count.
    """
    found: dict[Stage, Accuracy] = {}
    for stage, head in _places(reference.truth):
        if (stage, head) in done.outputs:
            data, parts = done.outputs[stage, head], reference.of(stage, head)
            error = parts.error_of(data)
            at = _note(found.setdefault(stage, Accuracy()), parts, error, done.format)
            if at is not None:
                _keep(found[stage], reference, (stage, head), at, repr(float(data[at])))
    return found


def representation(written: Reference, stored: Reference, fmt: Format) -> dict[Stage, Accuracy]:
    """How far the truth of the inputs as stored is from the truth of the inputs as written."""
    found: dict[Stage, Accuracy] = {}
    for stage, head in _places(written.truth):
        a, b = written.of(stage, head), stored.of(stage, head)
        mid, rad = a.error_of(b.high)
        at = _note(found.setdefault(stage, Accuracy()), a, (mid + b.low, rad + np.abs(b.low) * 2.0**-51 + b.rest), fmt)
        if at is not None:
            value = b.true[at]
            _keep(found[stage], written, (stage, head), at, None if value is None else shown(value, 20))
    return found


def _places(truth: Truth) -> list[Where]:
    heads = range(len(truth.problem.heads))
    return [(stage, head) for stage in judged_stages(truth) for head in (heads if stage.per_head else (0,))]


def enclosed(truth: Truth, stage: Stage, head: int) -> Enclosure:
    """A stage with undefined rows left out and ends finer than 2**-4000 rounded outward.

    Rounding or proof: balls, of more bits where one has no ends.
    """
    bits = FIRST_BITS
    while True:
        try:
            values = truth.enclosure(stage, head, bits)
            break
        except TooCoarse:
            if bits >= truth.most_bits:
                raise
            bits *= 4
    lower, upper = values.lower.copy(), values.upper.copy()
    for index in values.indices():
        if index[0] in truth.undefined:
            lower[index] = upper[index] = None
        else:
            ends = trimmed(Interval(lower[index], upper[index]))
            lower[index], upper[index] = ends.lower, ends.upper
    return Enclosure(lower, upper)


def _note(found: Accuracy, parts: Parts, error: tuple[Floats, Floats], fmt: Format) -> tuple[int, int] | None:
    """Takes the errors of one head's stage into its accuracy; where the new largest is, if there is one."""
    size = np.where(np.isnan(error[0]), 0.0, np.abs(error[0]) + error[1])
    found.max_abs = max(found.max_abs, float(size.max()))
    found.at_zero = max(found.at_zero, float(np.where(parts.may_be_zero, size, 0.0).max()))
    ulps = np.where(parts.may_be_zero, 0.0, size / parts.ulps(fmt))
    if ulps.max() <= found.max_ulps:
        return None
    row, column = np.unravel_index(int(ulps.argmax()), ulps.shape)
    found.max_ulps = float(ulps.max())
    return int(row), int(column)


def _keep(found: Accuracy, reference: Reference, where: Where, at: tuple[int, int], computed: str | None) -> None:
    found.at, found.computed = _name(reference.truth, where, at), computed
    found.true = reference.of(*where).true[at]


def _name(truth: Truth, where: Where, place: tuple[int, int]) -> str:
    """The element as shown."""
    stage, head = where
    shown_head = head if truth.problem.several_heads and stage.per_head else None
    if stage is Stage.LSE:
        return name_index(stage, shown_head, place[0])
    index = place[::-1] if truth.problem.spec.orientation == "columns" else place
    return name_index(stage, shown_head, *index)


def _short(x: float) -> float:
    """Four significant digits."""
    return float(f"{x:.4g}")

"""The error of a float run against a truth, stage by stage, in units in the last place of its format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.spec import Stage
from exactattn.findings import name_index
from exactattn.numbers.balls import FIRST_BITS, TooCoarse
from exactattn.numbers.enclosure import Enclosure, Interval
from exactattn.numbers.formats import Format
from exactattn.truth.ladder import Truth
from exactattn.truth.rows import shown, trimmed
from exactattn.truth.runs import Run


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


def measure(truth: Truth, done: Run) -> dict[Stage, Accuracy]:
    """The error of a run in every stage that it formed, undefined rows left out.

    Rounding or proof: error_of gives midpoint and radius, proven; both count.
    """
    found: dict[Stage, Accuracy] = {}
    for stage in judged_stages(truth):
        for head in range(len(truth.problem.heads) if stage.per_head else 1):
            if (stage, head) in done.outputs:
                data = done.outputs[stage, head]
                true = enclosed(truth, stage, head)
                mid, rad = true.error_of(data)
                _note(found.setdefault(stage, Accuracy()), truth, (stage, head), true, (mid, rad), done.format, data)
    return found


def representation(written: Truth, stored: Truth, fmt: Format) -> dict[Stage, Accuracy]:
    """How far the truth of the inputs as stored is from the truth of the inputs as written."""
    found: dict[Stage, Accuracy] = {}
    for stage in judged_stages(written):
        for head in range(len(written.problem.heads) if stage.per_head else 1):
            a, b = enclosed(written, stage, head), enclosed(stored, stage, head)
            mid, rad = np.full(a.shape, np.nan), np.full(a.shape, np.nan)
            for index in a.indices():
                if a.lower[index] is not None:
                    low = b.lower[index] - a.upper[index]
                    high = b.upper[index] - a.lower[index]
                    mid[index], rad[index] = float(low + high) / 2, float(high - low)
            _note(found.setdefault(stage, Accuracy()), written, (stage, head), a, (mid, rad), fmt, b)
    return found


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


def _note(
    found: Accuracy,
    truth: Truth,
    where: tuple[Stage, int],
    true: Enclosure,
    error: tuple[NDArray[np.float64], NDArray[np.float64]],
    fmt: Format,
    data: Any,
) -> None:
    """Takes the errors of one head's stage into its accuracy."""
    size = np.abs(error[0]) + error[1]
    if np.isnan(size).all():
        return
    found.max_abs = max(found.max_abs, float(np.nanmax(size)))
    ulps = np.full(size.shape, np.nan)
    for index in zip(*np.nonzero(np.isfinite(size)), strict=True):
        low, high = true.lower[index], true.upper[index]
        if low <= 0 <= high:
            found.at_zero = max(found.at_zero, float(size[index]))
        else:
            ulps[index] = size[index] / float(fmt.ulp((low + high) / 2))
    if np.isnan(ulps).all() or np.nanmax(ulps) <= found.max_ulps:
        return
    index = np.unravel_index(int(np.nanargmax(ulps)), ulps.shape)
    place = (int(index[0]), int(index[1]))
    found.max_ulps, found.true = float(ulps[place]), true[place]
    value = data[place]
    found.computed = shown(value, 20) if isinstance(value, Interval) else repr(float(value))
    found.at = _name(truth, where, place)


def _name(truth: Truth, where: tuple[Stage, int], place: tuple[int, int]) -> str:
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

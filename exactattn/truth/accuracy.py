"""The error of a float run against a truth, stage by stage, in units in the last place of its format."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal, localcontext
from math import isfinite
from typing import Any

import numpy as np

from exactattn.attention.definition import Where
from exactattn.attention.spec import Stage
from exactattn.findings import name_index
from exactattn.numbers.enclosure import Interval
from exactattn.numbers.formats import Format
from exactattn.numbers.near import Floats
from exactattn.truth.ladder import Truth
from exactattn.truth.reference import Parts, Reference
from exactattn.truth.rows import shown
from exactattn.truth.runs import Run


@dataclass(slots=True)
class Accuracy:
    """The largest error of a stage. An error whose enclosure holds 0 counts as 0 in all but the bounds.

    max_ulps  |error| / ulp of the format at the true value, over elements proven not to be 0
    at, computed, true   where that is, and both values
    max_abs   the largest absolute error of all elements; at_zero: of those whose true value may be 0
    bound, bound_abs     what no error exceeds, proven: in ulps over those elements, and absolute over all
    """

    max_ulps: float = 0.0
    at: str | None = None
    computed: str | None = None
    true: Interval | None = None
    max_abs: float = 0.0
    at_zero: float = 0.0
    bound: float = 0.0
    bound_abs: float = 0.0

    def evidence(self, digits: int) -> dict[str, Any]:
        """For a report."""
        return {
            "max_ulps": _short(self.max_ulps),
            "bound": _short(self.bound, ROUND_CEILING),
            "at": self.at,
            "computed": self.computed,
            "true": None if self.true is None else shown(self.true, digits),
            "max_abs": _short(self.max_abs),
            "at_zero": _short(self.at_zero),
            "bound_abs": _short(self.bound_abs, ROUND_CEILING),
        }

    @property
    def words(self) -> str:
        """The largest error for a message."""
        if self.max_ulps or not self.bound:
            return f"{self.max_ulps:.3g} ulp" if self.max_ulps else "none"
        return f"none (proven to be at most {_short(self.bound, ROUND_CEILING, 2)} ulp)"


def judged_stages(truth: Truth) -> tuple[Stage, ...]:
    """What a run is judged by; context only where the output is something else."""
    same = len(truth.problem.heads) == 1 and truth.problem.W_O is None
    return (Stage.WEIGHTS, Stage.LSE, *(() if same else (Stage.CONTEXT,)), Stage.OUTPUT)


def measure(reference: Reference, done: Run) -> dict[Stage, Accuracy]:
    """The error of a run in every stage that it formed, undefined rows left out.

    Rounding or proof: midpoint and radius of the error are proven; the bounds have both.
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
            _keep(found[stage], written, (stage, head), at, shown(b.at(at), 20))
    return found


def _places(truth: Truth) -> list[Where]:
    heads = range(len(truth.problem.heads))
    return [(stage, head) for stage in judged_stages(truth) for head in (heads if stage.per_head else (0,))]


def _note(found: Accuracy, parts: Parts, error: tuple[Floats, Floats], fmt: Format) -> tuple[int, int] | None:
    """Takes the errors of one head's stage into its accuracy; where the new largest is, if there is one.

    Rounding or proof: the step up covers the rounding of |midpoint| + radius; a quotient by a power of two is exact
    or rounded up by the same step.
    """
    mid, rad = (np.where(np.isnan(error[0]), 0.0, part) for part in error)
    size = np.where(np.abs(mid) <= rad, 0.0, np.abs(mid))
    most = np.where(rad == 0, np.abs(mid), np.nextafter(np.abs(mid) + rad, np.inf))
    found.max_abs = max(found.max_abs, float(size.max()))
    found.at_zero = max(found.at_zero, float(np.where(parts.may_be_zero, size, 0.0).max()))
    found.bound_abs = max(found.bound_abs, float(most.max()))
    with np.errstate(over="ignore", under="ignore"):
        ulps = np.where(parts.may_be_zero, 0.0, size / parts.ulps(fmt))
        bound = most / parts.least_ulps(fmt)
    bound = np.where(parts.may_be_zero | (most == 0), 0.0, np.nextafter(bound, np.inf))
    found.bound = max(found.bound, float(bound.max()))
    if ulps.max() <= found.max_ulps:
        return None
    row, column = np.unravel_index(int(ulps.argmax()), ulps.shape)
    found.max_ulps = float(ulps.max())
    return int(row), int(column)


def _keep(found: Accuracy, reference: Reference, where: Where, at: tuple[int, int], computed: str | None) -> None:
    found.at, found.computed = _name(reference.truth, where, at), computed
    found.true = reference.of(*where).at(at)


def _name(truth: Truth, where: Where, place: tuple[int, int]) -> str:
    """The element as shown."""
    stage, head = where
    shown_head = head if truth.problem.several_heads and stage.per_head else None
    if stage is Stage.LSE:
        return name_index(stage, shown_head, place[0])
    index = place[::-1] if truth.problem.spec.orientation == "columns" else place
    return name_index(stage, shown_head, *index)


def _short(x: float, rounding: str = ROUND_HALF_EVEN, digits: int = 4) -> float | None:
    """Four significant digits; rounded up for a bound; None past float64."""
    if not isfinite(x):
        return None
    with localcontext(prec=digits, rounding=rounding):
        return float(+Decimal(x))

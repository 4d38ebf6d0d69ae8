"""Check `masked-row`: is there a query that may see no key at all?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from exactattn.attention.spec import Stage
from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict
from exactattn.numbers.balls import FIRST_BITS
from exactattn.numbers.enclosure import Interval
from exactattn.truth.rows import MOST_NAMED, counted, part_of, proof, shown
from exactattn.truth.spread import mean

REMEDY = "Give every query at least one key, or state what such a row gives (masked_row: zero) and test for it."
UNDEFINED = ("weights: 0/0", "lse: ln 0", "context", "output")
IMPLEMENTATIONS = [
    {"gives": "0", "who": "kernels that skip the row"},
    {"gives": "NaN", "who": "a mask of -inf"},
    {"gives": "mean of V", "who": "a mask of finfo.min in place of -inf"},
    {"gives": "attention without the mask", "who": "a smaller mask, such as -1e4, added to the whole row"},
]


class MaskedRow:
    """A fully masked row has no softmax; implementations differ in what they return for it."""

    name = "masked-row"
    CODES: ClassVar[Mapping[str, str]] = {
        "EA305": "a query has no allowed key: its softmax is 0/0, and implementations return 0, NaN or the mean of the "
        "values. " + REMEDY
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding: the rows without a key, or a note that there is none."""
        if bench.the_problem is None:
            return
        problem = bench.problem
        allowed = problem.allowed
        empty = [int(i) for i in np.flatnonzero(~allowed.any(axis=1))]
        if not empty:
            fewest = int(allowed.sum(axis=1).min())
            yield bench.finding(
                self,
                "EA305",
                "hazard:masked-row",
                Verdict.HOLDS,
                f"every query has an allowed key (at least {fewest} of {counted(problem.lengths[1], 'key')})",
                fewest_keys=fewest,
            )
            return
        ruled = problem.spec.masked_row == "zero"
        what = "the case states that they give zeros" if ruled else f"undefined: {', '.join(UNDEFINED)}"
        yield bench.finding(
            self,
            "EA305",
            "hazard:masked-row",
            Verdict.HOLDS if ruled else Verdict.FAILS,
            f"{part_of(len(empty), len(allowed))} {'has' if len(empty) == 1 else 'have'} no allowed key ({what}); "
            "implementations return 0, NaN, the mean of V or attention without the mask",
            level=Level.WARNING,
            reason="stated" if ruled else "undefined",
            remedy=REMEDY,
            rows=empty[:MOST_NAMED],
            count=len(empty),
            masked_row=problem.spec.masked_row,
            undefined=[] if ruled else list(UNDEFINED),
            implementations=IMPLEMENTATIONS,
            mean_of_values=_mean_of_values(bench),
            **proof(FIRST_BITS),
        )


def _mean_of_values(bench: Bench) -> list[Any]:
    """The mean of V over all keys, head by head where stages carry a head: how to recognise it in an output."""
    means = []
    for head in range(len(bench.problem.heads)):
        values = bench.truth.enclosure(Stage.V, head)
        rows, columns = values.shape
        cells: list[list[Interval]] = [[_some(values[i, j]) for i in range(rows)] for j in range(columns)]
        means.append([shown(mean(column), bench.digits) for column in cells])
    return means if bench.problem.several_heads else means[0]


def _some(value: Interval | None) -> Interval:
    assert value is not None, "values are always defined"
    return value


CHECK = MaskedRow()

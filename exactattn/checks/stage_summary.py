"""Check `stage-summary`: what became of each printed stage in numbers, and where the first error stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from exactattn.bench import Bench
from exactattn.findings import Finding, Verdict
from exactattn.truth.prints import Judged

ORDER = ("exact", "rounded", "truncated", "float-noise", "bound", "propagated", "convention", "new", "undecided")


class StageSummary:
    """Counts by reason for each printed block, and the first wrong step."""

    name = "stage-summary"
    CODES = {
        "EA111": "All printed numbers, summed: for each block how many are exact, rounded, truncated, float noise, "
        "propagated, right only under another convention, new errors or undecided, how many are right by accident, and "
        "the largest error in units of the last printed digit; and the first wrong step in the order of the data flow, "
        "which is the one to mend first.",
    }

    def run(self, bench: Bench) -> Iterator[Finding]:
        """One finding a problem with printed numbers."""
        if not bench.judged:
            return
        blocks: dict[str, list[Judged]] = {}
        for item in bench.judged:
            blocks.setdefault(item.block.name, []).append(item)
        first = first_wrong(bench)
        stages = {name: _counts(items) for name, items in blocks.items()}
        begins: dict[str, Any] = {"first_wrong": None, "first_reason": None}
        if first is not None:
            begins = {"first_wrong": first.block.name, "first_reason": first.reason}
        yield bench.finding(
            self, "EA111", "stages", Verdict.HOLDS, _message(stages, first), stages=stages, **begins,
        )  # fmt: skip


def first_wrong(bench: Bench) -> Judged | None:
    """The first wrong number in the order of the data flow, in the order of the file within a stage."""
    wrong = [item for item in bench.judged if item.wrong]
    return min(wrong, key=lambda item: item.element.stage.order, default=None)


def _counts(items: list[Judged]) -> dict[str, Any]:
    found = Counter(str(item.verdict) if item.reason in (None, "digits") else item.reason for item in items)
    counts: dict[str, Any] = {reason: found[reason] for reason in ORDER if found[reason]}
    accidents = sum(item.by_accident for item in items)
    return counts | ({"by_accident": accidents} if accidents else {})


def _message(stages: dict[str, dict[str, Any]], first: Judged | None) -> str:
    total: Counter[str] = Counter()
    for counts in stages.values():
        total.update({reason: count for reason, count in counts.items() if reason in ORDER})
    sums = ", ".join(f"{total[reason]} {reason}" for reason in ORDER if total[reason])
    if first is None:
        return f"{total.total()} printed numbers: {sums}; no step is wrong"
    return f"{total.total()} printed numbers: {sums}; the first wrong step is {first.block.name} ({first.reason})"


CHECK = StageSummary()

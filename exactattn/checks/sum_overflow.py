"""Check `sum-overflow`: does the sum of exponentials leave a format although no single exponential does?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from exactattn.attention.spec import Stage
from exactattn.bench import Bench
from exactattn.errors import Unavailable
from exactattn.findings import Finding, Level, Verdict
from exactattn.numbers.balls import FIRST_BITS, enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.formats import Format
from exactattn.truth.range import exp_range
from exactattn.truth.rows import Decided, Logits, Row, beyond, climb, count_of, largest, named, proof, shown

REMEDY = "Subtract the row maximum before exp (shifted or online softmax): the sum then lies between 1 and n."


class SumOverflow:
    """The silent one: every exp is finite, their sum is infinite, and finite/infinity gives weights of 0."""

    name = "sum-overflow"
    CODES: ClassVar[Mapping[str, str]] = {
        "EA302": "the sum of unshifted exponentials overflows although no single one does: the true log-sum-exp is "
        "above ln(max + half an ulp). Naive softmax then gives a row of zeros without any warning. " + REMEDY
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding for each format that is hit, or one note when none is."""
        if bench.the_problem is None or not bench.formats:
            return
        logits = Logits(bench.truth)
        hit, bits = False, FIRST_BITS
        for fmt in bench.formats:
            decided = self.decide(logits, fmt)
            bits = max(bits, decided.bits)
            if decided.verdict is not Verdict.HOLDS:
                hit = True
                yield self._hazard(bench, logits, fmt, decided)
        if not hit and logits.rows:
            yield self._note(bench, logits, bits)

    def decide(self, logits: Logits, fmt: Format) -> Decided[Row]:
        """Which rows have a log-sum-exp above the threshold, and no logit above it."""
        limit = exp_range(fmt).ln_overflow

        def ask(row: Row, bits: int) -> Answer:
            threshold = enclose(limit, bits)
            return Answer.every(
                beyond(logits.lse(row, bits), threshold), beyond(logits.top(row, bits), threshold).negated
            )

        return climb(logits.truth, logits.rows, ask)

    def _hazard(self, bench: Bench, logits: Logits, fmt: Format, decided: Decided[Row]) -> Finding:
        exp = exp_range(fmt)
        worst = max(decided.hits or decided.unknown, key=lambda row: logits.lse(row).lower)
        count = count_of(bench.problem, len(decided.hits), len(logits.rows))
        ran = _naive(bench, fmt, worst)
        gave = f"; the {fmt.name} run gives the weights {ran['weights']}" if "weights" in ran else ""
        return bench.finding(
            self,
            "EA302",
            f"hazard:sum-overflow/{fmt.name}",
            decided.verdict,
            f"the sum of exponentials overflows in {fmt.name} in {count} although no single exp does: ln of the sum "
            f"is {shown(logits.lse(worst), 13)}, past {shown(enclose(exp.ln_overflow), 13)}, the largest logit "
            f"{shown(logits.top(worst), 13)}{gave}",
            level=Level.WARNING,
            reason="overflow",
            remedy=REMEDY,
            largest={
                "row": named(bench.problem, [worst])[0],
                "lse": shown(logits.lse(worst), bench.digits),
                "logit": shown(logits.top(worst), bench.digits),
            },
            run=ran,
            **exp.overflow_evidence(bench.digits),
            **decided.evidence(bench.problem),
            **_algorithms(bench, fmt),
        )

    def _note(self, bench: Bench, logits: Logits, bits: int) -> Finding:
        top = largest(logits.lse(row) for row in logits.rows)
        limits = {fmt: enclose(exp_range(fmt).ln_overflow) for fmt in bench.formats}
        smallest = min(bench.formats, key=lambda fmt: limits[fmt].lower)
        margins = {fmt: Interval(limit.lower - top.upper, limit.upper - top.lower) for fmt, limit in limits.items()}
        instead = [fmt.name for fmt, margin in margins.items() if margin.upper < 0]
        others = f" (in {', '.join(instead)} exp itself overflows wherever the sum does)" if instead else ""
        return bench.finding(
            self,
            "EA302",
            "hazard:sum-overflow",
            Verdict.HOLDS,
            f"no sum of exponentials overflows in {', '.join(fmt.name for fmt in limits)} where no single exp "
            f"does{others}: the largest log-sum-exp is {shown(top, 10)}, the smallest threshold "
            f"ln(max + half an ulp) = {shown(limits[smallest], 13)} ({smallest.name})",
            largest=shown(top, bench.digits),
            formats={
                fmt.name: exp_range(fmt).overflow_evidence(bench.digits) | {"margin": shown(margin, 6)}
                for fmt, margin in margins.items()
            },
            **proof(bits),
        )


def _algorithms(bench: Bench, fmt: Format) -> dict[str, Any]:
    """Which algorithms are affected. A shifted sum is at most n, which only a format with max < n cannot hold."""
    keys = bench.problem.lengths[1]
    if keys <= fmt.max:
        return {
            "affected": ["naive"],
            "unaffected": ["shifted", "online", "split"],
            "why_unaffected": f"a sum of exp(logit - maximum) lies between 1 and n = {keys}",
        }
    return {
        "affected": ["naive"],
        "unaffected": [],
        "why_unaffected": f"a shifted sum may reach n = {keys}, which is more than {fmt.name} can hold",
    }


def _naive(bench: Bench, fmt: Format, row: Row) -> dict[str, Any]:
    """What the naive run gave in this row, or why there is none."""
    head, query = row
    try:
        outputs = bench.run(fmt, "naive").outputs
    except Unavailable as reason:
        return {"not_run": str(reason)}
    return {
        "row": named(bench.problem, [row])[0],
        "weights": _plain(outputs[Stage.WEIGHTS, head][query]),
        "lse": _plain(outputs[Stage.LSE, head][query])[0],
    }


def _plain(values: Any) -> list[float | str]:
    """Numbers as JSON: those that are not finite as text."""
    return [float(x) if np.isfinite(x) else str(float(x)) for x in values]


CHECK = SumOverflow()

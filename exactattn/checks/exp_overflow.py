"""Check `exp-overflow`: does the exponential of a logit, not shifted, leave a format?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict
from exactattn.numbers.balls import FIRST_BITS, enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.formats import Format
from exactattn.truth.range import ExpRange, exp_range
from exactattn.truth.rows import Decided, Logits, Row, beyond, climb, count_of, counted, largest, named, proof, shown

REMEDY = "Subtract the row maximum before exp (shifted or online softmax): the exponents are then at most 0."
AFFECTED: dict[str, Any] = {
    "affected": ["naive"],
    "unaffected": ["shifted", "online", "split"],
    "why_unaffected": "while the scores are finite, their exp sees a logit minus a maximum that is no smaller; "
    "split is shifted inside each part",
}


class ExpOverflow:
    """The hazard is stated for the exact logit against the exact threshold; the run check shows what a machine did."""

    name = "exp-overflow"
    CODES: ClassVar[Mapping[str, str]] = {
        "EA301": "exp of an unshifted logit overflows: the logit is above ln(max + half an ulp) of the format, so "
        "naive softmax divides infinity by infinity (NaN) or by infinity (0). " + REMEDY
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
        """Which rows have a logit above ln(max + half an ulp)."""
        limit = exp_range(fmt).ln_overflow

        def ask(row: Row, bits: int) -> Answer:
            return beyond(logits.top(row, bits), enclose(limit, bits))

        return climb(logits.truth, logits.rows, ask)

    def _hazard(self, bench: Bench, logits: Logits, fmt: Format, decided: Decided[Row]) -> Finding:
        exp = exp_range(fmt)
        worst = max(decided.hits or decided.unknown, key=lambda row: logits.top(row).lower)
        value = shown(logits.top(worst), bench.digits)
        count = count_of(bench.problem, len(decided.hits), len(logits.rows))
        between = _depends_on_rounding(logits, exp)
        rounding = f" (in {counted(len(between), 'row')} it depends on how the score is rounded)" if between else ""
        result = "infinity" if fmt.overflow == "infinity" else "NaN"
        return bench.finding(
            self,
            "EA301",
            f"hazard:exp-overflow/{fmt.name}",
            decided.verdict,
            f"exp of the logits gives {result} in {fmt.name} in {count}{rounding}: the largest logit is "
            f"{shown(logits.top(worst), 10)}, past ln(max + half an ulp) = {shown(enclose(exp.ln_overflow), 13)}; "
            "naive softmax is affected, shifted, online and split are not",
            level=Level.WARNING,
            reason="overflow",
            remedy=REMEDY,
            largest={"row": named(bench.problem, [worst])[0], "logit": value},
            depends_on_rounding=named(bench.problem, between),
            **exp.overflow_evidence(bench.digits),
            **decided.evidence(bench.problem),
            **AFFECTED,
        )

    def _note(self, bench: Bench, logits: Logits, bits: int) -> Finding:
        top = largest(map(logits.top, logits.rows))
        ranges = [exp_range(fmt) for fmt in bench.formats]
        smallest = min(ranges, key=lambda exp: enclose(exp.ln_overflow).lower)
        formats = {exp.format.name: _margin(bench, logits, exp, top) for exp in ranges}
        between = [name for name, entry in formats.items() if entry["depends_on_rounding"]]
        rounding = f"; in {', '.join(between)} it depends on how the score is rounded" if between else ""
        return bench.finding(
            self,
            "EA301",
            "hazard:exp-overflow",
            Verdict.HOLDS,
            f"no exp of a logit overflows in {', '.join(formats)}: the largest logit is {shown(top, 10)}, the smallest "
            f"threshold ln(max + half an ulp) = {shown(enclose(smallest.ln_overflow), 13)} ({smallest.format.name})"
            f"{rounding}",
            largest=shown(top, bench.digits),
            formats=formats,
            **proof(bits),
        )


def _margin(bench: Bench, logits: Logits, exp: ExpRange, top: Interval) -> dict[str, Any]:
    limit = enclose(exp.ln_overflow)
    margin = Interval(limit.lower - top.upper, limit.upper - top.lower)
    between = named(bench.problem, _depends_on_rounding(logits, exp))
    return {**exp.overflow_evidence(bench.digits), "margin": shown(margin, 6), "depends_on_rounding": between}


def _depends_on_rounding(logits: Logits, exp: ExpRange) -> list[Row]:
    """Rows whose largest logit lies between two neighbours of the format, one safe and one not."""
    safe, past = Fraction(exp.last_safe), Fraction(exp.first_overflowing)
    return [row for row in logits.rows if safe < logits.top(row).midpoint < past]


CHECK = ExpOverflow()

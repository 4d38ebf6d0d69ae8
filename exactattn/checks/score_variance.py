"""Check `score-variance`: how the scores of this problem spread, and whether the scale keeps the softmax alive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict
from exactattn.numbers.balls import FIRST_BITS, enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import ONE, log, mul
from exactattn.truth.rows import largest, named, proof, shown
from exactattn.truth.spread import (
    CRITERION,
    SATURATED_TRACE,
    SATURATED_WEIGHT,
    Saturation,
    is_saturated,
    mean,
    saturation,
    scaled_variance,
    square,
    uniform_trace,
    variance,
)

REMEDY = "Multiply the scores by 1/sqrt(d_k) before the softmax, or normalise q and k."
ASSUMPTIONS = "the entries of q and k are independent with mean 0 and variance 1"
VERDICTS = {Answer.YES: Verdict.FAILS, Answer.NO: Verdict.HOLDS, Answer.CANNOT_TELL: Verdict.UNDECIDED}


class ScoreVariance:
    """The variance of this data is a fact about it; the law Var(q.k) = d_k is about a distribution."""

    name = "score-variance"
    CODES: ClassVar[Mapping[str, str]] = {
        "EA401": "the softmax of the unscaled scores is saturated: " + CRITERION + ". Its gradient all but vanishes "
        "there. Under the assumptions of the law score-variance the scores have variance d_k, and 1 after "
        "1/sqrt(d_k). " + REMEDY
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding: variance, and saturation before and after the scale."""
        if bench.the_problem is None or not bench.problem.allowed.any():
            return
        problem = bench.problem
        before = saturation(problem.with_spec(scale=ONE))
        after = before if problem.scale == ONE else saturation(problem)
        answers = is_saturated(before), is_saturated(after)
        spread = variance(problem)
        yield bench.finding(
            self,
            "EA401",
            "hazard:score-variance",
            VERDICTS[answers[0]],
            self._message(bench, spread, (before, after), answers),
            level=Level.WARNING,
            reason="saturated" if answers[0] is Answer.YES else None,
            remedy=None if answers[0] is Answer.NO else REMEDY,
            variance=self._variance(bench, spread),
            unscaled=_evidence(bench, before, answers[0]),
            scaled=_evidence(bench, after, answers[1]),
            criterion=CRITERION,
            **proof(FIRST_BITS),
        )

    def _message(
        self,
        bench: Bench,
        spread: Interval,
        rows: tuple[Sequence[Saturation], Sequence[Saturation]],
        answers: tuple[Answer, Answer],
    ) -> str:
        scaled = scaled_variance(bench.problem, spread)
        text = f"the scores have variance {shown(spread, 6)}, {shown(scaled, 6)} after the scale"
        if not rows[0]:
            return f"{text}; every row has a single key, so nothing can saturate"
        words = {Answer.YES: "saturated", Answer.NO: "not saturated", Answer.CANNOT_TELL: "not decided"}
        traces = [shown(mean([row.trace for row in part]), 4) for part in rows]
        tops = [shown(largest(row.largest for row in part), 4) for part in rows]
        return (
            f"{text}; the softmax is {words[answers[0]]} without the scale (mean trace of its Jacobian {traces[0]}, "
            f"largest weight {tops[0]}) and {words[answers[1]]} with it ({traces[1]}, {tops[1]}; uniform rows would "
            f"have {shown(Interval(*[uniform_trace(rows[0])] * 2), 4)})"
        )

    def _variance(self, bench: Bench, spread: Interval) -> dict[str, Any]:
        """Of this data (population variance over all allowed pairs), and by the law where d_k is known."""
        problem, digits = bench.problem, bench.digits
        found: dict[str, Any] = {
            "unscaled": shown(spread, digits),
            "scaled": shown(scaled_variance(problem, spread), digits),
            "over": f"{int(problem.allowed.sum()) * len(problem.heads)} allowed scores",
        }
        d_k = problem.names.get("d_k")
        if d_k is not None:
            found["law"] = {
                "name": "score-variance",
                "assumptions": ASSUMPTIONS,
                "unscaled": str(d_k),
                "scaled": shown(enclose(mul(d_k, square(problem.scale))), digits),
            }
        return found


def _evidence(bench: Bench, rows: Sequence[Saturation], answer: Answer) -> dict[str, Any]:
    """Largest weight, entropy beside ln n, and trace beside 1 - 1/n."""
    if not rows:
        return {"saturated": str(answer.value), "rows": 0}
    digits = bench.digits
    top = max(rows, key=lambda row: row.largest.lower)
    peaked = [row.row for row in rows if row.largest.above(SATURATED_WEIGHT) is Answer.YES]
    return {
        "saturated": str(answer.value),
        "rows": len(rows),
        "largest_weight": {"row": named(bench.problem, [top.row])[0], "weight": shown(top.largest, digits)},
        "above_0.99": {"rows": named(bench.problem, peaked), "count": len(peaked)},
        "entropy": {
            "mean": shown(mean([row.entropy for row in rows]), digits),
            "least": shown(_least([row.entropy for row in rows]), digits),
            "uniform": shown(mean([enclose(log(Fraction(row.keys))) for row in rows]), digits),
        },
        "trace": {
            "mean": shown(mean([row.trace for row in rows]), digits),
            "least": shown(_least([row.trace for row in rows]), digits),
            "uniform": shown(Interval(*[uniform_trace(rows)] * 2), digits),
            "limit": shown(Interval(*[SATURATED_TRACE * uniform_trace(rows)] * 2), digits),
        },
    }


def _least(values: Sequence[Interval]) -> Interval:
    return Interval(min(v.lower for v in values), min(v.upper for v in values))


CHECK = ScoreVariance()

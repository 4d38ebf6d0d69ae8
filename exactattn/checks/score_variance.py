"""Check `score-variance`: how the scores of this problem spread, and whether the scale keeps the softmax alive."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from exactattn.attention.spec import Problem
from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict
from exactattn.numbers.balls import FIRST_BITS, enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import ONE, log, mul
from exactattn.truth.rows import (
    MASKING_BIAS,
    bias_mask_evidence,
    counted,
    largest,
    masked_by_bias,
    named,
    proof,
    shown,
    without_masked,
)
from exactattn.truth.spread import (
    CRITERION,
    SATURATED_TRACE,
    SATURATED_WEIGHT,
    Saturation,
    is_inverse_root,
    is_saturated,
    mean,
    saturation,
    scaled_variance,
    square,
    uniform_trace,
    variance,
)

REMEDY = "Multiply the scores by 1/sqrt(d_k) before the softmax, or normalise q and k."
BEYOND_SCALE = "The scores have the factor 1/sqrt(d_k) already: normalise q and k."
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
        if bench.the_problem is None:
            return
        problem = without_masked(bench.problem)
        if not problem.allowed.any():
            return
        before = saturation(problem.with_spec(scale=ONE))
        after = before if problem.scale == ONE else saturation(problem)
        answers = is_saturated(before), is_saturated(after)
        spread = variance(problem)
        yield bench.finding(
            self,
            "EA401",
            "hazard:score-variance",
            VERDICTS[answers[0]],
            self._message(problem, spread, (before, after), answers) + _left_out(bench.problem),
            level=Level.WARNING,
            reason="saturated" if answers[0] is Answer.YES else None,
            remedy=_remedy(problem, answers),
            variance=self._variance(problem, spread, bench.digits),
            unscaled=_evidence(bench, before, answers[0]),
            scaled=_evidence(bench, after, answers[1]),
            criterion=CRITERION,
            **bias_mask_evidence(int(masked_by_bias(bench.problem).sum())),
            **proof(FIRST_BITS),
        )

    def _message(
        self,
        problem: Problem,
        spread: Interval,
        rows: tuple[Sequence[Saturation], Sequence[Saturation]],
        answers: tuple[Answer, Answer],
    ) -> str:
        scaled = scaled_variance(problem, spread)
        text = f"the scores have variance {shown(spread, 6)}, {shown(scaled, 6)} after the scale"
        if not rows[0]:
            return f"{text}; every row has a single key, so nothing can saturate"
        words = {Answer.YES: "saturated", Answer.NO: "not saturated", Answer.CANNOT_TELL: "not decided"}
        traces = [shown(mean([row.trace for row in part]), 4) for part in rows]
        tops = [shown(largest(row.largest for row in part), 4) for part in rows]
        return (
            f"{text}; the softmax is {words[answers[0]]} without the scale (mean trace of its Jacobian {traces[0]}, "
            f"largest weight {tops[0]}) and {words[answers[1]]} with it ({traces[1]}, {tops[1]}); the trace is 1 - the "
            f"sum of squared weights: 0 when one key takes all, {shown(Interval(*[uniform_trace(rows[0])] * 2), 4)} "
            "for uniform rows"
        )

    def _variance(self, problem: Problem, spread: Interval, digits: int) -> dict[str, Any]:
        """Of this data (population variance over all allowed pairs), and by the law where d_k is known."""
        found: dict[str, Any] = {
            "unscaled": shown(spread, digits),
            "scaled": shown(scaled_variance(problem, spread), digits),
            "over": counted(int(problem.allowed.sum()) * len(problem.heads), "allowed score"),
        }
        d_k = problem.names.get("d_k")
        if d_k is not None:
            found |= {
                "law": "score-variance",
                "law_assumes": ASSUMPTIONS,
                "law_unscaled": str(d_k),
                "law_scaled": shown(enclose(mul(d_k, square(problem.scale))), digits),
            }
        return found


def _remedy(problem: Problem, answers: tuple[Answer, Answer]) -> str | None:
    """What to do: nothing where nothing is saturated or the scale is the remedy and works."""
    d_k = problem.names.get("d_k")
    if answers[0] is Answer.NO:
        return None
    if d_k is None or not is_inverse_root(problem.scale, d_k):
        return REMEDY
    return None if answers[1] is Answer.NO else BEYOND_SCALE


def _left_out(problem: Problem) -> str:
    """What was left out because a bias masks it."""
    masked = int(masked_by_bias(problem).sum())
    if not masked:
        return ""
    return f"; {counted(masked, 'query-key pair')} masked by a bias of at most {MASKING_BIAS} left out"


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

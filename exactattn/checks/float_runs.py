"""Check `float-runs`: what each format and algorithm gives, and how far that is from the truth.

Against two truths: that of the inputs as written and that of the inputs as stored in the format. What lies between
the two is representation error, and no algorithm can mend it; the error against the stored inputs is computing error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from exactattn.attention.spec import Stage
from exactattn.bench import Bench
from exactattn.errors import Unavailable
from exactattn.findings import Finding, Level, Verdict
from exactattn.numbers.balls import FIRST_BITS
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.formats import Format
from exactattn.truth.accuracy import Accuracy, judged_stages, measure, representation
from exactattn.truth.ladder import Truth
from exactattn.truth.range import score_overflows
from exactattn.truth.reference import Reference
from exactattn.truth.rows import Row, counted, named, proof
from exactattn.truth.runs import Run

ORDER = tuple(stage for stage in Stage if stage is not Stage.CONCAT)
FITS = "The inputs do not fit in the format: scale them down, or use a format with a wider range."
BEYOND = "The true value itself is beyond the format: use one with a wider range, or scale the inputs down."
PROJECTED = "A projection overflows: scale the inputs or their weights down, or use a format with a wider range."
SHIFT = "Subtract the row maximum before exp (shifted or online softmax): the exponents are then at most 0."
SCALE_FIRST = (
    "The scores overflow before the scale: multiply q by the scale before the product with k, or use a format with a "
    "wider range."
)
WIDER = "The scores overflow: use a format with a wider range, or normalise q and k. Shifting does not help here."
NORMALISER = "The sum of the exponentials overflows: accumulate it in a format with a wider range."
VALUES = (
    "The weighted sum of the values overflows: accumulate it in a format with a wider range, or scale the values down."
)
OUTPUT = "The output projection overflows: use a format with a wider range, or scale W_O or the values down."


class FloatRuns:
    """One finding for each format and algorithm."""

    name = "float-runs"
    CODES: ClassVar[Mapping[str, str]] = {
        "EA501": "a float run finished with finite numbers; the evidence has its error against the truth, in units in "
        "the last place of the format at the true value, as written and as stored",
        "EA502": "a float run gave infinity or NaN where the true value is finite. The remedy depends on where the run "
        "broke: in its inputs, projections, scores, exponentials, sums or output.",
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """Every format with every algorithm."""
        if bench.the_problem is None:
            return
        written = Reference(bench.truth)
        for fmt in bench.formats:
            stored = _stored(bench, fmt, written)
            for algorithm in bench.algorithms:
                try:
                    done = bench.run(fmt, algorithm)
                except Unavailable as reason:
                    yield self._not_run(bench, fmt, algorithm, str(reason))
                else:
                    broken = _not_finite(bench.truth, done)
                    yield self._broken(bench, done, broken) if broken else self._measured(bench, done, written, stored)

    def _not_run(self, bench: Bench, fmt: Format, algorithm: str, reason: str) -> Finding:
        return bench.finding(
            self,
            "EA501",
            f"run:{fmt.name}/{algorithm}",
            Verdict.NOT_RUN,
            f"not run: {reason}",
            level=Level.NOTE,
            reason="unavailable",
        )

    def _broken(self, bench: Bench, done: Run, broken: Mapping[Stage, list[Row]]) -> Finding:
        fits = bench.stored(done.format) is not None
        judged = [stage for stage in judged_stages(bench.truth) if broken.get(stage)]
        rows = sorted({row for stage in judged if stage.per_head for row in broken[stage]}) or broken[judged[-1]]
        beyond = [str(stage) for stage in judged if _is_beyond(bench.truth, stage, broken[stage], done.format)]
        first = next(stage for stage in ORDER if broken.get(stage))
        zeros = _silent_zeros(done, rows)
        return bench.finding(
            self,
            "EA502",
            f"run:{done.format.name}/{done.algorithm}",
            Verdict.FAILS,
            f"the {done.algorithm} run in {done.format.name} is not finite in {counted(len(rows), 'row')} where the "
            f"truth is, first in stage {first}"
            + ("" if fits else "; the inputs overflow when they are stored")
            + (f"; the true {' and '.join(beyond)} is beyond the format itself" if beyond else "")
            + (f"; in {counted(len(zeros), 'row')} the weights are all 0" if zeros else ""),
            reason="inputs-overflow" if not fits else "out-of-range" if beyond else "not-finite",
            remedy=" ".join(_remedies(bench.truth, done, broken, rows, beyond)) if fits else FITS,
            rows=named(bench.problem, rows),
            count=len(rows),
            first_stage=str(first),
            stages=[str(stage) for stage in ORDER if broken.get(stage)],
            all_zero_weights=named(bench.problem, zeros),
            output=_row(done.outputs[Stage.OUTPUT, 0][rows[0][1]]),
            inputs_fit=fits,
            beyond_range=beyond,
            engine=done.engine,
        )

    def _measured(self, bench: Bench, done: Run, written: Reference, stored: Reference | None) -> Finding:
        fmt, same = done.format, stored is written
        errors = measure(written, done)
        kept = None if stored is None else errors if same else measure(stored, done)
        apart = {} if stored is None or same else representation(written, stored, fmt)
        as_stored = "; as stored the inputs overflow" if kept is None else f", {_words(kept)} as stored"
        against = "" if same else f" against the inputs as written{as_stored}"
        return bench.finding(
            self,
            "EA501",
            f"run:{fmt.name}/{done.algorithm}",
            Verdict.HOLDS,
            f"{done.algorithm} in {fmt.name}: largest error of the output {_words(errors)}{against}",
            written=_evidence(bench, errors),
            stored=None if kept is None else _evidence(bench, kept),
            representation=_evidence(bench, apart),
            inputs="overflow" if stored is None else "exact" if same else "rounded",
            unit="ulp of the format at the true value; where that may be 0 the absolute error, at_zero",
            run_engine=done.engine,
            **proof(FIRST_BITS),
        )


def _stored(bench: Bench, fmt: Format, written: Reference) -> Reference | None:
    """The truth for the inputs as stored: the one as written where nothing is rounded, None where they do not fit."""
    stored = bench.stored(fmt)
    if stored is None:
        return None
    return written if stored.problem == bench.problem else Reference(stored)


def _words(found: Mapping[Stage, Accuracy]) -> str:
    return found[Stage.OUTPUT].words


def _evidence(bench: Bench, found: Mapping[Stage, Accuracy]) -> dict[str, Any]:
    return {str(stage): accuracy.evidence(bench.digits) for stage, accuracy in found.items()}


def _not_finite(truth: Truth, done: Run) -> dict[Stage, list[Row]]:
    """The rows of each stage with a number that is not finite; empty when nothing that is judged has one."""
    problem = truth.problem
    found: dict[Stage, list[Row]] = {}
    for (stage, head), values in done.outputs.items():
        bad = ~np.isfinite(values)
        if stage in (Stage.SCORES, Stage.SCALED, Stage.MASKED):
            bad &= problem.allowed
        for query in np.flatnonzero(bad.any(axis=1)):
            if stage.order < Stage.SCORES.order or int(query) not in truth.undefined:
                found.setdefault(stage, []).append((head, int(query)))
    return found if any(stage in found for stage in judged_stages(truth)) else {}


def _is_beyond(truth: Truth, stage: Stage, rows: list[Row], fmt: Format) -> bool:
    """Does a true value in these rows round past the range, so that infinity is the best the format can give?"""
    values = {head: truth.enclosure(stage, head) for head, _ in rows}
    seen = truth.problem.allowed if stage is Stage.SCALED else np.ones(values[rows[0][0]].shape, dtype=np.bool_)
    return any(
        score_overflows(Interval(low, high).magnitude(), fmt) is Answer.YES
        for head, query in rows
        for low, high in zip(
            values[head].lower[query, seen[query]], values[head].upper[query, seen[query]], strict=True
        )
        if max(map(_size, (low, high))) >= _size(fmt.overflow_threshold) - 1
    )


def _size(x: Fraction) -> int:
    """The exponent of a number, give or take 1: what is far from a threshold need not be compared in full."""
    return x.numerator.bit_length() - x.denominator.bit_length()


def _remedies(
    truth: Truth, done: Run, broken: Mapping[Stage, list[Row]], rows: list[Row], beyond: list[str]
) -> list[str]:
    """What to do, by where each row broke first; each remedy once, in the order of the stages.

    A true lse beyond the format has a score beyond it or near, so that is where such a row breaks.
    """
    if any(broken.get(stage) for stage in (Stage.Q, Stage.K, Stage.V)):
        return [PROJECTED]
    found: dict[str, None] = {}
    for stage in ORDER:
        hit = [row for row in rows if _first(broken, row) is stage]
        if hit:
            found[_remedy(truth, done, stage, hit)] = None
    if set(beyond) <= {Stage.LSE}:
        return list(found)
    return [BEYOND, *(remedy for remedy in found if remedy not in (VALUES, OUTPUT))]


def _first(broken: Mapping[Stage, list[Row]], row: Row) -> Stage:
    """The first stage that is broken in a row; the output has the same rows under head 0."""
    return next(stage for stage in ORDER if (row if stage.per_head else (0, row[1])) in broken.get(stage, ()))


def _remedy(truth: Truth, done: Run, stage: Stage, rows: list[Row]) -> str:
    """What to do about rows that broke first in this stage."""
    if stage is Stage.SCORES and not _is_beyond(truth, Stage.SCALED, rows, done.format):
        return SCALE_FIRST
    if stage.order <= Stage.MASKED.order:
        return WIDER
    if stage.order <= Stage.LSE.order:
        return SHIFT if done.algorithm == "naive" else NORMALISER
    return VALUES if stage is Stage.CONTEXT else OUTPUT


def _silent_zeros(done: Run, rows: list[Row]) -> list[Row]:
    """Rows whose weights were formed and are all 0."""
    return [
        (head, query)
        for head, query in rows
        if (Stage.WEIGHTS, head) in done.outputs and not done.outputs[Stage.WEIGHTS, head][query].any()
    ]


def _row(values: Any) -> list[float | str]:
    return [float(x) if np.isfinite(x) else str(float(x)) for x in values]


CHECK = FloatRuns()

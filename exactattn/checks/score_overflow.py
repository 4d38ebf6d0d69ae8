"""Check `score-overflow`: do the scores themselves leave a format, before or after the scale?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from exactattn.attention.spec import Problem, Stage
from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict
from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.balls import FIRST_BITS
from exactattn.numbers.enclosure import Answer, Interval, significant
from exactattn.numbers.formats import Format
from exactattn.truth.elements import Element
from exactattn.truth.ladder import Truth
from exactattn.truth.range import score_overflows
from exactattn.truth.rows import Decided, Row, climb, count_of, largest, masked_by_bias, named, proof, shown

SCALE_FIRST = "Multiply q by the scale before the product with k: the scaled scores are in range."
WIDER = "Accumulate and keep the scores in a format with a wider range (float32, bfloat16), or normalise q and k."
SPARED = (Stage.MASKED, "infinity")  # where masked keys may overflow: a NaN would spread over the row


class ScoreOverflow:
    """The hazard is stated for the exact score rounded once; partial sums of a dot product may overflow before it.

    A key that a finite bias masks may become -infinity where its row has another key: that masks it just as well.
    """

    name = "score-overflow"
    CODES: ClassVar[Mapping[str, str]] = {
        "EA303": "a score rounds to infinity (NaN where the format has none): its magnitude reaches max + half an ulp "
        "of the format, before or after the scale. A row maximum of infinity makes infinity - infinity = NaN, so "
        "shifting does not help. " + SCALE_FIRST + " Otherwise: " + WIDER
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding for each format that is hit, or one note when none is."""
        if bench.the_problem is None or not bench.formats:
            return
        spared = _spared(bench.problem)
        kinds = {
            overflow: {
                stage: _Magnitudes(bench.truth, stage, spared if (stage, overflow) == SPARED else None)
                for stage in _stages(bench)
            }
            for overflow in {fmt.overflow for fmt in bench.formats}
        }
        hit, bits = False, FIRST_BITS
        for fmt in bench.formats:
            magnitudes = kinds[fmt.overflow]
            found = {stage: m.decide(fmt) for stage, m in magnitudes.items()}
            bits = max(bits, *(decided.bits for decided in found.values()))
            if any(decided.verdict is not Verdict.HOLDS for decided in found.values()):
                hit = True
                yield self._hazard(bench, fmt, magnitudes, found)
        if not hit:
            yield self._note(bench, kinds[bench.formats[0].overflow], bits)

    def _hazard(
        self,
        bench: Bench,
        fmt: Format,
        magnitudes: Mapping[Stage, _Magnitudes],
        found: Mapping[Stage, Decided[Row]],
    ) -> Finding:
        verdicts = {stage: decided.verdict for stage, decided in found.items()}
        fails = Verdict.FAILS in verdicts.values()
        wanted = Verdict.FAILS if fails else Verdict.UNDECIDED
        stage = next(stage for stage, verdict in verdicts.items() if verdict is wanted)
        only_before = list(verdicts.values()) == [wanted, *[Verdict.HOLDS] * (len(verdicts) - 1)]
        when = "before the scale only" if only_before else f"first in stage {stage}"
        top = magnitudes[stage].worst(found[stage])
        count = count_of(bench.problem, len(found[stage].hits), len(magnitudes[stage].rows))
        return bench.finding(
            self,
            "EA303",
            f"hazard:score-overflow/{fmt.name}",
            wanted,
            f"scores overflow in {fmt.name}, {when}: magnitude {shown(magnitudes[stage].tops[top], 10)} in {count}, "
            f"where rounding overflows at {_short(fmt.overflow_threshold)} (max {_short(fmt.max)}); every algorithm is "
            "affected, as all of them start from the scores",
            level=Level.WARNING,
            reason="overflow",
            remedy=SCALE_FIRST if only_before else WIDER,
            **_limits(fmt),
            stages={
                str(stage): magnitudes[stage].evidence(bench, decided, fmt)
                for stage, decided in found.items()
                if decided.verdict is not Verdict.HOLDS
            },
            **found[stage].evidence(bench.problem),
            affected=["naive", "shifted", "online", "split"],
            unaffected=[],
        )

    def _note(self, bench: Bench, magnitudes: Mapping[Stage, _Magnitudes], bits: int) -> Finding:
        tops = {stage: largest(m.tops.values()) for stage, m in magnitudes.items()}
        top = largest(tops.values())
        smallest = min(bench.formats, key=lambda fmt: fmt.overflow_threshold)
        limit = smallest.overflow_threshold
        return bench.finding(
            self,
            "EA303",
            "hazard:score-overflow",
            Verdict.HOLDS,
            f"no score overflows in {', '.join(fmt.name for fmt in bench.formats)}, before or after the scale: the "
            f"largest magnitude is {shown(top, 10)}, the smallest threshold {_short(limit)} ({smallest.name})",
            largest={str(stage): shown(value, bench.digits) for stage, value in tops.items()},
            formats={
                fmt.name: _limits(fmt) | {"margin": significant(fmt.overflow_threshold - top.upper, 6)}
                for fmt in bench.formats
            },
            **proof(bits),
        )


def _stages(bench: Bench) -> tuple[Stage, ...]:
    """Scores before the scale, after it, and with a bias where there is one."""
    return (Stage.SCORES, Stage.SCALED) if bench.problem.bias is None else (Stage.SCORES, Stage.SCALED, Stage.MASKED)


def _spared(problem: Problem) -> Mask:
    """Which keys a bias masks in rows that have another key. Shapes: (L, S)."""
    masked = masked_by_bias(problem)
    others = (problem.allowed & ~masked).any(axis=1, keepdims=True)
    return np.asarray(masked & others, dtype=np.bool_)


def _short(limit: Fraction) -> str:
    """A threshold for a message: exact while it is short."""
    return str(limit) if limit < 10**6 else significant(limit, 10)


def _limits(fmt: Format) -> dict[str, Any]:
    """The limits of a format, exact: a plain integer while it is short, else an integer times a power of two."""
    top = fmt.emax - fmt.precision + 1  # the exponent of the largest number's ulp
    limits = {"max": (fmt.max_significand, top), "overflow_threshold": (2 * fmt.max_significand + 1, top - 1)}
    exact = {
        name: f"{integer}*2**{power}" if fmt.max > 10**6 else str(Fraction(integer) * Fraction(2) ** power)
        for name, (integer, power) in limits.items()
    }
    return exact | {"at_threshold": "overflows" if fmt.max_significand % 2 else "gives max"}


class _Magnitudes:
    """The magnitudes of a stage. Every score is looked at, not only those of allowed keys: they are computed too.

    `spared` are left out. Shapes: (L, S).
    """

    def __init__(self, truth: Truth, stage: Stage, spared: Mask | None = None) -> None:
        self.truth, self.stage = truth, stage
        queries, keys = truth.problem.lengths
        looked_at = np.ones((queries, keys), dtype=np.bool_) if spared is None else ~spared
        self.keys = [[int(key) for key in np.flatnonzero(row)] for row in looked_at]
        self.rows = [(head, i) for head in range(len(truth.problem.heads)) for i in range(queries)]
        self.tops = {row: self._top(*row) for row in self.rows}

    def _top(self, head: int, query: int) -> Interval:
        """The largest magnitude of a row: |t| is at least t and -t, and at most the larger end of either."""
        values = self.truth.enclosure(self.stage, head)
        lower, upper = values.lower[query, self.keys[query]], values.upper[query, self.keys[query]]
        return Interval(max(*lower, -min(upper), Fraction(0)), max(*upper, -min(lower)))

    def at(self, row: Row, key: int, bits: int = FIRST_BITS) -> Interval:
        value = self.truth.enclosure(self.stage, row[0], bits)[row[1], key]
        assert value is not None
        return value.magnitude()

    def decide(self, fmt: Format) -> Decided[Row]:
        """Which rows have a score that rounds past the range."""

        def ask(row: Row, bits: int) -> Answer:
            if bits == FIRST_BITS and (quick := score_overflows(self.tops[row], fmt)) is not Answer.CANNOT_TELL:
                return quick
            return Answer.every(*(self._stays(row, key, bits, fmt) for key in self.keys[row[1]])).negated

        return climb(self.truth, self.rows, ask)

    def _stays(self, row: Row, key: int, bits: int, fmt: Format) -> Answer:
        """Does one score stay in range? A score that may be the threshold itself is compared exactly."""
        value = self.at(row, key, bits)
        answer = score_overflows(value, fmt)
        limit = fmt.overflow_threshold
        if answer is Answer.CANNOT_TELL and value.contains(limit):
            signed = self.truth.enclosure(self.stage, row[0], bits)[row[1], key]
            assert signed is not None
            element = _element(self.truth, self.stage, row, key)
            if self.truth.equals(element, limit if signed.midpoint > 0 else -limit) is Answer.YES:
                return Answer.known(fmt.max_significand % 2 == 0, fmt.max_significand % 2 == 1)
        return answer.negated

    def worst(self, decided: Decided[Row]) -> Row:
        """The row with the largest magnitude among those that are hit."""
        return max(decided.hits or decided.unknown, key=lambda row: self.tops[row].lower)

    def evidence(self, bench: Bench, decided: Decided[Row], fmt: Format) -> dict[str, Any]:
        """Rows, the largest magnitude, and how many of the scores past the range belong to allowed keys."""
        row, allowed = self.worst(decided), bench.problem.allowed
        past = [
            (hit[1], key)
            for hit in decided.hits
            for key in self.keys[hit[1]]
            if self.at(hit, key).upper >= fmt.overflow_threshold
        ]
        return {
            "rows": named(bench.problem, decided.hits),
            "count": len(decided.hits),
            "largest": {"row": named(bench.problem, [row])[0], "magnitude": shown(self.tops[row], bench.digits)},
            "scores": len(past),
            "of_allowed_keys": sum(bool(allowed[index]) for index in past),
        }


def _element(truth: Truth, stage: Stage, row: Row, key: int) -> Element:
    """The element as shown, from tokens as rows."""
    columns = truth.problem.spec.orientation == "columns"
    return Element(stage, (key, row[1]) if columns else (row[1], key), row[0])


CHECK = ScoreOverflow()

"""Check `weight-underflow`: which exponentials vanish in a format, and how much weight is lost with them?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict
from exactattn.numbers.balls import FIRST_BITS, enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.formats import Format
from exactattn.truth.ladder import difference
from exactattn.truth.range import exp_range
from exactattn.truth.rows import Decided, Logits, Row, beyond, climb, largest, named, proof, shown
from exactattn.truth.spread import mass

REMEDY = "Keep the exponentials in a format with a wider range (float32, bfloat16), or scale the scores down."
SHIFT = "Subtract the row maximum before exp (shifted or online softmax): one exponential of the row is then 1."

Cell = tuple[Row, int]  # row, key


class WeightUnderflow:
    """Two cases: a shifted exponential vanishes (some weights are 0), and all unshifted ones of a row do (0/0)."""

    name = "weight-underflow"
    CODES: ClassVar[Mapping[str, str]] = {
        "EA304": "the exponential of a logit minus the row maximum is below half of the smallest subnormal: the weight "
        "becomes 0, and its gradient too. Where all unshifted exponentials of a row vanish, naive softmax is 0/0. "
        + REMEDY
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding for each format that is hit, or one note when none is."""
        if bench.the_problem is None or not bench.formats:
            return
        logits = Logits(bench.truth)
        hit, bits = False, FIRST_BITS
        for fmt in bench.formats:
            lost = Lost(self.vanishing(logits, fmt), self.empty(logits, fmt))
            bits = max(bits, lost.bits)
            if lost.verdict is not Verdict.HOLDS:
                hit = True
                yield self._hazard(bench, logits, fmt, lost)
        if not hit and logits.rows:
            yield self._note(bench, logits, bits)

    def vanishing(self, logits: Logits, fmt: Format) -> Decided[Cell]:
        """Which logits minus the maximum of their row are below ln(half of the smallest subnormal)."""
        limit = exp_range(fmt).ln_underflow
        first = enclose(limit)

        def ask(cell: Cell, bits: int) -> Answer:
            return beyond(enclose(limit, bits), drop(logits, cell, bits))

        rows = [row for row in logits.rows if beyond(first, deepest(logits, row)) is not Answer.NO]
        return climb(logits.truth, [(row, key) for row in rows for key in logits.keys[row[1]]], ask)

    def empty(self, logits: Logits, fmt: Format) -> Decided[Row]:
        """Which rows have no logit above it, not shifted: all their exponentials vanish."""
        limit = exp_range(fmt).ln_underflow

        def ask(row: Row, bits: int) -> Answer:
            return beyond(enclose(limit, bits), logits.top(row, bits))

        return climb(logits.truth, logits.rows, ask)

    def _hazard(self, bench: Bench, logits: Logits, fmt: Format, lost: Lost) -> Finding:
        problem, cells, rows = bench.problem, lost.vanishing.hits, lost.empty.hits
        by_row: dict[Row, list[int]] = {}
        for row, key in cells:
            by_row.setdefault(row, []).append(key)
        masses = mass(problem, by_row) if by_row else {}
        worst = max(masses, key=lambda row: masses[row].lower, default=None)
        heavy = worst is not None and masses[worst].above(fmt.unit_roundoff) is Answer.YES
        total = sum(len(logits.keys[query]) for _, query in logits.rows)
        return bench.finding(
            self,
            "EA304",
            f"hazard:weight-underflow/{fmt.name}",
            lost.verdict,
            _message(fmt, lost, total, None if worst is None else masses[worst], heavy),
            level=Level.WARNING,
            reason="0/0" if rows else "mass-lost" if heavy else "underflow",
            remedy=SHIFT if rows else REMEDY,
            **_limits(fmt, bench.digits),
            lowest=shown(_lowest(logits), bench.digits),
            vanishing=len(cells),
            of=total,
            fraction=shown(Interval(*[Fraction(len(cells), total)] * 2), 4),
            mass_lost=worst and {"row": named(problem, [worst])[0], "mass": shown(masses[worst], bench.digits)},
            zero_sum={"rows": named(problem, rows), "count": len(rows), "affected": ["naive"]},
            rows=named(problem, by_row or rows),
            count=len(by_row or rows),
            affected=["naive", "shifted", "online", "split"] if cells else ["naive"],
            unaffected=[] if cells else ["shifted", "online", "split"],
            **proof(lost.bits),
        )

    def _note(self, bench: Bench, logits: Logits, bits: int) -> Finding:
        lowest = _lowest(logits)
        limits = {fmt: enclose(exp_range(fmt).ln_underflow) for fmt in bench.formats}
        nearest = max(bench.formats, key=lambda fmt: limits[fmt].upper)
        return bench.finding(
            self,
            "EA304",
            "hazard:weight-underflow",
            Verdict.HOLDS,
            f"no exponential vanishes in {', '.join(fmt.name for fmt in limits)}: the lowest logit lies "
            f"{shown(lowest.magnitude(), 10)} below its row maximum, the nearest threshold is "
            f"{shown(limits[nearest], 10)} ({nearest.name})",
            lowest=shown(lowest, bench.digits),
            largest=shown(largest(map(logits.top, logits.rows)), bench.digits),
            formats={
                fmt.name: _limits(fmt, bench.digits) | {"margin": shown(difference(lowest, limit), 6)}
                for fmt, limit in limits.items()
            },
            **proof(bits),
        )


@dataclass(frozen=True, slots=True)
class Lost:
    """Both cases in one format."""

    vanishing: Decided[Cell]
    empty: Decided[Row]

    @property
    def verdict(self) -> Verdict:
        """Fails with a hit of either."""
        verdicts = (self.vanishing.verdict, self.empty.verdict)
        return next((v for v in (Verdict.FAILS, Verdict.UNDECIDED) if v in verdicts), Verdict.HOLDS)

    @property
    def bits(self) -> int:
        """The most bits that were needed."""
        return max(self.vanishing.bits, self.empty.bits)


def drop(logits: Logits, cell: Cell, bits: int = FIRST_BITS) -> Interval:
    """A logit minus the maximum of its row: at most 0."""
    row, key = cell
    return _at_most_zero(difference(logits.at(row, key, bits), logits.top(row, bits)))


def deepest(logits: Logits, row: Row) -> Interval:
    """The smallest logit of a row minus its maximum."""
    return _at_most_zero(difference(logits.lowest(row), logits.top(row)))


def _at_most_zero(fall: Interval) -> Interval:
    return Interval(fall.lower, min(fall.upper, Fraction(0)))


def _lowest(logits: Logits) -> Interval:
    return min((deepest(logits, row) for row in logits.rows), key=lambda fall: fall.lower)


def _limits(fmt: Format, digits: int) -> dict[str, Any]:
    return exp_range(fmt).underflow_evidence(digits) | {
        "half_min_subnormal": f"2**{fmt.emin - fmt.precision}",
        "unit_roundoff": f"2**-{fmt.precision}",
    }


def _message(fmt: Format, lost: Lost, total: int, mass_lost: Interval | None, heavy: bool) -> str:
    limit = shown(enclose(exp_range(fmt).ln_underflow), 10)
    parts = []
    if mass_lost is not None:
        parts.append(
            f"{len(lost.vanishing.hits)} of {total} weights become 0 in {fmt.name}: their logit lies more than "
            f"{limit.lstrip('-')} below the row maximum; the lost mass, at worst {shown(mass_lost, 4)} of a row, is "
            f"{'more' if heavy else 'less'} than the unit roundoff"
        )
    if lost.empty.hits:
        parts.append(
            f"all unshifted exponentials vanish in {fmt.name} in {len(lost.empty.hits)} rows (every logit is below "
            f"{limit}), so naive softmax is 0/0 there"
        )
    return "; ".join(parts) or f"whether exponentials vanish in {fmt.name} cannot be told with {lost.bits} bits"


CHECK = WeightUnderflow()

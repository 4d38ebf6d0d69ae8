"""Check `weight-underflow`: which exponentials vanish in a format, and how much weight is lost with them?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict
from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.balls import FIRST_BITS, enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.formats import Format
from exactattn.truth.ladder import difference
from exactattn.truth.range import exp_range
from exactattn.truth.rows import (
    MASKING_BIAS,
    Decided,
    Logits,
    Row,
    beyond,
    bias_mask_evidence,
    climb,
    count_of,
    largest,
    masked_by_bias,
    named,
    proof,
    shown,
)
from exactattn.truth.spread import mass

REMEDY = "Keep the exponentials in a format with a wider range (float32, bfloat16), or scale the scores down."
SHIFT = "Subtract the row maximum before exp (shifted or online softmax): one exponential of the row is then 1."

MASKED = f"masked by a bias of at most {MASKING_BIAS}, which is what a mask is for"
NEGLIGIBLE = Fraction(1, 2**1075)  # half of the smallest number of any format here

Cell = tuple[Row, int]  # row, key


class WeightUnderflow:
    """Two cases: a shifted exponential vanishes (some weights are 0), and all unshifted ones of a row do (0/0).

    That the weight of a key masked by a finite bias vanishes is what the mask is for: such keys are counted apart.
    """

    name = "weight-underflow"
    CODES: ClassVar[Mapping[str, str]] = {
        "EA304": "the exponential of a logit minus the row maximum is below half of the smallest subnormal: the weight "
        f"becomes 0, and its gradient too. Keys with a bias of at most {MASKING_BIAS} are masked by it and cause no "
        "warning. Where all unshifted exponentials of a row vanish, naive softmax is 0/0. " + REMEDY
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding for each format that is hit, or one note when none is."""
        if bench.the_problem is None or not bench.formats:
            return
        logits = Logits(bench.truth)
        masks = masked_by_bias(bench.problem)
        hit, bits, masked = False, FIRST_BITS, dict.fromkeys(bench.formats, 0)
        for fmt in bench.formats:
            lost = Lost.of(self.vanishing(logits, fmt), self.empty(logits, fmt), masks)
            bits, masked[fmt] = max(bits, lost.bits), len(lost.masked)
            if lost.verdict is not Verdict.HOLDS:
                hit = True
                yield self._hazard(bench, logits, fmt, lost)
        if not hit and logits.rows:
            yield self._note(bench, logits, bits, masks, masked)

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
        gone = len(cells) + len(lost.masked)
        return bench.finding(
            self,
            "EA304",
            f"hazard:weight-underflow/{fmt.name}",
            lost.verdict,
            _message(bench, logits, fmt, lost, None if worst is None else masses[worst]),
            level=Level.WARNING,
            reason="0/0" if rows else "mass-lost" if heavy else "underflow",
            remedy=SHIFT if rows else REMEDY,
            **_limits(fmt, bench.digits),
            lowest=shown(_lowest(logits), bench.digits),
            vanishing=gone,
            of=total,
            fraction=shown(Interval(*[Fraction(gone, total)] * 2), 4),
            **bias_mask_evidence(len(lost.masked)),
            mass_lost=worst and {"row": named(problem, [worst])[0], "mass": _mass(masses[worst], bench.digits)},
            zero_sum={"rows": named(problem, rows), "count": len(rows), "affected": ["naive"]},
            rows=named(problem, by_row or rows),
            count=len(by_row or rows),
            affected=["naive", "shifted", "online", "split"] if cells else ["naive"],
            unaffected=[] if cells else ["shifted", "online", "split"],
            **proof(lost.bits),
        )

    def _note(self, bench: Bench, logits: Logits, bits: int, masks: Mask, masked: Mapping[Format, int]) -> Finding:
        lowest = _lowest(logits, masks)
        limits = {fmt: enclose(exp_range(fmt).ln_underflow) for fmt in bench.formats}
        nearest = max(bench.formats, key=lambda fmt: limits[fmt].upper)
        most = max(masked.values())
        apart = f" but for {most} {MASKED}" if most else ""
        return bench.finding(
            self,
            "EA304",
            "hazard:weight-underflow",
            Verdict.HOLDS,
            f"no exponential vanishes in {', '.join(fmt.name for fmt in limits)}{apart}: the lowest logit lies "
            f"{shown(lowest.magnitude(), 10)} below its row maximum, the nearest threshold is "
            f"{shown(limits[nearest], 10)} ({nearest.name})",
            lowest=shown(lowest, bench.digits),
            largest=shown(largest(map(logits.top, logits.rows)), bench.digits),
            formats={
                fmt.name: _limits(fmt, bench.digits)
                | {"margin": shown(difference(lowest, limit), 6)}
                | bias_mask_evidence(masked[fmt])
                for fmt, limit in limits.items()
            },
            **proof(bits),
        )


@dataclass(frozen=True, slots=True)
class Lost:
    """Both cases in one format, and the cells that vanish because a bias masks them."""

    vanishing: Decided[Cell]
    empty: Decided[Row]
    masked: tuple[Cell, ...]

    @staticmethod
    def of(vanishing: Decided[Cell], empty: Decided[Row], masks: Mask) -> Lost:
        """With the cells of masked keys set apart."""

        def is_masked(cell: Cell) -> bool:
            (_, query), key = cell
            return bool(masks[query, key])

        kept = {cell: answer for cell, answer in vanishing.answers.items() if not is_masked(cell)}
        apart = tuple(cell for cell in vanishing.hits if is_masked(cell))
        return Lost(Decided(kept, vanishing.bits), empty, apart)

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


def _lowest(logits: Logits, masks: Mask | None = None) -> Interval:
    """The lowest logit minus the maximum of its row, masked keys left out where that leaves any."""
    falls = [deepest(logits, row) for row in logits.rows]
    if masks is not None and masks.any():
        kept = [(row, key) for row in logits.rows for key in logits.keys[row[1]] if not masks[row[1], key]]
        falls = [drop(logits, cell) for cell in kept] or falls
    return min(falls, key=lambda fall: fall.lower)


def _limits(fmt: Format, digits: int) -> dict[str, Any]:
    return exp_range(fmt).underflow_evidence(digits) | {
        "half_min_subnormal": f"2**{fmt.emin - fmt.precision}",
        "unit_roundoff": f"2**-{fmt.precision}",
    }


def _mass(mass_lost: Interval, digits: int) -> str:
    """Lost mass for people: a number, or that it is too small to be one."""
    text = shown(mass_lost, digits)
    return f"{text} (too small for any format here)" if mass_lost.below(NEGLIGIBLE) is Answer.YES else text


def _loss(mass_lost: Interval, fmt: Format) -> str:
    """How much weight is lost, against what rounding alone may lose."""
    if mass_lost.below(NEGLIGIBLE) is Answer.YES:
        return f"the lost mass is too small for any format here ({shown(mass_lost, 4)} of a row)"
    than = "more" if mass_lost.above(fmt.unit_roundoff) is Answer.YES else "less"
    return (
        f"the lost mass is at worst {shown(mass_lost, 4)} of a row, {than} than the unit roundoff 2**-{fmt.precision}"
    )


def _message(bench: Bench, logits: Logits, fmt: Format, lost: Lost, mass_lost: Interval | None) -> str:
    limit = shown(enclose(exp_range(fmt).ln_underflow), 10)
    total = sum(len(logits.keys[query]) for _, query in logits.rows)
    parts = []
    if mass_lost is not None:
        gone = len(lost.vanishing.hits) + len(lost.masked)
        verb, whose = ("becomes", "its") if gone == 1 else ("become", "their")
        parts.append(
            f"{gone} of {total} weights {verb} 0 in {fmt.name}: {whose} logit lies more than {limit.lstrip('-')} below "
            "the row maximum"
        )
        if lost.masked:
            verb = "is" if len(lost.masked) == 1 else "are"
            parts.append(f"{len(lost.masked)} of these {verb} {MASKED}")
        parts.append(_loss(mass_lost, fmt))
    if lost.empty.hits:
        rows = count_of(bench.problem, len(lost.empty.hits), len(logits.rows))
        parts.append(
            f"all unshifted exponentials vanish in {fmt.name} in {rows} (every logit is below {limit}), so naive "
            "softmax is 0/0 there"
        )
    return "; ".join(parts) or f"whether exponentials vanish in {fmt.name} cannot be told with {lost.bits} bits"


CHECK = WeightUnderflow()

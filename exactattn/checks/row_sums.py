"""Check `row-sums`: do the printed weights of each query sum to 1, as far as rounding allows?"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict, as_text
from exactattn.numbers.formats import FORMATS
from exactattn.truth.prints import NOISE_ULPS, Judged

HALF = Fraction(1, 2)


class RowSums:
    """The sum of each printed row of weights, and whether a row-sum check would have found its errors."""

    name = "row-sums"
    CODES = {
        "EA106": "The printed weights of a query (down its column, where tokens are columns) are summed exactly. n "
        "rounded numbers may miss 1 by up to n halves of the unit of their last digit, cut ones by up to n units; a "
        "larger miss cannot be rounding. A row that sums to 1 can still hold wrong numbers, so this check is weak: the "
        "finding says when it does not see errors that are there.",
    }

    def run(self, bench: Bench) -> Iterator[Finding]:
        """One finding a complete printed row of weights; none where a sink takes a part of the sum."""
        if bench.the_problem is not None and bench.the_problem.sinks is not None:
            return
        for (name, head, query), row in bench.weight_rows.items():
            index = f"{head},{query}" if bench.several_heads else str(query)
            yield from self._row(bench, f"sum:{name}[{index}]" if query >= 0 else f"sum:{name}", row)

    def _row(self, bench: Bench, id: str, row: list[Judged]) -> Iterator[Finding]:
        values = [item.cell.number for item in row]
        if not all(isinstance(x, Fraction) for x in values):
            return
        total = sum((x for x in values if isinstance(x, Fraction)), Fraction(0))
        slack = sum(map(_slack, row), Fraction(0))
        wrong = sum(item.wrong for item in row)
        fits = abs(total - 1) <= slack
        blind = (
            f"; a row-sum check does not find the error{'s' if wrong > 1 else ''} in this row: {wrong} of its "
            f"{len(row)} numbers {'are' if wrong > 1 else 'is'} wrong"
            if fits and wrong
            else ""
        )
        how = (
            "exactly 1" if total == 1 else f"{as_text(total)}, within what rounding of {len(row)} numbers allows"
            if fits else f"{as_text(total)}, which rounding cannot explain (at most {as_text(slack)} off)"
        )  # fmt: skip
        yield bench.finding(
            self, "EA106", id, Verdict.HOLDS if fits else Verdict.FAILS, f"the printed weights sum to {how}{blind}",
            level=Level.WARNING, where=row[0].cell.where, sum=as_text(total), allowed=as_text(slack),
            wrong_numbers=wrong, finds_the_error=None if not wrong else not fits,
        )  # fmt: skip


def _slack(item: Judged) -> Fraction:
    """How far a print can lie from the true weight: half a unit, all of it when cut, or the ulps of float noise.

    One that is exact adds nothing, so a bare 0 for a masked key hides no miss.
    """
    if item.reason == "exact":
        return Fraction(0)
    unit = item.cell.unit if isinstance(item.cell.unit, Fraction) else Fraction(0)
    half, x = unit * HALF, item.cell.number
    if item.reason == "truncated":
        return unit
    if item.reason == "float-noise" and isinstance(x, Fraction):
        return max(half, NOISE_ULPS * FORMATS[item.block.dtype or "float64"].ulp(x))
    return half


CHECK = RowSums()

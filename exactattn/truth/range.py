"""Where scores and exponentials leave a format: thresholds, each derived from the format's data by balls.

exp(x) rounded to nearest overflows exactly for x > ln(max + half an ulp), and vanishes exactly for
x < ln(half of the smallest subnormal). For a rational x != 0, e^x is transcendental (Lindemann), so no such x is a tie.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from exactattn.numbers.balls import decide, enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact, log
from exactattn.numbers.formats import Format
from exactattn.truth.rows import shown


@dataclass(frozen=True, slots=True)
class ExpRange:
    """For which arguments exp stays in the range of a format.

    Exact value: ln_max = ln(max); ln_overflow = ln(max + half an ulp); ln_underflow = ln(half of min subnormal).
    Rounding: `last_safe` is the largest number of the format whose exp rounds to a finite number, and
    `first_overflowing` the next one; both proven by balls.
    """

    format: Format
    ln_max: Exact
    ln_overflow: Exact
    ln_underflow: Exact
    last_safe: float
    first_overflowing: float

    def overflow_evidence(self, digits: int) -> dict[str, Any]:
        """The thresholds of overflow in decimals."""
        return {
            "ln_max": shown(enclose(self.ln_max), digits),
            "ln_overflow": shown(enclose(self.ln_overflow), digits),
            "last_safe": repr(self.last_safe),
            "first_overflowing": repr(self.first_overflowing),
        }

    def underflow_evidence(self, digits: int) -> dict[str, Any]:
        """The threshold of underflow in decimals."""
        return {"ln_underflow": shown(enclose(self.ln_underflow), digits)}


@cache
def exp_range(fmt: Format) -> ExpRange:
    """The range of exp in a format, derived from the format's data. Rounding or proof: ball arithmetic."""
    overflow = log(fmt.overflow_threshold)
    safe = fmt.round(enclose(overflow).midpoint)
    if decide(overflow, lambda t: t.above(Fraction(safe))) is not Answer.YES:
        safe = fmt.next_down(safe)
    return ExpRange(fmt, log(fmt.max), overflow, log(fmt.min_subnormal / 2), safe, fmt.next_up(safe))


def score_overflows(magnitude: Interval, fmt: Format) -> Answer:
    """Does a number of this magnitude, rounded to nearest, leave the format? A tie goes to the even significand."""
    limit = fmt.overflow_threshold
    return magnitude.at_least(limit) if fmt.max_significand % 2 else magnitude.above(limit)

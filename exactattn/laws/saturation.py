"""What a float format makes of a softmax of two keys, operation by operation, and at which gap it loses something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from exactattn.attention.spec import Head, Problem, Stage
from exactattn.errors import Unavailable
from exactattn.laws.proof import Proof
from exactattn.numbers.balls import nearest
from exactattn.numbers.exact import ONE, ZERO, exp
from exactattn.numbers.formats import FORMATS, Format, format_named
from exactattn.truth.runs import run

MOST_GAP = 1000  # exp(-gap) rounds to 0 below it in every format
REAL = "real"
KNOWN = (REAL, *FORMATS)


@dataclass(frozen=True, slots=True)
class Pair:
    """The two weights of the scores [gap, 0] in a format. Rounding: exp, sum and quotients each correctly rounded."""

    gap: int
    large: float
    small: float


def pair(gap: int, fmt: Format) -> Pair:
    """The softmax of [gap, 0] with the maximum subtracted first, every operation correctly rounded."""
    low = fmt.round(nearest(exp(Fraction(-gap)), fmt))
    total = fmt.round(1 + Fraction(low))
    return Pair(gap, fmt.round(1 / Fraction(total)), fmt.round(Fraction(low) / Fraction(total)))


def slope(weight: float, fmt: Format) -> float:
    """a (1 - a), the derivative of a weight by its own score, each operation correctly rounded."""
    return fmt.round(Fraction(weight) * Fraction(fmt.round(1 - Fraction(weight))))


def smallest_gap(fmt: Format, lost: Callable[[Pair], bool]) -> Pair | None:
    """The smallest whole gap, itself a number of the format, at which something is lost."""
    gaps = (gap for gap in range(MOST_GAP) if fmt.is_member(float(gap)))
    return next((found for gap in gaps if lost(found := pair(gap, fmt))), None)


def confirm(proof: Proof, found: Pair, fmt: Format, lost: Callable[[Pair], bool]) -> None:
    """Adds a step: NumPy on this machine loses it at that gap too, where it has the format.

    NumPy's exp may differ in the last digits, so only what is lost is compared.
    """
    if fmt.library != "numpy":
        return
    scores = ((Fraction(found.gap), ZERO),)
    problem = Problem((Head(scores=scores, v=((ONE,), (ONE,))),)).with_spec(scale=ONE)
    try:
        weights = run(problem, fmt, "shifted").outputs[Stage.WEIGHTS, 0][0]
    except Unavailable:
        return
    same = lost(Pair(found.gap, float(weights[0]), float(weights[1])))
    proof.checked(f"scores [{found.gap}, 0]: NumPy's weights in {fmt.name} show the same", "a NumPy run", same)


def spell(found: Pair) -> str:
    """The two weights as text."""
    return f"[{found.large:.9g}, {found.small:.9g}]"


def chosen(text: str) -> Format | None:
    """The format of an option, None for real numbers. Errors: UsageError with the closest."""
    return None if text.strip() == REAL else format_named(text.strip())

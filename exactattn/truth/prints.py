"""One printed number: what it is, how it stands to a value, and what has become of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from exactattn.attention.sheet import StepName
from exactattn.findings import PrintedBlock, PrintedCell, Verdict
from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact, add, mul, neg
from exactattn.numbers.formats import FORMATS
from exactattn.truth.elements import Element
from exactattn.truth.face import AnyTruth
from exactattn.truth.ladder import difference

HALF = Fraction(1, 2)
NOISE_ULPS = 4
NOISE_DIGITS = {"float64": 15, "float32": 7}
ROUNDED = ("exact", "rounded", "float-noise")


@dataclass(slots=True)
class Judged:
    """One printed number and what became of it.

    cut         it is right when rounded, and also the true value cut toward zero
    origin      of a propagated number: "wrong" (it rests on a wrong print) or "rounding" (only intermediate rounding)
    rests_on    the earlier wrong prints, row by row, that it directly rests on; first_wrong: where that began
    complement  a wrong weight that is 1 minus the other prints of its row; after_prints: an earlier step was printed
    readings    names of the readings that make its whole stage right
    """

    block: PrintedBlock
    cell: PrintedCell
    element: Element
    verdict: Verdict = Verdict.UNDECIDED
    reason: str | None = None
    tie: bool = False
    cut: bool = False
    follows: Interval | None = None
    origin: str | None = None
    by_accident: bool = False
    rests_on: tuple[Row, ...] = ()
    first_wrong: Row | None = None
    readings: tuple[str, ...] = ()
    closest_reading: str | None = None
    complement: bool = False
    after_prints: bool = False
    from_constants: Interval | None = None

    @property
    def wrong(self) -> bool:
        """Is it wrong against the truth?"""
        return self.verdict is Verdict.FAILS

    @property
    def row(self) -> Row:
        """The row of prints it belongs to."""
        element = self.element
        alone = isinstance(element.stage, StepName) and len(element.index) < 2
        return Row(self.block.name, element.stage.order, element.head, -1 if alone else element.index[0])


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """One row of one printed stage: enough to name where an error began; -1 is a list or number of its own."""

    name: str = field(compare=False)
    order: int
    head: int
    index: int


def relation(truth: AnyTruth, item: Judged) -> str | None:
    """How a print stands to a value: exact, rounded, float-noise, truncated, off; None when it cannot be told."""
    element, x, h = item.element, item.cell.number, item.cell.unit
    exact = truth.equals(element, x)
    if exact is Answer.YES:
        return "exact"
    if h is None:
        return "off" if exact is Answer.NO else None
    near, _ = rounded(truth, element, x, h)
    if near is Answer.YES:
        return "rounded"
    if is_noise(truth, item, item.block.dtype or "float64"):
        return "float-noise"
    cut = _truncated(truth, element, x, h)
    if cut is Answer.YES:
        return "truncated"
    return None if Answer.CANNOT_TELL in (exact, near, cut) else "off"


def rounded(truth: AnyTruth, element: Element, x: Exact, h: Exact) -> tuple[Answer, bool]:
    """Is |t - x| <= h/2, and is it a tie?"""
    half = mul(h, HALF)

    def near(distance: Interval) -> Answer:
        size, limit = distance.magnitude(), enclose(half)
        return Answer.known(size.upper <= limit.lower, size.lower > limit.upper)

    t = truth.value(element)
    assert t is not None
    distance = difference(t, enclose(x))
    quick = near(distance)
    if quick is not Answer.CANNOT_TELL:
        return quick, isinstance(half, Fraction) and distance.magnitude().equals(half) is Answer.YES
    if any(truth.equals(element, end) is Answer.YES for end in (add(x, half), add(x, neg(half)))):
        return Answer.YES, True
    return truth.ask(element, near, x), False


def _truncated(truth: AnyTruth, element: Element, x: Exact, h: Exact) -> Answer:
    """Is x the value cut toward zero: |x| <= |t| < |x| + h, with the sign of x?

    Rounding or proof: balls cannot tell |t| = |x| + h from less; rationals and SymPy decide that first.
    """
    sign = enclose(x).midpoint
    unit = enclose(h)

    def cut(distance: Interval) -> Answer:
        if sign == 0:
            size = distance.magnitude()
        else:
            size = distance if sign > 0 else Interval(-distance.upper, -distance.lower)
        return Answer.known(size.lower >= 0 and size.upper < unit.lower, size.upper < 0 or size.lower >= unit.upper)

    t = truth.value(element)
    assert t is not None
    quick = cut(difference(t, enclose(x)))
    if quick is not Answer.CANNOT_TELL:
        return quick
    if any(truth.equals(element, end) is Answer.YES for end in (add(x, h), add(x, neg(h)))):
        return Answer.NO
    return truth.ask(element, cut, x)


def inequality(truth: AnyTruth, item: Judged) -> Answer:
    """Does the true value lie on the side of a number that its author says: under or over it, at most or at least?"""
    mark, x = item.cell.mark, item.cell.number
    zero = Interval(Fraction(0), Fraction(0))

    def holds(distance: Interval) -> Answer:
        if mark in ("<", ">"):
            return distance.less(zero) if mark == "<" else zero.less(distance)
        return distance.at_most(zero.lower) if mark == "<=" else distance.at_least(zero.lower)

    answer = truth.ask(item.element, holds, x)
    if answer is Answer.CANNOT_TELL and truth.equals(item.element, x) is Answer.YES:
        return Answer.known(mark in ("<=", ">="), mark in ("<", ">"))
    return answer


def is_noise(truth: AnyTruth, item: Judged, dtype: str) -> bool:
    """Rule 3: enough digits for a print of that format, and within 4 of its ulp."""
    x = item.cell.number
    if not isinstance(x, Fraction) or (item.cell.digits or 0) < NOISE_DIGITS.get(dtype, 99):
        return False
    limit = NOISE_ULPS * FORMATS[dtype].ulp(x)
    return truth.ask(item.element, lambda d: d.within(Fraction(0), limit), x) is Answer.YES


def is_cut(truth: AnyTruth, item: Judged, found: str) -> bool:
    """Is a number that is right when rounded also the value cut toward zero?"""
    h = item.cell.unit
    return found == "exact" or (h is not None and _truncated(truth, item.element, item.cell.number, h) is Answer.YES)

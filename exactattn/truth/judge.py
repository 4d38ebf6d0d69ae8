"""How a printed number is judged: from the exact inputs, and from the author's own earlier prints.

With t the true value, x what was printed, h the unit of its last digit, f what follows from earlier prints (all of
them in place of the exact values, or only the wrong ones), tried in this order: `exact`, `rounded`, `float-noise`
hold; `propagated` fails; `truncated` holds; `convention` and `new` fail. DESIGN section 5 has the words.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from exactattn.findings import PrintedBlock, Verdict
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.truth.elements import Element
from exactattn.truth.face import AnyTruth
from exactattn.truth.prints import ROUNDED, Judged, inequality, is_cut, relation, rounded
from exactattn.truth.rereading import try_readings
from exactattn.truth.sources import Sources


def judge(truth: AnyTruth, blocks: Iterable[PrintedBlock]) -> list[Judged]:
    """Every printed number with its verdict, in the order of the file.

    Rounding or proof: every comparison is an exact question about an enclosure; see `AnyTruth`.
    """
    everything = [
        Judged(block, cell, Element(block.stage, cell.index, block.head or 0))
        for block in blocks
        for cell in block.cells
    ]
    for order in sorted({item.element.stage.order for item in everything}):
        stage = [item for item in everything if item.element.stage.order == order]
        _judge_stage(truth, stage, [item for item in everything if item.element.stage.order < order])
    return everything


def _judge_stage(truth: AnyTruth, stage: list[Judged], earlier: list[Judged]) -> None:
    sources = Sources(truth, earlier)
    for item in stage:
        _judge_one(truth, sources, item)
    try_readings(truth, sources, stage)


def _judge_one(truth: AnyTruth, sources: Sources, item: Judged) -> None:
    """Rules 1 to 5 and 7; rule 6 needs the whole stage."""
    if item.cell.value is None or truth.is_minus_infinity(item.element):
        right = item.cell.value is None and truth.is_minus_infinity(item.element)
        item.verdict, item.reason = (Verdict.HOLDS, "exact") if right else (Verdict.FAILS, "new")
        return
    if truth.value(item.element) is None:
        return
    if item.cell.bound:
        _judge_bound(truth, item)
        return
    item.after_prints = bool(sources.printed)
    item.from_constants = _from_constants(truth, sources, item)
    item.rests_on = sources.rests_on(item.element, sources.wrong)
    item.first_wrong = min((sources.first[row] for row in item.rests_on), default=None)
    agrees = relation(truth, item)
    undecided = agrees is None
    if agrees in ROUNDED:
        item.verdict, item.reason = Verdict.HOLDS, agrees
        item.cut = is_cut(truth, item, agrees)
        item.by_accident = bool(item.rests_on)
        h = item.cell.unit
        item.tie = agrees == "rounded" and h is not None and rounded(truth, item.element, item.cell.number, h)[1]
        return
    if undecided and not truth.sharpens(item.element):
        item.reason = "digits"  # the inputs are known to too few digits; what follows from prints decides nothing
        return
    if _propagated(sources, item):
        return
    if agrees == "truncated":
        item.verdict, item.reason, item.by_accident = Verdict.HOLDS, agrees, bool(item.rests_on)
    elif not undecided:
        item.verdict, item.reason = Verdict.FAILS, "new"


def _judge_bound(truth: AnyTruth, item: Judged) -> None:
    """A number that is only said to be a bound is right where the inequality holds; it carries nothing on."""
    answer = inequality(truth, item)
    if answer is not Answer.CANNOT_TELL:
        holds = answer is Answer.YES
        item.verdict, item.reason = (Verdict.HOLDS, "bound") if holds else (Verdict.FAILS, "new")


def _from_constants(truth: AnyTruth, sources: Sources, item: Judged) -> Interval | None:
    """What the printed constants give in place of the exact ones, where that differs. Proof: disjoint enclosures."""
    if sources.constants is None:
        return None
    t, other = truth.value(item.element), sources.constants.value(item.element)
    return other if t is not None and other is not None and t.disjoint(other) is Answer.YES else None


def _propagated(sources: Sources, item: Judged) -> bool:
    """Rule 4: does x follow from earlier prints?"""
    for source in (sources.wrong, sources.all):
        if source is None or source.value(item.element) is None:
            continue
        fits = relation(source, item)
        rests = fits is not None and fits != "off" and item.rests_on and sources.rests_on(item.element, source)
        if fits in ROUNDED or (rests and fits == "truncated"):
            x = item.cell.number
            known = fits == "exact" and isinstance(x, Fraction)
            item.follows = Interval(x, x) if known else source.value(item.element)  # type: ignore[arg-type]
            item.verdict, item.reason = Verdict.FAILS, "propagated"
            item.origin = "wrong" if rests else "rounding"
            if not rests:
                item.rests_on, item.first_wrong = (), None
            return True
    if sources.wrong is not None and item.rests_on:
        item.follows = sources.wrong.value(item.element)
    return False

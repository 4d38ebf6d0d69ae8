"""Check `scale-fit`: which scales make a wrong block of printed weights right, and is a usual one among them?"""

from __future__ import annotations

from collections.abc import Iterator

from exactattn.attention.conventions import readings
from exactattn.attention.sheet import Where, role_of
from exactattn.attention.spec import Stage
from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict, name_index
from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer, significant
from exactattn.numbers.exact import ONE, Exact, log, mul
from exactattn.truth.elements import Element
from exactattn.truth.fit import End, Fit, fit
from exactattn.truth.fitting import softmax_of, step_factors, wanted
from exactattn.truth.prints import Judged
from exactattn.truth.sheet import SheetTruth

DIGITS = 12


class ScaleFit:
    """The interval of scales in which every printed weight is right when rounded."""

    name = "scale-fit"
    CODES = {
        "EA110": "A block of printed weights has wrong numbers, so the scales that would make all of them right when "
        "rounded were computed: proven intervals, both ends of which are ties. Scale and base of the exponential are "
        "one parameter (scale * ln base); only the lse tells them apart. A usual scale or base inside is a possible "
        "reading, and a likely one only if the prints have two digits or more. An empty result means that no scale in "
        "any base explains the block.",
    }

    def run(self, bench: Bench) -> Iterator[Finding]:
        """One finding for each block of weights with a wrong number."""
        blocks: dict[tuple[str, int], list[Judged]] = {}
        for item in bench.judged:
            if role_of(item.element.stage) is Stage.WEIGHTS:
                blocks.setdefault((item.block.name, item.element.head), []).append(item)
        for (name, head), items in blocks.items():
            if not self._has_scores(bench, items[0].element):
                continue
            if any(item.wrong and item.reason != "propagated" for item in items):
                shown = name_index(name, head) if bench.several_heads else name
                yield self._block(bench, f"fit:{shown}/scale", items)

    @staticmethod
    def _has_scores(bench: Bench, element: Element) -> bool:
        """Is it a softmax of known scores? Exponentials divided by their sum have none to fit, nor has half a row."""
        referee = bench.referee
        if isinstance(element.stage, Stage):
            return True
        if not isinstance(referee, SheetTruth) or referee.unknown(element) or referee.unfinished(element):
            return False
        return softmax_of(referee, element.stage) is not None

    def _block(self, bench: Bench, id: str, items: list[Judged]) -> Finding:
        cells = wanted(bench.referee, items)
        where = items[0].cell.where
        if cells is None:
            message = "no scale was fitted: the scores are not known to be rational, or a bias is added to them"
            return bench.finding(self, "EA110", id, Verdict.NOT_RUN, message, level=Level.NOTE, where=where)
        fits = fit(cells)
        if fits is None:
            message = "whether a scale fits cannot be told: a printed weight only touches a rounding boundary"
            return bench.finding(self, "EA110", id, Verdict.UNDECIDED, message, level=Level.NOTE, where=where)
        usual = _usual(bench, items, fits)
        inside = tuple(name for name, _, held in usual if held is Answer.YES)
        few = any((item.cell.digits or 0) < 2 for item in items if item.cell.form != "integer")
        return bench.finding(
            self, "EA110", id, Verdict.HOLDS, _message(fits, usual, few, len(items)), where=where,
            readings=items[0].readings, intervals=[_shown(one) for one in fits], inside=list(inside),
            usual={name: value for name, value, _ in usual}, one_digit=few, numbers=len(items),
        )  # fmt: skip


def _usual(bench: Bench, items: list[Judged], fits: list[Fit]) -> list[tuple[str, str, Answer]]:
    """The usual scales and bases, the stated one first: name, factor, whether it lies in a fitted interval."""
    found = []
    for name, factor in _factors(bench, items[0].element.stage):
        value = enclose(factor)
        held = [one.holds(value) for one in fits]
        answer = Answer.YES if Answer.YES in held else Answer.every(Answer.NO, *held)
        found.append((name, value.decimal(6) or significant(value.midpoint, 6), answer))
    return found


def _factors(bench: Bench, stage: Where) -> list[tuple[str, Exact]]:
    """The factors of the catalogue on the scores, inside a natural exponential, the stated one first."""
    if isinstance(stage, Stage):
        base = ONE if bench.problem.spec.base is None else log(bench.problem.spec.base)
        stated = [("as stated", mul(bench.problem.scale, base))]
        return stated + [(reading.name, reading.factor) for reading in readings(bench.problem)]
    assert isinstance(bench.referee, SheetTruth)
    return step_factors(bench.referee, stage)


def _shown(one: Fit) -> dict[str, object]:
    return {"from": _end(one.low), "to": _end(one.high), "ties_at": [one.low.weight or None, one.high.weight or None]}


def _end(end: End) -> str | None:
    if end.value is None:
        return None
    number = end.value.decimal(DIGITS) or significant(end.value.midpoint, DIGITS)
    return f"{end.closed} = {number}" if end.closed else number


def _message(fits: list[Fit], usual: list[tuple[str, str, Answer]], few: bool, count: int) -> str:
    if not fits:
        return f"no scale, in any base, makes all {count} printed weights right"
    spans = " or ".join(f"from {_end(f.low) or 'minus infinity'} to {_end(f.high) or 'infinity'}" for f in fits)
    text = f"in base e all {count} printed weights are right when rounded for scales {spans}; both ends are ties"
    scales = [name for name, _, held in usual if held is Answer.YES and not name.startswith("base")]
    text += f"; of the usual scales {', '.join(scales)} lies there" if scales else "; no usual scale lies there"
    bases = [(name, value) for name, value, held in usual if held is Answer.YES and name.startswith("base")]
    for name, value in bases:
        text += f"; {name} does (scale * ln base = {value}), and makes every printed weight right when rounded"
    if bases or scales:
        text += (
            ". These are prints of one digit: so coarse a print fits an interval of scales, and a usual value in it "
            "can be a coincidence, which one digit cannot tell from an intention; it is a reading, not the cause"
            if few
            else ". The prints have two digits or more, so this reading is a likely cause"
        )
    return text


CHECK = ScaleFit()

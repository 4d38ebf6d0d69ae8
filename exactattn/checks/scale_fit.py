"""Check `scale-fit`: which scales make a wrong block of printed weights right, and is a usual one among them?"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from exactattn.attention.conventions import readings
from exactattn.attention.spec import Stage
from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict, name_index
from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer, significant
from exactattn.numbers.exact import ONE, log, mul
from exactattn.truth.fit import End, Fit, Wanted, fit
from exactattn.truth.ladder import Element
from exactattn.truth.prints import Judged

HALF = Fraction(1, 2)
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
        if bench.the_problem is None:
            return
        blocks: dict[tuple[str, int], list[Judged]] = {}
        for item in bench.judged:
            if item.element.stage is Stage.WEIGHTS:
                blocks.setdefault((item.block.name, item.element.head), []).append(item)
        for (name, head), items in blocks.items():
            if any(item.wrong and item.reason != "propagated" for item in items):
                shown = name_index(name, head) if bench.problem.several_heads else name
                yield self._block(bench, f"fit:{shown}/scale", items)

    def _block(self, bench: Bench, id: str, items: list[Judged]) -> Finding:
        wanted = self._wanted(bench, items)
        where = items[0].cell.where
        if wanted is None:
            message = "no scale was fitted: the scores are not rational, or a bias is added to them"
            return bench.finding(self, "EA110", id, Verdict.NOT_RUN, message, level=Level.NOTE, where=where)
        fits = fit(wanted)
        if fits is None:
            message = "whether a scale fits cannot be told: a printed weight only touches a rounding boundary"
            return bench.finding(self, "EA110", id, Verdict.UNDECIDED, message, level=Level.NOTE, where=where)
        usual = self._usual(bench, fits)
        inside = tuple(name for name, _, held in usual if held is Answer.YES)
        few = any((item.cell.digits or 0) < 2 for item in items if item.cell.form != "integer")
        return bench.finding(
            self, "EA110", id, Verdict.HOLDS, _message(fits, usual, few, len(items)), where=where,
            readings=items[0].readings, intervals=[_shown(one) for one in fits], inside=list(inside),
            usual={name: value for name, value, _ in usual}, one_digit=few, numbers=len(items),
        )  # fmt: skip

    @staticmethod
    def _wanted(bench: Bench, items: list[Judged]) -> list[Wanted] | None:
        if bench.problem.bias is not None:
            return None
        allowed, columns = bench.problem.allowed, bench.problem.spec.orientation == "columns"
        wanted = []
        for item in items:
            query, key = item.element.place(bench.problem)
            keys = [k for k in range(allowed.shape[1]) if allowed[query, k]]
            x, h = item.cell.number, item.cell.unit
            if key not in keys or not isinstance(x, Fraction) or not isinstance(h, Fraction):
                continue
            places = [Element(Stage.SCORES, (k, query) if columns else (query, k), item.element.head) for k in keys]
            scores = [bench.truth.rational(place) for place in places]
            if None in scores:
                return None
            exact = tuple(score for score in scores if score is not None)
            name = name_index(item.block.name, *item.element.index)
            wanted.append(Wanted(exact, keys.index(key), x - h * HALF, x + h * HALF, name))
        return wanted

    @staticmethod
    def _usual(bench: Bench, fits: list[Fit]) -> list[tuple[str, str, Answer]]:
        """The usual scales and bases, the stated one first: name, factor, whether it lies in a fitted interval."""
        spec = bench.problem.spec
        base = ONE if spec.base is None else log(spec.base)
        factors = [("as stated", mul(bench.problem.scale, base))]
        factors += [(reading.name, reading.factor) for reading in readings(bench.problem)]
        found = []
        for name, factor in factors:
            value = enclose(factor)
            held = [one.holds(value) for one in fits]
            answer = Answer.YES if Answer.YES in held else Answer.every(Answer.NO, *held)
            found.append((name, value.decimal(6) or significant(value.midpoint, 6), answer))
        return found


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

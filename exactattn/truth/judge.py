"""How a printed number is judged: from the exact inputs, and from the author's own earlier prints.

With t the true value, x what was printed, h the unit of its last digit, f what follows from earlier prints (all of
them in place of the exact values, or only the wrong ones), tried in this order: `exact`, `rounded`, `float-noise`
hold; `propagated` fails; `truncated` holds; `convention` and `new` fail. DESIGN section 5 has the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from exactattn.attention.conventions import readings
from exactattn.findings import PrintedBlock, PrintedCell, Verdict
from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact, add, mul, neg
from exactattn.numbers.formats import FORMATS
from exactattn.truth.ladder import Element, Truth

HALF = Fraction(1, 2)
NOISE_ULPS = 4
NOISE_DIGITS = {"float64": 15, "float32": 7}


@dataclass(slots=True)
class Judged:
    """One printed number and what became of it.

    origin      of a propagated number: "wrong" (it rests on a wrong print) or "rounding" (only intermediate rounding)
    rests_on    the earlier wrong prints, row by row, that it directly rests on; first_wrong: where that began
    readings    names of the readings that make its whole stage right
    """

    block: PrintedBlock
    cell: PrintedCell
    element: Element
    verdict: Verdict = Verdict.UNDECIDED
    reason: str | None = None
    tie: bool = False
    follows: Interval | None = None
    origin: str | None = None
    by_accident: bool = False
    rests_on: tuple[Row, ...] = ()
    first_wrong: Row | None = None
    readings: tuple[str, ...] = ()
    closest_reading: str | None = None

    @property
    def wrong(self) -> bool:
        """Is it wrong against the truth?"""
        return self.verdict is Verdict.FAILS

    @property
    def row(self) -> Row:
        """The row of prints it belongs to."""
        return Row(self.block.name, self.element.stage.order, self.element.head, self.element.index[0])


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """One row of one printed stage: enough to name where an error began."""

    name: str = field(compare=False)
    order: int
    head: int
    index: int


def judge(truth: Truth, blocks: Iterable[PrintedBlock]) -> list[Judged]:
    """Every printed number with its verdict, in the order of the file.

    Rounding or proof: every comparison is an exact question about an enclosure; see `Truth`.
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


def _judge_stage(truth: Truth, stage: list[Judged], earlier: list[Judged]) -> None:
    sources = _Sources(truth, earlier)
    for item in stage:
        _judge_one(truth, sources, item)
    _try_readings(truth, stage)


class _Sources:
    """What follows from the author's earlier prints: `all` of them, or the `wrong` ones alone."""

    def __init__(self, truth: Truth, earlier: list[Judged]) -> None:
        printed: dict[Element, Exact] = {}
        wrong: dict[Element, Exact] = {}
        self.rows: dict[Row, list[Element]] = {}
        self.first: dict[Row, Row] = {}
        for item in earlier:
            if item.element in printed:
                continue  # the first print of an element is the one carried on
            printed[item.element] = item.cell.value
            if item.wrong:
                wrong[item.element] = item.cell.value
                self.rows.setdefault(item.row, []).append(item.element)
                root = item.first_wrong if item.origin == "wrong" and item.first_wrong else item.row
                self.first[item.row] = min(root, self.first.get(item.row, root))
        self.all = truth.following(printed) if printed else None
        self.wrong = truth.following(wrong) if wrong else None
        self._changed = {row: self._perturbed(truth, wrong, cells) for row, cells in self.rows.items()}

    @staticmethod
    def _perturbed(truth: Truth, wrong: Mapping[Element, Exact], cells: list[Element]) -> Truth:
        """The wrong prints with those of one row changed by small unrelated amounts, to see what rests on them."""
        changed = dict(wrong)
        for number, element in enumerate(cells):
            changed[element] = add(wrong[element], Fraction(1, 1009 + 2 * number * number))
        return truth.following(changed)

    def rests_on(self, element: Element) -> tuple[Row, ...]:
        """The rows of wrong prints whose change changes what follows. Proof: the two enclosures are disjoint."""
        if self.wrong is None:
            return ()
        value = self.wrong.value(element)
        if value is None:
            return ()
        moved = {row: other.value(element) for row, other in self._changed.items()}
        return tuple(sorted(row for row, v in moved.items() if v is not None and value.disjoint(v) is Answer.YES))


def _judge_one(truth: Truth, sources: _Sources, item: Judged) -> None:
    """Rules 1 to 5 and 7; rule 6 needs the whole stage."""
    if truth.value(item.element) is None:
        return
    item.rests_on = sources.rests_on(item.element)
    item.first_wrong = min((sources.first[row] for row in item.rests_on), default=None)
    agrees = relation(truth, item)
    undecided = agrees is None
    if agrees in ("exact", "rounded", "float-noise"):
        item.verdict, item.reason = Verdict.HOLDS, agrees
        item.by_accident = bool(item.rests_on)
        return
    if _propagated(sources, item):
        return
    if agrees == "truncated":
        item.verdict, item.reason, item.by_accident = Verdict.HOLDS, agrees, bool(item.rests_on)
    elif not undecided:
        item.verdict, item.reason = Verdict.FAILS, "new"


def _propagated(sources: _Sources, item: Judged) -> bool:
    """Rule 4: does x follow from earlier prints?"""
    for source in (sources.wrong, sources.all):
        if source is None:
            continue
        fits = relation(source, item)
        if fits in ("exact", "rounded") or (item.rests_on and fits == "truncated"):
            x = item.cell.value
            known = fits == "exact" and isinstance(x, Fraction)
            item.follows = Interval(x, x) if known else source.value(item.element)  # type: ignore[arg-type]
            item.verdict, item.reason = Verdict.FAILS, "propagated"
            item.origin = "wrong" if item.rests_on else "rounding"
            return True
    if sources.wrong is not None and item.rests_on:
        item.follows = sources.wrong.value(item.element)
    return False


def relation(truth: Truth, item: Judged) -> str | None:
    """How a print stands to a value: exact, rounded, float-noise, truncated, off; None when it cannot be told."""
    element, x, h = item.element, item.cell.value, item.cell.unit
    exact = truth.equals(element, x)
    if exact is Answer.YES:
        return "exact"
    if h is None:
        return "off" if exact is Answer.NO else None
    rounded, tie = _rounded(truth, element, x, h)
    if rounded is Answer.YES:
        item.tie = tie
        return "rounded"
    if _is_noise(truth, item):
        return "float-noise"
    cut = _truncated(truth, element, x, h)
    if cut is Answer.YES:
        return "truncated"
    return None if Answer.CANNOT_TELL in (exact, rounded, cut) else "off"


def _rounded(truth: Truth, element: Element, x: Exact, h: Exact) -> tuple[Answer, bool]:
    """Is |t - x| <= h/2, and is it a tie?"""
    half = mul(h, HALF)

    def near(distance: Interval) -> Answer:
        size, limit = distance.magnitude(), enclose(half)
        return Answer.known(size.upper <= limit.lower, size.lower > limit.upper)

    t = truth.value(element)
    assert t is not None
    bounds = enclose(x)
    distance = Interval(t.lower - bounds.upper, t.upper - bounds.lower)
    quick = near(distance)
    if quick is not Answer.CANNOT_TELL:
        return quick, isinstance(half, Fraction) and distance.magnitude().equals(half) is Answer.YES
    if any(truth.equals(element, end) is Answer.YES for end in (add(x, half), add(x, neg(half)))):
        return Answer.YES, True
    return truth.ask(element, near, x), False


def _truncated(truth: Truth, element: Element, x: Exact, h: Exact) -> Answer:
    """Is x the value cut toward zero: |x| <= |t| < |x| + h, with the sign of x?"""
    sign = enclose(x).midpoint
    unit = enclose(h)

    def cut(distance: Interval) -> Answer:
        if sign == 0:
            size = distance.magnitude()
        else:
            size = distance if sign > 0 else Interval(-distance.upper, -distance.lower)
        return Answer.known(size.lower >= 0 and size.upper < unit.lower, size.upper < 0 or size.lower >= unit.upper)

    return truth.ask(element, cut, x)


def _is_noise(truth: Truth, item: Judged) -> bool:
    """Rule 3: enough digits for a float print, and within 4 ulp of that format."""
    dtype = item.block.dtype or "float64"
    x = item.cell.value
    if not isinstance(x, Fraction) or (item.cell.digits or 0) < NOISE_DIGITS.get(dtype, 99):
        return False
    limit = NOISE_ULPS * FORMATS[dtype].ulp(x)
    return truth.ask(item.element, lambda d: d.within(Fraction(0), limit), x) is Answer.YES


def _try_readings(truth: Truth, stage: list[Judged]) -> None:
    """Fills `readings`, and rule 6: wrong as stated, but one other reading fits a stage, a row, or all but one."""
    by_block: dict[tuple[str, int], list[Judged]] = {}
    for item in stage:
        by_block.setdefault((item.block.name, item.element.head), []).append(item)
    wrong = [items for items in by_block.values() if any(item.wrong for item in items)]
    if not wrong:
        return
    others = [(reading, Truth(reading.problem, most_bits=truth.most_bits)) for reading in readings(truth.problem)]
    for items in wrong:
        fits = [(reading, [relation(other, item) for item in items]) for reading, other in others]
        names = tuple(reading.name for reading, found in fits if _explains(found))
        for item in items:
            item.readings = names
        _conventions(items, [(reading.name, reading.factor, found) for reading, found in fits])


def _explains(found: list[str | None]) -> bool:
    """All rounded, or all truncated (exact counts as either)."""
    return all(f in ("exact", "rounded", "float-noise") for f in found) or all(
        f in ("exact", "truncated") for f in found
    )


def _conventions(items: list[Judged], fits: list[tuple[str, Exact, list[str | None]]]) -> None:
    """Rule 6 for the wrong numbers of a block, on prints of at least two digits."""
    rows: dict[int, list[int]] = {}
    for number, item in enumerate(items):
        rows.setdefault(item.element.index[0], []).append(number)
    groups = [list(range(len(items))), *rows.values()]
    for number, item in enumerate(items):
        if item.reason != "new":
            continue
        matching: dict[Exact, str] = {}
        for name, factor, found in fits:
            if any(number in group and _fits_group(items, found, group, number) for group in groups):
                matching.setdefault(factor, name)
        if len(matching) == 1:
            item.reason, item.closest_reading = "convention", next(iter(matching.values()))


def _fits_group(items: list[Judged], found: list[str | None], group: list[int], number: int) -> bool:
    """Does a reading make this number right, and the group it is in: all of it, or all but one of at least three?"""
    if any((items[i].cell.digits or 0) < 2 for i in group if items[i].cell.form not in ("integer", "closed")):
        return False
    right = [found[i] in ("exact", "rounded", "float-noise", "truncated") for i in group]
    if found[number] not in ("exact", "rounded", "float-noise", "truncated"):
        return False
    return all(right) or (len(group) >= 3 and sum(right) >= len(group) - 1)

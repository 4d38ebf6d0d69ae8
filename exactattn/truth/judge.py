"""How a printed number is judged: from the exact inputs, and from the author's own earlier prints.

With t the true value, x what was printed, h the unit of its last digit, f what follows from earlier prints (all of
them in place of the exact values, or only the wrong ones), tried in this order: `exact`, `rounded`, `float-noise`
hold; `propagated` fails; `truncated` holds; `convention` and `new` fail. DESIGN section 5 has the words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from exactattn.attention.conventions import Reading, readings
from exactattn.findings import PrintedBlock, PrintedCell, Verdict
from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact, add, mul, neg
from exactattn.numbers.formats import FORMATS
from exactattn.truth.ladder import Element, Truth, difference

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
    _try_readings(truth, sources, stage)


class _Sources:
    """What follows from the author's earlier prints: `all` of them, or the `wrong` ones alone.

    `rows` are the prints that carry an error on; those that only carry on intermediate rounding are not among them.
    """

    def __init__(self, truth: Truth, earlier: list[Judged]) -> None:
        self.truth = truth
        printed: dict[Element, Exact] = {}
        wrong: dict[Element, Exact] = {}
        self.rows: dict[Row, list[Element]] = {}
        self.first: dict[Row, Row] = {}
        for item in earlier:
            if item.element in printed or item.cell.value is None:
                continue  # the first print of an element is the one carried on
            printed[item.element] = item.cell.number
            if item.wrong:
                wrong[item.element] = item.cell.number
            if item.wrong and item.origin != "rounding":
                self.rows.setdefault(item.row, []).append(item.element)
                root = item.first_wrong or item.row
                self.first[item.row] = min(root, self.first.get(item.row, root))
        self.printed = printed
        self.all = truth.following(printed) if printed else None
        self.wrong = truth.following(wrong) if wrong else None
        self._changed: dict[tuple[Row, bool], Truth] = {}

    def _perturbed(self, row: Row, source: Truth) -> Truth:
        """A source with the prints of one row changed by small unrelated amounts, to see what rests on them."""
        key = (row, source is self.all)
        if key not in self._changed:
            changed = dict(source.given)
            for number, element in enumerate(self.rows[row]):
                changed[element] = add(changed[element], Fraction(1, 1009 + 2 * number * number))
            self._changed[key] = self.truth.following(changed)
        return self._changed[key]

    def rests_on(self, element: Element, source: Truth | None) -> tuple[Row, ...]:
        """The rows of wrong prints whose change changes what follows. Proof: the two enclosures are disjoint."""
        value = None if source is None else source.value(element)
        if source is None or value is None:
            return ()
        moved = {row: self._perturbed(row, source).value(element) for row in self.rows}
        return tuple(sorted(row for row, v in moved.items() if v is not None and value.disjoint(v) is Answer.YES))


def _judge_one(truth: Truth, sources: _Sources, item: Judged) -> None:
    """Rules 1 to 5 and 7; rule 6 needs the whole stage."""
    if item.cell.value is None or truth.is_minus_infinity(item.element):
        right = item.cell.value is None and truth.is_minus_infinity(item.element)
        item.verdict, item.reason = (Verdict.HOLDS, "exact") if right else (Verdict.FAILS, "new")
        return
    if truth.value(item.element) is None:
        return
    item.rests_on = sources.rests_on(item.element, sources.wrong)
    item.first_wrong = min((sources.first[row] for row in item.rests_on), default=None)
    agrees = relation(truth, item)
    undecided = agrees is None
    if agrees in ROUNDED:
        item.verdict, item.reason = Verdict.HOLDS, agrees
        item.cut = _is_cut(truth, item, agrees)
        item.by_accident = bool(item.rests_on)
        h = item.cell.unit
        item.tie = agrees == "rounded" and h is not None and _rounded(truth, item.element, item.cell.number, h)[1]
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


def relation(truth: Truth, item: Judged) -> str | None:
    """How a print stands to a value: exact, rounded, float-noise, truncated, off; None when it cannot be told."""
    element, x, h = item.element, item.cell.number, item.cell.unit
    exact = truth.equals(element, x)
    if exact is Answer.YES:
        return "exact"
    if h is None:
        return "off" if exact is Answer.NO else None
    rounded, _ = _rounded(truth, element, x, h)
    if rounded is Answer.YES:
        return "rounded"
    if is_noise(truth, item, item.block.dtype or "float64"):
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
    distance = difference(t, enclose(x))
    quick = near(distance)
    if quick is not Answer.CANNOT_TELL:
        return quick, isinstance(half, Fraction) and distance.magnitude().equals(half) is Answer.YES
    if any(truth.equals(element, end) is Answer.YES for end in (add(x, half), add(x, neg(half)))):
        return Answer.YES, True
    return truth.ask(element, near, x), False


def _truncated(truth: Truth, element: Element, x: Exact, h: Exact) -> Answer:
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


def is_noise(truth: Truth, item: Judged, dtype: str) -> bool:
    """Rule 3: enough digits for a print of that format, and within 4 of its ulp."""
    x = item.cell.number
    if not isinstance(x, Fraction) or (item.cell.digits or 0) < NOISE_DIGITS.get(dtype, 99):
        return False
    limit = NOISE_ULPS * FORMATS[dtype].ulp(x)
    return truth.ask(item.element, lambda d: d.within(Fraction(0), limit), x) is Answer.YES


@dataclass(slots=True)
class _Fit:
    """How the numbers of a block stand under another reading.

    found  the relation of each number; cut  which are (also) the value cut toward zero
    """

    reading: Reading
    truth: Truth
    found: list[str | None]
    cut: list[bool]

    def explains(self, numbers: Iterable[int]) -> bool:
        """Are these all rounded, or all truncated (exact is either)?"""
        numbers = list(numbers)
        return all(self.found[i] in ROUNDED for i in numbers) or all(self.cut[i] for i in numbers)


def _try_readings(truth: Truth, sources: _Sources, stage: list[Judged]) -> None:
    """Fills `readings`, and rule 6: wrong as stated, but one other reading fits a stage, a row, or all but one."""
    by_block: dict[tuple[str, int], list[Judged]] = {}
    for item in stage:
        if truth.value(item.element) is not None and item.cell.value is not None:
            by_block.setdefault((item.block.name, item.element.head), []).append(item)
    wrong = [items for items in by_block.values() if any(item.wrong for item in items)]
    if not wrong:
        return
    others = [(reading, Truth(reading.problem, most_bits=truth.most_bits)) for reading in readings(truth.problem)]
    for items in wrong:
        fits = [
            _fit(reading, other, items) for reading, other in others if any(_differ(truth, other, i) for i in items)
        ]
        names = tuple(fit.reading.name for fit in fits if fit.explains(range(len(items))))
        for item in items:
            item.readings = names
        _conventions(sources, items, fits)


def _differ(one: Truth, other: Truth, item: Judged) -> bool:
    """Do two truths give different values? Proof: disjoint enclosures."""
    a, b = one.value(item.element), other.value(item.element)
    return a is not None and b is not None and a.disjoint(b) is Answer.YES


def _fit(reading: Reading, other: Truth, items: list[Judged]) -> _Fit:
    found = [relation(other, item) for item in items]
    cut = [
        is_right == "truncated" or (is_right in ROUNDED and _is_cut(other, item, is_right))
        for item, is_right in zip(items, found, strict=True)
    ]
    return _Fit(reading, other, found, cut)


def _is_cut(truth: Truth, item: Judged, found: str) -> bool:
    """Is a number that is right when rounded also the value cut toward zero?"""
    h = item.cell.unit
    return found == "exact" or (h is not None and _truncated(truth, item.element, item.cell.number, h) is Answer.YES)


def _conventions(sources: _Sources, items: list[Judged], fits: list[_Fit]) -> None:
    """Rule 6 for the wrong numbers of a block, on prints of at least two digits.

    A reading that fits only a row must also matter once the author's own earlier prints stand: an output that
    misses what follows from the printed weights is not explained by the scale of other weights.
    """
    everything = list(range(len(items)))
    for number, item in enumerate(items):
        if item.reason != "new":
            continue
        query = _query(sources, item)
        row = [i for i in everything if _query(sources, items[i]) == query]
        matching: dict[Exact, str] = {}
        for fit in fits:
            whole = fit.explains(everything) and _has_digits(items, fit, everything)
            if whole or (_fits_row(items, fit, row, number) and _matters(sources, fit, item)):
                matching.setdefault(fit.reading.factor, fit.reading.name)
        if len(matching) == 1:
            item.reason, item.closest_reading = "convention", next(iter(matching.values()))


def _query(sources: _Sources, item: Judged) -> int:
    return item.element.place(sources.truth.problem)[0]


def _matters(sources: _Sources, fit: _Fit, item: Judged) -> bool:
    """Does a reading change what follows from all earlier prints?"""
    return sources.all is None or _differ(sources.all, fit.truth.following(sources.printed), item)


def _has_digits(items: list[Judged], fit: _Fit, group: Iterable[int]) -> bool:
    """Have the prints of a group at least two digits, but for whole numbers and closed forms that are exact?"""

    def exempt(i: int) -> bool:
        return fit.found[i] == "exact" and items[i].cell.form in ("integer", "fraction", "closed")

    return all((items[i].cell.digits or 0) >= 2 or exempt(i) for i in group)


def _fits_row(items: list[Judged], fit: _Fit, row: list[int], number: int) -> bool:
    """Does a reading make this number right, and the row it is in: all of it, or all but one of at least three?"""
    if not _has_digits(items, fit, row):
        return False
    parts = [row] + [[i for i in row if i != odd] for odd in row if odd != number and len(row) >= 3]
    return any(fit.explains(part) for part in parts)

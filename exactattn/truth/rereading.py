"""Other readings of a wrong block: which make all of it right, and rule 6, the `convention` behind a number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exactattn.attention.conventions import Reading, readings
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import Exact
from exactattn.truth.ladder import Truth
from exactattn.truth.prints import ROUNDED, Judged, is_cut, relation
from exactattn.truth.sources import Sources


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


def try_readings(truth: Truth, sources: Sources, stage: list[Judged]) -> None:
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
        is_right == "truncated" or (is_right in ROUNDED and is_cut(other, item, is_right))
        for item, is_right in zip(items, found, strict=True)
    ]
    return _Fit(reading, other, found, cut)


def _conventions(sources: Sources, items: list[Judged], fits: list[_Fit]) -> None:
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


def _query(sources: Sources, item: Judged) -> int:
    return item.element.place(sources.truth.problem)[0]


def _matters(sources: Sources, fit: _Fit, item: Judged) -> bool:
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

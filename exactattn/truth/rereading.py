"""Other readings of a wrong block: which make all of it right, and rule 6, the `convention` behind a number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from exactattn.attention.sheet import Where
from exactattn.numbers.enclosure import Answer
from exactattn.truth.elements import Reread
from exactattn.truth.face import AnyTruth
from exactattn.truth.fitting import fitted_reading
from exactattn.truth.prints import ROUNDED, Judged, is_cut, relation
from exactattn.truth.sources import Sources
from exactattn.truth.units import unit_reading


@dataclass(slots=True)
class _Fit:
    """How the numbers of a block stand under another reading.

    found  the relation of each number; cut  which are (also) the value cut toward zero
    """

    reading: Reread
    found: list[str | None]
    cut: list[bool]
    follows: AnyTruth | None = None

    def following(self, sources: Sources) -> AnyTruth:
        """What the reading gives once the author's earlier prints stand, made once."""
        if self.follows is None:
            self.follows = self.reading.following(sources.printed)
        return self.follows

    def explains(self, numbers: Iterable[int]) -> bool:
        """Are these all rounded, or all truncated (exact is either)?"""
        numbers = list(numbers)
        return all(self.found[i] in ROUNDED for i in numbers) or all(self.cut[i] for i in numbers)


def try_readings(truth: AnyTruth, sources: Sources, stage: list[Judged]) -> None:
    """Fills `readings`, and rule 6: wrong as stated, but one other reading fits a stage, a row, or all but one."""
    by_block: dict[tuple[str, Where, int], list[Judged]] = {}
    for item in stage:
        if truth.value(item.element) is not None and item.cell.value is not None:
            by_block.setdefault((item.block.name, item.element.stage, item.element.head), []).append(item)
    for (_, where, _), items in by_block.items():
        if not any(item.wrong for item in items):
            continue
        unit = unit_reading(truth, items)
        catalogue = [*truth.readings(where), *([] if unit is None else [unit])]
        others = [other for other in catalogue if any(_differ(truth, other.truth, i) for i in items)]
        fits = [_fit(reading, items) for reading in others]
        if not any(fit.explains(range(len(items))) for fit in fits):
            shown = fitted_reading(truth, items) if any(item.reason == "new" for item in items) else None
            fits += [] if shown is None else [_fit(shown, items)]
        names = tuple(fit.reading.name for fit in fits if fit.explains(range(len(items))))
        for item in items:
            item.readings = names
        _conventions(sources, items, fits)


def _differ(one: AnyTruth, other: AnyTruth, item: Judged) -> bool:
    """Do two truths give different values? Proof: disjoint enclosures."""
    a, b = one.value(item.element), other.value(item.element)
    return a is not None and b is not None and a.disjoint(b) is Answer.YES


def _fit(reading: Reread, items: list[Judged]) -> _Fit:
    other = reading.truth
    decimals = any(item.cell.form == "decimal" for item in items)
    found = [_found(other, item, decimals) for item in items]
    cut = [
        is_right == "truncated" or (is_right in ROUNDED and is_cut(other, item, is_right))
        for item, is_right in zip(items, found, strict=True)
    ]
    return _Fit(reading, found, cut)


def _found(other: AnyTruth, item: Judged, decimals: bool) -> str | None:
    """How a print stands to another reading; a bare integer among decimals is meant exactly, there above all."""
    if other.value(item.element) is None:
        return None
    found = relation(other, item)
    return "off" if decimals and item.cell.form == "integer" and found in ("rounded", "truncated") else found


def _conventions(sources: Sources, items: list[Judged], fits: list[_Fit]) -> None:
    """Rule 6 for the wrong numbers of a block, on prints of at least two digits.

    A reading that fits only a row must also matter once the author's own earlier prints stand: an output that
    misses what follows from the printed weights is not explained by the scale of other weights.
    """
    everything = range(len(items))
    queries = [item.element.row(sources.truth.problem) for item in items]
    rows: dict[int, list[int]] = {}
    for number, query in enumerate(queries):
        rows.setdefault(query, []).append(number)
    whole = [fit for fit in fits if fit.explains(everything) and _has_digits(items, fit, everything)]
    for number, item in enumerate(items):
        if item.reason != "new":
            continue
        row = rows[queries[number]]
        fitting = whole or [f for f in fits if _fits_row(items, f, row, number) and _matters(sources, f, item)]
        matching = _apart([fit.reading for fit in fitting], items)
        if len(matching) == 1:
            item.reason, item.closest_reading = "convention", matching[0].name


def _apart(readings: list[Reread], items: list[Judged]) -> list[Reread]:
    """The readings that differ by value; of those that do not, the first."""
    out: list[Reread] = []
    for reading in readings:
        if not any(_same(reading, other, items) for other in out):
            out.append(reading)
    return out


def _same(one: Reread, other: Reread, items: list[Judged]) -> bool:
    """Are two readings one by value: are none of their values for these elements shown to differ?"""
    return not any(_differ(one.truth, other.truth, item) for item in items)


def _matters(sources: Sources, fit: _Fit, item: Judged) -> bool:
    """Does a reading change what follows from all earlier prints?"""
    return sources.all is None or _differ(sources.all, fit.following(sources), item)


def _has_digits(items: list[Judged], fit: _Fit, group: Iterable[int]) -> bool:
    """Have the prints of a group at least two digits, but for zeros, whole numbers and closed forms that are exact?"""

    def exempt(i: int) -> bool:
        whole = items[i].cell.form in ("integer", "fraction", "closed") or items[i].cell.value == 0
        return fit.found[i] == "exact" and whole

    return all((items[i].cell.digits or 0) >= 2 or exempt(i) for i in group)


def _fits_row(items: list[Judged], fit: _Fit, row: list[int], number: int) -> bool:
    """Does a reading make this number right, and the row it is in: all of it, or all but one of at least three?"""
    if not _has_digits(items, fit, row):
        return False
    for good in ([fit.found[i] in ROUNDED for i in row], [fit.cut[i] for i in row]):
        odd = [i for i, is_good in zip(row, good, strict=True) if not is_good]
        if not odd or (len(odd) == 1 and odd[0] != number and len(row) >= 3):
            return True
    return False

"""What follows from an author's own earlier prints, and which of them a number rests on."""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction
from typing import Any

from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import Exact, add
from exactattn.truth.elements import Element
from exactattn.truth.face import AnyTruth
from exactattn.truth.prints import Judged, Row


class Sources:
    """What follows from the author's earlier prints: `all` of them, or the `wrong` ones alone.

    `rows` are the prints that carry an error on; those that only carry on intermediate rounding are not among them.
    """

    def __init__(self, truth: AnyTruth, earlier: list[Judged]) -> None:
        self.truth = truth
        printed: dict[Element, Exact] = {}
        wrong: dict[Element, Exact] = {}
        self.rows: dict[Row, list[Element]] = {}
        self.first: dict[Row, Row] = {}
        for item in earlier:
            if item.element in printed or item.cell.value is None or item.cell.bound:
                continue  # the first print of an element is the one carried on
            printed[item.element] = item.cell.number
            if item.wrong:
                wrong[item.element] = item.cell.number
            if item.wrong and item.origin != "rounding":
                self.rows.setdefault(item.row, []).append(item.element)
                root = item.first_wrong or item.row
                self.first[item.row] = min(root, self.first.get(item.row, root))
        self.printed = printed
        constants = {element: x for element, x in printed.items() if truth.is_constant(element)}
        self.constants = truth.following(constants) if constants else None
        self.all = truth.following(printed) if printed else None
        self.wrong = truth.following(wrong) if wrong else None
        self._changed: dict[tuple[Row, bool], AnyTruth] = {}
        self._reach: dict[tuple[Any, bool], Set[int] | None] = {}

    def _perturbed(self, row: Row, source: AnyTruth) -> AnyTruth:
        """A source with the prints of one row changed by small unrelated amounts, to see what rests on them."""
        key = (row, source is self.all)
        if key not in self._changed:
            changed = dict(source.given)
            for number, element in enumerate(self.rows[row]):
                changed[element] = add(changed[element], Fraction(1, 1009 + 2 * number * number))
            self._changed[key] = source.pinned().following(changed)
        return self._changed[key]

    def _reached(self, stage: Any, source: AnyTruth) -> Set[int] | None:
        key = (stage, source is self.all)
        if key not in self._reach:
            self._reach[key] = source.pinned().reached_from(stage)
        return self._reach[key]

    def rests_on(self, element: Element, source: AnyTruth | None) -> tuple[Row, ...]:
        """The rows of wrong prints whose change changes what follows. Proof: the two enclosures are disjoint."""
        value = None if source is None else source.pinned().value(element)
        if source is None or value is None:
            return ()
        reached = self._reached(element.stage, source)
        rows = [row for row in self.rows if reached is None or row.order in reached]
        moved = {row: self._perturbed(row, source).value(element) for row in rows}
        return tuple(sorted(row for row, v in moved.items() if v is not None and value.disjoint(v) is Answer.YES))

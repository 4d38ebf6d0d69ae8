"""One number of a stage or step: which it is, and where; and another reading of what it truly is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from exactattn.attention.spec import Problem, Stage
from exactattn.numbers.exact import Exact


@dataclass(frozen=True, slots=True)
class Element:
    """One element as shown: its stage (a `Stage`, or the `StepName` of a sheet), head (0 for a single one), index."""

    stage: Any
    index: tuple[int, ...]
    head: int = 0

    def place(self, problem: Problem) -> tuple[int, int]:
        """Its (row, column) in the form with tokens as rows."""
        if self.stage is Stage.LSE:
            return self.index[0], 0
        row, column = self.index
        return (column, row) if problem.spec.orientation == "columns" else (row, column)

    def row(self, problem: Problem | None) -> int:
        """The query it belongs to; of a step its printed row; or -1 for what is printed as one list or number."""
        if self.stage is Stage.LSE:
            return -1
        if isinstance(self.stage, Stage):
            assert problem is not None
            return self.place(problem)[0]
        return self.index[0] if len(self.index) > 1 else -1


@dataclass(frozen=True, slots=True)
class Reread:
    """Another reading, by its name, and what it truly gives; `truth` has the face of `Truth`.

    `follow` makes what follows from given elements, where that is more than `truth.following`.
    """

    name: str
    truth: Any
    follow: Callable[[Mapping[Element, Exact]], Any] | None = None

    def following(self, given: Mapping[Element, Exact]) -> Any:
        """What this reading gives once these elements are put in place of the computed ones."""
        return self.truth.following(given) if self.follow is None else self.follow(given)

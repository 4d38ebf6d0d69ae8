"""What one look at a stage of tensors found: how wide its enclosures are, which rows have no value, the counts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from exactattn.attention.spec import Stage
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.near import Floats
from exactattn.truth.not_finite import NotFinite
from exactattn.truth.one_head import OneHead, Rows
from exactattn.truth.tally import Tally

CELLS = 2**22  # scores of rows that are asked about at once


@dataclass(slots=True)
class Looked:
    """One stage, of the rows that were looked at.

    given    was there something to judge? If not, the tally is about the true values, rounded
    rows     how many rows; radii: the largest radius of each row with a value, of the context in units of max|v|
    unknown  rows that midradius knows nothing of; no_key, not_finite: rows with no value, and why
    beside   what is not finite of all that was given, which is judged beside the rows that were drawn
    """

    stage: Stage
    role: str
    given: bool
    tally: Tally | None = None
    rows: int = 0
    radii: list[Floats] = field(default_factory=list)
    unknown: int = 0
    no_key: int = 0
    not_finite: int = 0
    beside: NotFinite | None = None

    @property
    def undefined(self) -> int:
        """Rows with no value."""
        return self.no_key + self.not_finite

    def see(self, head: OneHead, rows: Rows, found: FloatEnclosure) -> None:
        """Notes the radii of some rows of one head, and why rows have no value."""
        self.rows += len(rows)
        lost = np.isnan(found.mid).any(axis=1)
        size = max(1, CELLS // head.lengths[1])
        for start in range(0, int(lost.sum()), size):
            empty = ~head.allowed(rows[lost][start : start + size]).any(axis=1)
            self.no_key += int(empty.sum())
            self.not_finite += int((~empty).sum())
        radii = found.rad[~lost].max(axis=1, initial=0.0) / self._unit(head)
        known = np.isfinite(radii)
        self.unknown += int((~known).sum())
        self.radii.append(radii[known])

    def _unit(self, head: OneHead) -> float:
        """What radii are measured in: max|v| of the head for the context; 1 where that is 0."""
        if self.stage is not Stage.CONTEXT or not len(head.v):
            return 1.0
        v = np.abs(np.asarray(head.v, dtype=np.float64))
        return float(np.max(v, where=np.isfinite(v), initial=0.0)) or 1.0

    def join(self, other: Looked) -> None:
        """With other rows of the same stage."""
        for name in ("rows", "unknown", "no_key", "not_finite"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.radii += other.radii
        if self.tally is not None and other.tally is not None:
            self.tally.join(other.tally)

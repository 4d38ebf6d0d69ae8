"""How far floats are from true values, counted: within half an ulp, one ulp, a bound; the largest error; what is open.

The first look is a float enclosure that is at hand; only rows that it cannot decide go up the ladder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.spec import Stage
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import Format
from exactattn.numbers.near import Floats, up
from exactattn.numbers.spacing import spacing
from exactattn.truth.blocks import ENGINES, ask
from exactattn.truth.one_head import Rows
from exactattn.truth.questions import Answers, Measured, WithinUlps, told
from exactattn.truth.tensors import Tensors

HALF, ONE = 0.5, 1.0
SLACK = 2.0**-40  # covers the few roundings of a quotient of floats
CELLS = 2**24  # scores of rows that are asked about at once
PARTS = ("mid", "rad", "least", "largest")  # of `Measured`
Place = tuple[int, ...]


@dataclass(slots=True)
class Tally:
    """What was counted of the elements of one array.

    elements    judged: the true value is defined, and the float finite
    undefined   elements with no true value; infinite: floats that are NaN or infinite
    unfounded   of these, each NaN, and infinities whose true value is surely within the range of the format; where the
                first is
    nans        of those that are not finite, how many are NaN; unclear: infinities of which it is not known whether
                the true value is within the range of the format
    groundless  floats that are finite where there is no true value
    within      for each bound in ulps, how many elements are surely within it, surely beyond it, and open
    least, most the largest error in ulps lies between these; at: where the largest `least` is, with the float there
                and the true value nearby
    largest     no error is larger than this, absolutely
    rows        how many rows each engine had to do
    """

    fmt: Format
    bounds: tuple[float, ...]
    elements: int = 0
    undefined: int = 0
    infinite: int = 0
    unfounded: int = 0
    unfounded_at: Place | None = None
    nans: int = 0
    unclear: int = 0
    groundless: int = 0
    within: dict[float, list[int]] = field(default_factory=dict)
    least: float = 0.0
    most: float = 0.0
    largest: float = 0.0
    at: Place | None = None
    computed: float = 0.0
    near: float = 0.0
    rows: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Elements with a true value, finite floats or not."""
        return self.elements + self.infinite

    @property
    def open(self) -> int:
        """Elements that some bound is open for."""
        return max((counts[2] for counts in self.within.values()), default=0)

    def add(self, data: Floats, error: Measured, defined: NDArray[np.bool_], where: Callable[[Place], Place]) -> None:
        """Counts some elements; `where` gives the index of one in the whole array.

        Rounding or proof: the error in ulps is at least (|mid| - rad) / ulp(largest) and at most
        (|mid| + rad) / ulp(least), as the ulp does not fall as |t| grows.
        """
        finite = np.isfinite(data)
        judged = defined & finite
        self.elements += int(judged.sum())
        self.undefined += int((~defined).sum())
        self.groundless += int((~defined & finite).sum())
        self._infinite(data, error, defined & ~finite, where)
        for bound in self.bounds:
            answers = WithinUlps(self.fmt, bound).answers(error, ...)[judged]
            counts = self.within.setdefault(bound, [0, 0, 0])
            for number, answer in enumerate((Answer.YES, Answer.NO, Answer.CANNOT_TELL)):
                counts[number] += int((answers == answer).sum())
        if not judged.any():
            return
        with np.errstate(all="ignore"):
            size = np.where(error.rad == 0, np.abs(error.mid), up(np.abs(error.mid) + error.rad))
        self.largest = max(self.largest, float(np.where(judged, np.where(np.isnan(size), np.inf, size), 0.0).max()))
        least, most = in_ulps(error, self.fmt)
        self.most = max(self.most, float(np.where(judged, np.where(np.isnan(most), np.inf, most), 0.0).max()))
        least = np.where(judged & ~np.isnan(least), least, -1.0)
        place = tuple(int(i) for i in np.unravel_index(int(least.argmax()), least.shape))
        if float(least[place]) > self.least or (self.at is None and least[place] >= 0):
            self.least, self.at = float(least[place]), where(place)
            self.computed, self.near = float(data[place]), float(data[place] - error.mid[place])

    def _infinite(
        self, data: Floats, error: Measured, which: NDArray[np.bool_], where: Callable[[Place], Place]
    ) -> None:
        """Counts what is not finite; NaN is always unfounded, an infinity where rounding the truth cannot overflow."""
        self.infinite += int(which.sum())
        if not which.any():
            return
        wrong = which & (np.isnan(data) | (error.largest < float(self.fmt.max)))
        if wrong.any() and self.unfounded_at is None:
            self.unfounded_at = where(tuple(int(i) for i in np.argwhere(wrong)[0]))
        self.unfounded += int(wrong.sum())
        self.nans += int((which & np.isnan(data)).sum())
        self.unclear += int((which & ~wrong & ~(error.least >= float(self.fmt.max))).sum())

    def count_rows(self, rows: dict[str, int]) -> None:
        """Adds up which engine did how many rows."""
        for name, count in rows.items():
            self.rows[name] = self.rows.get(name, 0) + count

    def join(self, other: Tally) -> None:
        """With what was counted elsewhere of the same array."""
        for name in ("elements", "undefined", "infinite", "unfounded", "nans", "unclear", "groundless"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.unfounded_at = self.unfounded_at or other.unfounded_at
        for bound, counts in other.within.items():
            mine = self.within.setdefault(bound, [0, 0, 0])
            self.within[bound] = [a + b for a, b in zip(mine, counts, strict=True)]
        self.most, self.largest = max(self.most, other.most), max(self.largest, other.largest)
        if other.at is not None and (self.at is None or other.least > self.least):
            self.least, self.at, self.computed, self.near = other.least, other.at, other.computed, other.near
        self.count_rows(other.rows)


def in_ulps(error: Measured, fmt: Format) -> tuple[Floats, Floats]:
    """Bounds of |error| in ulps of the format at the true value. Shapes: those of the error.

    Rounding or proof: a unit is a power of two, so without a radius the quotient is exact, or overflows beyond the
    largest float, which is then a lower bound.
    """
    size = np.abs(error.mid)
    with np.errstate(all="ignore"):
        least = np.maximum(size - error.rad, 0) / spacing(error.largest, fmt) * (1 - SLACK)
        most = (size + error.rad) / spacing(error.least, fmt) * (1 + SLACK)
        least = np.where(error.rad == 0, size / spacing(error.largest, fmt), least)
        return np.where(np.isinf(least), np.finfo(np.float64).max, least), most


def measured(found: FloatEnclosure, data: Floats) -> Measured:
    """The error of floats as an enclosure tells it. Rounding or proof: `error_of`; the factors round |t| outward."""
    size, rad = np.abs(found.mid), found.rad
    with np.errstate(all="ignore"):
        least = np.where(rad == 0, size, np.maximum((size - rad) * (1 - 2.0**-50), 0))
        return Measured(*found.error_of(data), least, np.where(rad == 0, size, up(size + rad)))


def decided(error: Measured, fmt: Format, bounds: Sequence[float]) -> NDArray[np.bool_]:
    """Is every bound decided?"""
    out = np.ones(error.mid.shape, dtype=np.bool_)
    for bound in bounds:
        out &= WithinUlps(fmt, bound).answers(error, ...) != Answer.CANNOT_TELL
    return out


class Recorder:
    """A question that is answered where all bounds are decided, and keeps the best error that was measured."""

    def __init__(self, first: Measured, fmt: Format, bounds: Sequence[float]) -> None:
        self.fmt, self.bounds = fmt, bounds
        self.best = Measured(
            *(np.array(part, np.float64) for part in (first.mid, first.rad, first.least, first.largest))
        )

    def answers(self, error: Measured, where: Any) -> Answers:
        """YES where nothing is left to be decided."""
        better = ~(self.best.rad[where] <= error.rad) & ~np.isnan(error.rad)
        for name in PARTS:
            whole, new = getattr(self.best, name), getattr(error, name)
            whole[where] = np.where(better, new, whole[where])
        kept = Measured(*(getattr(self.best, name)[where] for name in PARTS))
        yes = decided(kept, self.fmt, self.bounds)
        return told(yes, np.zeros_like(yes))


def climbed(
    tensors: Tensors,
    head: int,
    rows: Rows,
    data: Floats,
    first: Measured,
    defined: NDArray[np.bool_],
    tally: Tally,
    stage: Stage,
) -> Measured:
    """The errors of some rows of one head, after the ladder did those that the first look cannot decide.

    Shapes: rows (n,); data, `defined` (is there a true value?) and errors (n, width).
    """
    one = tensors.heads[head]
    known = np.isfinite(data) & defined
    open_ = np.nonzero((known & ~decided(first, tally.fmt, tally.bounds)).any(axis=1))[0]
    tally.count_rows({ENGINES[0]: len(rows), **dict.fromkeys(ENGINES[1:], 0)})
    best = Measured(*(np.array(getattr(first, name)) for name in PARTS))
    alone = replace(tensors, heads=(one,))
    size = max(1, CELLS // one.lengths[1])
    for some in (open_[start : start + size] for start in range(0, len(open_), size)):
        recorder = Recorder(Measured(*(getattr(first, name)[some] for name in PARTS)), tally.fmt, tally.bounds)
        asked = ask(alone, [data[some]], recorder, stage, rows=rows[some], engines=ENGINES[1:])
        tally.count_rows({name: asked.rows[name] for name in ENGINES[1:]})
        for name in PARTS:
            getattr(best, name)[some] = getattr(recorder.best, name)
    return best


def rounded(x: Floats, fmt: Format) -> Floats:
    """The nearest values of a format, ties to even; infinite past its range.

    Rounding or proof: the unit is a power of two, so the quotient is exact but for underflow, and has at most 53 bits;
    what underflows is far below half a unit.
    """
    with np.errstate(all="ignore"):
        unit = spacing(np.abs(x), fmt)
        out = np.rint(x / unit) * unit
        return np.where(np.abs(out) > float(fmt.max), np.copysign(np.inf, x), out)


def correctly_rounded(
    tensors: Tensors, head: int, rows: Rows, found: FloatEnclosure, tally: Tally, stage: Stage
) -> tuple[Floats, Measured]:
    """The true values of some rows rounded to the format of the tally, each proven where the error says so.

    Where more precision shows that the first guess is the wrong neighbour, the right one takes its place.
    Rounding or proof: the guess moves by an exact difference of floats; its sum with the midpoint of the error rounds
    by 2**-53 of itself, which goes into the radius.
    """
    data = rounded(found.mid, tally.fmt)
    error = climbed(tensors, head, rows, data, measured(found, data), ~np.isnan(found.mid), tally, stage)
    wrong = WithinUlps(tally.fmt, HALF).answers(error, ...) == Answer.NO
    if wrong.any():
        with np.errstate(all="ignore"):
            other = np.where(wrong, rounded(data - error.mid, tally.fmt), data)
            mid = np.where(wrong, error.mid + (other - data), error.mid)
            rad = np.where(wrong, up(error.rad + np.abs(mid) * 2.0**-52), error.rad)
        return other, Measured(mid, rad, error.least, error.largest)
    return data, error

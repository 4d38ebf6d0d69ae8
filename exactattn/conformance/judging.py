"""Floats that somebody expects, against the truth and what rounding in their formats allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.computed import Computed
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import FORMATS, Format
from exactattn.numbers.near import Floats, up
from exactattn.numbers.spacing import spacing


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """For each element: is it within its bound, its error in ulps of the format at the true value, and in bounds.

    Shapes: all alike. An error that is not known is NaN.
    """

    answers: NDArray[np.object_]
    ulps: Floats
    parts: Floats
    bounds: Floats

    @staticmethod
    def joined(parts: Sequence[Within]) -> Within:
        """Some of them as one, in one dimension."""
        columns = ([getattr(part, name).ravel() for part in parts] for name in ("answers", "ulps", "parts", "bounds"))
        return Within(*(np.concatenate(column) for column in columns))

    def count(self, answer: Answer) -> int:
        """How many elements have an answer."""
        return int((self.answers == answer).sum())

    @property
    def most_ulps(self) -> float:
        """The largest error in ulps."""
        return float(np.max(np.where(np.isnan(self.ulps), 0.0, self.ulps), initial=0.0))

    @property
    def most_parts(self) -> float:
        """The largest error in bounds."""
        return float(np.max(np.where(np.isnan(self.parts), 0.0, self.parts), initial=0.0))


def format_of(data: NDArray[Any]) -> Format | None:
    """The format of an array's type, if it is one of ours."""
    return next((fmt for fmt in FORMATS.values() if fmt.dtype == data.dtype.name), None)


def within(
    data: NDArray[Any], truth: FloatEnclosure, bound: Computed, fmt: Format, blocked: Mask | None = None
) -> Within:
    """Is each element within what the contract of `bound` allows of the true value?

    Shapes: all of one shape. Where `blocked`, -inf is expected; where the truth is undefined, NaN. What is not finite
    elsewhere is outside, unless the contract allows an overflow.

    Proof: a run x and the true t have |x - m| <= err and |t - c| <= rad, so |x - t| <= err + |m - c| + rad, the bound;
    the error of `data` is known to within the radius that `error_of` gives. Data equal to c are within rad of t.
    """
    given = np.asarray(data, dtype=np.float64)
    error, slack = truth.error_of(given)
    size = np.abs(error)
    with np.errstate(all="ignore"):
        gap = np.abs(bound.mid - truth.mid)
        allowed = np.where((bound.err == 0) & (gap == 0) & (truth.rad == 0), 0.0, up(bound.err + gap + truth.rad))
        yes, no = up(size + slack) <= allowed, size - slack > up(allowed)
        yes |= size == 0
        parts = np.where(size == 0, 0.0, size / allowed)
        ulps = size / spacing(np.abs(truth.mid), fmt)
    finite, defined = np.isfinite(given), truth.defined
    no = np.where(finite | ~np.isfinite(allowed), no, True)
    yes, no = (np.where(defined, answer, np.isnan(given) == is_yes) for answer, is_yes in ((yes, True), (no, False)))
    if blocked is not None:
        expected = np.isneginf(given)
        yes, no = np.where(blocked, expected, yes), np.where(blocked, ~expected, no)
    answers = np.full(given.shape, Answer.CANNOT_TELL, dtype=object)
    answers[np.isfinite(allowed) & yes | (yes & ~defined)], answers[no] = Answer.YES, Answer.NO
    if blocked is not None:
        answers[blocked & yes] = Answer.YES
        parts, ulps = np.where(blocked, np.nan, parts), np.where(blocked, np.nan, ulps)
    return Within(answers, ulps, parts, allowed)


def same(data: NDArray[Any], expected: NDArray[Any]) -> Within:
    """Is each element the expected one, bit for bit? Nothing is computed there, so the bound is 0.

    A shape or type that differs makes all elements wrong.
    """
    alike = np.zeros(data.shape, dtype=np.bool_)
    if data.shape == expected.shape and data.dtype == expected.dtype:
        left, right = (np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}") for x in (data, expected))
        alike = left == right
    answers = np.full(data.shape, Answer.NO, dtype=object)
    answers[alike] = Answer.YES
    zeros = np.where(alike, 0.0, np.nan)
    return Within(answers, zeros, np.where(alike, 0.0, np.inf), np.zeros(data.shape))

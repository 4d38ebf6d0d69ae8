"""Floats that are NaN or infinite: how many a tensor has, and which rows are judged for them beside those drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.spec import Stage
from exactattn.truth.one_head import MOST_KEYS, OneHead, Rows
from exactattn.truth.tensors import Tensors

MOST_ROWS = 256  # that are judged beside those drawn
CELLS = 2**27  # pairs of a query and a key that are looked at to see which rows have a true value
CHUNK = 2**22  # elements that are held at once


@dataclass(frozen=True, slots=True)
class NotFinite:
    """What is not finite of an array.

    elements  how many floats of the whole array
    rows      for each head, rows that are to be judged beside those drawn
    left      rows that have such floats, were not drawn and are not among `rows`, and may have a true value
    """

    elements: int
    rows: tuple[Rows, ...]
    left: int

    @property
    def more(self) -> int:
        """How many rows are judged beside those drawn."""
        return sum(map(len, self.rows))


def not_finite(tensors: Tensors, data: Sequence[NDArray[Any]], drawn: Sequence[Rows], stage: Stage) -> NotFinite:
    """Counts what is not finite, and chooses at most `MOST_ROWS` rows with it, first those surely with a true value.

    Shapes: data (L, width) and drawn (n,) for each head.
    """
    elements, cells, found = 0, CELLS, 0
    chosen: list[tuple[int, int, int]] = []
    for number, (head, array, seen) in enumerate(zip(tensors.heads, data, drawn, strict=True)):
        counts = _counts(array)
        elements += int(counts.sum())
        rows = np.setdiff1d(np.nonzero(counts)[0], seen)
        known = rows[: max(0, cells) // max(1, head.lengths[1])]
        cells -= len(known) * head.lengths[1]
        for first, some in enumerate((known[~_undefined(head, known, stage)], rows[len(known) :])):
            found += len(some)
            chosen += [(first, number, int(row)) for row in some[:MOST_ROWS]]
    chosen.sort()
    taken = sorted((number, row) for _, number, row in chosen[:MOST_ROWS])
    by_head = tuple(np.array([row for at, row in taken if at == n], dtype=np.intp) for n in range(len(tensors.heads)))
    return NotFinite(elements, by_head, found - len(taken))


def elements_of(array: NDArray[Any]) -> int:
    """How many elements of an array are NaN or infinite."""
    return int(_counts(array.reshape(-1, array.shape[-1])).sum()) if array.size else 0


def _counts(array: NDArray[Any]) -> NDArray[np.intp]:
    """How many elements of each row are not finite."""
    out = np.zeros(len(array), dtype=np.intp)
    size = max(1, CHUNK // max(1, array.shape[1]))
    for start in range(0, len(array), size):
        part = np.asarray(array[start : start + size], dtype=np.float64)
        out[start : start + size] = (~np.isfinite(part)).sum(axis=1)
    return out


def _undefined(head: OneHead, rows: Rows, stage: Stage) -> NDArray[np.bool_]:
    """Which rows have no true value, some at a time."""
    size = max(1, CHUNK // max(1, min(head.lengths[1], MOST_KEYS)))
    parts = [head.undefined(rows[start : start + size], stage) for start in range(0, len(rows), size)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.bool_)

"""Long sequences: attention over tiles of keys, merged by their lse, so that memory is bounded by a tile."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from exactattn.attention.algorithms import merge
from exactattn.attention.definition import Attended, occupied, sink_column, stages
from exactattn.attention.spec import Stage
from exactattn.numbers.arithmetic import Arithmetic, Mask
from exactattn.numbers.exact import ONE, div, log
from exactattn.truth.one_head import OneHead, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """Some keys of a head, as a head of its own, with its keys and values lifted."""

    head: OneHead
    k: Any
    v: Any


def lifted_tiles(head: OneHead, ar: Arithmetic[Any], size: int) -> list[Tile]:
    """The tiles of a head with their keys, normed and rotated as those of the whole head, and values."""
    k, v = head.lifted(ar)
    return [Tile(one, ar.rows(k, start, stop), ar.rows(v, start, stop)) for start, stop, one in head.tiles(size)]


def merged(head: OneHead, parts: list[Tile], ar: Arithmetic[Any], rows: Rows) -> Attended[Any]:
    """Context and lse of some rows over all tiles. Exact value: that of the whole head; see `merge`.

    A row with no key in any tile, and no sink, has zeros and lse 0.
    """
    spec = head.spec
    base = spec.lse_base or spec.base
    pieces: list[Attended[Any]] = []
    seen: list[Mask] = []
    for part in parts:
        problem = part.head.problem(rows, part.k, part.v)
        found = stages(problem, ar, until=Stage.CONTEXT)
        lse = found[Stage.LSE, 0]
        pieces.append(Attended(found[Stage.CONTEXT, 0], lse if base is None else ar.scale(lse, log(base))))
        seen.append(occupied(problem.allowed))
    done = merge(ar, pieces, np.concatenate(seen, axis=1), sink=sink_column(head.problem_of_none(rows), ar, 0))
    return done if base is None else Attended(done.context, ar.scale(done.lse, div(ONE, log(base))))


def mean_of_values(head: OneHead, parts: list[Tile], ar: Arithmetic[Any]) -> Any:
    """What a row with no key gives under the rules "uniform" and "mean". Shapes: (1, d_v)."""
    kept = head.lengths[1] if head.spec.masked_row == "uniform" or head.key_length is None else head.key_length
    sums: list[Any] = []
    start = 0
    for part in parts:
        stop = start + part.head.lengths[1]
        column: Any = (np.arange(start, stop) < kept).astype(np.float64)[:, np.newaxis]
        sums.append(ar.transposed_matmul(ar.lift(column), part.v))
        start = stop
    return ar.scale(reduce(ar.add, sums), Fraction(1, max(kept, 1)))

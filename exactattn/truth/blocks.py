"""Proven enclosures of all outputs of large problems, by blocks of query rows, and questions about their floats.

Query rows are independent, so memory is bounded by a block: block * S numbers, a few times. The cheap bounds of
`midradius` come first, its sharp ones for rows that stay undecided, balls for what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn import plugins
from exactattn.attention.definition import stages
from exactattn.attention.spec import Stage
from exactattn.numbers.balls import FIRST_BITS, TooCoarse
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import Format
from exactattn.numbers.near import Floats, up
from exactattn.numbers.spacing import spacing
from exactattn.truth.reference import Parts
from exactattn.truth.tensors import Tensors

Rows = NDArray[np.intp]
Answers = NDArray[np.object_]
CELLS = 2**19  # scores of one block
MOST_BITS = 2048
BALL_CELLS = 2**16  # scores of one batch of rows in balls
ENGINES = ("midradius", "midradius, sharp", "ball")


def enclose_rows(
    tensors: Tensors,
    rows: Rows | None = None,
    stage: Stage = Stage.CONTEXT,
    *,
    sharp: bool = False,
    block: int | None = None,
    workers: int = 1,
) -> FloatEnclosure:
    """The enclosure of some query rows of every head, by midradius; all rows where none are named.

    Shapes: (n,) -> (H, n, width of the stage). `stage` is weights, lse or context. A row with no allowed key is
    undefined, unless the spec says that it is zero. `workers` is a number of threads: NumPy lets go of Python's lock.
    """
    rows = np.arange(tensors.shape[1]) if rows is None else rows
    heads = [Blocks(tensors, head, rows, stage, sharp, block) for head in range(tensors.shape[0])]
    jobs = [(blocks, some) for blocks in heads for some in blocks.slices]
    with ThreadPoolExecutor(max(1, workers)) as pool:
        found = list((pool.map if workers > 1 else map)(lambda job: job[0].enclosed(job[1]), jobs))
    shape = (len(heads), len(rows), found[0].shape[1])
    mid, rad = (np.concatenate([getattr(part, name) for part in found]).reshape(shape) for name in ("mid", "rad"))
    return FloatEnclosure(mid, rad)


class Blocks:
    """Some query rows of one head, block by block, by midradius."""

    def __init__(self, tensors: Tensors, head: int, rows: Rows, stage: Stage, sharp: bool, block: int | None) -> None:
        self.engine = plugins.get("engines", "midradius")
        self.arithmetic = self.engine.arithmetic(sharp, spend=stage.order >= Stage.WEIGHTS.order)
        # lifted once, with the sizes that bounds are made of
        self.k, self.v = (self.arithmetic.lift(x[head]) for x in (tensors.k, tensors.v))
        self.tensors, self.head, self.rows, self.stage = tensors, head, rows, stage
        size = block or min(1024, max(64, CELLS // tensors.shape[2]))
        self.slices = [slice(start, start + size) for start in range(0, len(rows), size)]

    def enclosed(self, some: slice) -> FloatEnclosure:
        """One block of the rows."""
        rows = self.rows[some]
        problem = self.tensors.floats(self.head, rows, self.k, self.v)
        value = stages(problem, self.arithmetic, until=self.stage)[self.stage, 0]
        enclosure: FloatEnclosure = self.engine.floats(value)
        empty = self.tensors.undefined(rows)
        if empty.any():
            enclosure.mid[empty], enclosure.rad[empty] = np.nan, np.nan
        return enclosure


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """An `Answer` for each element, and how many rows each engine had to do (a row counts for each head)."""

    answers: Answers
    rows: Mapping[str, int]

    def count(self, answer: Answer) -> int:
        """How many elements have an answer."""
        return int((self.answers == answer).sum())


def within_ulps(
    tensors: Tensors,
    data: NDArray[Any],
    fmt: Format,
    ulps: float = 0.5,
    stage: Stage = Stage.CONTEXT,
    engines: tuple[str, ...] = ENGINES,
) -> Decided:
    """Is each float of `data` within so many ulps of the true value, the ulp of the format at the true value?

    Shapes: data (H, L, width of the stage), whose numbers float64 holds. An undefined row, and data that is not
    finite, cannot tell. A tie that no number of bits decides cannot tell either, after `MOST_BITS`.
    """
    heads, queries, _ = tensors.shape
    assert data.shape[:2] == (heads, queries)
    data = np.asarray(data, dtype=np.float64)
    answers = np.full(data.shape, Answer.CANNOT_TELL, dtype=object)
    open_rows = np.isfinite(data).any(axis=2) & ~tensors.undefined(np.arange(queries))
    done = dict.fromkeys(ENGINES, 0)
    for engine in engines:
        for head in range(heads):
            rows = np.nonzero(open_rows[head])[0]
            if not len(rows):
                continue
            done[engine] += len(rows)
            for some, error, ulp in _errors(engine, tensors, head, rows, data, fmt, stage):
                where = (head, rows[some])
                new = _answers(error, ulp, ulps)
                answers[where] = np.where(answers[where] == Answer.CANNOT_TELL, new, answers[where])
                unknown = (answers[where] == Answer.CANNOT_TELL) & np.isfinite(data[where])
                open_rows[where] = unknown.any(axis=1)
    return Decided(answers, done)


Measured = tuple[slice, tuple[Floats, Floats], tuple[Floats, Floats]]


def _errors(
    engine: str, tensors: Tensors, head: int, rows: Rows, data: Floats, fmt: Format, stage: Stage
) -> Iterator[Measured]:
    """Block by block: the error as midpoint and radius, and the least and largest ulp at the true value."""
    if engine == "ball":
        yield from _ball_errors(tensors, head, rows, data, fmt, stage)
        return
    blocks = Blocks(tensors, head, rows, stage, engine != "midradius", None)
    for some in blocks.slices:
        found = blocks.enclosed(some)
        size, rad = np.abs(found.mid), found.rad
        with np.errstate(all="ignore"):
            least = spacing(np.maximum((size - rad) * (1 - 2.0**-50), 0), fmt)
            largest = spacing(up(size + rad), fmt)
        yield some, found.error_of(data[head, rows[some]]), (least, largest)


def _ball_errors(
    tensors: Tensors, head: int, rows: Rows, data: Floats, fmt: Format, stage: Stage
) -> Iterator[Measured]:
    """The same by balls, with more bits until every ball of the batch has ends. Nothing where `MOST_BITS` give none."""
    engine = plugins.get("engines", "ball")
    size = max(1, BALL_CELLS // tensors.shape[2])
    for start in range(0, len(rows), size):
        some = slice(start, start + size)
        problem = tensors.exactly(head, rows[some])
        bits = FIRST_BITS
        while bits <= MOST_BITS:
            with engine.precision(bits):
                try:
                    parts = Parts.of(stages(problem, engine.arithmetic(), until=stage)[stage, 0], engine)
                except TooCoarse:
                    bits *= 4
                    continue
            wide = np.nextafter(np.abs(parts.high) + 2 * (np.abs(parts.low) + parts.rest), np.inf)
            yield some, parts.error_of(data[head, rows[some]]), (parts.least_ulps(fmt), spacing(wide, fmt))
            break


def _answers(error: tuple[Floats, Floats], ulp: tuple[Floats, Floats], ulps: float) -> Answers:
    """YES where |error| is surely at most ulps * ulp, NO where it is surely more.

    Rounding or proof: the factors 1 +- 2**-40 cover the few roundings on each side; a radius of 0 with a difference of
    0 ulps * ulp needs none. NaN decides nothing.
    """
    mid, rad = np.abs(error[0]), error[1]
    with np.errstate(all="ignore"):
        most = np.where(rad == 0, mid, (mid + rad) * (1 + 2.0**-40))
        least = np.where(rad == 0, mid, (mid - rad) * (1 - 2.0**-40))
        yes, no = most <= ulps * ulp[0], least > ulps * ulp[1]
    out = np.full(mid.shape, Answer.CANNOT_TELL, dtype=object)
    out[yes], out[no] = Answer.YES, Answer.NO
    return out

"""Proven enclosures of query rows of large problems by balls, block by block, with as many bits as each row needs.

Query rows are independent, so memory is bounded by a block, and rows whose radius is too large are done again alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import gcd

import numpy as np
from numpy.typing import NDArray

from exactattn import plugins
from exactattn.attention.definition import stages
from exactattn.attention.spec import Stage
from exactattn.errors import ProblemError
from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.ball_floats import pairs
from exactattn.numbers.ball_matrix import Balls
from exactattn.numbers.float_pairs import FloatPairs
from exactattn.truth.layouts import checked_rows
from exactattn.truth.one_head import OneHead, Rows
from exactattn.truth.tensors import Tensors
from exactattn.truth.workers import Workers

Close = Callable[[FloatPairs], Mask]
BITS = 113
MOST_BITS = 2048
STEP = 4  # times as many bits for each further attempt
BYTES = 600_000_000  # of one block
CELL = 500  # bytes for a score and what is made of it, and half a byte for each bit
MOST_ROWS = 128  # of one block; with fewer than 64 (more than 16384 keys) Arb's products take three times as long
RADIUS = 2.0**-90
LEAST_RADIUS = 2.0**-100  # two float64 numbers hold 106 bits
SMALLEST = 2.0**-1074
ZERO = 2.0**-300
STAGES = (Stage.WEIGHTS, Stage.LSE, Stage.CONTEXT)


@dataclass(frozen=True, slots=True, eq=False)
class BallRows(FloatPairs):
    """Enclosures of some query rows, and how many bits each took in the end.

    Shapes: (..., n, width), bits (..., n). NaN in a row that is undefined; a rest of infinity where `MOST_BITS` bound
    nothing, or the value is beyond float64.
    """

    bits: NDArray[np.intp]

    @staticmethod
    def merged(
        parts: Sequence[BallRows], merge: Callable[[list[NDArray[np.generic]]], NDArray[np.generic]]
    ) -> BallRows:
        """Several as one, by a function that merges arrays."""
        return BallRows(*(merge([getattr(part, name) for part in parts]) for name in ("high", "low", "rest", "bits")))  # type: ignore[arg-type]


def enclose_by_balls(
    tensors: Tensors,
    stage: Stage = Stage.CONTEXT,
    *,
    bits: int = BITS,
    radius: float = RADIUS,
    workers: int | Workers = 1,
) -> FloatPairs:
    """The enclosure of every row of every head, laid out as q was (weights as heads, rows, keys).

    See `enclose_heads_by_balls`.
    """
    every = [(head, None) for head in tensors.heads]
    found = enclose_heads_by_balls(every, stage, bits=bits, radius=radius, workers=workers)
    return FloatPairs(*(tensors.assembled([getattr(part, name) for part in found]) for name in ("high", "low", "rest")))


def enclose_rows_by_balls(
    tensors: Tensors,
    rows: Rows | None = None,
    stage: Stage = Stage.CONTEXT,
    *,
    bits: int = BITS,
    radius: float = RADIUS,
    workers: int | Workers = 1,
) -> BallRows:
    """The enclosure of some query rows of every head of sequences of one length; all rows where none are named.

    Shapes: (n,) -> (B*H, n, width of the stage). See `enclose_heads_by_balls`.
    """
    some = tensors.each(rows)
    return BallRows.merged(enclose_heads_by_balls(some, stage, bits=bits, radius=radius, workers=workers), np.stack)


def enclose_heads_by_balls(
    heads: Sequence[tuple[OneHead, Rows | None]],
    stage: Stage = Stage.CONTEXT,
    *,
    bits: int = BITS,
    radius: float = RADIUS,
    workers: int | Workers = 1,
) -> list[BallRows]:
    """The enclosure of some query rows of some heads, by balls of at least so many bits.

    `stage` is weights, lse or context. A row is done again with 4 times the bits, and at most `MOST_BITS`, while one of
    its radii is above `radius` times max |v| of its head (of weights: times 1; of the lse: times |lse|, or 1 where that
    is less). `workers` is a number of processes, or `Workers` that are warm already; the result does not depend on it.
    Errors: ProblemError for what cannot be asked. Rounding or proof: Arb's.
    """
    _check(stage, bits, radius)
    if not isinstance(workers, Workers):
        with Workers(workers) as started:
            return enclose_heads_by_balls(heads, stage, bits=bits, radius=radius, workers=started)
    asked = [(head, checked_rows(rows, head.lengths[0])) for head, rows in heads]
    jobs = [
        job for n, one in enumerate(asked) for job in _jobs(n, len(asked), *one, stage, bits, radius, workers.count)
    ]
    found = workers.map(_done, jobs)
    return [
        _joined([(job.places, part) for job, part in zip(jobs, found, strict=True) if job.number == n])
        for n in range(len(asked))
    ]


def _check(stage: Stage, bits: int, radius: float) -> None:
    if stage not in STAGES:
        raise ProblemError(f"rows of {stage} are not enclosed by balls: ask for {', '.join(map(str, STAGES))}")
    if isinstance(bits, bool) or not isinstance(bits, int) or not 2 <= bits <= MOST_BITS:
        raise ProblemError(f"{bits!r} bits: give a whole number from 2 to {MOST_BITS}")
    if not radius >= LEAST_RADIUS:
        raise ProblemError(f"a radius of {radius} is asked for: two float64 numbers hold {LEAST_RADIUS} at best")


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """Some rows of head `number` of those asked for, and their places among its rows."""

    number: int
    head: OneHead
    rows: Rows
    places: Rows
    stage: Stage
    bits: int
    radius: float


def _jobs(
    number: int, heads: int, head: OneHead, rows: Rows, stage: Stage, bits: int, radius: float, workers: int
) -> Iterator[_Job]:
    """Every block of the rows once, in jobs that lift k and v once; in all as many jobs for each worker.

    Blocks are dealt out in turn, as later rows have more keys under a causal mask. A block is the same piece of work
    whatever the number of workers.
    """
    blocks = list(_blocks(len(rows), head.lengths[1], bits)) or [slice(0, 0)]
    parts = min(len(blocks), workers // gcd(heads, workers))
    for part in range(parts):
        places = np.concatenate([np.arange(len(rows))[some] for some in blocks[part::parts]])
        yield _Job(number, head, rows[places], places, stage, bits, radius)


def _done(job: _Job) -> BallRows:
    """The rows of one job."""
    balls = BallHead(job.head, job.stage)
    relative = job.radius if job.stage is Stage.LSE else 0.0
    close = partial(_close, most=max(job.radius * balls.size, SMALLEST), relative=relative)
    return balls.enclosed(job.rows, close, job.bits)


def _close(found: FloatPairs, most: float, relative: float) -> Mask:
    """Where a radius is at most a number, or at most so much of the value itself."""
    return np.asarray(found.rest <= np.maximum(most, relative * np.abs(found.high)))


def _joined(parts: Sequence[tuple[Rows, BallRows]]) -> BallRows:
    """The rows of several jobs in their order."""
    order = np.argsort(np.concatenate([places for places, _ in parts]))
    return BallRows.merged([part for _, part in parts], lambda arrays: np.concatenate(arrays)[order])


def _blocks(rows: int, keys: int, bits: int) -> Iterator[slice]:
    """Pieces of so many rows, of which one fits into memory."""
    size = min(MOST_ROWS, max(1, BYTES // (keys * (CELL + bits // 2))))
    return (slice(start, start + size) for start in range(0, rows, size))


class BallHead:
    """A stage of one head, whose k and v are lifted once for each precision."""

    def __init__(self, head: OneHead, stage: Stage) -> None:
        self.head, self.stage = head, stage
        self.engine = plugins.get("engines", "ball")
        self.arithmetic = self.engine.arithmetic(whole=True)
        self._lifted: dict[int, tuple[Balls, Balls]] = {}

    @cached_property
    def size(self) -> float:
        """What radii are measured by: max |v| over its finite numbers for a context, else 1."""
        if self.stage is not Stage.CONTEXT:
            return 1.0
        v = np.abs(np.asarray(self.head.v, dtype=np.float64))
        return float(v[np.isfinite(v)].max(initial=0.0))

    def is_sharp(self, found: FloatPairs) -> Mask:
        """Where a radius is next to nothing beside the value, or beside what any format but float64 tells from 0."""
        return _close(found, max(ZERO * self.size, SMALLEST), RADIUS)

    def blocks(self, rows: Rows, bits: int = BITS) -> Iterator[slice]:
        """Pieces of some rows, of which one fits into memory."""
        return _blocks(len(rows), self.head.lengths[1], bits)

    def enclosed(self, rows: Rows, close: Close, bits: int = BITS) -> BallRows:
        """Some rows, block by block; each with more bits until `close` holds in all of it, or `MOST_BITS` are used."""
        parts = [self._block(rows[some], close, bits) for some in self.blocks(rows, bits)]
        return BallRows.merged(parts or [self._nothing()], np.concatenate)

    def _nothing(self) -> BallRows:
        """No rows."""
        empty = np.empty((0, self._width))
        return BallRows(empty, empty, empty, np.empty(0, dtype=np.intp))

    @property
    def _width(self) -> int:
        """The width of the stage; a key that only stands for none has no weight."""
        keys = 0 if self.head.keyless else self.head.lengths[1]
        return int({Stage.WEIGHTS: keys, Stage.LSE: 1}.get(self.stage, self.head.v.shape[1]))

    def _block(self, rows: Rows, close: Close, bits: int) -> BallRows:
        high, low, rest, finite = self._attempt(rows, bits)
        beyond = finite & np.isnan(high)  # float64: more bits tell no more
        known = ~np.isnan(high)
        high, low, rest = np.where(known, high, 0.0), np.where(known, low, 0.0), np.where(known, rest, np.inf)
        out = BallRows(high, low, rest, np.full(len(rows), bits, dtype=np.intp))
        undefined = self.head.undefined(rows, self.stage)
        for part in (high, low, rest):
            part[undefined] = np.nan
        again = np.flatnonzero(~(close(out) | beyond).all(axis=1) & ~undefined)
        if len(again) and bits < MOST_BITS:
            found = self.enclosed(rows[again], close, min(STEP * bits, MOST_BITS))
            for name in ("high", "low", "rest", "bits"):
                getattr(out, name)[again] = getattr(found, name)
        return out

    def _attempt(self, rows: Rows, bits: int) -> tuple[NDArray[np.float64], ...]:
        """High, low, rest and which balls are finite, with so many bits."""
        with self.engine.precision(bits):
            if bits not in self._lifted:
                self._lifted[bits] = self.head.lifted(self.arithmetic)
            problem = self.head.problem(rows, *self._lifted[bits])
            value = stages(problem, self.arithmetic, until=self.stage)[self.stage, 0]
            return tuple(part.reshape(value.shape)[:, : self._width] for part in pairs(value.entries))

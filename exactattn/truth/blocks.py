"""Proven enclosures of all outputs of large problems, by blocks of query rows, and questions about their floats.

Query rows are independent, so memory is bounded by a block: block * S numbers, a few times. The cheap bounds of
`midradius` come first, its sharp ones for rows that stay undecided, balls for what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn import plugins
from exactattn.attention.definition import stages
from exactattn.attention.options import check_word
from exactattn.attention.spec import Stage
from exactattn.errors import ProblemError
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import Format
from exactattn.numbers.near import Floats, up
from exactattn.truth.ball_blocks import BallHead
from exactattn.truth.layouts import checked, checked_rows
from exactattn.truth.one_head import OneHead, Rows
from exactattn.truth.questions import Answers, Measured, Question, WithinUlps
from exactattn.truth.tensors import Tensors
from exactattn.truth.tiles import lifted_tiles, mean_of_values, merged

CELLS = 2**19  # scores of one block
MOST_KEYS = 2**14  # more keys are cut into tiles
TILE = 2**12
ENGINES = ("midradius", "midradius, sharp", "ball")
BY_ROWS = (Stage.WEIGHTS, Stage.LSE, Stage.CONTEXT)


def enclose(
    tensors: Tensors, stage: Stage = Stage.CONTEXT, *, sharp: bool = False, block: int | None = None, workers: int = 1
) -> FloatEnclosure:
    """The enclosure of every row of every head by midradius, laid out as q was (weights as heads, rows, keys)."""
    found = enclose_heads([(head, None) for head in tensors.heads], stage, sharp=sharp, block=block, workers=workers)
    mid, rad = (tensors.assembled([getattr(part, name) for part in found]) for name in ("mid", "rad"))
    return FloatEnclosure(mid, rad)


def enclose_rows(
    tensors: Tensors,
    rows: Rows | None = None,
    stage: Stage = Stage.CONTEXT,
    *,
    sharp: bool = False,
    block: int | None = None,
    workers: int = 1,
) -> FloatEnclosure:
    """The enclosure of some query rows of every head of sequences of one length; all rows where none are named.

    Shapes: (n,) -> (B*H, n, width of the stage). See `enclose_heads`.
    """
    some = tensors.each(rows)
    found = enclose_heads(some, stage, sharp=sharp, block=block, workers=workers)
    return FloatEnclosure(np.stack([part.mid for part in found]), np.stack([part.rad for part in found]))


def enclose_heads(
    heads: Sequence[tuple[OneHead, Rows | None]],
    stage: Stage = Stage.CONTEXT,
    *,
    sharp: bool = False,
    block: int | None = None,
    workers: int = 1,
) -> list[FloatEnclosure]:
    """The enclosure of some query rows of some heads, by midradius.

    `stage` is weights, lse or context. A row with no allowed key has what the spec says, or is undefined. `workers` is
    a number of threads: NumPy lets go of Python's lock.
    """
    if block is not None and block < 1:
        raise ProblemError(f"found block {block}: give the number of rows of a block, 1 or more")
    found: list[FloatEnclosure] = []
    many = max(1, workers)
    with ThreadPoolExecutor(many) as pool:
        for start in range(0, len(heads), many):  # keys and values of few heads at a time are in memory
            some = [Blocks(head, rows, stage, sharp, block) for head, rows in heads[start : start + many]]
            jobs = [(blocks, part) for blocks in some for part in blocks.slices]
            done = iter(list((pool.map if workers > 1 else map)(lambda job: job[0].enclosed(job[1]), jobs)))
            found += [blocks.joined([next(done) for _ in blocks.slices]) for blocks in some]
    return found


class Blocks:
    """Some query rows of one head, block by block, by midradius; over tiles of keys where there are very many."""

    def __init__(self, head: OneHead, rows: Rows | None, stage: Stage, sharp: bool, block: int | None) -> None:
        self.engine = plugins.get("engines", "midradius")
        self.arithmetic = self.engine.arithmetic(sharp, spend=stage.order >= Stage.WEIGHTS.order)
        self.head, self.stage = head, stage
        queries, keys = head.lengths
        self.tiles = None
        if keys > MOST_KEYS and stage in (Stage.LSE, Stage.CONTEXT):
            self.tiles = lifted_tiles(head, self.arithmetic, TILE)
        else:
            self.k, self.v = head.lifted(self.arithmetic)  # once, with the sizes that bounds are made of
        self.rows = checked_rows(rows, queries)
        size = block or min(1024, max(64, CELLS // (keys if self.tiles is None else TILE)))
        self.slices = [slice(start, start + size) for start in range(0, len(self.rows), size)]

    def enclosed(self, some: slice) -> FloatEnclosure:
        """One block of the rows."""
        rows = self.rows[some]
        enclosure: FloatEnclosure = self.engine.floats(self._value(rows))
        if self.stage is Stage.WEIGHTS:
            if self.head.restricts() and self.head.spec.masked_row in ("undefined", "zero"):
                enclosure.rad[~self.head.allowed(rows)] = 0.0  # exact zeros: these keys take no part
            if self.head.keyless:
                enclosure = FloatEnclosure(enclosure.mid[:, :0], enclosure.rad[:, :0])
        if self.tiles is not None and self.head.spec.masked_row in ("uniform", "mean") and self.stage is Stage.CONTEXT:
            empty = replace(self.head, spec=replace(self.head.spec, masked_row="undefined"), bad_keys=None).undefined(
                rows
            )
            mean = self.engine.floats(mean_of_values(self.head, self.tiles, self.arithmetic))
            enclosure.mid[empty], enclosure.rad[empty] = mean.mid, mean.rad
        lost = self.head.undefined(rows, self.stage)
        if lost.any():
            enclosure.mid[lost], enclosure.rad[lost] = np.nan, np.nan
        return enclosure

    def _value(self, rows: Rows) -> Any:
        if self.tiles is None:
            problem = self.head.problem(rows, self.k, self.v)
            if not problem.has(self.stage):
                raise ProblemError(f"there is no stage {self.stage}, as this spec has nothing that makes it")
            return stages(problem, self.arithmetic, until=self.stage)[self.stage, 0]
        done = merged(self.head, self.tiles, self.arithmetic, rows)
        return done.context if self.stage is Stage.CONTEXT else done.lse

    def joined(self, parts: Sequence[FloatEnclosure]) -> FloatEnclosure:
        """All blocks as one."""
        if not parts:
            none = np.empty((0, self.head.width(self.stage)))
            return FloatEnclosure(none, none)
        return FloatEnclosure(np.concatenate([p.mid for p in parts]), np.concatenate([p.rad for p in parts]))


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """An `Answer` for each element, and how many rows each engine had to do (a row counts for each head).

    `answers` has the shape of the data where all heads have one, else one axis; `heads` has an array for each.
    """

    answers: Answers
    rows: Mapping[str, int]
    heads: tuple[Answers, ...] = ()

    def count(self, answer: Answer) -> int:
        """How many elements have an answer."""
        return int((self.answers == answer).sum())


def ask(
    tensors: Tensors,
    data: Sequence[NDArray[Any]] | NDArray[Any],
    question: Question,
    stage: Stage = Stage.CONTEXT,
    *,
    rows: Rows | None = None,
    engines: Sequence[str] = ENGINES,
    workers: int = 1,
) -> Decided:
    """A question about each float of `data`, by the cheapest engine that can tell, row by row.

    Shapes: data an array a head (L, width of the stage), or (B*H, L, width), or of the named rows alone; numbers that
    float64 holds. An undefined row, and data that is not finite, cannot tell. A tie that no number of bits decides
    cannot tell either, after `MOST_BITS`. `workers` is a number of threads, one head each.
    """
    if len(data) != len(tensors.heads):
        raise ProblemError(f"found data of {len(data)} heads, wanted {len(tensors.heads)}: all heads of all sequences")
    for engine in engines:
        check_word("engine", engine, ENGINES)
    if stage not in BY_ROWS:
        raise ProblemError(f"nothing is asked about {stage}: ask about {', '.join(BY_ROWS)}")

    def one(head: OneHead, x: Any) -> Decided:
        some = checked_rows(rows, head.lengths[0])
        array = checked(x, "the data")
        wanted = (len(some), head.width(stage))
        if array.shape != wanted:
            raise ProblemError(f"the data has shape {array.shape} a head, wanted {wanted}: {stage} of each row")
        return _decided(head, some, np.asarray(array, dtype=np.float64), question, stage, engines)

    with ThreadPoolExecutor(max(1, workers)) as pool:
        found = list((pool.map if workers > 1 else map)(one, tensors.heads, data))
    counts = {engine: sum(one.rows[engine] for one in found) for engine in ENGINES}
    same = len({one.answers.shape for one in found}) <= 1
    answers = (
        np.stack([one.answers for one in found]) if same else np.concatenate([one.answers.ravel() for one in found])
    )
    return Decided(answers, counts, tuple(one.answers for one in found))


def within_ulps(
    tensors: Tensors,
    data: NDArray[Any],
    fmt: Format,
    ulps: float = 0.5,
    stage: Stage = Stage.CONTEXT,
    engines: Sequence[str] = ENGINES,
) -> Decided:
    """Is each float of `data` within so many ulps of the true value, the ulp of the format at the true value?"""
    return ask(tensors, data, WithinUlps(fmt, ulps), stage, engines=engines)


def _decided(
    head: OneHead, rows: Rows, data: Floats, question: Question, stage: Stage, engines: Sequence[str]
) -> Decided:
    """The same of some rows of one head; data has these rows."""
    assert len(data) == len(rows)
    answers = np.full(data.shape, Answer.CANNOT_TELL, dtype=object)
    open_rows = np.isfinite(data).any(axis=1) & ~head.undefined(rows, stage)
    done = dict.fromkeys(ENGINES, 0)
    for engine in engines:
        left = np.nonzero(open_rows)[0]
        if not len(left):
            break
        done[engine] += len(left)
        for some, error in _errors(engine, head, rows[left], data[left], stage):
            where = left[some]
            new = question.answers(error, where)
            answers[where] = np.where(answers[where] == Answer.CANNOT_TELL, new, answers[where])
            unknown = (answers[where] == Answer.CANNOT_TELL) & np.isfinite(data[where])
            open_rows[where] = unknown.any(axis=1)
    return Decided(answers, done, (answers,))


def _errors(engine: str, head: OneHead, rows: Rows, data: Floats, stage: Stage) -> Iterator[tuple[slice, Measured]]:
    """Block by block of some rows, whose floats `data` has: the errors, and how large the true values are."""
    if engine == "ball":
        yield from _ball_errors(head, rows, data, stage)
        return
    blocks = Blocks(head, rows, stage, engine != "midradius", None)
    for some in blocks.slices:
        found = blocks.enclosed(some)
        size, rad = np.abs(found.mid), found.rad
        with np.errstate(all="ignore"):
            least, largest = np.maximum((size - rad) * (1 - 2.0**-50), 0), up(size + rad)
        yield some, Measured(*found.error_of(data[some]), least, largest)


def _ball_errors(head: OneHead, rows: Rows, data: Floats, stage: Stage) -> Iterator[tuple[slice, Measured]]:
    """The same by balls, each row with as many bits as it needs."""
    balls = BallHead(head, stage)
    for some in balls.blocks(rows):
        found = balls.enclosed(rows[some], balls.is_sharp)
        with np.errstate(all="ignore"):
            yield some, Measured(*found.error_of(data[some]), found.least(), found.largest())

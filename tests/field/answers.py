"""One attention proven by two engines: what the field cases are checked against."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from exactattn import plugins
from exactattn.attention.algorithms import ALGORITHMS
from exactattn.attention.definition import stages
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage, identity
from exactattn.numbers.balls import enclose as enclose_number
from exactattn.numbers.exact import Expr
from exactattn.numbers.numerals import parse_exact
from exactattn.truth.blocks import enclose
from exactattn.truth.gradients import enclose_gradients, enclose_gradients_by_balls
from exactattn.truth.ladder import Truth
from exactattn.truth.tensors import Tensors

BITS = 600  # of the balls: enough for a constant of 2**128 to cancel
BALL = plugins.get("engines", "ball")
SPEC = {field.name for field in fields(AttentionSpec)}


@dataclass(frozen=True, eq=False)
class Proven:
    """An array of enclosed reals, once by each engine that was asked; None where there is no real number."""

    arrays: tuple[Any, ...]

    def __getitem__(self, index):
        return Proven(tuple(_boxed(array[index]) for array in self.arrays))

    def times(self, factor):
        """Every number times an exact one."""
        return Proven(tuple(_each(lambda t: t.times(factor), array) for array in self.arrays))


GRADIENTS = enclose_gradients, enclose_gradients_by_balls


@dataclass(frozen=True, eq=False)
class Attended:
    """The stages of one attention: of tensors by bounds in float64 and by balls, of an exact problem by balls."""

    tensors: Tensors | None = None
    problem: Problem | None = None
    by_bounds: bool = True

    def gradients(self, g):
        """dq, dk, dv for the gradient g of the outputs, by bounds in float64 and by balls."""
        made = [make(self.tensors, np.asarray(g, dtype=np.float64)) for make in GRADIENTS]
        return [Proven(tuple(_intervals(getattr(one, name)) for one in made)) for name in "qkv"]

    def stage(self, stage):
        """A stage by every engine."""
        found = []
        if self.tensors is not None:
            found += [_intervals(enclose(self.tensors, stage))] if self.by_bounds else []
            found.append(by_balls(self.tensors, stage))
        if self.problem is not None:
            truth = Truth(self.problem)
            array = _intervals(truth.enclosure(stage, bits=BITS))
            array[sorted(truth.without_lse if stage is Stage.LSE else truth.undefined)] = None
            found.append(array)
        return Proven(tuple(found))

    @property
    def weights(self):
        return self.stage(Stage.WEIGHTS)

    @property
    def context(self):
        return self.stage(Stage.CONTEXT)

    @property
    def lse(self):
        return self.stage(Stage.LSE)


def attend(qkv, *, by_bounds=True, **options):
    """Attention of q, k, v; options are those of the spec and of `Tensors.of`."""
    q, k, v = (np.asarray(x, dtype=np.float64) for x in qkv)
    spec = AttentionSpec(**{name: options.pop(name) for name in SPEC & options.keys()})
    return Attended(Tensors.of(q, k, v, spec, **options), None, by_bounds)


def scored(scores, values=None, **options):
    """Attention from its scores (numbers, or text read exactly), scale 1; values are the unit vectors if not given.

    Where floats hold the scores, they are tensors too: q the scores, k the unit vectors.
    """
    options = {"scale": Fraction(1)} | options
    rows = [[exact(x) for x in row] for row in scores]
    values = identity(len(rows[0])) if values is None else tuple(tuple(exact(x) for x in row) for row in values)
    spec = AttentionSpec(**{name: options.pop(name) for name in SPEC & options.keys()})
    head = Head(scores=tuple(map(tuple, rows)), v=values)
    bias = options.get("bias")
    bias = None if bias is None else tuple(tuple(exact(x) for x in row) for row in bias)
    problem = Problem((head,), spec=spec, **options | {"bias": bias})
    numbers = [x for row in (*rows, *values, *(bias or ())) for x in row]
    tensors = None
    if all(isinstance(x, Fraction) and Fraction(float(x)) == x for x in numbers):
        q, v = (np.array([[float(x) for x in row] for row in part]) for part in (rows, values))
        mask = None if options.get("mask") is None else np.array(options["mask"])
        added = None if bias is None else np.array(bias, dtype=np.float64)
        tensors = Tensors.of(q, np.eye(len(rows[0])), v, spec, mask, added, sinks=options.get("sinks"))
    return Attended(tensors, problem)


def numbers(*values):
    """Exact numbers, enclosed."""
    out = np.empty(len(values), object)
    for place, x in enumerate(values):
        out[place] = enclose_number(exact(x))
    return Proven((out,))


def matrix_of_balls(array):
    """A matrix of balls, enclosed."""
    return Proven((_intervals(BALL.enclosure(array)),))


def by_algorithm(name, problem, stage=Stage.CONTEXT):
    """A stage of one head by one of the algorithms, in balls."""
    with BALL.precision(BITS):
        return matrix_of_balls(stages(problem, BALL.arithmetic(), algorithm=ALGORITHMS[name])[stage, 0])


def exact(x):
    """A number, or text, as an exact number."""
    return x if isinstance(x, Expr) else parse_exact(x) if isinstance(x, str) else Fraction(x)


def by_balls(tensors, stage):
    """A stage of all heads by balls, laid out as the queries are."""
    parts = []
    with BALL.precision(BITS):
        for head in tensors.heads:
            arithmetic, rows = BALL.arithmetic(), np.arange(head.lengths[0])
            problem = head.problem(rows, *head.lifted(arithmetic))
            array = _intervals(BALL.enclosure(stages(problem, arithmetic, until=stage)[stage, 0]))
            array[head.undefined(rows, stage)] = None
            parts.append(array)
    return tensors.assembled(parts)


def _intervals(found: Any) -> Any:
    """An enclosure as an array of its elements."""
    out = np.empty(found.shape, object)
    for index in np.ndindex(*found.shape):
        out[index] = found[index]
    return out


def _boxed(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x
    out = np.empty(1, object)
    out[0] = x
    return out


def _each(function, array):
    out = np.empty(array.shape, object)
    for index in np.ndindex(*array.shape):
        out[index] = function(array[index])
    return out

"""The value of a formula in any number system, at one small size: the same tree in SymPy, balls or exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import le, lt, ne
from typing import Any, TypeAlias

import numpy as np

from exactattn.attention.definition import Given, row_softmax, stages
from exactattn.attention.dimensions import Dim
from exactattn.attention.formula_tree import (
    FRESH,
    Apply,
    Dot,
    Joined,
    Minus,
    Num,
    Plus,
    Product,
    Quotient,
    Raised,
    Symbol,
    Total,
    Transposed,
    Tree,
)
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.attention.symbols import Notation, Slot, stage_of
from exactattn.errors import NumeralError
from exactattn.numbers.elementwise import Array, Elementwise, each
from exactattn.numbers.exact import Exact, Matrix, evaluate

MOST_STEPS = 20_000  # nodes computed for one value of one formula
Entry = Callable[[str, int, int], Exact]
Tables: TypeAlias = "Mapping[tuple[str, int], Array]"
PROJECTED = ("X", "W_Q", "W_K", "W_V")


@dataclass(frozen=True)
class Setting:
    """One small problem in which a formula is evaluated.

    sizes    n, H, d_k, d_v, d_model as numbers; numbers: what they are as values (d_k may stay a name)
    sources  the stages and inputs that the formula speaks of
    """

    sizes: Mapping[str, int]
    numbers: Mapping[str, Exact]
    sources: frozenset[str]
    spec: AttentionSpec = field(default_factory=AttentionSpec)

    @property
    def stages(self) -> list[Stage]:
        """The stages among the sources, in the order of the data flow."""
        return sorted((s for s in map(stage_of, self.sources) if s is not None), key=lambda stage: stage.order)

    def problem(self, entry: Entry) -> Problem:
        """The problem with inputs entry(name, row, column), given as late in the data flow as the formula allows."""
        n, d_k, d_v, d_model = (self.sizes[name] for name in ("n", "d_k", "d_v", "d_model"))
        through_x = not self.sources.isdisjoint(PROJECTED)

        def matrix(name: str, rows: int, columns: int) -> Matrix:
            return tuple(tuple(entry(name, i, j) for j in range(columns)) for i in range(rows))

        def head(h: int) -> Head:
            if through_x:
                widths = {"W_Q": d_k, "W_K": d_k, "W_V": d_v}
                return Head(**{name: matrix(f"{name}{h}", d_model, width) for name, width in widths.items()})
            v = matrix(f"v{h}", n, d_v)
            if not self.sources.isdisjoint(("q", "k")):
                return Head(q=matrix(f"q{h}", n, d_k), k=matrix(f"k{h}", n, d_k), v=v)
            return Head(scores=matrix(f"s{h}", n, n), v=v)

        heads = self.sizes["H"]
        projected = not self.sources.isdisjoint(("W_O", "output"))
        return Problem(
            tuple(head(h) for h in range(heads)),
            X=matrix("X", n, d_model) if through_x else None,
            W_O=matrix("W_O", heads * d_v, d_model) if projected else None,
            spec=self.spec,
            several_heads=heads > 1,
        )

    def tables(self, ar: Elementwise[Any], problem: Problem, given: Given | None = None) -> Tables:
        """Every source's array, tokens as rows, by head."""
        last = self.stages[-1] if self.stages else Stage.Q
        found = {(str(stage), h): a for (stage, h), a in stages(problem, ar, given, last).items()}
        for name, matrix in (("X", problem.X), ("W_O", problem.W_O)):
            if matrix is not None:
                found[name, 0] = ar.lift(matrix)
        for h, head in enumerate(problem.heads):
            for name in PROJECTED[1:]:
                if getattr(head, name) is not None:
                    found[name, h] = ar.lift(getattr(head, name))
        return found


class Evaluation:
    """Evaluates trees at one setting; an environment gives each free index a place, counted from 0."""

    def __init__(
        self,
        ar: Elementwise[Any],
        setting: Setting,
        tables: Mapping[tuple[str, int], Array],
        notation: Notation,
        ranges: Mapping[str, Dim],
    ) -> None:
        self.ar, self.setting, self.tables, self.notation, self.ranges = ar, setting, tables, notation, ranges
        self.steps = 0

    def value(self, tree: Tree, env: Mapping[str, int]) -> Array:
        """The value, always a matrix; a number is 1 x 1."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise NumeralError(f"more than {MOST_STEPS} steps for one value; write fewer sums inside each other")
        match tree:
            case Num():
                return self._number(tree.value)
            case Symbol():
                return self._slot(self.notation.slot(tree), env)
            case Product():
                return self._product([self.value(factor, env) for factor in tree.factors])
            case Dot():
                return self._dot(self.value(tree.left, env), self.value(tree.right, env))
            case Quotient():
                bottom = self.value(tree.bottom, env)[0, 0]
                return each(lambda x: self.ar.field.div(x, bottom), self.value(tree.top, env))
            case Plus():
                return self._sum(self.value(term, env) for term in tree.terms)
            case Minus():
                return self._product([self._number(Fraction(-1)), self.value(tree.of, env)])
            case Transposed():
                return self.value(tree.of, env).T
            case Raised():
                return each(lambda x: self.ar.field.power(x, tree.exponent), self.value(tree.of, env))
            case Apply():
                return self._apply(tree, env)
            case Total():
                return self._total(tree, env)
            case Joined():
                return self._join(tree, env)

    def size_of(self, index: str) -> int:
        """How far an index runs here."""
        return int(self.ranges.get(index, Dim.named("n")).value(self.setting.sizes))

    def _number(self, x: Exact) -> Array:
        out = np.empty((1, 1), object)
        out[0, 0] = evaluate(x, self.ar.field)
        return out

    def _slot(self, slot: Slot, env: Mapping[str, int]) -> Array:
        assert slot.source is not None
        if slot.is_size:
            return self._number(self.setting.numbers[str(slot.columns)])
        head = 0 if slot.head is None else self._place(slot.head, env)
        a = self.tables[slot.source, 0 if slot.source == "W_O" else head]
        if slot.source == "W_O" and slot.head is not None:
            d_v = self.setting.sizes["d_v"]
            a = a[head * d_v : (head + 1) * d_v]
        if slot.rows is not None:
            row = self._place(slot.rows, env)
            a = a[row : row + 1]
        if slot.columns is not None:
            column = self._place(slot.columns, env)
            a = a[:, column : column + 1]
        if 0 in a.shape:
            raise NumeralError("an index is beyond the small size that formulas are compared at; use a letter")
        return a.T if slot.turned else a

    def _place(self, index: str, env: Mapping[str, int]) -> int:
        if not index.isdigit():
            return env[index]
        if not 1 <= int(index) <= 2:
            raise NumeralError(f"found the index {index}, wanted a letter, or 1 or 2; numbers count from 1 in formulas")
        return int(index) - 1

    def _product(self, factors: list[Array]) -> Array:
        out = factors[0]
        for factor in factors[1:]:
            if (1, 1) in (out.shape, factor.shape):
                out = np.asarray(out * factor, dtype=object)
            else:
                out = self.ar.matmul(out, factor)
        return out

    def _dot(self, left: Array, right: Array) -> Array:
        if left.shape == right.shape and 1 in left.shape:
            left, right = (a.reshape(1, -1) for a in (left, right))
            return self.ar.matmul(left, right.T)
        return self._product([left, right])

    def _sum(self, terms: Iterable[Array]) -> Array:
        return reduce(lambda a, b: np.asarray(a + b, dtype=object), terms)

    def _total(self, tree: Total, env: Mapping[str, int]) -> Array:
        inside = self._inside(tree, env)
        if not inside:
            return self._product([self._number(Fraction(0)), self.value(tree.of, {**env, tree.index: 0})])
        return self._sum(self.value(tree.of, one) for one in inside)

    def _inside(self, tree: Total, env: Mapping[str, int]) -> list[dict[str, int]]:
        places = range(self.size_of(tree.index))
        if tree.relation is None:
            return [{**env, tree.index: j} for j in places]
        other = self._place(str(tree.other), env)
        keep = {"≠": ne, "≤": le, "<": lt}[tree.relation]
        return [{**env, tree.index: j} for j in places if keep(j, other)]

    def _apply(self, tree: Apply, env: Mapping[str, int]) -> Array:
        field = self.ar.field
        if tree.function == "softmax" and tree.index is not None:
            top = self._apply(Apply("exp", tree.of), env)
            inner = [{**env, tree.index: j} for j in range(self.size_of(tree.index))]
            bottom = self._sum(self._apply(Apply("exp", tree.of), one) for one in inner)[0, 0]
            return each(lambda x: field.div(x, bottom), top)
        a = self.value(tree.of, env)
        if tree.function == "softmax":
            down = a.shape[1] == 1 if 1 in a.shape else self.notation.orientation == "columns"
            a = a.T if down else a
            a = row_softmax(self.ar, a, np.ones(a.shape, dtype=np.bool_))[0]
            return a.T if down else a
        if tree.function == "sqrt":
            return each(lambda x: field.power(x, Fraction(1, 2)), a)
        return each(field.exp if tree.function == "exp" else field.log, a)

    def _join(self, tree: Joined, env: Mapping[str, int]) -> Array:
        axis = 0 if self.notation.orientation == "columns" else 1
        if tree.index is None:
            return np.concatenate([self.value(item, env) for item in tree.items], axis=axis)
        many = self.setting.sizes["H" if tree.index == FRESH else "n"]
        return np.concatenate([self.value(tree.items[0], {**env, tree.index: k}) for k in range(many)], axis=axis)

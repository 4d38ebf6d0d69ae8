"""Which attention: its options (`AttentionSpec`), exact inputs (`Problem`) and named intermediates (`Stage`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Literal

import numpy as np

from exactattn.errors import ProblemError
from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.exact import Exact, Matrix, power


class Stage(StrEnum):
    """A named intermediate of attention, in the order of the data flow.

    `q k v` projections; `scores` = q k^T; `scaled`; `masked` (scaled plus bias; -inf is shown where not allowed);
    `weights`; `lse`; `context` per head; `concat` of all heads; `output`.
    """

    Q = "q"
    K = "k"
    V = "v"
    SCORES = "scores"
    SCALED = "scaled"
    MASKED = "masked"
    WEIGHTS = "weights"
    LSE = "lse"
    CONTEXT = "context"
    CONCAT = "concat"
    OUTPUT = "output"

    @property
    def per_head(self) -> bool:
        """Does each head have one of its own?"""
        return self not in (Stage.CONCAT, Stage.OUTPUT)

    @property
    def order(self) -> int:
        """Its place in the data flow."""
        return _ORDER[self]


_ORDER = {stage: place for place, stage in enumerate(Stage)}
Causal = Literal["none", "top-left", "bottom-right"]
Orientation = Literal["rows", "columns"]


@dataclass(frozen=True, slots=True)
class AttentionSpec:
    """Which real function of the inputs is meant.

    scale        the factor on q k^T; None means 1/sqrt(d_k)
    base         the base of the exponential of the softmax and of the lse; None means e
    causal       which keys a query may see by position: all; j <= i; or j <= i + S - L
    orientation  tokens are rows (Q = X W_Q, scores Q K^T) or columns (Q = W_Q X, scores K^T Q, softmax down a column)
    masked_row   what a row with no allowed key gives: nothing ("undefined") or zeros
    """

    scale: Exact | None = None
    base: Exact | None = None
    causal: Causal = "none"
    orientation: Orientation = "rows"
    masked_row: Literal["undefined", "zero"] = "undefined"


@dataclass(frozen=True, slots=True)
class Head:
    """The inputs of one head: projections of X, or q, k, v themselves, or scores (before the scale) and v.

    Shapes (tokens as rows): W_Q (d_model, d_k), W_K (d_model, d_k), W_V (d_model, d_v); q (L, d_k), k (S, d_k),
    v (S, d_v); scores (L, S).
    """

    W_Q: Matrix | None = None
    W_K: Matrix | None = None
    W_V: Matrix | None = None
    q: Matrix | None = None
    k: Matrix | None = None
    v: Matrix | None = None
    scores: Matrix | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A spec and exact inputs: one question, one true answer.

    Shapes are those of the orientation of the spec. `mask` says which keys are allowed (L, S); `bias` is added to
    the scaled scores (L, S). `several_heads` says that stages carry a head index, as the author declared heads.
    """

    heads: tuple[Head, ...]
    X: Matrix | None = None
    W_O: Matrix | None = None
    spec: AttentionSpec = field(default_factory=AttentionSpec)
    mask: tuple[tuple[bool, ...], ...] | None = None
    bias: Matrix | None = None
    several_heads: bool = False

    def __post_init__(self) -> None:
        if self.spec.orientation == "columns":
            _ = self.row_form  # which checks itself
        else:
            _check(self)

    @property
    def row_form(self) -> Problem:
        """The same problem with tokens as rows, which is the form that the definition is written in."""
        if self.spec.orientation == "rows":
            return self
        mask = None if self.mask is None else tuple(zip(*self.mask, strict=True))
        spec = replace(self.spec, orientation="rows")
        return self._mapped(transpose, spec=spec, mask=mask)

    def rounded(self, change: Callable[[Exact], Exact]) -> Problem:
        """The problem with every input element x replaced by change(x); the scale stays what it is."""
        return self._mapped(lambda matrix: tuple(tuple(change(x) for x in row) for row in matrix))

    def _mapped(self, change: Callable[[Matrix], Matrix], **others: object) -> Problem:
        def on(matrix: Matrix | None) -> Matrix | None:
            return None if matrix is None else change(matrix)

        heads = tuple(Head(*(on(getattr(head, part)) for part in HEAD_PARTS)) for head in self.heads)
        return replace(self, heads=heads, X=on(self.X), W_O=on(self.W_O), bias=on(self.bias), **others)  # type: ignore[arg-type]

    def with_spec(self, **changes: object) -> Problem:
        """The same inputs under another reading."""
        return replace(self, spec=replace(self.spec, **changes))  # type: ignore[arg-type]

    @property
    def lengths(self) -> tuple[int, int]:
        """(L, S): how many queries and keys."""
        return _lengths(self.row_form)

    @property
    def scale(self) -> Exact:
        """The factor on the scores as an exact number."""
        if self.spec.scale is not None:
            return self.spec.scale
        d_k = self.names.get("d_k")
        if d_k is None:
            raise ProblemError("the scores are given without keys, so d_k is unknown: state `scale`")
        return power(d_k, Fraction(-1, 2))

    @property
    def allowed(self) -> Mask:
        """Which keys each query may see (mask and causal rule together). Shapes: (L, S), tokens as rows."""
        queries, keys = self.lengths
        seen = np.ones((queries, keys), dtype=np.bool_)
        if self.spec.causal != "none":
            offset = keys - queries if self.spec.causal == "bottom-right" else 0
            seen = np.tril(seen, offset)
        mask = self.row_form.mask
        return seen if mask is None else seen & np.array(mask, dtype=np.bool_)

    @property
    def names(self) -> Mapping[str, Fraction]:
        """The sizes by their usual names: d_model, d_k, d_v, n (keys), L, S, H; only those that are known."""
        form = self.row_form
        head, (queries, keys) = form.heads[0], _lengths(form)
        sizes = {"n": keys, "L": queries, "S": keys, "H": len(form.heads)}
        key = head.k if head.k is not None else head.W_K
        value = head.v if head.v is not None else head.W_V
        if key is not None:
            sizes["d_k"] = len(key[0])
        if value is not None:
            sizes["d_v"] = len(value[0])
        if form.X is not None:
            sizes["d_model"] = len(form.X[0])
        return {name: Fraction(size) for name, size in sizes.items()}


def transpose(matrix: Matrix) -> Matrix:
    """Rows and columns exchanged."""
    return tuple(zip(*matrix, strict=True))


def identity(size: int) -> Matrix:
    """The identity matrix of a size."""
    return tuple(tuple(Fraction(int(i == j)) for j in range(size)) for i in range(size))


def shape(matrix: Matrix) -> tuple[int, int]:
    """(rows, columns)."""
    return len(matrix), len(matrix[0])


HEAD_PARTS = ("W_Q", "W_K", "W_V", "q", "k", "v", "scores")


def _lengths(form: Problem, head: Head | None = None) -> tuple[int, int]:
    head = head or form.heads[0]
    if head.scores is not None:
        return shape(head.scores)
    tokens = 0 if form.X is None else len(form.X)
    return (tokens if head.q is None else len(head.q), tokens if head.k is None else len(head.k))


def _check(problem: Problem) -> None:
    """Every product and sum of a problem in row form has fitting shapes."""
    if not problem.heads:
        raise ProblemError("a problem needs at least one head")
    widths = [_check_head(problem, head, number) for number, head in enumerate(problem.heads)]
    length = _lengths(problem)
    for label, other in (("mask", problem.mask), ("bias", problem.bias)):
        if other is not None and (len(other), len(other[0])) != length:
            raise ProblemError(
                f"the {label} is {len(other)} x {len(other[0])} (queries x keys), but the scores are "
                f"{length[0]} x {length[1]}: give one entry for each score"
            )
    if problem.W_O is not None and len(problem.W_O) != sum(widths):
        raise ProblemError(
            f"W_O has {len(problem.W_O)} rows, but the concatenation of the heads is {sum(widths)} wide: "
            "tokens as rows, the output is concat W_O, so W_O needs H*d_v rows"
        )


def _check_head(problem: Problem, head: Head, number: int) -> int:
    """Checks one head in row form and returns its value width."""
    where = f"head {number}: " if problem.several_heads else ""
    width = {part: _width(problem, head, part, where) for part in (("v",) if head.scores else ("q", "k", "v"))}
    if not head.scores and width["q"] != width["k"]:
        raise ProblemError(
            f"{where}queries are {width['q']} wide and keys {width['k']}: q k^T needs equal widths, "
            "so check the shapes of W_Q and W_K (or Q and K)"
        )
    queries, keys = _lengths(problem, head)
    if (queries, keys) != _lengths(problem):
        raise ProblemError(f"{where}all heads must have the same number of queries and of keys")
    values = len(head.v) if head.v is not None else len(problem.X or ())
    if values != keys:
        raise ProblemError(f"{where}there are {keys} keys and {values} values: each key needs one value")
    return width["v"]


def _width(problem: Problem, head: Head, part: str, where: str) -> int:
    """The width of q, k or v of a head in row form."""
    given, projection = getattr(head, part), getattr(head, f"W_{part.upper()}")
    if given is not None:
        return len(given[0])
    if problem.X is None or projection is None:
        raise ProblemError(
            f"{where}no {part.upper()}: give {part.upper()} itself, or X together with W_{part.upper()}"
        )
    if len(projection) != len(problem.X[0]):
        raise ProblemError(
            f"{where}X has d_model = {len(problem.X[0])} and W_{part.upper()} is {len(projection)} x "
            f"{len(projection[0])} (tokens as rows): X W_{part.upper()} needs {len(problem.X[0])} rows"
        )
    return len(projection[0])

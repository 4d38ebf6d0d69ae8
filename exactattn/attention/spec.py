"""Which attention: its options (`AttentionSpec`), exact inputs (`Problem`) and named intermediates (`Stage`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Literal

import numpy as np

from exactattn.attention.fits import check, check_spec, lengths
from exactattn.attention.options import Alibi, Causal, MaskedRow, Orientation, QKNorm, Rotary, SoftcapOrder
from exactattn.errors import ProblemError
from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.exact import Exact, Matrix, power


class Stage(StrEnum):
    """A named intermediate of attention, in the order of the data flow.

    `q k v` projections; `q_ready k_ready` after norm and rotation, where there is one; `scores` = q k^T; `scaled`;
    `capped` where there is a softcap; `masked` (with the bias; -inf is shown where not allowed); `weights`; `lse`;
    `context` per head; `concat` of all heads; `output`.
    """

    Q = "q"
    K = "k"
    V = "v"
    Q_READY = "q_ready"
    K_READY = "k_ready"
    SCORES = "scores"
    SCALED = "scaled"
    CAPPED = "capped"
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


@dataclass(frozen=True, slots=True)
class AttentionSpec:
    """Which real function of the inputs is meant.

    scale          the factor on q k^T; None means 1/sqrt(d_k)
    base           the base of the exponential of the softmax; None means e
    lse_base       the base of the lse; None means that of the softmax
    causal         which keys a query may see by position p: all; j <= p, with query i at i, at i + S - L, or at
                   i + offset
    offset         the position of query 0, where a window, alibi or rotary positions need one; "end" puts the last
                   query at the last key; None means what causal says, else 0
    window         (left, right): p - left <= j <= p + right, both ends included; None leaves a side open
    softcap        c: scores become c tanh(score / c), after the scale
    softcap_order  before the bias; after it; or after the mask too, so that a blocked key has the score -c
    bias_place     a bias is added after the scale ("outside") or before it ("inside")
    alibi, rotary, qk_norm   see `attention/options.py`
    masked_row     what a row with no allowed key gives: nothing ("undefined"), zeros, equal weights of all keys
                   ("uniform"), or of those that the sequence has ("mean"). A row with a sink is not one.
    head_map       which key head a query head uses: "grouped" h // (H/H_kv), or "tiled" h mod H_kv
    orientation    tokens are rows (Q = X W_Q, scores Q K^T) or columns (Q = W_Q X, scores K^T Q, softmax down a column)
    """

    scale: Exact | None = None
    base: Exact | None = None
    causal: Causal = "none"
    orientation: Orientation = "rows"
    masked_row: MaskedRow = "undefined"
    lse_base: Exact | None = None
    offset: int | Literal["end"] | None = None
    window: tuple[int | None, int | None] = (None, None)
    softcap: Exact | None = None
    softcap_order: SoftcapOrder = "before-bias"
    bias_place: Literal["outside", "inside"] = "outside"
    alibi: Alibi | None = None
    rotary: Rotary | None = None
    qk_norm: QKNorm | None = None
    head_map: Literal["grouped", "tiled"] = "grouped"

    def __post_init__(self) -> None:
        check_spec(self)

    def first_position(self, queries: int, keys: int) -> int:
        """The position of query 0 among so many queries and keys."""
        if self.offset is not None and self.offset != "end":
            return int(self.offset)  # NumPy's integers too
        return keys - queries if self.causal == "bottom-right" or self.offset == "end" else 0


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

    Shapes are those of the orientation of the spec.

    mask, bias        which keys are allowed (L, S); what is added to the scores (L, S)
    several_heads     says that stages carry a head index, as the author declared heads
    sinks             a logit of each head that takes part in the sum of its rows, and has no value
    key_length        how many of the keys the sequence has; those after them are padding, and not allowed
    positions         where each query stands among the keys (L,); None means that the spec says so
    rotary_positions  (of queries, of keys) for rotary positions alone; None means those, and 0, 1, ..., S - 1
    ready             which of q and k are normed and rotated already
    """

    heads: tuple[Head, ...]
    X: Matrix | None = None
    W_O: Matrix | None = None
    spec: AttentionSpec = field(default_factory=AttentionSpec)
    mask: tuple[tuple[bool, ...], ...] | None = None
    bias: Matrix | None = None
    several_heads: bool = False
    sinks: tuple[Exact, ...] | None = None
    key_length: int | None = None
    positions: Sequence[int] | None = None
    rotary_positions: tuple[Sequence[int] | None, Sequence[int] | None] = (None, None)
    ready: Literal["none", "keys", "both"] = "none"

    def __post_init__(self) -> None:
        if self.spec.orientation == "columns":
            _ = self.row_form  # which checks itself
        else:
            check(self)

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

    def has(self, stage: Stage) -> bool:
        """Does this problem have the stage? (Scores given directly leave out q and k.)"""
        if stage in (Stage.Q, Stage.K):
            return self.heads[0].scores is None
        if stage in (Stage.Q_READY, Stage.K_READY):
            return self.spec.rotary is not None or self.spec.qk_norm is not None
        return stage is not Stage.CAPPED or self.spec.softcap is not None

    def with_spec(self, **changes: object) -> Problem:
        """The same inputs under another reading."""
        return replace(self, spec=replace(self.spec, **changes))  # type: ignore[arg-type]

    @property
    def lengths(self) -> tuple[int, int]:
        """(L, S): how many queries and keys."""
        return lengths(self.row_form)

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
    def query_positions(self) -> Sequence[int]:
        """Where each query stands among the keys. Shapes: (L,)."""
        if self.positions is not None:
            return self.positions
        queries, keys = self.lengths
        first = self.spec.first_position(queries, keys)
        return range(first, first + queries)

    @property
    def restricts(self) -> bool:
        """Is there anything that may keep a query from a key?"""
        spec, form = self.spec, self.row_form
        ruled = spec.causal != "none" or spec.window != (None, None)
        return ruled or form.mask is not None or self.key_length is not None

    @property
    def visible(self) -> Mask:
        """Which keys each query may see: mask, causal rule, window and length together. Shapes: (L, S), rows."""
        queries, keys = self.lengths
        seen = np.ones((queries, keys), dtype=np.bool_)
        left, right = self.spec.window
        if self.spec.causal != "none":
            right = 0 if right is None else min(right, 0)
        if (left, right) != (None, None):
            ahead = np.arange(keys) - np.asarray(self.query_positions)[:, np.newaxis]
            seen = seen if left is None else ahead >= -left
            seen = seen if right is None else seen & (ahead <= right)
        if self.key_length is not None:
            seen = seen & (np.arange(keys) < self.key_length)
        mask = self.row_form.mask
        return seen if mask is None else seen & np.asarray(mask, dtype=np.bool_)

    @property
    def allowed(self) -> Mask:
        """Which keys take part in the softmax: the visible ones, or all where a softcap comes after the mask."""
        seen = self.visible
        return np.ones_like(seen) if self.spec.softcap_order == "after-mask" else seen

    @property
    def names(self) -> Mapping[str, Fraction]:
        """The sizes by their usual names: d_model, d_k, d_v, n (keys), L, S, H; only those that are known."""
        form = self.row_form
        head, (queries, keys) = form.heads[0], lengths(form)
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

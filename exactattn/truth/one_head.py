"""One head of one sequence of float tensors, and the problem of some of its query rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.definition import ready
from exactattn.attention.gradient import before
from exactattn.attention.options import Causal
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.numbers.arithmetic import Arithmetic, Mask
from exactattn.numbers.exact import Exact, Matrix
from exactattn.numbers.near import Floats

Rows = NDArray[np.intp]
MOST_KEYS = 2**14  # more keys are looked at in tiles
CELLS = 2**21  # rows times keys that are looked at in one piece


@dataclass(frozen=True, slots=True, eq=False)
class OneHead:
    """Tensors of one head, each number meant exactly; any float type that float64 holds.

    Shapes: q (L, d), k (S, d), v (S, d_v); mask (L or 1, S or 1), which keys are allowed; bias (L or 1, S or 1).
    `spec` has the slope of this head alone. `bad_queries` (L,) and `bad_keys` (S,) are tokens with a NaN or an
    infinity; their elements count as 0 here, and rows that need them are undefined. `keyless`: the one key is there so
    that no array is empty; it is allowed nowhere.
    """

    q: Any
    k: Any
    v: Any
    spec: AttentionSpec
    mask: Mask | None = None
    bias: Floats | None = None
    sink: Exact | None = None
    key_length: int | None = None
    rotary_positions: tuple[Any, Any] = (None, None)
    bad_queries: Mask | None = None
    bad_keys: Mask | None = None
    keyless: bool = False

    @property
    def lengths(self) -> tuple[int, int]:
        """(L, S)."""
        return len(self.q), len(self.k)

    def width(self, stage: Stage) -> int:
        """How many elements a row has of the scores, the weights, the lse or the context."""
        if stage.order <= Stage.WEIGHTS.order:
            return 0 if self.keyless else self.lengths[1]
        return 1 if stage is Stage.LSE else int(self.v.shape[1])

    @property
    def first_position(self) -> int:
        """Where query 0 stands among the keys."""
        queries, keys = self.lengths
        return self.spec.first_position(queries, keys if self.key_length is None else self.key_length)

    def lifted(self, ar: Arithmetic[Any]) -> tuple[Any, Any]:
        """The keys after norm and rotation, and the values, in a number system: once for all row blocks."""
        k, v = (ar.lift(cast(Matrix, _clean(x, self.bad_keys))) for x in (self.k, self.v))
        if self.spec.rotary is not None or self.spec.qk_norm is not None:
            k = ready(self._of_keys(), ar, k, 0)
        return k, v

    def before_keys(self, ar: Arithmetic[Any], gradient: Any) -> Any:
        """The gradient of the keys from that of the keys that scores use."""
        if self.spec.rotary is None and self.spec.qk_norm is None:
            return gradient
        keys = ar.lift(cast(Matrix, _clean(self.k, self.bad_keys)))
        return before(self._of_keys(), ar, gradient, keys, queries=False)

    def _of_keys(self) -> Problem:
        """A problem of all keys and one query, which does not matter."""
        positions = (None, self.rotary_positions[1])
        one = replace(self, q=np.zeros((1, self.q.shape[1])), mask=None, bias=None, bad_queries=None)
        spec = replace(self.spec, bias_place="outside")  # there is no bias that it could be about
        return replace(one, spec=spec, rotary_positions=positions).problem(np.arange(1))

    def problem(self, rows: Rows, k: Any = None, v: Any = None) -> Problem:
        """The problem of some query rows, over float64 arrays; k and v as `lifted` has made them, or as they are.

        A problem only measures its matrices, and hands them to an arithmetic, which lifts arrays as they are.
        """
        keys = len(self.k)
        bad = None if self.bad_queries is None else self.bad_queries[rows]
        k = _clean(self.k, self.bad_keys) if (is_plain := k is None) else k
        v = _clean(self.v, self.bad_keys) if v is None else v
        first = self.first_position
        turned = self.rotary_positions[0]
        bias = None if self.bias is None else _rows_of(self.bias, rows, keys)
        return Problem(
            (Head(q=cast(Matrix, _clean(self.q[rows], bad)), k=k, v=v),),
            spec=self.spec,
            mask=cast(Any, None if self.mask is None else _rows_of(self.mask, rows, keys)),
            bias=cast("Matrix | None", bias),
            sinks=None if self.sink is None else (self.sink,),
            key_length=self.key_length,
            positions=cast(Any, rows + first),
            rotary_positions=(None if turned is None else turned[rows], self.rotary_positions[1]),
            ready="none" if is_plain else "keys",
        )

    def undefined(self, rows: Rows, stage: Stage = Stage.CONTEXT) -> Mask:
        """Which of some query rows have no value of a stage: no key is allowed, or a NaN or infinity takes part."""
        out = np.zeros(len(rows), dtype=np.bool_)
        if self.bad_queries is not None:
            out |= self.bad_queries[rows]
        rule = self.spec.masked_row
        ruled = rule in ("zero", "uniform") or (rule == "mean" and self.key_length != 0)
        lost = self.sink is None and (stage is Stage.LSE or not ruled)
        if not len(rows) or (not self.restricts() and self.bad_keys is None):
            return out
        step = max(1, CELLS // min(self.lengths[1], MOST_KEYS))
        if len(rows) > step:  # so that no array of all rows and keys is made
            return np.concatenate([self.undefined(rows[i : i + step], stage) for i in range(0, len(rows), step)])
        parts = [self] if self.lengths[1] <= MOST_KEYS else [part for _, _, part in self.tiles(MOST_KEYS)]
        seen = np.zeros(len(rows), dtype=np.bool_)
        for part in parts:
            allowed = part.allowed(rows)
            seen |= allowed.any(axis=1)
            if part.bad_keys is not None:
                out |= (allowed & part.bad_keys).any(axis=1)
        if self.bad_keys is not None and self.sink is None and rule in ("uniform", "mean"):
            kept = self.key_length if rule == "mean" else None
            out |= ~seen & self.bad_keys[:kept].any()
        return np.asarray(out | (~seen & lost))

    def tiles(self, size: int) -> Iterator[tuple[int, int, OneHead]]:
        """The head over each tile of so many keys, with its ends; rows with no key in a tile have zeros.

        Exact value: positions move with the keys, so that each query sees the keys of the tile that it sees of all.
        """
        queries, keys = self.lengths
        first, spec, turned = self.first_position, self.spec, self.rotary_positions[0]
        placed = (
            spec.causal != "none" or spec.window != (None, None) or spec.alibi is not None or spec.rotary is not None
        )
        causal: Causal = "none" if spec.causal == "none" else "offset"
        for start in range(0, keys, size):
            stop = min(start + size, keys)
            length = None if self.key_length is None else min(max(self.key_length - start, 0), stop - start)
            one = replace(
                self,
                k=self.k[start:stop],
                v=self.v[start:stop],
                spec=replace(spec, causal=causal, offset=first - start if placed else None, masked_row="zero"),
                mask=_columns(self.mask, start, stop),
                bias=_columns(self.bias, start, stop),
                sink=None,
                key_length=length,
                rotary_positions=(first + np.arange(queries) if turned is None else turned, None),
                bad_keys=None if self.bad_keys is None else self.bad_keys[start:stop],
            )
            yield start, stop, one

    def allowed(self, rows: Rows) -> Mask:
        """Which keys take part in some rows. Shapes: (n,) -> (n, S)."""
        return self.problem_of_none(rows).allowed

    def problem_of_none(self, rows: Rows) -> Problem:
        """The problem of some rows with zeros for keys and values, for who asks about neither; they take no memory."""
        k, v = (np.broadcast_to(0.0, x.shape) for x in (self.k, self.v))
        return self.problem(rows, k, v)

    def restricts(self) -> bool:
        """Is there anything that may keep a query from a key?"""
        spec = self.spec
        ruled = spec.causal != "none" or spec.window != (None, None)
        return ruled or self.mask is not None or self.key_length is not None


def _columns(array: Any, start: int, stop: int) -> Any:
    return array if array is None or array.shape[1] == 1 else array[:, start:stop]


def _rows_of(array: Any, rows: Rows, keys: int) -> Any:
    """Some rows of an array of (L or 1, S or 1), in full width."""
    part = array if len(array) == 1 else array[rows]
    return np.broadcast_to(part, (len(rows), keys))


def _clean(x: Any, bad: Mask | None) -> Floats:
    """float64, in which each number is exact, with zeros in place of tokens that have a NaN or an infinity."""
    out = np.ascontiguousarray(x, dtype=np.float64)
    if bad is not None and bad.any():
        out = np.where(bad[:, np.newaxis], 0.0, out)
    return out

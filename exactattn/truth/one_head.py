"""One head of one sequence of float tensors, and the problem of some of its query rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.definition import ready
from exactattn.attention.gradient import before
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.numbers.arithmetic import Arithmetic, Mask
from exactattn.numbers.exact import Exact, Matrix
from exactattn.numbers.near import Floats

Rows = NDArray[np.intp]


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
        queries, keys = self.lengths
        bad = None if self.bad_queries is None else self.bad_queries[rows]
        k = _clean(self.k, self.bad_keys) if (is_plain := k is None) else k
        v = _clean(self.v, self.bad_keys) if v is None else v
        first = self.spec.first_position(queries, keys if self.key_length is None else self.key_length)
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
        if not self._restricts() and self.bad_keys is None:
            return out
        allowed = self.allowed(rows)
        empty = np.asarray(~allowed.any(axis=1))
        if self.bad_keys is not None:
            takes = allowed
            if self.sink is None and rule in ("uniform", "mean"):
                takes = allowed | empty[:, np.newaxis]
            out |= (takes & self.bad_keys).any(axis=1)
        return np.asarray(out | (empty & lost))

    def allowed(self, rows: Rows) -> Mask:
        """Which keys take part in some rows. Shapes: (n,) -> (n, S)."""
        return self.problem(rows).allowed

    def _restricts(self) -> bool:
        """Is there anything that may keep a query from a key?"""
        spec = self.spec
        ruled = spec.causal != "none" or spec.window != (None, None)
        return ruled or self.mask is not None or self.key_length is not None


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

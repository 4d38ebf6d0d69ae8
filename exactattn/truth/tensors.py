"""Attention over float tensors: heads of q, k, v as arrays, and the problem of some of their query rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.spec import AttentionSpec, Head, Problem
from exactattn.errors import ProblemError
from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.exact import Matrix
from exactattn.numbers.near import Floats

WANTED = "give float64, float32, float16, bfloat16 or 8-bit floats"


@dataclass(frozen=True, slots=True, eq=False)
class Tensors:
    """A spec and float64 tensors, each number meant exactly.

    Shapes: q (H, L, d), k (H, S, d), v (H, S, d_v); mask, which keys are allowed, and bias (L, S), for every head.
    """

    q: Floats
    k: Floats
    v: Floats
    spec: AttentionSpec
    mask: Mask | None = None
    bias: Floats | None = None

    @staticmethod
    def of(q: Any, k: Any, v: Any, spec: AttentionSpec | None = None, mask: Any = None, bias: Any = None) -> Tensors:
        """From arrays of any float type that float64 holds; a tensor of two axes is one head.

        Errors: ProblemError for what is not an array of finite floats, or for shapes that do not fit.
        """
        queries, keys, values = _headed(q, "q"), _headed(k, "k"), _headed(v, "v")
        seen = None if mask is None else np.asarray(mask)
        if seen is not None and seen.dtype != np.bool_:
            raise ProblemError(f"the mask has type {seen.dtype}: give booleans, true where a key is allowed")
        added = None if bias is None else exact_floats(bias, "bias")
        _check(queries, keys, values, seen, added)
        out = Tensors(queries, keys, values, spec or AttentionSpec(), seen, added)
        if out.spec.orientation != "rows":
            raise ProblemError("tensors have tokens as rows: transpose them, and leave out the orientation")
        return out

    @property
    def shape(self) -> tuple[int, int, int]:
        """(H, L, S)."""
        heads, queries, _ = self.q.shape
        return heads, queries, self.k.shape[1]

    def allowed(self, rows: NDArray[np.intp]) -> Mask | None:
        """Which keys some query rows may see; None where all see all. Shapes: (n,) -> (n, S)."""
        _, queries, keys = self.shape
        if self.spec.causal == "none":
            return None if self.mask is None else self.mask[rows]
        offset = keys - queries if self.spec.causal == "bottom-right" else 0
        seen = np.arange(keys) <= rows[:, np.newaxis] + offset
        return seen if self.mask is None else seen & self.mask[rows]

    def undefined(self, rows: NDArray[np.intp]) -> Mask:
        """Which of some query rows have no value, as no key is allowed."""
        seen = self.allowed(rows)
        if seen is None or self.spec.masked_row == "zero":
            return np.zeros(len(rows), dtype=np.bool_)
        return np.asarray(~seen.any(axis=1))

    def floats(self, head: int, rows: NDArray[np.intp], k: Any, v: Any) -> Problem:
        """The problem of some query rows of one head, over float arrays; k and v as an arithmetic has lifted them.

        A problem only measures its matrices, and hands them to an arithmetic that lifts arrays as they are.
        """
        bias = None if self.bias is None else self.bias[rows]
        return self._rows(rows, Head(q=cast(Matrix, self.q[head][rows]), k=k, v=v), cast("Matrix | None", bias))

    def exactly(self, head: int, rows: NDArray[np.intp]) -> Problem:
        """The same over fractions, for any arithmetic."""
        inputs = Head(q=_fractions(self.q[head][rows]), k=_fractions(self.k[head]), v=_fractions(self.v[head]))
        return self._rows(rows, inputs, None if self.bias is None else _fractions(self.bias[rows]))

    def _rows(self, rows: NDArray[np.intp], head: Head, bias: Matrix | None) -> Problem:
        mask = cast("tuple[tuple[bool, ...], ...] | None", self.allowed(rows))
        return Problem((head,), spec=replace(self.spec, causal="none"), mask=mask, bias=bias)


def exact_floats(x: Any, label: str) -> Floats:
    """An array as float64, which holds each number exactly. Errors: ProblemError for anything else."""
    array = np.asarray(x)
    # ml_dtypes' types have kind V or f; what is not a float of at most 8 bytes is refused
    is_float = array.dtype.kind == "f" or array.dtype.name.startswith(("bfloat16", "float8"))
    if not is_float or array.dtype.itemsize > 8:
        raise ProblemError(f"{label} has type {array.dtype}: {WANTED}")
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise ProblemError(f"{label} has shape {array.shape}: give (heads, tokens, width) or (tokens, width), none 0")
    out = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(out).all():
        at = [int(i) for i in np.argwhere(~np.isfinite(out))[0]]
        raise ProblemError(f"{label}{at} is {out[tuple(at)]}: attention of it is no number; mask that token or mend it")
    return out


def _headed(x: Any, label: str) -> Floats:
    """An array of two axes as one head."""
    array = exact_floats(x, label)
    return array[np.newaxis] if array.ndim == 2 else array


def _check(q: Floats, k: Floats, v: Floats, mask: Mask | None, bias: Floats | None) -> None:
    if not (len(q) == len(k) == len(v) and q.shape[2] == k.shape[2] and k.shape[1] == v.shape[1]):
        raise ProblemError(
            f"q {q.shape}, k {k.shape} and v {v.shape} do not fit: wanted (H, L, d), (H, S, d), (H, S, d_v); "
            "repeat shared key heads"
        )
    for label, other in (("mask", mask), ("bias", bias)):
        if other is not None and other.shape != (q.shape[1], k.shape[1]):
            raise ProblemError(f"the {label} has shape {other.shape}, wanted (L, S) = {(q.shape[1], k.shape[1])}")


def _fractions(x: Floats) -> Matrix:
    return tuple(tuple(map(Fraction, row)) for row in x.tolist())

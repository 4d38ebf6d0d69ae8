"""Proven enclosures of the gradients of attention over float tensors: dq, dk, dv, and those of a bias and of sinks."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn import plugins
from exactattn.attention.gradient import Gradients, constant_rows, gradients, seen_keys
from exactattn.attention.spec import Stage
from exactattn.errors import ProblemError
from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.exact import ZERO
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.float_pairs import FloatPairs
from exactattn.truth.layouts import checked
from exactattn.truth.one_head import OneHead
from exactattn.truth.tensors import Tensors

CELLS = 2**19  # scores of one block; a gradient has a few such arrays at a time


@dataclass(frozen=True, slots=True, eq=False)
class HeadGradients:
    """One head's gradients in some number system, before heads that share keys are added up.

    Shapes: q row blocks (n, d); k (S, d) of the keys that scores use, v (S, d_v); bias row blocks, where asked for, or
    one block where the bias has one row; sink (1, 1) or None. `still` (S,): keys whose gradient is exactly 0. `lost`
    (L,): rows with no value whose output gradient is not 0.
    """

    q: list[Any]
    k: Any
    v: Any
    bias: list[Any]
    sink: Any
    still: Mask
    lost: Mask


@dataclass(frozen=True, slots=True, eq=False)
class TensorGradients:
    """Enclosures laid out as q, k and v were; bias with four axes, each as long as that of the bias; sinks (H,)."""

    q: FloatEnclosure
    k: FloatEnclosure
    v: FloatEnclosure
    bias: FloatEnclosure | None = None
    sinks: FloatEnclosure | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """What is to be enclosed, and how: the arithmetic, its way to floats, which gradients, the size of blocks."""

    ar: Any
    floats: Any
    bias: bool = False
    block: int | None = None


def enclose_gradients(
    tensors: Tensors,
    output_gradient: Any,
    lse_gradient: Any = None,
    *,
    bias: bool = False,
    sharp: bool = False,
    block: int | None = None,
    workers: int = 1,
) -> TensorGradients:
    """The gradients of a loss with these gradients of the outputs (and of the lse), by midradius.

    Shapes: output_gradient as the outputs are laid out, lse_gradient the same with width 1. `bias` asks for the
    gradient of the bias, which takes as much memory as it. `workers` is a number of threads.
    A row with no value needs an output gradient of 0; else its dq, and dk and dv of its head, are undefined.

    Errors: ProblemError for another shape, or a gradient that is not finite.
    """
    engine = plugins.get("engines", "midradius")
    wanted = Wanted(engine.arithmetic(sharp, spend=True), engine.floats, bias, block)
    return _enclosed(tensors, wanted, output_gradient, lse_gradient, workers)


def enclose_gradients_by_balls(
    tensors: Tensors,
    output_gradient: Any,
    lse_gradient: Any = None,
    *,
    bits: int = 113,
    bias: bool = False,
    block: int | None = None,
) -> TensorGradients:
    """The same by balls with so many bits, as float64 midpoint and radius.

    Errors: those of `enclose_gradients`; TooCoarse where so many bits give no finite ball.
    """
    engine = plugins.get("engines", "ball")

    def floats(array: Any) -> FloatEnclosure:
        return FloatPairs(*engine.floats(array)).floats()

    with engine.precision(bits):
        wanted = Wanted(engine.arithmetic(whole=True), floats, bias, block)
        return _enclosed(tensors, wanted, output_gradient, lse_gradient, 1)


def _enclosed(
    tensors: Tensors, wanted: Wanted, output_gradient: Any, lse_gradient: Any, workers: int
) -> TensorGradients:
    """Every head, heads that share keys, a bias or a sink added up, as floats."""
    given = _given(tensors, output_gradient, "output_gradient")
    lses = [None] * len(given) if lse_gradient is None else _given(tensors, lse_gradient, "lse_gradient", 1)
    with ThreadPoolExecutor(max(1, workers)) as pool:
        one = partial(head_gradients, wanted)
        found = list((pool.map if workers > 1 else map)(one, tensors.heads, given, lses))
    add, floats = wanted.ar.add, wanted.floats
    q = [
        _marked(_stacked([floats(x) for x in one.q], head.q.shape[1]), one.lost)
        for one, head in zip(found, tensors.heads, strict=True)
    ]
    keys: list[FloatEnclosure] = []
    values: list[FloatEnclosure] = []
    for group in _groups(tensors):
        head, lost = tensors.heads[group[0]], any(found[i].lost.any() for i in group)
        dk, dv = (reduce(add, [getattr(found[i], part) for i in group]) for part in ("k", "v"))
        still = np.logical_and.reduce([found[i].still for i in group])
        dk = _cleared(wanted.ar, head.before_keys(wanted.ar, dk), still, head.k.shape[1])
        for out, array in ((keys, dk), (values, dv)):
            done = _marked(floats(array), lost)
            out.append(FloatEnclosure(done.mid[:0], done.rad[:0]) if head.keyless else done)
    return TensorGradients(
        _laid_out(tensors, q, tensors.shape[1]),
        _laid_out(tensors, keys, tensors.key_heads),
        _laid_out(tensors, values, tensors.key_heads),
        _bias(tensors, wanted, found) if wanted.bias and tensors.bias_shape else None,
        None if found[0].sink is None else _sinks(tensors, wanted, found),
    )


def head_gradients(wanted: Wanted, head: OneHead, g: Any, dl: Any = None) -> HeadGradients:
    """The gradients of one head, block by block of its rows.

    Proof: exact zeros stand where nothing reaches: dv of a key that no row sees, dk of one that is seen only by rows
    whose weights do not depend on the scores.
    """
    ar, (queries, keys) = wanted.ar, head.lengths
    k, v = head.lifted(ar)
    lost = head.undefined(np.arange(queries)) & g.any(axis=1)
    if dl is not None:
        lost |= head.undefined(np.arange(queries), Stage.LSE) & dl.any(axis=1)
    out = HeadGradients([], None, None, [], None, lost, lost)
    seen, moved = np.zeros(keys, np.bool_), np.zeros(keys, np.bool_)
    size = wanted.block or min(512, max(32, CELLS // keys))
    for start in range(0, queries, size):
        rows = np.arange(start, min(start + size, queries))
        problem = head.problem(rows, k, v)
        dl_rows = None if dl is None else _kept(dl, rows, lost)
        done = gradients(problem, ar, _kept(g, rows, lost), dl_rows, with_bias=wanted.bias)
        out = _with(wanted, head, out, done, len(rows))
        if head.restricts() or keys == 1:
            allowed = seen_keys(problem)
            seen |= allowed.any(axis=0)
            moved |= allowed[~constant_rows(problem, dl is not None)].any(axis=0)
        else:
            seen[:] = moved[:] = True
    if queries == 0:
        out = replace(out, k=ar.lift(np.zeros(head.k.shape)), v=ar.lift(np.zeros(head.v.shape)))
    return replace(out, v=_cleared(ar, out.v, ~seen, head.v.shape[1]), still=~moved)


def _with(wanted: Wanted, head: OneHead, out: HeadGradients, done: Gradients[Any], count: int) -> HeadGradients:
    """With one more block of rows."""
    ar = wanted.ar
    ones = ar.lift(np.ones((count, 1)))
    bias, sink = out.bias, out.sink
    if wanted.bias and head.bias is not None:
        part = ar.row_sum(done.bias) if head.bias.shape[1] == 1 else done.bias
        if len(head.bias) == 1:
            part = ar.transposed_matmul(ones, part)
            bias = [ar.add(bias[0], part)] if bias else [part]
        else:
            bias = [*bias, part]
    if done.sink is not None:
        part = ar.transposed_matmul(ones, done.sink)
        sink = _plus(ar, sink, part)
    return replace(
        out, q=[*out.q, done.q], k=_plus(ar, out.k, done.k_ready), v=_plus(ar, out.v, done.v), bias=bias, sink=sink
    )


def _plus(ar: Any, a: Any, b: Any) -> Any:
    """The sum; None is nothing."""
    return b if a is None else ar.add(a, b)


def _cleared(ar: Any, array: Any, rows: Mask, width: int) -> Any:
    """Exact zeros in some rows."""
    return ar.fill(array, np.broadcast_to(rows[:, np.newaxis], (len(rows), width)), ZERO) if rows.any() else array


def _kept(g: Any, rows: NDArray[np.intp], lost: Mask) -> Any:
    """Some rows as float64, zeros where nothing can be said."""
    return np.where(lost[rows][:, np.newaxis], 0.0, np.asarray(g[rows], dtype=np.float64))


def _given(tensors: Tensors, x: Any, label: str, width: int | None = None) -> list[Any]:
    """The gradient of the outputs, an array a head. Errors: ProblemError for another shape or what is not finite."""
    array = checked(x, label)
    if not np.isfinite(array).all():
        raise ProblemError(
            f"the {label} has a NaN or an infinity: gradients are linear in it, so none of them is a number"
        )
    parts = tensors.split(array)
    for part, head in zip(parts, tensors.heads, strict=True):
        wanted = (len(head.q), width or head.v.shape[1])
        if part.shape != wanted:
            raise ProblemError(f"the {label} has {part.shape} a head, wanted {wanted}: the shape of the outputs")
    return parts


def _groups(tensors: Tensors) -> list[list[int]]:
    """The heads that share a key head, by sequence and key head."""
    heads = tensors.shape[1]
    out: dict[tuple[int, int], list[int]] = {}
    for sequence in range(len(tensors.heads) // heads):
        for h in range(heads):
            out.setdefault((sequence, tensors.key_head(h)), []).append(sequence * heads + h)
    return [out[place] for place in sorted(out)]


def _bias(tensors: Tensors, wanted: Wanted, found: Sequence[HeadGradients]) -> FloatEnclosure:
    """The gradient of the bias: added up over the sequences and heads that share it."""
    assert tensors.bias_shape is not None
    batch, many, *_ = tensors.bias_shape
    sums: dict[tuple[int, int], list[Any]] = {}
    for i, one in enumerate(found):
        place = min(i // tensors.shape[1], batch - 1), min(i % tensors.shape[1], many - 1)
        before = sums.get(place)
        blocks = one.bias if before is None else [wanted.ar.add(a, b) for a, b in zip(before, one.bias, strict=True)]
        sums[place] = blocks
    parts = [_stacked([wanted.floats(x) for x in sums[place]], tensors.bias_shape[3]) for place in sorted(sums)]
    mid, rad = (
        np.stack([getattr(part, name) for part in parts]).reshape(tensors.bias_shape) for name in ("mid", "rad")
    )
    out = FloatEnclosure(mid, rad)
    lost = any(one.lost.any() for one in found)
    return _marked(out, np.full(out.shape, True)) if lost else out


def _sinks(tensors: Tensors, wanted: Wanted, found: Sequence[HeadGradients]) -> FloatEnclosure:
    """The gradient of each head's sink: added up over the sequences."""
    heads = tensors.shape[1]
    sums = [reduce(wanted.ar.add, [one.sink for one in found[h::heads]]) for h in range(heads)]
    parts = [wanted.floats(x) for x in sums]
    out = FloatEnclosure(np.array([p.mid[0, 0] for p in parts]), np.array([p.rad[0, 0] for p in parts]))
    return _marked(out, np.array([any(one.lost.any() for one in found[h::heads]) for h in range(heads)]))


def _marked(out: FloatEnclosure, lost: Any) -> FloatEnclosure:
    """Undefined where so marked: a mask of rows, or all."""
    out.mid[lost], out.rad[lost] = np.nan, np.nan
    return out


def _stacked(parts: Sequence[FloatEnclosure], width: int) -> FloatEnclosure:
    """Row blocks as one."""
    none = [np.empty((0, width))]
    return FloatEnclosure(
        np.concatenate([p.mid for p in parts] or none), np.concatenate([p.rad for p in parts] or none)
    )


def _laid_out(tensors: Tensors, parts: Sequence[FloatEnclosure], heads: int) -> FloatEnclosure:
    return FloatEnclosure(
        tensors.assembled([p.mid for p in parts], heads), tensors.assembled([p.rad for p in parts], heads)
    )

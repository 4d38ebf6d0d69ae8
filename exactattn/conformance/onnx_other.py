"""ONNX's Softmax, LogSoftmax and RotaryEmbedding, their expected outputs judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from exactattn import plugins
from exactattn.attention.contract import PrecisionContract
from exactattn.attention.definition import row_softmax
from exactattn.attention.options import Rotary
from exactattn.attention.positions import rotated
from exactattn.conformance.judging import Within, format_of, within
from exactattn.conformance.onnx_nodes import NodeCase
from exactattn.errors import ProblemError
from exactattn.numbers.arithmetic import Arithmetic, Mask
from exactattn.numbers.formats import Format
from exactattn.truth.contracted import ContractArithmetic
from exactattn.truth.layouts import with_batch

A = TypeVar("A")


def judged_other(case: NodeCase, accumulation: Format | None = None) -> dict[str, Within]:
    """The expected output of a node test of one of the operators.

    Errors: ProblemError for a type or shape that is not the operator's.
    """
    judge = {"Softmax": _softmax, "LogSoftmax": _softmax, "RotaryEmbedding": _rotary}[case.operator]
    (name,) = case.outputs
    return {name: judge(case, accumulation)}


def _judged(
    given: NDArray[Any], formula: Callable[[Arithmetic[Any], Any], Any], data: NDArray[Any], accumulation: Format | None
) -> Within:
    """A matrix of floats, what the formula makes of each number in both arithmetics, and what was expected."""
    fmt = format_of(given)
    if fmt is None:
        raise ProblemError(f"the input has type {given.dtype}, which is not one of our formats")
    floats = np.ascontiguousarray(given, dtype=np.float64)
    engine, rounding = (
        plugins.get("engines", "midradius"),
        ContractArithmetic(PrecisionContract.uniform(fmt, accumulation=accumulation)),
    )
    truth = engine.floats(formula(engine.arithmetic(sharp=True), floats))
    return within(data, truth, formula(rounding, floats), fmt)


def log_softmax(ar: Arithmetic[A], logits: A, allowed: Mask) -> A:
    """The logarithm of the softmax of each row. Shapes: (n, m). Exact value: (s - m) - log sum e^(s - m)."""
    less = ar.sub_column(logits, ar.shift(logits, allowed))
    return ar.sub_column(less, ar.log(ar.row_sum(ar.exp(less, allowed))))


def _softmax(case: NodeCase, accumulation: Format | None) -> Within:
    """Along one axis, the last unless another is named (from opset 13 on)."""
    axis = case.attributes.get("axis", -1)
    x, y = (np.moveaxis(array, axis, -1) for array in (case.inputs["input"], case.outputs["output"]))
    x, y = (array.reshape(-1, array.shape[-1]) for array in (x, y))
    allowed = np.ones(x.shape, dtype=np.bool_)

    def formula(ar: Arithmetic[Any], given: Any) -> Any:
        logits = ar.lift(given)
        if case.operator == "LogSoftmax":
            return log_softmax(ar, logits, allowed)
        return row_softmax(ar, logits, allowed)[0]

    return _judged(x, formula, y, accumulation)


def _rotary(case: NodeCase, accumulation: Format | None) -> Within:
    """Head by head. Shapes: X (B, H, L, d) or (B, L, H*d); caches (positions, width/2), or (B, L, width/2)."""
    x, y = (_heads(array, case) for array in (case.inputs["X"], case.outputs["Y"]))
    batch, _, tokens, width = x.shape
    caches = [case.inputs[name] for name in ("cos_cache", "sin_cache")]
    ids = case.inputs.get("position_ids")
    parts = []
    for b in range(batch):
        cosines, sines = (np.asarray(cache if cache.ndim == 2 else cache[b], dtype=np.float64) for cache in caches)
        rotary = Rotary(
            case.attributes.get("rotary_embedding_dim") or None,
            layout="interleaved" if case.attributes.get("interleaved") else "halves",
            cache=(cosines, sines),
        )
        positions = range(tokens) if ids is None else [int(i) for i in ids[b]]

        def formula(ar: Arithmetic[Any], given: Any, rotary: Rotary = rotary, positions: Any = positions) -> Any:
            return rotated(ar, ar.lift(given), width, rotary, positions)

        parts += [_judged(one, formula, data, accumulation) for one, data in zip(x[b], y[b], strict=True)]
    return Within.joined(parts)


def _heads(x: NDArray[Any], case: NodeCase) -> NDArray[Any]:
    """(B, H, L, d)."""
    return x if x.ndim == 4 else with_batch(x, "X", "BLD", case.attributes.get("num_heads"))

"""The gradients of attention: dq, dk, dv, and those of a bias and of a sink, once, over an `Arithmetic`.

For a loss with gradients dO of the context and dL of the lse (natural), with weights P and delta_i = dO_i . O_i:

    dv = P^T dO      dP = dO v^T      dS = P o (dP - delta + dL)      d sink_i = -p_sink (delta_i - dL_i)
    softcap: dS o (1 - tanh^2)      d scores = scale dS      dq = d scores k      dk = d scores^T q

then back through the rotation, which is its transpose, and the norm. Rows are independent; dk and dv are sums over all
rows. Source: Dao et al. 2022 (arXiv 2205.14135), appendix B.2, with softcap, sinks and bias by the chain rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from exactattn.attention.definition import (
    fallback,
    masked_scores,
    powers_and_total,
    projected,
    rotary_positions,
    sink_column,
    with_fallback,
)
from exactattn.attention.options import QKNorm
from exactattn.attention.positions import root_of_squares, turned_back
from exactattn.attention.spec import Problem, Stage
from exactattn.numbers.arithmetic import Arithmetic, Mask
from exactattn.numbers.exact import ONE, ZERO, div, log, mul

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Gradients(Generic[A]):
    """The gradients of one head. Shapes: q (L, d), k (S, d), v (S, d_v); bias (L, S); sink (L, 1), a part of each row.

    `k_ready` is that of the keys as scores use them; `before` leads from it to the keys before norm and rotation.
    """

    q: A
    k_ready: A
    v: A
    bias: A | None
    sink: A | None


def gradients(
    form: Problem,
    ar: Arithmetic[A],
    output_gradient: Any,
    lse_gradient: Any = None,
    number: int = 0,
    with_bias: bool = True,
) -> Gradients[A]:
    """The gradients of one head of a problem in row form.

    Shapes: output_gradient (L, d_v), lse_gradient (L, 1), exact or lifted. Exact value: the formulas above. Rows with
    one key and no sink, and rows with none, have exactly zero d scores: their weights do not depend on the scores.
    """
    out: dict[tuple[Stage, int], A] = {}

    def keep(stage: Stage, head: int, value: A, /) -> A:
        out[stage, head] = value
        return value

    spec, head = form.spec, form.heads[number]
    v = projected(form, ar, head, "v")
    masked = masked_scores(form, ar, head, number, keep, Stage.CONTEXT)
    assert masked is not None
    log_base = ONE if spec.base is None else log(spec.base)
    logits, allowed = with_fallback(form, ar, masked if spec.base is None else ar.scale(masked, log_base))
    sink = sink_column(form, ar, number)
    powers, total, _, lost = powers_and_total(ar, logits, allowed, sink=sink)
    # P and dP appear as powers and dP / total: dividing the narrow dO spares a pass over all weights
    share = ar.div_column(ar.lift(output_gradient), total)
    inner = ar.row_sum(ar.mul(share, ar.matmul(powers, v)))
    if lse_gradient is not None:
        lse_base = spec.lse_base or spec.base
        natural = ONE if lse_base is None else div(ONE, log(lse_base))
        inner = ar.sub(inner, ar.scale(ar.lift(lse_gradient), natural))
    inner = ar.div_column(inner, total)
    d_logits = ar.mul(powers, ar.sub_column(ar.matmul_transposed(share, v), inner))
    constant = constant_rows(form, lse_gradient is not None)
    d_logits = _without(ar, d_logits, constant)
    d_inside, d_bias = _through_scores(form, ar, d_logits, out.get((Stage.CAPPED, number)))
    factor = mul(form.scale, log_base)
    x = out[Stage.Q, number]
    q, k = (out.get((ready, number), out.get((plain, number))) for ready, plain in READY)
    assert q is not None
    assert k is not None
    return Gradients(
        _without(ar, before(form, ar, ar.scale(ar.matmul(d_inside, k), factor), x, queries=True), constant),
        ar.scale(ar.transposed_matmul(d_inside, q), factor),
        ar.transposed_matmul(powers, share),
        ar.scale(d_bias, factor if spec.bias_place == "inside" else log_base) if with_bias else None,
        None if lost is None else ar.scale(ar.mul_column(lost, inner), mul(Fraction(-1), log_base)),
    )


READY = ((Stage.Q_READY, Stage.Q), (Stage.K_READY, Stage.K))


def constant_rows(form: Problem, with_lse: bool = False) -> Mask:
    """The rows whose weights do not depend on the scores: no key, or one key and no sink. Shapes: (L,).

    With a gradient of the lse only those with no key: the lse of one key is its score.
    """
    if not form.restricts and form.lengths[1] > 1:
        return np.zeros(form.lengths[0], dtype=np.bool_)
    seen = np.count_nonzero(form.allowed, axis=1)
    return np.asarray(seen == 0 if form.sinks is not None or with_lse else seen <= 1)


def seen_keys(form: Problem) -> Mask:
    """The keys with a weight, by the mask or by the rule for rows with none. Shapes: (L, S)."""
    those = fallback(form)
    return form.allowed if those is None else form.allowed | those


def _without(ar: Arithmetic[A], a: A, rows: Mask) -> A:
    """Exact zeros in some rows."""
    if not rows.any():
        return a
    return ar.fill(a, np.broadcast_to(rows[:, np.newaxis], (len(rows), _width(a))), ZERO)


def _width(a: Any) -> int:
    return int(a.shape[1])


def _through_scores(form: Problem, ar: Arithmetic[A], d_masked: A, capped: A | None) -> tuple[A, A]:
    """The gradients of the scaled scores and of what the bias is added to, from that of the masked scores."""
    spec = form.spec
    d_inside = d_masked
    if spec.softcap is not None:
        assert capped is not None
        slope = ar.scale(capped, div(ONE, spec.softcap))
        slope = ar.scale(ar.mul(slope, slope), Fraction(-1))
        one = ar.fill(slope, np.ones(form.allowed.shape, dtype=np.bool_), ONE)
        d_inside = ar.mul(d_masked, ar.add(one, slope))
        if spec.softcap_order == "after-mask":  # a blocked key has the score -c whatever q and k are
            d_inside = ar.fill(d_inside, ~form.visible, ZERO)
    outside = spec.bias_place == "outside" and spec.softcap_order == "before-bias"
    return d_inside, d_masked if outside else d_inside


def before(form: Problem, ar: Arithmetic[A], d_ready: A, x: A, *, queries: bool) -> A:
    """The gradient of q or k (x itself) from that of what scores are made of. Shapes: (n, d), (n, d) -> (n, d).

    Exact value: y = w o x / r with r^2 = c sum x^2 + eps has dx = (u - x c (x . u) / r^2) / r, u = w o dy.
    """
    norm, rotary = form.spec.qk_norm, form.spec.rotary
    size = (_height(x), int(form.names["d_k"]))
    if rotary is not None:
        d_ready = turned_back(ar, d_ready, size[1], rotary, rotary_positions(form, queries))
    if norm is None:
        return d_ready
    return _through_norm(ar, d_ready, x, size, norm, norm.q_weight if queries else norm.k_weight)


def _height(x: Any) -> int:
    return int(x.shape[0])


def _through_norm(
    ar: Arithmetic[A], dy: A, x: A, size: tuple[int, int], norm: QKNorm, weight: Sequence[Any] | None
) -> A:
    root = root_of_squares(ar, x, size, norm)
    u = dy if weight is None else ar.mul(dy, ar.lift((tuple(weight),) * size[0]))
    along = ar.row_sum(ar.mul(x, u))
    if norm.kind == "rms":
        along = ar.scale(along, Fraction(1, size[1]))
    along = ar.div_column(ar.div_column(along, root), root)
    return ar.div_column(ar.sub(u, ar.mul_column(x, along)), root)

"""Attention, stage by stage: the one text of the formula, over an `Arithmetic`.

    q = X W_Q    k = X W_K    v = X W_V    q, k normed and rotated, where the spec says so
    scores = q k^T      scaled = scale * scores      capped = c tanh(scaled / c)
    masked = capped + bias + slope * distance, where allowed (a bias inside goes before the scale)
    weights_ij = base^masked_ij / (sum_l base^masked_il + base^sink)  over the allowed l
    lse_i = log_base (sum_l base^masked_il + base^sink)
    context = weights v      concat = [context of head 0, head 1, ...]      output = concat W_O

Source: Vaswani et al. 2017 (arXiv 1706.03762), section 3.2, with the log-sum-exp of the row beside it; softcap as in
Gemma 2 (arXiv 2408.00118, section 2), sinks as in gpt-oss and Miller 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from exactattn.attention.positions import distances, normed, rotated
from exactattn.attention.spec import Head, Problem, Stage
from exactattn.numbers.arithmetic import Arithmetic, Cells, Mask
from exactattn.numbers.exact import ONE, ZERO, Exact, div, log, mul, neg

A = TypeVar("A")
Where = tuple[Stage, int]
Given = Mapping[Where, Cells]


@dataclass(frozen=True, slots=True)
class Attended(Generic[A]):
    """What an algorithm makes of one head: context (L, d_v), lse (L, 1), and weights (L, S) where they are formed."""

    context: A
    lse: A
    weights: A | None = None


class Algorithm(Protocol):
    """Softmax attention of one head from its logits; `sink` is a column of logits that have no value."""

    def __call__(self, ar: Arithmetic[A], logits: A, allowed: Mask, v: A, *, sink: A | None = None) -> Attended[A]:
        """Shapes: logits (L, S), allowed (L, S), v (S, d_v), sink (L, 1)."""


class Keep(Protocol[A]):
    """Keeps a stage of a head, and gives what is used in its place."""

    def __call__(self, stage: Stage, head: int, value: A, /) -> A:
        """The value that later stages use."""


def stages(
    problem: Problem,
    ar: Arithmetic[A],
    given: Given | None = None,
    until: Stage = Stage.OUTPUT,
    algorithm: Algorithm | None = None,
) -> dict[Where, A]:
    """Every stage up to `until`, each head's under (stage, head); concat and output under head 0.

    Shapes: those of tokens as rows, whatever the orientation of the problem. Exact value: the formulas above, with
    the elements in `given` put in place of the computed ones before anything later uses them: what follows from
    somebody's own earlier numbers. An `algorithm` replaces the softmax and what follows it in the head; it has the
    same real value. A row with no allowed key gives zeros and lse 0, or what the spec says; `undefined_rows` names
    those that have no value.
    """
    form = problem.row_form
    out: dict[Where, A] = {}

    def keep(stage: Stage, head: int, value: A, /) -> A:
        cells = (given or {}).get((stage, head))
        out[stage, head] = ar.override(value, cells) if cells else value
        return out[stage, head]

    for number, head in enumerate(form.heads):
        _head(form, ar, head, number, keep, until, algorithm)
    if until.per_head:
        return out
    concat = keep(Stage.CONCAT, 0, ar.join([out[Stage.CONTEXT, h] for h in range(len(form.heads))]))
    if until is Stage.OUTPUT:
        keep(Stage.OUTPUT, 0, concat if form.W_O is None else ar.matmul(concat, ar.lift(form.W_O)))
    return out


def _head(
    form: Problem,
    ar: Arithmetic[A],
    head: Head,
    number: int,
    keep: Keep[A],
    until: Stage,
    algorithm: Algorithm | None,
) -> None:
    """The stages of one head, in row form."""
    base = form.spec.base
    v = keep(Stage.V, number, projected(form, ar, head, "v"))
    masked = masked_scores(form, ar, head, number, keep, until)
    if masked is None or until.order <= Stage.MASKED.order:
        return
    logits = masked if base is None else ar.scale(masked, log(base))
    logits, allowed = with_fallback(form, ar, logits)
    sink = sink_column(form, ar, number)
    if algorithm is None:
        weights, lse = row_softmax(ar, logits, allowed, sink=sink)
        context = ar.matmul(keep(Stage.WEIGHTS, number, weights), v)
    else:
        done = algorithm(ar, logits, allowed, v, sink=sink)
        lse, context = done.lse, done.context
        if done.weights is not None:
            keep(Stage.WEIGHTS, number, done.weights)
    lse_base = form.spec.lse_base or base
    keep(Stage.LSE, number, lse if lse_base is None else ar.scale(lse, div(ONE, log(lse_base))))
    keep(Stage.CONTEXT, number, context)


def sink_column(form: Problem, ar: Arithmetic[A], number: int) -> A | None:
    """The sink of a head as a column, a logit in base e."""
    if form.sinks is None:
        return None
    x = form.sinks[number]
    x = x if form.spec.base is None else mul(x, log(form.spec.base))
    return ar.lift(((x,),) * form.lengths[0])


def with_fallback(form: Problem, ar: Arithmetic[A], logits: A) -> tuple[A, Mask]:
    """The logits and which keys take part: under the rules "uniform" and "mean", equal ones in rows with no key."""
    those = fallback(form)
    return (logits, form.allowed) if those is None else (ar.fill(logits, those, ZERO), form.allowed | those)


def fallback(form: Problem) -> Mask | None:
    """The keys that share the weight of rows with none, by the rules "uniform" and "mean"; None for no such row."""
    if form.spec.masked_row not in ("uniform", "mean") or form.sinks is not None:
        return None
    allowed = form.allowed
    empty = ~occupied(allowed)
    if not empty.any():
        return None
    those = np.broadcast_to(empty, allowed.shape)
    if form.spec.masked_row == "mean" and form.key_length is not None:
        those = those & (np.arange(allowed.shape[1]) < form.key_length)
    return those


def masked_scores(form: Problem, ar: Arithmetic[A], head: Head, number: int, keep: Keep[A], until: Stage) -> A | None:
    """Scores, scaled, capped and biased; None when `until` comes before them."""
    spec = form.spec
    if head.scores is not None:
        scores = ar.lift(head.scores)
    else:
        q = ready(form, ar, keep(Stage.Q, number, projected(form, ar, head, "q")), number, keep, Stage.Q_READY)
        k = ready(form, ar, keep(Stage.K, number, projected(form, ar, head, "k")), number, keep, Stage.K_READY)
        if until.order < Stage.SCORES.order:
            return None
        scores = ar.matmul_transposed(q, k)
    scores = keep(Stage.SCORES, number, scores)
    if until is Stage.SCORES:
        return None
    if spec.bias_place == "inside":
        scores = _biased(form, ar, scores, number)
    logits = keep(Stage.SCALED, number, ar.scale(scores, form.scale))
    if spec.softcap is not None and spec.softcap_order == "before-bias":
        logits = keep(Stage.CAPPED, number, _capped(ar, logits, spec.softcap))
    if spec.bias_place == "outside":
        logits = _biased(form, ar, logits, number)
    if spec.softcap is not None and spec.softcap_order != "before-bias":
        logits = _capped(ar, logits, spec.softcap)
        if spec.softcap_order == "after-mask":  # the limit of c tanh(s / c) as s goes to -infinity
            logits = ar.fill(logits, ~form.visible, neg(spec.softcap))
        logits = keep(Stage.CAPPED, number, logits)
    return keep(Stage.MASKED, number, logits)


def ready(
    form: Problem, ar: Arithmetic[A], x: A, number: int, keep: Keep[A] | None = None, stage: Stage = Stage.K_READY
) -> A:
    """q or k after the norm and the rotation of the spec: what scores are made of."""
    norm, rotary = form.spec.qk_norm, form.spec.rotary
    if form.ready == "both" or (form.ready == "keys" and stage is Stage.K_READY) or not (norm or rotary):
        return x
    queries = stage is Stage.Q_READY
    size = (form.lengths[not queries], int(form.names["d_k"]))
    if norm is not None:
        x = normed(ar, x, size, norm, norm.q_weight if queries else norm.k_weight)
    if rotary is not None:
        x = rotated(ar, x, size[1], rotary, rotary_positions(form, queries))
    return x if keep is None else keep(stage, number, x)


def rotary_positions(form: Problem, queries: bool) -> Sequence[int]:
    """Where the queries, or the keys, stand for rotary positions."""
    own = form.rotary_positions[not queries]
    if own is not None:
        return own
    return form.query_positions if queries else range(form.lengths[1])


def _capped(ar: Arithmetic[A], logits: A, cap: Exact) -> A:
    """c tanh(s / c)."""
    return ar.scale(ar.tanh(ar.scale(logits, div(ONE, cap))), cap)


def _biased(form: Problem, ar: Arithmetic[A], logits: A, number: int) -> A:
    """With the bias and ALiBi's."""
    if form.bias is not None:
        logits = ar.add(logits, ar.lift(form.bias))
    alibi = form.spec.alibi
    if alibi is not None:
        far = ar.lift(distances(alibi, form.query_positions, form.lengths[1]))
        logits = ar.add(logits, ar.scale(far, alibi.slopes[number]))
    return logits


def projected(form: Problem, ar: Arithmetic[A], head: Head, part: str) -> A:
    """q, k or v of a head: as given, or X times its projection."""
    given, projection = getattr(head, part), getattr(head, f"W_{part.upper()}")
    if given is not None:
        return ar.lift(given)
    assert form.X is not None
    return ar.matmul(ar.lift(form.X), ar.lift(projection))


def row_softmax(
    ar: Arithmetic[A], logits: A, allowed: Mask, shifted: bool = True, sink: A | None = None
) -> tuple[A, A]:
    """Softmax of each row over the allowed keys, and its log-sum-exp.

    Shapes: (n, m), (n, m) -> weights (n, m), lse (n, 1); sink (n, 1). Exact value: weights_ij = e^(s_ij) / z and
    lse_i = log z, z = sum_l e^(s_il) over allowed keys, plus e^sink, with or without the shift: e^(s - m) / sum
    e^(s - m) has the factor e^(-m) above and below. A row with nothing allowed and no sink gives zeros and lse 0.
    """
    powers, total, shift, _ = powers_and_total(ar, logits, allowed, shifted, sink)
    lse = ar.log(total) if shift is None else ar.add(shift, ar.log(total))
    return ar.div_column(powers, total), lse


def powers_and_total(
    ar: Arithmetic[A], logits: A, allowed: Mask, shifted: bool = True, sink: A | None = None
) -> tuple[A, A, A | None, A | None]:
    """What a softmax divides, and by what: e^(s - m) (n, m), their sum (n, 1), m, and the sink's power in the sum."""
    every = np.ones((len(allowed), 1), dtype=np.bool_)
    shift = ar.shift(logits, allowed, None if sink is None else (sink, every)) if shifted else None
    powers = ar.exp(logits if shift is None else ar.sub_column(logits, shift), allowed)
    total = ar.row_sum(powers)
    if sink is None:
        return powers, fill_rows(ar, total, ~occupied(allowed), one=True), shift, None
    lost = ar.exp(sink if shift is None else ar.sub_column(sink, shift), every)
    return powers, ar.add(total, lost), shift, lost


def occupied(allowed: Mask) -> Mask:
    """Which rows have a key at all. Shapes: (n, m) -> (n, 1)."""
    return np.asarray(np.any(allowed, axis=1, keepdims=True), dtype=np.bool_)


def fill_rows(ar: Arithmetic[A], column: A, rows: Mask, *, one: bool) -> A:
    """The column with 1 or 0 in some rows, so that an empty row divides by 1 and takes the logarithm of 1."""
    if not rows.any():
        return column
    return ar.override(column, {(int(i), 0): ONE if one else ZERO for i in np.nonzero(rows[:, 0])[0]})


def undefined_rows(problem: Problem, stage: Stage = Stage.WEIGHTS) -> frozenset[int]:
    """The query rows without a value of a stage, as no key is allowed there.

    Weights and what follows are there under every rule but "undefined"; the lse of such a row is the logarithm of 0
    under each. A row with a sink has values.
    """
    if problem.sinks is not None:
        return frozenset()
    rule = problem.spec.masked_row
    if stage is not Stage.LSE and rule != "undefined" and not (rule == "mean" and problem.key_length == 0):
        return frozenset()
    return frozenset(int(i) for i in np.nonzero(~problem.allowed.any(axis=1))[0])

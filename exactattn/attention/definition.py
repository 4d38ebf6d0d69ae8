"""Attention, stage by stage: the one text of the formula, over an `Arithmetic`.

    q = X W_Q    k = X W_K    v = X W_V
    scores = q k^T      scaled = scale * scores      masked = scaled + bias, where allowed
    weights_ij = base^masked_ij / sum_l base^masked_il  over the allowed l
    lse_i = log_base sum_l base^masked_il
    context = weights v      concat = [context of head 0, head 1, ...]      output = concat W_O

Source: Vaswani et al. 2017 (arXiv 1706.03762), section 3.2, with the log-sum-exp of the row beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from exactattn.attention.spec import Head, Problem, Stage
from exactattn.numbers.arithmetic import Arithmetic, Cells, Mask
from exactattn.numbers.exact import ONE, ZERO, div, log

A = TypeVar("A")
Where = tuple[Stage, int]
Given = Mapping[Where, Cells]


@dataclass(frozen=True, slots=True)
class Attended(Generic[A]):
    """What an algorithm makes of one head: context (L, d_v), lse (L, 1), and weights (L, S) where they are formed."""

    context: A
    lse: A
    weights: A | None = None


Algorithm = Callable[[Arithmetic[Any], Any, Mask, Any], Attended[Any]]


class _Keep(Protocol[A]):
    def __call__(self, stage: Stage, head: int, value: A, /) -> A: ...


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
    same real value. A row with no allowed key gives zeros and lse 0; `undefined_rows` names such rows.
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
    keep: _Keep[A],
    until: Stage,
    algorithm: Algorithm | None,
) -> None:
    """The stages of one head, in row form."""
    base = form.spec.base
    v = keep(Stage.V, number, _projected(form, ar, head, "v"))
    masked = _masked(form, ar, head, number, keep, until)
    if masked is None or until.order <= Stage.MASKED.order:
        return
    logits = masked if base is None else ar.scale(masked, log(base))
    if algorithm is None:
        weights, lse = row_softmax(ar, logits, form.allowed)
        context = ar.matmul(keep(Stage.WEIGHTS, number, weights), v)
    else:
        done = algorithm(ar, logits, form.allowed, v)
        lse, context = done.lse, done.context
        if done.weights is not None:
            keep(Stage.WEIGHTS, number, done.weights)
    keep(Stage.LSE, number, lse if base is None else ar.scale(lse, div(ONE, log(base))))
    keep(Stage.CONTEXT, number, context)


def _masked(
    form: Problem, ar: Arithmetic[A], head: Head, number: int, keep: _Keep[A], until: Stage
) -> A | None:
    """Scores, scaled and biased; None when `until` comes before them."""
    if head.scores is not None:
        scores = ar.lift(head.scores)
    else:
        q = keep(Stage.Q, number, _projected(form, ar, head, "q"))
        k = keep(Stage.K, number, _projected(form, ar, head, "k"))
        if until.order < Stage.SCORES.order:
            return None
        scores = ar.matmul_transposed(q, k)
    scores = keep(Stage.SCORES, number, scores)
    if until is Stage.SCORES:
        return None
    scaled = keep(Stage.SCALED, number, ar.scale(scores, form.scale))
    return keep(Stage.MASKED, number, scaled if form.bias is None else ar.add(scaled, ar.lift(form.bias)))


def _projected(form: Problem, ar: Arithmetic[A], head: Head, part: str) -> A:
    """q, k or v of a head: as given, or X times its projection."""
    given, projection = getattr(head, part), getattr(head, f"W_{part.upper()}")
    if given is not None:
        return ar.lift(given)
    assert form.X is not None
    return ar.matmul(ar.lift(form.X), ar.lift(projection))


def row_softmax(ar: Arithmetic[A], logits: A, allowed: Mask, shifted: bool = True) -> tuple[A, A]:
    """Softmax of each row over the allowed keys, and its log-sum-exp.

    Shapes: (n, m), (n, m) -> weights (n, m), lse (n, 1). Exact value: weights_ij = e^(s_ij) / sum_l e^(s_il) and
    lse_i = log sum_l e^(s_il), over allowed keys, with or without the shift: e^(s - m) / sum e^(s - m) has the
    factor e^(-m) above and below. A row with nothing allowed gives zeros and lse 0.
    """
    shift = ar.shift(logits, allowed) if shifted else None
    powers = ar.exp(logits if shift is None else ar.sub_column(logits, shift), allowed)
    total = fill_rows(ar, ar.row_sum(powers), ~occupied(allowed), one=True)
    lse = ar.log(total) if shift is None else ar.add(shift, ar.log(total))
    return ar.div_column(powers, total), lse


def occupied(allowed: Mask) -> Mask:
    """Which rows have a key at all. Shapes: (n, m) -> (n, 1)."""
    return np.asarray(np.any(allowed, axis=1, keepdims=True), dtype=np.bool_)


def fill_rows(ar: Arithmetic[A], column: A, rows: Mask, *, one: bool) -> A:
    """The column with 1 or 0 in some rows, so that an empty row divides by 1 and takes the logarithm of 1."""
    if not rows.any():
        return column
    return ar.override(column, {(int(i), 0): ONE if one else ZERO for i in np.nonzero(rows[:, 0])[0]})


def undefined_rows(problem: Problem) -> frozenset[int]:
    """The query rows that have no allowed key under the rule "undefined": no weights, lse, context or output."""
    if problem.spec.masked_row == "zero":
        return frozenset()
    return frozenset(int(i) for i in np.nonzero(~problem.allowed.any(axis=1))[0])

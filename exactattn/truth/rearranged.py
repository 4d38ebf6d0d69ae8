"""Readings of a problem that change more than a number: the softmax axis, a transpose, the order, the mask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from exactattn.attention.definition import Given, row_softmax, stages
from exactattn.attention.spec import Problem, Stage
from exactattn.numbers.elementwise import Array
from exactattn.numbers.exact import ZERO, Exact, log
from exactattn.truth.closed import Closed

MOST_CELLS = 400  # scores of all heads; each weight becomes an expression over the scores it is normalised by
Cells = dict[tuple[int, int, int], Exact]  # weights by (head, query, key)


def other_masks(problem: Problem) -> Iterator[tuple[str, Problem]]:
    """The problem without its mask, or with a causal one."""
    if problem.allowed.all():
        yield "mask=causal", problem.with_spec(causal="top-left")
    else:
        yield "mask=none", replace(problem, mask=None).with_spec(causal="none")


def rearranged_weights(problem: Problem, given: Given | None = None) -> Iterator[tuple[str, Cells]]:
    """Weights as they come out under other arrangements, by the name of the reading. Shapes: tokens as rows.

    `given` are elements of earlier stages in place of the computed ones.
    """
    queries, keys = problem.lengths
    if queries * keys * len(problem.heads) > MOST_CELLS:
        return
    ar, form, allowed = Closed(), problem.row_form, problem.allowed
    found = stages(problem, ar, given, until=Stage.LSE)
    logits = [found[Stage.MASKED, h] for h in range(len(form.heads))]
    if form.spec.base is not None:
        logits = [ar.scale(s, log(form.spec.base)) for s in logits]
    weights = [found[Stage.WEIGHTS, h] for h in range(len(form.heads))]
    if allowed.any(axis=0).all():
        yield "softmax_axis=queries", _cells([row_softmax(ar, s.T, allowed.T)[0].T for s in logits])
    if queries == keys and allowed.all():
        yield "scores=transposed", _cells([row_softmax(ar, s.T, allowed)[0] for s in logits])
    yield "weights=reversed", _cells([w[:, ::-1] for w in weights])
    if not allowed.all():
        everything = np.ones_like(allowed)
        unmasked = [row_softmax(ar, s, everything)[0] for s in logits]
        yield "mask=after_softmax", _cells([_zeroed(w, allowed) for w in unmasked])


def _zeroed(weights: Array, allowed: Any) -> Array:
    out = weights.copy()
    out[~allowed] = ZERO
    return out


def _cells(heads: list[Array]) -> Cells:
    return {(h, i, j): x for h, w in enumerate(heads) for i, row in enumerate(w) for j, x in enumerate(row)}

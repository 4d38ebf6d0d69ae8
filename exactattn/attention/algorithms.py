"""How machines compute softmax attention of one head: naive, shifted, online and split-and-merge.

Each is one text over an `Arithmetic`. They have one real value, which the laws `online-softmax` and
`split-and-merge` decide for all inputs at stated shapes; in floats they differ in what overflows and what rounds.

Shapes everywhere: logits (L, S), allowed (L, S), v (S, d_v) -> context (L, d_v), lse (L, 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from exactattn.attention.definition import Algorithm, Attended, fill_rows, occupied, row_softmax
from exactattn.numbers.arithmetic import Arithmetic, Mask

A = TypeVar("A")


def naive(ar: Arithmetic[A], logits: A, allowed: Mask, v: A, *, sink: A | None = None) -> Attended[A]:
    """exp of the logits as they are; overflows once a logit passes ln(max)."""
    weights, lse = row_softmax(ar, logits, allowed, shifted=False, sink=sink)
    return Attended(ar.matmul(weights, v), lse, weights)


def shifted(ar: Arithmetic[A], logits: A, allowed: Mask, v: A, *, sink: A | None = None) -> Attended[A]:
    """exp after subtracting the row maximum; cannot overflow in exp."""
    weights, lse = row_softmax(ar, logits, allowed, sink=sink)
    return Attended(ar.matmul(weights, v), lse, weights)


def online(ar: Arithmetic[A], logits: A, allowed: Mask, v: A, *, sink: A | None = None, tile: int = 2) -> Attended[A]:
    """One pass over tiles of keys, rescaling what was summed whenever the shift changes. A sink is seen first.

    Source: Milakov and Gimelshein 2018 (arXiv 1805.02867), algorithm 3; tiled as in FlashAttention.
    """
    size = allowed.shape[1]
    seen = np.zeros((allowed.shape[0], 1), dtype=np.bool_)
    shift = total = acc = None
    if sink is not None:
        seen = ~seen
        shift = ar.shift(sink, seen)
        total = ar.exp(ar.sub_column(sink, shift), seen)
    for start in range(0, size, tile):
        part = ar.columns(logits, start, min(start + tile, size))
        here = allowed[:, start : start + tile]
        new = ar.shift(part, here, None if shift is None else (shift, seen))
        powers = ar.exp(ar.sub_column(part, new), here)
        part_total, part_acc = ar.row_sum(powers), ar.matmul(powers, ar.rows(v, start, min(start + tile, size)))
        if shift is not None and total is not None:
            factor = ar.exp(ar.sub_column(shift, new), seen)
            part_total = ar.add(ar.mul_column(total, factor), part_total)
            part_acc = part_acc if acc is None else ar.add(ar.mul_column(acc, factor), part_acc)
        shift, total, acc, seen = new, part_total, part_acc, seen | occupied(here)
    assert shift is not None
    assert total is not None
    assert acc is not None
    total = fill_rows(ar, total, ~seen, one=True)
    return Attended(ar.div_column(acc, total), ar.add(shift, ar.log(total)))


def split(ar: Arithmetic[A], logits: A, allowed: Mask, v: A, *, sink: A | None = None, parts: int = 2) -> Attended[A]:
    """Independent attention over parts of the keys, merged by their lse.

    Exact value: context = sum_p e^(lse_p - lse) context_p with lse = log sum_p e^(lse_p): a softmax over the parts.
    Source: FlashDecoding's split over keys; merge as in flash-attention's combine step.
    """
    size = allowed.shape[1]
    cuts = sorted({round(size * p / parts) for p in range(parts + 1)})
    pieces: list[Attended[A]] = []
    for start, stop in pairwise(cuts):
        part = ar.columns(logits, start, stop)
        pieces.append(shifted(ar, part, allowed[:, start:stop], ar.rows(v, start, stop)))
    has_keys = np.concatenate([occupied(allowed[:, start:stop]) for start, stop in pairwise(cuts)], axis=1)
    return merge(ar, pieces, has_keys, sink=sink)


def merge(ar: Arithmetic[A], pieces: Sequence[Attended[A]], has_keys: Mask, *, sink: A | None = None) -> Attended[A]:
    """Attention over all keys from attention over parts of them: a softmax over their lse.

    Shapes: has_keys (L, parts), false where a part has no allowed key and its lse means nothing; sink (L, 1).
    Exact value: context = sum_p e^(lse_p - lse) context_p, lse = log(sum_p e^lse_p + e^sink).
    """
    shares, lse = row_softmax(ar, ar.join([piece.lse for piece in pieces]), has_keys, sink=sink)
    context = ar.mul_column(pieces[0].context, ar.columns(shares, 0, 1))
    for number, piece in enumerate(pieces[1:], start=1):
        context = ar.add(context, ar.mul_column(piece.context, ar.columns(shares, number, number + 1)))
    return Attended(context, lse)


ALGORITHMS: dict[str, Algorithm] = {"naive": naive, "shifted": shifted, "online": online, "split": split}

"""Law `online-softmax`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from exactattn.attention.algorithms import online
from exactattn.laws.law import THOROUGH, Algebra, Decision, is_thorough
from exactattn.laws.proof import Proof, full, same_as_softmax


class OnlineSoftmax:
    """One pass over tiles of keys with rescaled sums gives exactly softmax attention, whatever is subtracted.

    Statement: the online algorithm's context and lse equal those of softmax attention, for all scores and values, any
    tile size, any mask that leaves a key, and any shifts: each tile's shift is a variable here, the running maximum
    that machines take being one value of it. Masks include a first tile with nothing allowed.
    Derivation, by induction over the tiles: with shift m after some keys, total = e^-m sum e^(s_j) and
    acc = e^-m sum e^(s_j) v_j over the keys seen. Going to shift m' multiplies both by e^(m - m') and adds the new
    keys' terms: the same with m'. At the end acc/total has no m in it, and m + ln total = ln sum e^(s_j).
    Source: Milakov and Gimelshein 2018 (arXiv 1805.02867); FlashAttention (arXiv 2205.14135).
    """

    name = "online-softmax"
    statement = "online (tiled) softmax attention equals softmax attention, context and lse, for every shift"
    options = THOROUGH

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for three keys in tiles of 1, 2 and 3, and masked (thorough: five keys, tiles of 2)."""
        cases = [(full(1, 3), tile) for tile in (1, 2, 3)] + [(masked(), 1)]
        if is_thorough(self, options):
            cases += [(full(1, 4), 2), (full(1, 5), 2), (masked(), 2)]
        proof, shapes = Proof(algebra(free_shifts=True)), []
        for allowed, tile in cases:
            rows, size = allowed.shape
            shapes.append(f"L={rows}, S={size}, d_v=1, tile {tile}{'' if allowed.all() else ', masked'}")
            same_as_softmax(proof, shapes[-1], allowed, partial(online, tile=tile))
        return proof.decision(
            self.statement,
            shapes,
            "for all scores, values and shifts at the stated sizes, by algebra; for every number of keys and tile size "
            "by the induction of the derivation, for every d_v column by column",
            {"context": "sum_j e^(s_j) v_j / sum_l e^(s_l)", "lse": "log(sum_l e^(s_l))"},
        )


def masked() -> Any:
    """Two rows of three keys; the first key of the first row, the first tile, is not allowed."""
    return np.array([[False, True, True], [True, False, True]])


LAW = OnlineSoftmax()

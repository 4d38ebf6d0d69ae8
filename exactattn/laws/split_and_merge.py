"""Law `split-and-merge`."""

from __future__ import annotations

from functools import partial

import numpy as np

from exactattn.attention.algorithms import split
from exactattn.laws.law import THOROUGH, Algebra, Decision, is_thorough
from exactattn.laws.proof import Proof, full, same_as_softmax


class SplitAndMerge:
    """Attention over parts of the keys, merged by their lse, is exactly attention over all keys.

    Statement: with context_p and lse_p of part p, lse = ln sum_p e^(lse_p) and context = sum_p e^(lse_p - lse)
    context_p are those of all keys, for all scores and values, any cuts, any mask that leaves a key, and any shifts; a
    part with nothing allowed has weight 0 in the merge.
    Derivation: e^(lse_p) = Z_p, the sum of the part's exponentials, and Z_p context_p = sum_(j in p) e^(s_j) v_j;
    adding over p gives numerator and denominator of the whole.
    Source: Flash-Decoding (Dao et al. 2023); Milakov and Gimelshein 2018 (arXiv 1805.02867), section 3.1.
    """

    name = "split-and-merge"
    statement = "attention over parts of the keys merged by lse equals attention over all keys, context and lse"
    options = THOROUGH

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for three keys in two and three parts, and masked (thorough: four and five keys)."""
        empty_part = np.array([[False, False, True], [True, True, False]])
        cases = [(full(1, 3), 2), (full(1, 3), 3), (empty_part, 2)]
        if is_thorough(self, options):
            cases += [(full(1, 4), 2), (full(1, 4), 4), (full(1, 5), 2)]
        proof, shapes = Proof(algebra(free_shifts=True)), []
        for allowed, parts in cases:
            rows, size = allowed.shape
            shapes.append(f"L={rows}, S={size}, d_v=1, {parts} parts{'' if allowed.all() else ', one of them masked'}")
            same_as_softmax(proof, shapes[-1], allowed, partial(split, parts=parts))
        return proof.decision(
            self.statement,
            shapes,
            "for all scores, values and shifts at the stated sizes, by algebra; for every number of keys and parts by "
            "the derivation, for every d_v column by column",
            {"lse": "log(sum_p e^(lse_p))", "context": "sum_p e^(lse_p - lse) context_p"},
        )


LAW = SplitAndMerge()

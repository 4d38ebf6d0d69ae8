"""Law `weights-in-unit-interval`."""

from __future__ import annotations

import numpy as np

from exactattn.attention.definition import row_softmax
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.proof import Proof, causal, full


class WeightsInUnitInterval:
    """Softmax weights lie strictly between 0 and 1 for two keys or more, and finite scores; with one key it is 1.

    Statement: 0 < a_j < 1 for all j when n >= 2 keys are allowed; a_1 = 1 when n = 1. In particular every output
    combines all allowed values, its own included, each with a weight > 0.
    Derivation: a_j = e_j / (e_1 + ... + e_n) with every e_l = e^(s_l) > 0, so a_j > 0; and 1 - a_j is the sum of the
    other e_l over the same denominator, > 0 as soon as there is another key.
    What it is not: a masked key has weight exactly 0, so under a causal mask an output does not combine all
    positions (claim it with `mask: causal` and it fails). Finite scores only: a score of -inf is a mask. In floats a
    weight can underflow to 0 or round to 1. A positive weight does not mean that the value can be read off the
    output: it may be 0, or cancel.
    """

    name = "weights-in-unit-interval"
    statement = "every weight is strictly between 0 and 1 (two or more keys, finite scores); with one key it is 1"
    options = THOROUGH | {"mask": "none, or causal: is every weight > 0 under a causal mask too?"}

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for one to three keys (thorough: five); under `mask: causal` it fails."""
        sizes = range(2, 6 if is_thorough(self, options) else 4)
        proof = Proof(algebra())
        if choice(options, "mask", "none", "causal") == "causal":
            return self._causal(proof)
        for size in (1, *sizes):
            weights, _ = row_softmax(proof.ar, proof.ar.symbols("s", 1, size), full(1, size))
            if size == 1:
                proof.equal("one key: its weight is 1", weights, 1)
                continue
            proof.positive(f"{size} keys: every weight is > 0", weights.flat)
            proof.positive(f"{size} keys: 1 minus every weight is > 0", (1 - weights).flat)
        return proof.decision(
            self.statement,
            [f"S={size}" for size in (1, *sizes)],
            "for all finite real scores at the stated sizes, no key masked; for every number of keys by the "
            "derivation: a quotient of sums of positive terms",
            {"weight": "e^(s_j)/sum_l e^(s_l)", "1 - weight": "sum_(l != j) e^(s_l)/sum_l e^(s_l)"},
        )

    def _causal(self, proof: Proof) -> Decision:
        allowed = causal(2)
        weights, _ = row_softmax(proof.ar, proof.ar.symbols("s", 2, 2), allowed)
        zero = proof.equal("causal mask, 2 tokens: the weight of the later token is 0", weights[~allowed], 0)
        proof.equal("causal mask, 2 tokens: the first row is [1, 0]", weights[0], np.array([1, 0], dtype=object))
        found = zero is zero.YES
        return proof.decision(
            "every weight is strictly between 0 and 1 under a causal mask",
            ["L=S=2 causal"],
            "for all real scores; a masked key has weight 0 at every size, by definition",
            {"first row": "[1, 0, ..., 0]"},
            "two tokens, any scores: the first row of weights is [1, 0]" if found else None,
        )


LAW = WeightsInUnitInterval()

"""Law `shift-invariance`."""

from __future__ import annotations

from exactattn.attention.definition import row_softmax
from exactattn.laws.law import THOROUGH, Algebra, Decision, is_thorough
from exactattn.laws.proof import Proof, causal, full


class ShiftInvariance:
    """Adding one number to all scores of a row leaves its weights as they are and adds the number to its lse.

    Statement: softmax(s + c) = softmax(s) and lse(s + c) = lse(s) + c, for all real scores s and all real c, one c
    for each row. So the row maximum may be subtracted before the exponential.
    Derivation: e^(s_j + c) = e^c e^(s_j); the factor e^c stands above and below, and ln(e^c Z) = c + ln Z.
    """

    name = "shift-invariance"
    statement = "softmax(s + c) = softmax(s) and lse(s + c) = lse(s) + c, row by row"
    options = THOROUGH

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for two rows of one to three keys (thorough: five), and under a causal mask."""
        sizes = range(1, 6 if is_thorough(self, options) else 4)
        proof = Proof(algebra())
        cases = [(f"{size} keys", full(1, size)) for size in sizes] + [("causal mask, 3 tokens", causal(3))]
        for what, allowed in cases:
            ar, rows = proof.ar, allowed.shape[0]
            scores, c = ar.symbols("s", *allowed.shape), ar.symbols("c", rows, 1)
            weights, lse = row_softmax(ar, scores, allowed)
            moved_weights, moved_lse = row_softmax(ar, ar.sub_column(scores, -c), allowed)
            proof.equal(f"{what}: softmax(s + c) = softmax(s)", moved_weights, weights)
            proof.equal(f"{what}: lse(s + c) = lse(s) + c", moved_lse, ar.add(lse, c))
        return proof.decision(
            self.statement,
            [f"S={size}" for size in sizes] + ["L=S=3 causal"],
            "for all real scores and shifts at the stated sizes, by algebra; for every number of keys by the "
            "derivation: e^c is a factor above and below",
            {"weights": "e^(s_j + c)/sum_l e^(s_l + c) = e^(s_j)/sum_l e^(s_l)"},
        )


LAW = ShiftInvariance()

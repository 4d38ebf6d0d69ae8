"""Law `rows-sum-to-one`."""

from __future__ import annotations

from exactattn.attention.definition import row_softmax
from exactattn.laws.law import THOROUGH, Algebra, Decision, is_thorough
from exactattn.laws.proof import Proof, causal, full


class RowsSumToOne:
    """The softmax weights of every row sum to exactly 1, whatever the scores, and whatever is masked.

    Statement: sum_j a_ij = 1 with a_ij = e^s_ij / sum_l e^s_il, over the allowed keys of row i, for all real scores
    s; a row needs at least one allowed key. (With `thorough`, after any shift too: e^(s_ij - m_i).)
    Derivation: the denominator of a row is the sum of its numerators; so the weights sum to that sum divided by
    itself. It is not 0, as every exponential is > 0.
    Weights that were rounded to steps of h sum to within n h/2 of 1, by the triangle inequality. The converse is not
    true: a printed row may sum to 1 and be wrong, as 0.3, 0.3, 0.4 in document N.
    Source: Vaswani et al. 2017 (arXiv 1706.03762), equation 1.
    """

    name = "rows-sum-to-one"
    statement = "the weights of every row sum to 1"
    options = THOROUGH

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for one to three keys (thorough: five), all allowed, and under a causal mask."""
        thorough = is_thorough(self, options)
        sizes = range(1, 6 if thorough else 4)
        proof = Proof(algebra(free_shifts=thorough))
        for size in sizes:
            self._show(proof, f"row of {size} key{'s' if size > 1 else ''}", full(1, size))
        self._show(proof, "causal mask, 3 tokens", causal(3))
        return proof.decision(
            self.statement,
            [f"S={size}" for size in sizes] + ["L=S=3 causal"],
            "for all real scores at the stated sizes, by algebra; for every number of keys by the "
            "derivation: the denominator is the sum of the numerators",
            {"row sum": "sum_j e^(s_j) / sum_l e^(s_l) = 1"},
        )

    def _show(self, proof: Proof, what: str, allowed: object) -> None:
        scores = proof.ar.symbols("s", *allowed.shape)  # type: ignore[attr-defined]
        weights, _ = row_softmax(proof.ar, scores, allowed)  # type: ignore[arg-type]
        proof.equal(f"{what}: the weights sum to 1", weights.sum(axis=1), 1)


LAW = RowsSumToOne()

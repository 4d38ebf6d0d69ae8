"""Law `entropy-scale`."""

from __future__ import annotations

import numpy as np

from exactattn.attention.definition import row_softmax
from exactattn.laws.law import THOROUGH, Algebra, Decision, is_thorough
from exactattn.laws.proof import Proof, derivative, full
from exactattn.numbers.exact import name


class EntropyScale:
    """A larger scale lowers the entropy of the weights: dH/dbeta = -beta Var_p(s), p = softmax(beta s).

    Statement: for H = -sum_j p_j ln p_j and p = softmax(beta s): dH/dbeta = -beta Var_p(s), with
    Var_p(s) = sum_j p_j s_j^2 - (sum_j p_j s_j)^2 >= 0, and > 0 unless all scores of the row are equal. So for
    beta > 0 the entropy falls strictly as the scale grows, except for a row of equal scores, whose weights stay
    uniform: scaling down (by 1/sqrt(d_k) < 1) makes softmax less peaked.
    Derivation: ln p_j = beta s_j - lse, so H = lse - beta sum p_j s_j; dlse/dbeta = sum p_j s_j and
    dp_j/dbeta = p_j (s_j - sum p_l s_l). Var_p(s) = sum_(i<j) p_i p_j (s_i - s_j)^2, a sum of squares with weights > 0.
    """

    name = "entropy-scale"
    statement = (
        "dH/dbeta = -beta Var_p(s) for p = softmax(beta s): a larger scale lowers the entropy, unless s is constant"
    )
    options = THOROUGH

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for two and three keys (thorough: four)."""
        sizes = range(2, 5 if is_thorough(self, options) else 4)
        proof = Proof(algebra())
        for size in sizes:
            _show(proof, size)
        return proof.decision(
            self.statement,
            [f"S={size}" for size in sizes],
            "for all real scores and scales beta at the stated sizes, by algebra; for every number of keys by the "
            "derivation; a sum of squares with weights > 0 is 0 only when all scores are equal",
            {
                "dH/dbeta": "-beta*Var_p(s)",
                "Var_p(s)": "sum_(i<j) p_i*p_j*(s_i - s_j)**2",
                "H": "lse - beta*sum_j p_j*s_j",
            },
        )


def _show(proof: Proof, size: int) -> None:
    """The steps for one number of keys."""
    ar, what = proof.ar, f"{size} keys"
    scores, beta = ar.symbols("s", 1, size), ar.algebra.name("beta")
    logits = ar.scale(scores, name("beta"))
    weights, lse = row_softmax(ar, logits, full(1, size))
    p, s = weights[0], scores[0]
    proof.equal(f"{what}: ln p_j = beta s_j - lse", ar.log(weights), ar.sub_column(logits, lse))
    entropy = lse[0, 0] - beta * (p * s).sum()
    variance = (p * s**2).sum() - (p * s).sum() ** 2
    proof.equal(f"{what}: dH/dbeta = -beta Var_p(s)", derivative(ar, entropy, beta), -beta * variance)
    squares = sum(p[i] * p[j] * (s[i] - s[j]) ** 2 for i in range(size) for j in range(i + 1, size))
    proof.equal(f"{what}: Var_p(s) = sum_(i<j) p_i p_j (s_i - s_j)^2", variance, squares)
    pairs = np.outer(p, p)[np.triu_indices(size, 1)]
    proof.positive(f"{what}: every p_i p_j is > 0", pairs)


LAW = EntropyScale()

"""Law `softmax-jacobian`."""

from __future__ import annotations

import numpy as np

from exactattn.attention.definition import row_softmax
from exactattn.laws.law import THOROUGH, Algebra, Decision, is_thorough
from exactattn.laws.proof import Proof, derivative, full


class SoftmaxJacobian:
    """Softmax is smooth, with da_i/ds_j = a_i (delta_ij - a_j); so attention is differentiable in all of its inputs.

    Statement: for finite scores, da_i/ds_j = a_i (delta_ij - a_j); rows and columns of this matrix sum to 0; with two
    keys or more its diagonal is > 0, so it never vanishes. For the output o = sum_j a_j v_j: do/dv_j = a_j and
    do/ds_j = a_j (v_j - o).
    Derivation: a_i = e_i / Z with e_i = e^(s_i), Z = sum e_l: da_i/ds_j = (delta_ij e_i Z - e_i e_j) / Z^2.
    Smooth: Z > 0 everywhere, so a_i is a quotient of smooth functions with a denominator that never vanishes.
    Projections, scores, context and output are polynomials in X and the matrices; a composition of smooth functions
    is smooth. So the whole can be trained by gradient descent.
    What it is not: the gradient may be tiny where the softmax is saturated, though never 0. A choice of the largest
    score (hard attention, top-k) or a sample is not differentiable everywhere.
    """

    name = "softmax-jacobian"
    statement = "da_i/ds_j = a_i (delta_ij - a_j), rows summing to 0; softmax attention is smooth in all its inputs"
    options = THOROUGH

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for two and three keys (thorough: four), values of width 1."""
        sizes = range(2, 5 if is_thorough(self, options) else 4)
        proof = Proof(algebra())
        for size in sizes:
            _show(proof, size)
        return proof.decision(
            self.statement,
            [f"S={size}, d_v=1" for size in sizes],
            "for all finite scores and values at the stated sizes, by algebra; for every number of keys by the "
            "quotient rule, for every d_v column by column; smoothness as argued: Z > 0, compositions are smooth",
            {
                "jacobian": "a_i*(delta_ij - a_j)",
                "output by score": "a_j*(v_j - o)",
                "output by value": "a_j",
                "trace": "1 - sum_i a_i**2",
            },
        )


def _show(proof: Proof, size: int) -> None:
    """The steps for one number of keys."""
    ar = proof.ar
    scores, values = ar.symbols("s", 1, size), ar.symbols("v", size, 1)
    weights, _ = row_softmax(ar, scores, full(1, size))
    output = ar.matmul(weights, values)[0, 0]
    a, v = weights[0], values[:, 0]
    jacobian = np.array([[derivative(ar, x, s) for s in scores[0]] for x in a], dtype=object)
    what = f"{size} keys"
    formula = np.diag(a) - np.outer(a, a)
    proof.equal(f"{what}: da_i/ds_j = a_i (delta_ij - a_j)", jacobian, formula)
    proof.equal(f"{what}: rows of this matrix sum to 0", formula.sum(axis=1), 0)
    proof.equal(f"{what}: columns of this matrix sum to 0", formula.sum(axis=0), 0)
    proof.equal(f"{what}: its trace is 1 - sum a_i^2", np.trace(formula), 1 - (a**2).sum())
    proof.positive(f"{what}: its diagonal is > 0", np.diag(formula))
    by_score = np.array([derivative(ar, output, s) for s in scores[0]], dtype=object)
    proof.equal(f"{what}: do/ds_j = a_j (v_j - o)", by_score, a * (v - output))
    by_value = np.array([derivative(ar, output, x) for x in v], dtype=object)
    proof.equal(f"{what}: do/dv_j = a_j", by_value, a)
    denominators = [ar.algebra.sp.fraction(x)[1] for x in a]
    proof.positive(f"{what}: the denominator of every weight is > 0, so it is smooth", denominators)


LAW = SoftmaxJacobian()

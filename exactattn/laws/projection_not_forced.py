"""Law `projection-not-forced`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from exactattn.attention.definition import stages
from exactattn.attention.spec import Problem, Stage, identity
from exactattn.laws.law import THOROUGH, Algebra, Decision, is_thorough
from exactattn.laws.proof import Proof, self_attention
from exactattn.numbers.exact import ONE, ZERO, log


class ProjectionNotForced:
    """The formulas do not force W_Q, W_K, W_V to differ: all three may be I; equal W_Q, W_K make scores symmetric.

    Statement: with W_Q = W_K = W_V = I, q = k = v = X and the scores are X X^T. Whenever W_Q = W_K, score_ij =
    score_ji, for all X and W. The weights need not be symmetric, as each row has its own sum.
    Derivation: score_ij = (x_i W) . (x_j W), and a dot product does not depend on the order.
    """

    name = "projection-not-forced"
    statement = "W_Q = W_K = W_V = I is allowed; W_Q = W_K makes the scores symmetric"
    options = THOROUGH

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for two tokens of width 2 (thorough: three tokens)."""
        tokens = [2, 3] if is_thorough(self, options) else [2]
        proof = Proof(algebra())
        for n in tokens:
            _show(proof, self_attention(n, 2, 2, 2))
        _show_weights(proof)
        return proof.decision(
            self.statement,
            [f"n={n}, d_model=d_k=2" for n in tokens],
            "for all X and W_Q = W_K at the stated sizes, by algebra; for every size as dot products are symmetric",
            {"scores": "X X^T for the identity"},
        )


def _show(proof: Proof, problem: Problem) -> None:
    """The steps for one X of free variables."""
    ar, n = proof.ar, len(problem.X or ())
    head, unit = problem.heads[0], identity(2)
    out = stages(replace(problem, heads=(replace(head, W_Q=unit, W_K=unit, W_V=unit),)), ar, until=Stage.SCORES)
    X = ar.lift(problem.X)
    for stage in (Stage.Q, Stage.K, Stage.V):
        proof.equal(f"{n} tokens, W_Q = W_K = W_V = I: {stage} = X", out[stage, 0], X)
    same = stages(replace(problem, heads=(replace(head, W_K=head.W_Q),)), ar, until=Stage.SCORES)[Stage.SCORES, 0]
    proof.equal(f"{n} tokens, W_Q = W_K = W: the scores are symmetric", same, same.T)


def _show_weights(proof: Proof) -> None:
    """X = [[0], [1]] with base 2: scores [[0, 0], [0, 1]], weights [[1/2, 1/2], [1/3, 2/3]]."""
    unit = identity(1)
    problem = self_attention(2, 1, 1, 1)
    head = replace(problem.heads[0], W_Q=unit, W_K=unit, W_V=unit)
    problem = replace(problem, heads=(head,), X=((ZERO,), (ONE,))).with_spec(scale=log(Fraction(2)))
    weights = stages(problem, proof.ar)[Stage.WEIGHTS, 0]
    text = f"X = [[0], [1]], scale ln 2: weights 01 and 10 are {weights[0, 1]} and {weights[1, 0]}, not symmetric"
    proof.checked(text, "exact rationals", bool(weights[0, 1] != weights[1, 0]))


LAW = ProjectionNotForced()

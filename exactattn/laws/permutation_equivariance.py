"""Law `permutation-equivariance`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

from exactattn.attention.definition import stages
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.proof import Proof, depends_on, self_attention

SCORE = (Stage.SCORES, 0)
OUTPUT = (Stage.OUTPUT, 0)


class PermutationEquivariance:
    """Self-attention without mask and positions does not know the order of its tokens: f(PX) = P f(X).

    Statement: for every permutation P of the tokens, f(PX) = P f(X), for all X and all projections. The score of a
    pair depends on its two tokens only and not on |i - j|, so distance costs nothing: every pair is one step apart.
    Derivation: q, k, v are computed row by row, so a permutation of X permutes them; the scores become P S P^T; the
    softmax works on rows, so the weights become P A P^T; and P A P^T P V = P (A V), as P^T P = I.
    What breaks it: a causal mask (claim it with `mask: causal` and it fails), or positions added to X or to the scores.
    Source: Lee et al. 2019, Set Transformer (arXiv 1810.00825), property 1.
    """

    name = "permutation-equivariance"
    statement = "f(PX) = P f(X) for every permutation P of the tokens; scores do not depend on |i - j|"
    options = THOROUGH | {"mask": "none, or causal: is it so under a causal mask too?"}

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for all permutations of two and three tokens (thorough: wider, two heads)."""
        shapes = [(2, 2, 1, 1), (3, 1, 1, 1)]
        if is_thorough(self, options):
            shapes += [(3, 2, 2, 1), (2, 2, 1, 2)]
        proof = Proof(algebra())
        if choice(options, "mask", "none", "causal") == "causal":
            return self._causal(proof)
        for n, d_model, d_k, heads in shapes:
            _show(proof, self_attention(n, d_model, d_k, d_k, heads))
        return proof.decision(
            self.statement,
            [f"n={n}, d_model={d_model}, d_k=d_v={d_k}, H={heads}" for n, d_model, d_k, heads in shapes],
            "for all X and projections and all permutations at the stated sizes, by algebra; for every size by the "
            "derivation, P^T P = I; no mask, no positions",
            {"f(PX)": "P f(X)", "scores": "s_ij = q_i . k_j, of tokens i and j only"},
        )

    def _causal(self, proof: Proof) -> Decision:
        """Two tokens 0 and 1 with equal scores under a causal mask."""
        zero, one = ((Fraction(0),),), ((Fraction(1),),)
        head = Head(W_Q=zero, W_K=zero, W_V=one)
        problem = Problem((head,), X=zero + one, spec=AttentionSpec(causal="top-left"))
        plain = stages(problem, proof.ar)[OUTPUT]
        moved = stages(replace(problem, X=one + zero), proof.ar)[OUTPUT]
        differs = list(moved[:, 0]) != list(plain[::-1, 0])
        proof.checked("X = [[0], [1]], W_Q = W_K = 0, W_V = 1: f(PX) = P f(X)", "exact rationals", not differs)
        text = (
            f"X = [[0], [1]], W_Q = W_K = [[0]], W_V = [[1]], causal, the two tokens swapped: f(PX) = "
            f"{[str(x) for x in moved[:, 0]]}, P f(X) = {[str(x) for x in plain[::-1, 0]]}"
        )
        return proof.decision(
            "f(PX) = P f(X) under a causal mask",
            ["n=2, d_model=d_k=d_v=1, causal"],
            "one counterexample is enough",
            counterexample=text.replace("'", "") if differs else None,
        )


def _show(proof: Proof, problem: Problem) -> None:
    """The steps for one problem of free variables."""
    ar, X = proof.ar, problem.X
    assert X is not None
    n = len(X)
    plain = stages(problem, ar)
    for order in [order for order in permutations(range(n)) if order != tuple(range(n))]:
        moved = stages(replace(problem, X=tuple(X[i] for i in order)), ar)
        proof.equal(f"n={n}, tokens in the order {order}: f(PX) = P f(X)", moved[OUTPUT], plain[OUTPUT][list(order)])
    alone = all(_tokens(ar, plain[SCORE][i, j]) == {i, j} for i in range(n) for j in range(n))
    proof.checked(f"n={n}: score ij contains the tokens i and j and no other", "the symbols it contains", alone)


def _tokens(ar: Any, score: Any) -> set[int]:
    """The tokens whose elements X_ij occur in a score."""
    return {int(name[1]) for name in depends_on(ar, [score]) if name.startswith("X")}


LAW = PermutationEquivariance()

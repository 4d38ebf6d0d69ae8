"""Law `context-factors`."""

from __future__ import annotations

from fractions import Fraction

from exactattn.attention.definition import stages
from exactattn.attention.spec import Head, Problem, Stage
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.proof import Proof, named
from exactattn.numbers.exact import ZERO

ONE = Fraction(1)


class ContextFactors:
    """The context is the weighted sum of the inputs, projected: A (X W_V) = (A X) W_V.

    Statement: A (X W_V) = (A X) W_V for all matrices, in particular for the softmax weights A; so
    c_i = sum_j a_ij v_j = (sum_j a_ij x_j) W_V.
    Derivation: the product of matrices is associative: both sides have element sum_j sum_l a_ij x_jl w_lm, and finite
    sums may be exchanged.
    What it is not: the context is a weighted sum of the values, not of the inputs themselves, unless W_V = I. Claim
    `equals: A X` and it fails, and with `W_V: identity` it holds.
    """

    name = "context-factors"
    statement = "context = A (X W_V) = (A X) W_V"
    options = THOROUGH | {
        "equals": "A X W_V, or A X: is the context the weighted sum of the inputs themselves?",
        "W_V": "any, or identity",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for any A of 2 x 2 and 2 x 3 (thorough: 3 x 3), and for softmax weights of two tokens."""
        shapes = [(2, 2, 2, 1), (2, 3, 2, 2)] + ([(3, 3, 3, 2)] if is_thorough(self, options) else [])
        proof, any_values = Proof(algebra()), choice(options, "W_V", "any", "identity") == "any"
        ar = proof.ar
        if choice(options, "equals", "A X W_V", "A X") == "A X":
            return self._inputs(proof, any_values)
        for rows, tokens, d_model, d_v in shapes:
            A, X, W = ar.symbols("A", rows, tokens), ar.symbols("X", tokens, d_model), ar.symbols("W", d_model, d_v)
            what = f"A {rows} x {tokens}, X {tokens} x {d_model}, W_V {d_model} x {d_v}"
            proof.equal(f"{what}: A (X W_V) = (A X) W_V", ar.matmul(A, ar.matmul(X, W)), ar.matmul(ar.matmul(A, X), W))
        head = Head(scores=named("s", 2, 2), W_V=named("W", 2, 1))
        found = stages(Problem((head,), X=named("X", 2, 2)).with_spec(scale=ONE), ar, until=Stage.CONTEXT)
        factored = ar.matmul(ar.matmul(found[Stage.WEIGHTS, 0], ar.symbols("X", 2, 2)), ar.symbols("W", 2, 1))
        proof.equal("softmax weights of two tokens: context = (A X) W_V", found[Stage.CONTEXT, 0], factored)
        return proof.decision(
            self.statement,
            [f"L={L}, S={S}, d_model={d}, d_v={v}" for L, S, d, v in shapes] + ["softmax: L=S=2, d_model=2, d_v=1"],
            "for all matrices at the stated sizes, by algebra; for every size because matrix products are associative",
            {"context": "(sum_j a_ij x_j) W_V"},
        )

    def _inputs(self, proof: Proof, any_values: bool) -> Decision:
        """Is the context A X? Yes with W_V = I; not with W_V = 2 and one token."""
        ar, A, X = proof.ar, proof.ar.symbols("A", 2, 2), proof.ar.symbols("X", 2, 2)
        unit = ar.lift(((ONE, ZERO), (ZERO, ONE)))
        proof.equal("W_V = I: A (X W_V) = A X", ar.matmul(A, ar.matmul(X, unit)), ar.matmul(A, X))
        counterexample = None
        if any_values:
            scores, one = ((ZERO,),), ((ONE,),)
            problem = Problem((Head(scores=scores, W_V=((Fraction(2),),)),), X=one).with_spec(scale=ONE)
            context = stages(problem, ar)[Stage.CONTEXT, 0][0, 0]
            proof.checked("one token x = [1], W_V = [[2]]: the context is [1]", "exact rationals", bool(context == 1))
            if context != 1:
                counterexample = f"one token x = [1], W_V = [[2]]: the context is [{context}], A X is [1]"
        return proof.decision(
            f"context = A X for {'all W_V' if any_values else 'W_V = I'}",
            ["L=S=2, d_model=d_v=2"],
            "W_V = I at every size because X I = X; for other W_V one counterexample is enough",
            {"context": "A X W_V"},
            counterexample,
            "context = (A X) W_V, which is A X for W_V = I",
        )


LAW = ContextFactors()

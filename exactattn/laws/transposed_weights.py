"""Law `transposed-weights`."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactattn import plugins
from exactattn.attention.definition import row_softmax
from exactattn.laws.formulas import shown
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.proof import Proof, full
from exactattn.laws.smallest import SMALLEST, scores_and_values
from exactattn.numbers.balls import FIRST_BITS, interval
from exactattn.numbers.enclosure import Answer


class TransposedWeights:
    """A^T V is A V for all values only where the weights A are symmetric, which softmax weights need not be.

    Statement: for A of n x n, A^T V = A V for all V exactly when A = A^T. Softmax makes rows of A sum to 1, not its
    columns, so A^T V is in general no weighted mean of the values. For one token the two are equal.
    Derivation: element i of (A^T - A) V has the coefficients a_ji - a_ij in the v_j; it is 0 for all V exactly when
    they all are 0.
    What it is not: symmetric scores do not make symmetric weights, as each row has its own sum.
    """

    name = "transposed-weights"
    statement = "A^T V = A V for all V exactly when A = A^T"
    options = THOROUGH | {
        "claims": "symmetric only (the statement), or equal: is A^T V = A V?",
        "weights": "any softmax weights, or symmetric",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for two tokens (thorough: three) and any A; a claim of equality by looking for a case."""
        sizes = range(2, 4 if is_thorough(self, options) else 3)
        proof = Proof(algebra())
        for size in sizes:
            _show(proof, size)
        shapes, values = [f"n={size}, d_v=1" for size in sizes], {"A^T V - A V": "(A^T - A) V"}
        scope = "for all A and V at the stated sizes, by algebra; for every size by the derivation"
        equal = choice(options, "claims", "symmetric only", "equal") == "equal"
        symmetric = choice(options, "weights", "any", "symmetric") == "symmetric"
        if not equal:
            return proof.decision(self.statement, shapes, scope, values)
        if symmetric:
            return proof.decision("A^T V = A V for symmetric weights A", shapes, scope, values)
        found = _search(proof)
        return proof.decision(
            "A^T V = A V for softmax weights A",
            ["n=2, d_v=1"],
            f"one counterexample is enough, the first among {SMALLEST}",
            values,
            found,
            "A V; A^T V is the same for all V only where A is symmetric",
        )


def _show(proof: Proof, size: int) -> None:
    """The coefficients of the difference, and that they vanish for a symmetric A."""
    ar, sp = proof.ar, proof.ar.algebra.sp
    A, V = ar.symbols("A", size, size), ar.symbols("v", size, 1)
    difference = (ar.matmul(A.T, V) - ar.matmul(A, V))[:, 0]
    coefficients = np.array([[sp.expand(x).coeff(v) for v in V[:, 0]] for x in difference], dtype=object)
    proof.equal(f"{size} x {size}: A^T V - A V has the coefficients A^T - A in V", coefficients, A.T - A)
    swaps = {A[i, j]: A[j, i] for i in range(size) for j in range(i)}
    zero = np.array([sp.sympify(x).xreplace(swaps) for x in difference], dtype=object)
    proof.equal(f"{size} x {size}: it is 0 for all V when A = A^T", zero, 0)


def _search(proof: Proof) -> str | None:
    """The first scores and values for which the two differ, told apart by balls."""
    balls = plugins.get("engines", "ball")
    with balls.precision(FIRST_BITS):
        for text, scores, values in scores_and_values():
            ar: Any = balls.arithmetic()
            weights, _ = row_softmax(ar, ar.lift(scores), full(len(scores), len(scores)))
            V = ar.lift(values)
            sides = [[interval(x) for x in ar.matmul(each, V)[:, 0]] for each in (weights.T, weights)]
            if any(x.disjoint(y) is Answer.YES for x, y in zip(*sides, strict=True)):
                turned, right = (f"[{', '.join(map(shown, side))}]" for side in sides)
                proof.checked(f"{text}: A^T V = A V", "balls, 128 bits: the two sides are apart", False)
                return f"{text}: A^T V = {turned}, A V = {right}"
    return None


LAW = TransposedWeights()

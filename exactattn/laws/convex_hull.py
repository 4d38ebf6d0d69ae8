"""Law `convex-hull`."""

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


class ConvexHull:
    """Every context vector is a convex combination of the values: each element lies between their min and max.

    Statement: with o = sum_j a_j v_j, all a_j > 0 and sum a_j = 1: o is in the convex hull of the rows v_j, and each of
    its elements lies between the smallest and the largest of that column, strictly unless the column is constant.
    Derivation: o - v_min = sum_j a_j (v_j - v_min), since the weights sum to 1; every term is >= 0, and one is > 0
    unless all v_j are v_min. The same downwards for v_max.
    What it is not: with an output projection W_O the hull is that of the projected values. A^T V (the transposed
    weights) is not a convex combination, as columns of A need not sum to 1: claim it with `weights: transposed`.
    """

    name = "convex-hull"
    statement = "each context vector is a convex combination of the values, each element between their min and max"
    options = THOROUGH | {"weights": "A, or transposed: is A^T V in the hull too?"}

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for one to three keys (thorough: four)."""
        sizes = range(1, 5 if is_thorough(self, options) else 4)
        proof = Proof(algebra())
        if choice(options, "weights", "A", "transposed") == "transposed":
            return self._transposed(proof)
        for size in sizes:
            _show(proof, size)
        return proof.decision(
            self.statement,
            [f"S={size}, d_v=1" for size in sizes],
            "for all finite scores and all values at the stated sizes, by algebra; for every number of keys by the "
            "derivation, for every d_v column by column; no masked row",
            {"o - v_min": "sum_j a_j*(v_j - v_min) >= 0", "v_max - o": "sum_j a_j*(v_max - v_j) >= 0"},
        )

    def _transposed(self, proof: Proof) -> Decision:
        """The first scores and values for which an element of A^T V is outside their range, told by balls."""
        found = _outside(proof)
        return proof.decision(
            "each row of A^T V is a convex combination of the values",
            ["L=S=2, d_v=1"],
            f"one counterexample is enough, the first among {SMALLEST}",
            {"A^T V": "sum_j a_ji*v_j, where the a_ji need not sum to 1"},
            found,
            "each row of A V is; columns of A need not sum to 1, so A^T V is none",
        )


def _outside(proof: Proof) -> str | None:
    balls = plugins.get("engines", "ball")
    with balls.precision(FIRST_BITS):
        for text, scores, values in scores_and_values():
            ar: Any = balls.arithmetic()
            weights, _ = row_softmax(ar, ar.lift(scores), full(len(scores), len(scores)))
            products = [interval(x) for x in ar.matmul(weights.T, ar.lift(values))[:, 0]]
            low, high = min(v for (v,) in values), max(v for (v,) in values)  # type: ignore[type-var]
            if any(x.below(low) is Answer.YES or x.above(high) is Answer.YES for x in products):  # type: ignore[arg-type]
                proof.checked(f"{text}: A^T V lies in [{low}, {high}]", "balls, 128 bits", False)
                return f"{text}: A^T V = [{', '.join(map(shown, products))}], outside [{low}, {high}]"
    return None


def _show(proof: Proof, size: int) -> None:
    """The steps for one number of keys; v_0 is any of the values, as the order of keys is free."""
    ar, sp, what = proof.ar, proof.ar.algebra.sp, f"{size} keys"
    weights, _ = row_softmax(ar, ar.symbols("s", 1, size), full(1, size))
    proof.equal(f"{what}: the weights sum to 1", weights.sum(axis=1), 1)
    proof.positive(f"{what}: every weight is > 0", weights.flat)
    values, chosen = ar.symbols("v", size, 1), sp.Symbol("v00", real=True)
    deviation, sums = ar.matmul(weights, values) - chosen, ar.matmul(weights, values - chosen)
    proof.equal(f"{what}: o - v_0 = sum_j a_j (v_j - v_0), of which v_min and v_max are cases", deviation, sums)
    if size > 1:
        gaps = np.array([[sp.S.Zero], *([sp.Symbol(f"t{j}", positive=True)] for j in range(1, size))], dtype=object)
        sums = ar.matmul(weights, gaps)
        proof.positive(f"{what}: the sum is > 0 when every other v_j - v_0 is; all signs changed, < 0", sums.flat)


LAW = ConvexHull()

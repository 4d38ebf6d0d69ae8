"""Law `entropy-limit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactattn.attention.definition import row_softmax
from exactattn.errors import UsageError
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.proof import Proof, full
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import ZERO

GROWTHS = {
    "stay": "one score grows and the others stay",
    "together": "all scores of the row grow together",
    "scaled": "all scores of the row are multiplied by a growing factor",
}


class EntropyLimit:
    """The entropy of the weights tends to 0 when one score grows and the others stay, not when all grow together.

    Statement: let D_j be the distance of score j from the largest one. Then 0 < H <= sum_j (D_j + 1) e^(-D_j) over the
    other keys. So H tends to 0 when all D_j grow without bound: when the largest score grows alone, or when all are
    multiplied by a growing factor and the largest is not tied. When all scores grow by the same amount no D_j changes
    and H stays what it is, however large the largest score becomes: for n equal scores it is ln n.
    Derivation: H = sum_j p_j D_j - ln p_1, p_j < e^(-D_j), -ln p_1 = ln(1 + sum_j e^(-D_j)) <= sum_j e^(-D_j); and
    D e^(-D) < 2/D, as e^D > D^2/2 for D > 0.
    """

    name = "entropy-limit"
    statement = "the entropy of the weights tends to 0 when one score grows and the others stay"
    options = THOROUGH | {
        "others": "stay, together (all scores grow by the same amount), or scaled (all are multiplied)",
        "ties": "no, or yes: may the largest score occur twice?",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides the bound for two and three keys (thorough: four), or looks for the fewest keys without it."""
        sizes = range(2, 5 if is_thorough(self, options) else 4)
        proof = Proof(algebra())
        others, tied = choice(options, "others", *GROWTHS), choice(options, "ties", "no", "yes") == "yes"
        if "ties" in options and others != "scaled":
            raise UsageError("found `ties` without `others: scaled`, wanted it only where all scores are multiplied")
        stays = others == "together" or (tied and others == "scaled")
        found = None
        for size in sizes:
            if stays:
                found = found or _constant(proof, size, others)
            else:
                _show(proof, size, others)
        statement = f"the entropy of the weights tends to 0 when {GROWTHS[others]}"
        return proof.decision(
            statement + (", the largest tied" if tied else ""),
            [f"S={size}" for size in sizes],
            "for all real scores at the stated sizes, by algebra; for every number of keys by the derivation"
            + ("; counterexamples: fewest keys first, all scores equal" if stays else ""),
            {"H": "<= sum_j (D_j + 1)*e^(-D_j), D_j the distance from the largest score", "n equal scores": "log(n)"},
            found,
            "the entropy depends on the distances from the largest score only; it tends to 0 when they all grow, and "
            "stays when all scores grow by the same amount",
        )


def _entropy(ar: Any, scores: Any) -> Any:
    """-sum p ln p of one row."""
    weights, _ = row_softmax(ar, scores, full(*scores.shape))
    return -(weights * ar.log(weights)).sum()


def _show(proof: Proof, size: int, others: str) -> None:
    """The steps for one number of keys."""
    ar, sp, what = proof.ar, proof.ar.algebra.sp, f"{size} keys"
    t, scores = sp.Symbol("t", positive=True), ar.symbols("s", 1, size)
    if others == "stay":
        scores = np.array([[scores[0, 0] + t, *scores[0, 1:]]], dtype=object)
        distances = scores[0, :1] - scores[0, 1:]
    else:
        gaps = [sp.Symbol(f"g{j}", positive=True) for j in range(1, size)]
        scores = np.array([[t * scores[0, 0], *(t * (scores[0, 0] - gap) for gap in gaps)]], dtype=object)
        distances = t * np.array(gaps, dtype=object)
    weights, _ = row_softmax(ar, scores, full(1, size))
    p = weights[0]
    small = ar.exp(-distances[None, :], full(1, size - 1))[0]
    first = ar.log(p[:1])[0]
    proof.equal(f"{what}: the weights sum to 1", p.sum(), 1)
    text = f"{what}: ln p_j = ln p_1 - D_j, so H = -sum_j p_j ln p_j = sum_j p_j D_j - ln p_1"
    proof.equal(text, ar.log(p[1:]), first - distances)
    proof.positive(f"{what}: p_j < e^(-D_j)", small - p[1:])
    proof.equal(f"{what}: 1/p_1 = 1 + sum_j e^(-D_j), so -ln p_1 <= sum_j e^(-D_j)", 1 / p[0], 1 + small.sum())


def _constant(proof: Proof, size: int, others: str) -> str | None:
    """Equal scores, which stay equal: their entropy, the same for every t and above 0."""
    ar, sp = proof.ar, proof.ar.algebra.sp
    t = sp.Symbol("t", positive=True)
    before = _entropy(ar, ar.lift(((ZERO,) * size,)))
    moved = np.full((1, size), t, dtype=object)
    after = _entropy(ar, moved)
    same = proof.equal(f"{size} keys, all scores 0, then all t: the entropy is the same", after, before)
    closed = ar.closed(sp.sympify(before))
    if same is not Answer.YES or closed is None or closed.is_positive is not True:
        return None
    zeros = f"[{', '.join(['0'] * size)}]"
    grown = "t added to each" if others == "together" else "multiplied by any t"
    proof.checked(f"{size} keys, equal scores: the entropy tends to 0", f"SymPy: it is {closed} for every t", False)
    return f"{size} keys, scores {zeros}, {grown}: the entropy is {closed} for every t"


LAW = EntropyLimit()

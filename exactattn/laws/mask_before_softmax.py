"""Law `mask-before-softmax`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from exactattn.attention.definition import row_softmax
from exactattn.errors import UsageError
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.proof import Proof, causal, full
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import ZERO


class MaskBeforeSoftmax:
    """Masking before the softmax gives rows that sum to 1; zeroing weights after it gives rows that sum to less.

    Statement: let a be the softmax over all keys and m the softmax over the allowed ones. Then m_j = a_j / (sum of the
    allowed a_l) for allowed j. Zeroing the others after the softmax keeps the a_j, and their sum is below 1 in every
    row with a masked key: by the weights that were zeroed. In the first row of a causal mask only a_1 is kept.
    Derivation: both have the numerators e^(s_j); m_j divides by the sum over the allowed keys only. 1 minus what is
    kept is the sum of the zeroed weights, each > 0. Zeroing and then dividing each row by its sum is the mask.
    """

    name = "mask-before-softmax"
    statement = (
        "masking before softmax keeps row sums 1; zeroing weights after it leaves them below 1 where anything is masked"
    )
    options = THOROUGH | {
        "masked": "before, or after the softmax (weights set to 0)",
        "row_sums": "1, or below 1 (in every row with a masked key): what is claimed of the row sums",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for causal masks of two and three tokens (thorough: four)."""
        sizes = range(2, 5 if is_thorough(self, options) else 4)
        proof = Proof(algebra())
        if asked := options.keys() - {"thorough"}:
            if len(asked) != 2:
                raise UsageError("wanted both `masked` and `row_sums`, found one of them")
            return _claimed(proof, sizes, options)
        for size in sizes:
            _show(proof, size)
        return proof.decision(
            self.statement,
            [f"L=S={size} causal" for size in sizes],
            "for all real scores at the stated sizes, by algebra; for every size and mask by the derivation",
            {"masked": "a_j/sum_(l allowed) a_l", "row sum when zeroed after": "1 - sum_(l masked) a_l < 1"},
        )


def _show(proof: Proof, size: int) -> None:
    """The steps for one number of tokens."""
    ar, allowed, what = proof.ar, causal(size), f"causal mask, {size} tokens"
    scores = ar.symbols("s", size, size)
    everything, _ = row_softmax(ar, scores, full(size, size))
    before, _ = row_softmax(ar, scores, allowed)
    after = np.where(allowed, everything, ar.algebra.sp.S.Zero)
    kept = after.sum(axis=1, keepdims=True)
    proof.equal(f"{what}: masked before, rows sum to 1", before.sum(axis=1), 1)
    some = ~allowed.all(axis=1)
    proof.positive(f"{what}: zeroed after, rows with a masked key sum to less than 1", 1 - kept[some, 0])
    proof.equal(f"{what}: zeroed after and divided by the row sum is masked before", ar.div_column(after, kept), before)


def _claimed(proof: Proof, sizes: range, options: Mapping[str, str]) -> Decision:
    """What is claimed of the row sums of one of the two ways; equal scores as a counterexample."""
    after = choice(options, "masked", "before", "after") == "after"
    below = choice(options, "row_sums", "1", "below 1") == "below 1"
    counterexample = None
    for size in sizes:
        what = f"causal mask, {size} tokens, masked {'after' if after else 'before'} the softmax"
        sums = _row_sums(proof, proof.ar.symbols("s", size, size), after)[~causal(size).all(axis=1)]
        if below:
            answer = proof.positive(f"{what}: rows with a masked key sum to less than 1", 1 - sums)
        else:
            answer = proof.equal(f"{what}: rows with a masked key sum to 1", sums, 1)
        if counterexample is None and answer is not Answer.YES:
            zeros = proof.ar.lift(((ZERO,) * size,) * size)
            first = proof.ar.algebra.sp.sympify(_row_sums(proof, zeros, after)[0])
            if first.is_Rational and bool(first < 1) is not below:
                counterexample = f"{size} tokens, all scores 0, causal: the first row sums to {first}"
    how = "zeroing masked weights after the softmax" if after else "masking before the softmax"
    return proof.decision(
        f"{how} leaves row sums {'below 1' if below else '1'} where a key is masked",
        [f"L=S={size} causal" for size in sizes],
        "for all real scores at the stated sizes, by algebra; for every size and mask by the derivation",
        {"row sum when zeroed after": "1 - sum_(l masked) a_l", "row sum when masked before": "1"},
        counterexample,
        f"{how} leaves row sums {'1 - sum_(l masked) a_l, below 1' if after else '1'}",
    )


def _row_sums(proof: Proof, scores: Any, after: bool) -> Any:
    """The sums of the rows of weights under a causal mask, applied before or after the softmax."""
    size = scores.shape[0]
    weights, _ = row_softmax(proof.ar, scores, full(size, size) if after else causal(size))
    return np.where(causal(size), weights, proof.ar.algebra.sp.S.Zero).sum(axis=1)


LAW = MaskBeforeSoftmax()

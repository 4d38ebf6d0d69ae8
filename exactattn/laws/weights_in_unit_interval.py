"""Law `weights-in-unit-interval`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from exactattn.attention.definition import row_softmax
from exactattn.errors import UsageError
from exactattn.laws.formulas import shown
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.prints import whole
from exactattn.laws.proof import Proof, causal, full
from exactattn.laws.saturation import REAL, Pair, chosen, confirm, smallest_gap, spell
from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import ZERO, log
from exactattn.numbers.formats import Format

MOST_KEYS = 8
ORDER = "fewest keys first, all scores 0; in a format the scores [g, 0], the smallest whole g first"
CLAIMS: Mapping[str, str] = {
    "inside (0, 1)": "strictly between 0 and 1",
    "positive": "above 0",
    "below 1": "below 1",
    "one": "1",
}


class WeightsInUnitInterval:
    """Softmax weights lie strictly between 0 and 1 for two keys or more, and finite scores; with one key it is 1.

    Statement: 0 < a_j < 1 for all j when n >= 2 keys are allowed; a_1 = 1 when n = 1. In particular every output
    combines all allowed values, its own included, each with a weight > 0.
    Derivation: a_j = e_j / (e_1 + ... + e_n) with every e_l = e^(s_l) > 0, so a_j > 0; and 1 - a_j is the sum of the
    other e_l over the same denominator, > 0 as soon as there is another key.
    What it is not: a masked key has weight exactly 0, so under a causal mask an output does not combine all
    positions (claim it with `mask: causal` and it fails). Finite scores only: a score of -inf is a mask. In floats a
    weight can underflow to 0 or round to 1 (claim it with `format: float32`). A positive weight does not mean that the
    value can be read off the output: it may be 0, or cancel.
    """

    name = "weights-in-unit-interval"
    statement = "every weight is strictly between 0 and 1 (two or more keys, finite scores); with one key it is 1"
    options = THOROUGH | {
        "mask": "none, or causal: is every weight > 0 under a causal mask too?",
        "claims": "inside (0, 1), positive, below 1, or one: what every weight is said to be",
        "keys": "how many: a number up to 8, or any (from 1)",
        "format": "real numbers, or a float format, in which two keys are enough to look at",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for one to three keys (thorough: five); under `mask: causal` it fails."""
        sizes = range(2, 6 if is_thorough(self, options) else 4)
        proof = Proof(algebra())
        if choice(options, "mask", "none", "causal") == "causal":
            if others := sorted(options.keys() - {"thorough", "mask"}):
                raise UsageError(f"found {others[0]!r} beside a causal mask, wanted one of the two")
            return self._causal(proof)
        if options.keys() - {"thorough", "mask"}:
            return _claimed(proof, options)
        for size in (1, *sizes):
            weights, _ = row_softmax(proof.ar, proof.ar.symbols("s", 1, size), full(1, size))
            if size == 1:
                proof.equal("one key: its weight is 1", weights, 1)
                continue
            proof.positive(f"{size} keys: every weight is > 0", weights.flat)
            proof.positive(f"{size} keys: 1 minus every weight is > 0", (1 - weights).flat)
        return proof.decision(
            self.statement,
            [f"S={size}" for size in (1, *sizes)],
            "for all finite real scores at the stated sizes, no key masked; for every number of keys by the "
            "derivation: a quotient of sums of positive terms",
            {"weight": "e^(s_j)/sum_l e^(s_l)", "1 - weight": "sum_(l != j) e^(s_l)/sum_l e^(s_l)"},
        )

    def _causal(self, proof: Proof) -> Decision:
        allowed = causal(2)
        weights, _ = row_softmax(proof.ar, proof.ar.symbols("s", 2, 2), allowed)
        zero = proof.equal("causal mask, 2 tokens: the weight of the later token is 0", weights[~allowed], 0)
        proof.equal("causal mask, 2 tokens: the first row is [1, 0]", weights[0], np.array([1, 0], dtype=object))
        found = zero is zero.YES
        return proof.decision(
            "every weight is strictly between 0 and 1 under a causal mask",
            ["L=S=2 causal"],
            "for all real scores; a masked key has weight 0 at every size, by definition",
            {"first row": "[1, 0, ..., 0]"},
            "two tokens, any scores: the first row of weights is [1, 0]" if found else None,
            "strictly between 0 and 1 among the allowed keys, 0 for a masked one",
        )


def _claimed(proof: Proof, options: Mapping[str, str]) -> Decision:
    """What is claimed of every weight, for so many keys, in real numbers or in a format."""
    claim = choice(options, "claims", *CLAIMS)
    keys, fmt = str(options.get("keys", "any")).strip(), chosen(str(options.get("format", REAL)))
    sizes = range(1, 4) if keys == "any" else [whole({"keys": keys}, "keys", 1, MOST_KEYS)]
    if fmt is not None and keys not in ("any", "1", "2"):
        raise UsageError(f"found {keys} keys beside a format, wanted 1, 2 or any")
    about = "any number of keys" if keys == "any" else f"{keys} key{'s' if keys != '1' else ''}"
    statement = f"every weight is {CLAIMS[claim]}: {about}, " + ("real numbers" if fmt is None else fmt.name)
    found = None
    for size in sizes:
        found = found or _real(proof, claim, size)
    scope = "all finite real scores, by algebra; for every number of keys by the derivation"
    if fmt is not None and found is None and max(sizes) > 1:
        found = _in_format(proof, claim, fmt)
        scope = f"every operation correctly rounded in {fmt.name}; at every size, as further keys may lie far below"
    values = {"weight": "e^(s_j)/sum_l e^(s_l)"}
    if fmt is not None:
        values["exp rounds to 0 below"] = shown(enclose(log(fmt.min_subnormal / 2)), 12)
    right = "strictly between 0 and 1 for two keys or more, 1 for one key, in real numbers"
    right += "; in floats a weight may be 0 or 1" if fmt is not None else ""
    shapes = [f"S={size}" for size in sizes]
    scope += f"; the counterexample is the first in this order: {ORDER}" if found else ""
    return proof.decision(statement, shapes, scope, values, found, right)


def _real(proof: Proof, claim: str, size: int) -> str | None:
    """The steps for one number of keys in real numbers; equal scores as a counterexample."""
    ar = proof.ar
    weights, _ = row_softmax(ar, ar.symbols("s", 1, size), full(1, size))
    if claim == "one":
        answer = proof.equal(f"{size} keys: every weight is 1", weights, 1)
    else:
        parts = {"positive": weights.flat, "below 1": (1 - weights).flat}
        wanted = parts if claim == "inside (0, 1)" else {claim: parts[claim]}
        answer = Answer.every(*(proof.positive(f"{size} keys: every weight is {k}", x) for k, x in wanted.items()))
    if answer is Answer.YES:
        return None
    equal, _ = row_softmax(ar, ar.lift(((ZERO,) * size,)), full(1, size))
    weight = ar.algebra.sp.sympify(equal[0, 0])
    if not weight.is_Rational or _holds(claim, Fraction(int(weight.p), int(weight.q))):
        return None
    where = "one key" if size == 1 else f"{size} keys"
    return f"{where}, scores {[0] * size}: every weight is {weight}"


def _holds(claim: str, weight: Fraction) -> bool:
    """Is a weight what is claimed?"""
    if claim == "one":
        return weight == 1
    return (claim == "below 1" or weight > 0) and (claim == "positive" or weight < 1)


def _in_format(proof: Proof, claim: str, fmt: Format) -> str | None:
    """The smallest whole gap of two scores at which a format gives a weight that is not as claimed."""

    def lost(weights: Pair) -> bool:
        return not all(_holds(claim, Fraction(x)) for x in (weights.large, weights.small))

    found = smallest_gap(fmt, lost)
    if found is None:
        return None
    text = f"scores [{found.gap}, 0]: the weights in {fmt.name} are {spell(found)}"
    proof.checked(f"{fmt.name}, two keys: every weight is {CLAIMS[claim]}", "rounding each operation exactly", False)
    confirm(proof, found, fmt, lost)
    return text


LAW = WeightsInUnitInterval()

"""Law `normal-tail`."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import flint

from exactattn.errors import UsageError
from exactattn.laws.law import THOROUGH, Algebra, Decision, is_thorough
from exactattn.laws.prints import closed, compare_number, number, rational, told
from exactattn.laws.proof import Proof
from exactattn.numbers.balls import interval, precision
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import mul, names_in
from exactattn.numbers.numerals import parse_exact
from exactattn.numbers.tokens import shorten

KEYS = {"bound", "variance", "scale", "outside", "scaled_bound"}


def tail(bound: Fraction, variance: Fraction) -> Callable[[int], Interval]:
    """P(|X| > bound) for X normal of mean 0: erfc(bound/sqrt(2 variance)). Rounding or proof: Arb."""

    def enclosure(bits: int) -> Interval:
        share = bound**2 / (2 * variance)
        with precision(bits):
            return interval(flint.arb(flint.fmpq(share.numerator, share.denominator)).sqrt().erfc())

    return enclosure


class NormalTail:
    """Normal scores leave every range: P(|s| > b) = erfc(b/(sigma sqrt(2))) > 0, and a scale does not change it.

    Statement: for a normal score s of mean 0 and standard deviation sigma, P(|s| > b) = erfc(b/(sigma sqrt(2))), which
    is > 0 for every b. A scale c > 0 takes [-b, b] to [-c b, c b] and sigma to c sigma, so the share outside stays.
    Derivation: integrate the density; b c/(sigma c) = b/sigma; erfc(x) is the integral of a positive function.
    What it is not: a sum of d_k products is not exactly normal; for large d_k it is close to it (central limit).
    """

    name = "normal-tail"
    statement = "P(|s| > b) = erfc(b/(sigma sqrt(2))) > 0 for a normal score of mean 0; a scale does not change it"
    options = THOROUGH | {
        "bound": "b, a number",
        "variance": "the variance of the scores, a number; 1 if not given",
        "scale": "a factor on scores and range, a number",
        "outside": "the share of the scores outside [-b, b] that is claimed",
        "scaled_bound": "the bound after the scale that is claimed",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides the scale by algebra, the tail at five bounds (thorough: nine) by balls, then what is claimed."""
        most = 9 if is_thorough(self, options) else 5
        proof = Proof(algebra())
        b, sigma, c = (proof.ar.algebra.sp.Symbol(label, positive=True) for label in ("b", "sigma", "c"))
        proof.equal("a scale c: (c b)/(c sigma) = b/sigma", c * b / (c * sigma), b / sigma)
        tails = [tail(Fraction(2**j, 4), Fraction(1))(256) for j in range(most)]
        positive = all(x.above(Fraction(0)) is Answer.YES for x in tails)
        falling = all(later.less(x) is Answer.YES for x, later in pairwise(tails))
        proof.checked("sigma = 1, b = 1/4, 1/2, 1, ...: the tail is > 0 and falls", "balls: erfc", positive and falling)
        asked = options.keys() & KEYS
        values = {"P(|s| > b)": "erfc(b/(sigma*sqrt(2)))"}
        shapes, scope = [f"{most} bounds"], "for every b and sigma as erfc > 0; scores exactly normal of mean 0"
        if not asked:
            return proof.decision(self.statement, shapes, scope, values)
        bound, variance = rational(options, "bound"), rational(options, "variance", "1")
        if bound < 0 or variance <= 0:
            raise UsageError("wanted a bound from 0 and a variance above 0")
        claims, wrong, right, limit = [], [], [], shorten(str(options["bound"]))
        if "outside" in asked:
            spread = shorten(str(options.get("variance", "1")))
            what = f"the share of normal scores of variance {spread} outside [-{limit}, {limit}]"
            found = tail(bound, variance)
            wrong += _wrong(compare_number(proof, what, number(options, "outside"), found, "balls: erfc"))
            claims, right = [f"{what} is {shorten(str(options['outside']))}"], [f"{what} is {told(found)}"]
            values["outside"] = told(found)
        if "scaled_bound" in asked:
            scale = parse_exact(str(options.get("scale", "1")))
            if names_in(scale):
                raise UsageError("found a scale with names, wanted a number such as 1/sqrt(64)")
            what, after = (
                f"the bound {limit} after the scale {shorten(str(options.get('scale', '1')))}",
                closed(mul(bound, scale)),
            )
            wrong += _wrong(compare_number(proof, what, number(options, "scaled_bound"), after, "exact, or balls"))
            claims.append(f"{what} is {shorten(str(options['scaled_bound']))}")
            right.append(f"{what} is {told(after)}")
        if not claims:
            raise UsageError("found a range without a claim, wanted `outside` or `scaled_bound`")
        counterexample = "; ".join(wrong) or None
        return proof.decision("; ".join(claims), shapes, scope, values, counterexample, "; ".join(right))


def _wrong(text: str | None) -> list[str]:
    return [text] if text else []


LAW = NormalTail()

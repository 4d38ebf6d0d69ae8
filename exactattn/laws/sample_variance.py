"""Law `sample-variance`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactattn.errors import UsageError
from exactattn.laws.chi_square import MOST_DEGREES, below, product_below, quantile
from exactattn.laws.formulas import shown
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.moments import expectation, normal_moments
from exactattn.laws.prints import rational, whole
from exactattn.laws.proof import Proof
from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import sqrt
from exactattn.numbers.tokens import shorten

MOST_ENTRIES = MOST_DEGREES
LEAST_CONFIDENCE, LEAST_RISK = Fraction(1, 2), Fraction(1, 10**12)
MOST_TAIL = 1000  # degrees of freedom for which the tail of a product is bounded
NEEDS = {"normal": ("entries",), "products": ("rows", "columns", "d_k"), "any": ("entries", "kurtosis")}
COMMON = {"thorough", "sample", "claims", "measured", "variance", "confidence"}


@dataclass(frozen=True, slots=True)
class Judged:
    """Does a measured variance contradict the one that is claimed? With the interval that says so.

    `holds` says how much of all sample variances the interval holds, exactly or at least.
    """

    contradicts: Answer
    interval: tuple[str, str]
    reason: str
    holds: str
    by: str


class SampleVariance:
    """A measured variance speaks against a claimed one only outside the interval that its sample size allows.

    Statement: let s^2 be the sample variance (divided by N - 1) of N entries of variance v. For independent entries
    E(s^2) = v and Var(s^2) = v^2 (kurtosis - (N - 3)/(N - 1))/N. For independent normal entries (N - 1) s^2/v is
    chi-square with N - 1 degrees of freedom. For the N = n m entries of Q K^T with independent standard normal Q
    (n x d) and K (m x d), which are uncorrelated but not independent: E(s^2) = d and
    Var(s^2) = 2 d (n^2 m + n m^2 + n m d + n m - 2 n - 2 m - d + 1)/(N - 1)^2.
    Derivation: expectations of polynomials, moment by moment. For products: given K, s^2 is a quadratic form in the
    normal Q, with variance 2 tr M^2; what is left is an expectation over K, whose rows may be turned so that their
    sum lies along one of them.
    What contradicts: normal, s^2 outside the equal-tailed interval that holds `confidence` of all s^2, exactly. Else
    P(|s^2 - v| >= |measured - v|) < 1 - confidence: proven by Chebyshev's inequality, refuted for products and a
    small s^2 by (N - 1) s^2 <= |Q|^2 |K|^2, a product of two chi-square variables; between them it cannot be told.
    """

    name = "sample-variance"
    statement = "E(s^2) = v for N entries of variance v, and s^2 spreads round it by an amount that N decides"
    options = THOROUGH | {
        "sample": "normal: independent normal entries; products: the entries of Q K^T, both standard normal; any",
        "entries": "how many independent entries were measured (normal, any)",
        "rows": "rows of Q (products)",
        "columns": "rows of K (products)",
        "d_k": "columns of Q and K (products)",
        "kurtosis": "E((x - m)^4)/v^2 of an entry (any)",
        "variance": "the variance that is claimed for an entry",
        "measured": "the sample variance that was measured",
        "confidence": "between 0 and 1; 0.95 if not given",
        "claims": "contradicts, or agrees: what the measured variance is said to do",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides the moments for two and three entries and products of width 1 (thorough: 2), then what is claimed."""
        thorough = is_thorough(self, options)
        proof, shapes = Proof(algebra()), []
        for size in (2, 3):
            _show_independent(proof, size)
            shapes.append(f"N={size} independent")
        for n, m, d in [(1, 2, 1), (2, 2, 1), *([(2, 2, 2)] if thorough else [])]:
            _show_products(proof, n, m, d)
            shapes.append(f"Q {n} x {d}, K {m} x {d}")
        values = {"E(s^2)": "v", "Var(s^2), independent": "v**2*(kurtosis - (N - 3)/(N - 1))/N"}
        if options.keys() <= {"thorough"}:
            scope = "for every distribution with four moments at the stated sizes, by algebra; for every N by adding up"
            return proof.decision(self.statement, shapes, scope, values)
        return _claimed(proof, options, shapes, values)


def _sample_variance(ar: Any, entries: Any) -> Any:
    """Of one row of entries: the sum of squares minus the squared sum over N, over N - 1."""
    size = entries.shape[1]
    return (ar.row_sum(entries**2)[0, 0] - ar.row_sum(entries)[0, 0] ** 2 / size) / (size - 1)


def _show_independent(proof: Proof, size: int) -> None:
    """Mean and variance of s^2 for independent entries with four moments of mean 0."""
    ar, sp = proof.ar, proof.ar.algebra.sp
    x, (v, third, kurtosis) = ar.symbols("x", 1, size), sp.symbols("v m3 kurtosis", real=True)
    moments = dict.fromkeys(x[0], (sp.S.Zero, v, third, kurtosis * v**2))
    found = _sample_variance(ar, x)
    proof.equal(f"{size} independent entries: E(s^2) = v", expectation(ar, found, moments), v)
    second = expectation(ar, found**2, moments) - v**2
    formula = v**2 * (kurtosis - sp.Rational(size - 3, size - 1)) / size
    proof.equal(f"{size} independent entries: Var(s^2) = v^2 (kurtosis - (N - 3)/(N - 1))/N", second, formula)


def _show_products(proof: Proof, n: int, m: int, d: int) -> None:
    """Mean and variance of s^2 for the entries of Q K^T."""
    ar, sp = proof.ar, proof.ar.algebra.sp
    q, k = ar.symbols("q", n, d), ar.symbols("k", m, d)
    moments = dict.fromkeys([*q.flat, *k.flat], normal_moments(sp, 4))
    found = _sample_variance(ar, ar.matmul_transposed(q, k).reshape(1, n * m))
    what = f"Q {n} x {d}, K {m} x {d}, standard normal"
    proof.equal(f"{what}: E(s^2) = d_k", expectation(ar, found, moments), sp.Integer(d))
    spread = _product_variance(n, m, d)
    second = expectation(ar, found**2, moments) - d**2
    proof.equal(f"{what}: Var(s^2) as stated", second, sp.Rational(spread.numerator, spread.denominator))


def _product_variance(n: int, m: int, d: int) -> Fraction:
    """Var(s^2) of the n m entries of Q K^T, Q of n x d and K of m x d independent standard normal."""
    return Fraction(2 * d * (n * n * m + n * m * m + n * m * d + n * m - 2 * n - 2 * m - d + 1), (n * m - 1) ** 2)


def _claimed(proof: Proof, options: Mapping[str, str], shapes: list[str], values: dict[str, str]) -> Decision:
    """What is claimed of one measured variance."""
    sample = choice(options, "sample", *NEEDS)
    claims = choice(options, "claims", "contradicts", "agrees")
    if others := sorted(options.keys() - COMMON - {*NEEDS[sample]}):
        raise UsageError(f"found {others[0]!r}, which a sample of the kind {sample} does not have")
    variance, measured = rational(options, "variance"), rational(options, "measured")
    confidence = rational(options, "confidence", "0.95")
    if not variance > 0 <= measured:
        raise UsageError("wanted a variance above 0 and a measured one from 0")
    if not LEAST_CONFIDENCE <= confidence <= 1 - LEAST_RISK:
        found = shorten(str(options["confidence"]))
        raise UsageError(f"found the confidence {found}, wanted a number between 0 and 1, such as 0.95")
    count, about = _size(sample, options)
    judged = (
        _normal(count, variance, measured, confidence)
        if sample == "normal"
        else _bounded(sample, options, count, variance, measured, confidence)
    )
    said = judged.contradicts if claims == "contradicts" else judged.contradicts.negated
    text = f"a sample variance of {shorten(str(options['measured']))} of {about} {claims}"
    text += f" {'the' if claims == 'contradicts' else 'with the'} variance {shorten(str(options['variance']))}"
    proof.add(f"{text}: {judged.reason}", judged.by, said)
    low, high = judged.interval
    values |= {
        "sample size": str(count),
        "interval": f"[{low}, {high}]",
        "confidence": str(options.get("confidence", "0.95")),
    }
    return proof.decision(
        text,
        [*shapes, about],
        f"{about}, at a confidence of {values['confidence']}; moments by algebra at the stated sizes, for every N by "
        "the derivation",
        values,
        judged.reason if said is Answer.NO else None,
        f"{judged.holds} in [{low}, {high}], so {shorten(str(options['measured']))} contradicts nothing"
        if claims == "contradicts"
        else f"the measured variance contradicts the one that is claimed, at a confidence of {values['confidence']}",
    )


def _size(sample: str, options: Mapping[str, str]) -> tuple[int, str]:
    """How many entries were measured, and what they are in words."""
    if sample == "products":
        n, m, d = (whole(options, key, 1, MOST_ENTRIES) for key in NEEDS["products"])
        if not 2 <= n * m <= MOST_ENTRIES:
            raise UsageError(f"found {n * m} entries, wanted 2 to {MOST_ENTRIES}")
        return n * m, f"the {n * m} entries of Q K^T, Q {n} x {d} and K {m} x {d} with independent normal entries"
    count = whole(options, "entries", 2, MOST_ENTRIES)
    return count, f"{count} independent {'normal entries' if sample == 'normal' else 'entries of any distribution'}"


def _normal(count: int, variance: Fraction, measured: Fraction, confidence: Fraction) -> Judged:
    """By the exact law of s^2, equal tails."""
    tail, unit = (1 - confidence) / 2, variance / (count - 1)
    share = below(measured / unit, count - 1)
    outside = [share.below(tail), share.above(1 - tail)]
    contradicts = Answer.every(*(answer.negated for answer in outside)).negated
    ends = tuple(shown(quantile(p, count - 1).times(unit)) for p in (tail, 1 - tail))
    where = {Answer.NO: "lies in", Answer.YES: "lies outside"}.get(contradicts, "cannot be told from an end of")
    reason = f"{_decimal(measured)} {where} [{ends[0]}, {ends[1]}], which holds {_percent(confidence)} of all s^2"
    holds = f"{_percent(confidence)} of the sample variances of {count} such entries lie"
    return Judged(contradicts, (ends[0], ends[1]), reason, holds, "the chi-square law, by balls")


def _bounded(
    sample: str, options: Mapping[str, str], count: int, variance: Fraction, measured: Fraction, confidence: Fraction
) -> Judged:
    """By Chebyshev's inequality, and for products by a lower bound of the tail below."""
    least = Fraction(0)
    if sample == "products":
        n, m, d = (whole(options, key, 1, MOST_ENTRIES) for key in NEEDS["products"])
        unit = variance / d
        spread = _product_variance(n, m, d) * unit**2
        if measured < variance and max(n, m) * d <= MOST_TAIL:
            least = product_below((count - 1) * measured / unit, n * d, m * d)
    else:
        kurtosis = rational(options, "kurtosis")
        if kurtosis < 1:
            raise UsageError("found a kurtosis below 1, wanted E((x - m)^4)/v^2, which is at least 1")
        spread = variance**2 * (kurtosis - Fraction(count - 3, count - 1)) / count
    alpha, distance = 1 - confidence, abs(measured - variance)
    is_far = distance > 0 and spread / distance**2 < alpha
    contradicts = Answer.known(is_far, distance == 0 or least >= alpha)
    reach = enclose(sqrt(spread / alpha))
    zero = Fraction(0)  # no sample variance is below
    low = Interval(max(zero, variance - reach.upper), max(zero, variance - reach.lower))
    ends = (shown(low), shown(Interval(variance + reach.lower, variance + reach.upper)))
    reason = f"{_decimal(measured)} lies {'outside' if is_far else 'in'} [{ends[0]}, {ends[1]}], which holds at least "
    reason += f"{_percent(confidence)} of all s^2"
    if least >= alpha and not is_far:
        reason += f", and an s^2 as small as that has a probability of at least {shown(Interval(least, least), 2)}"
    holds = f"at least {_percent(confidence)} of the sample variances of {count} such entries lie"
    by = "Chebyshev's inequality with exact moments" + (", the chi-square law by balls" if least else "")
    return Judged(contradicts, ends, reason, holds, by)


def _decimal(x: Fraction) -> str:
    return shown(enclose(x)) if x.denominator == 1 else (enclose(x).decimal(6) or "").rstrip("0")


def _percent(x: Fraction) -> str:
    return f"{_decimal(100 * x)} %"


LAW = SampleVariance()

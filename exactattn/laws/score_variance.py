"""Law `score-variance`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from exactattn.errors import UsageError
from exactattn.laws.formulas import ORDER, RELATIONS, compare, read, size, variable
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.moments import expectation
from exactattn.laws.proof import Proof, positive

ASSUMED = {"mean_q": "0", "mean_k": "0", "variance_q": "1", "variance_k": "1"}
DISTRIBUTIONS: Mapping[str, Mapping[str, str]] = {
    "standard": ASSUMED,
    "uniform": {"mean_q": "1/2", "mean_k": "1/2", "variance_q": "1/12", "variance_k": "1/12"},
}
DISTRIBUTION_WORDS = {"standard": "of mean 0 and variance 1", "uniform": "uniform on [0, 1)"}
SHORT = {"mean": ("mean_q", "mean_k"), "variance": ("variance_q", "variance_k")}
GENERAL = {"mean_q": "mu_q", "mean_k": "mu_k", "variance_q": "sigma_q**2", "variance_k": "sigma_k**2"}
WORDS = {"expected": "variance", "expected_mean": "mean", "expected_deviation": "standard deviation"}
CLAIMED = tuple(WORDS)
COMPONENT = "(m_q, m_k means; s_q, s_k standard deviations of component l)"


class ScoreVariance:
    """Var(q.k) = d_k for independent components of mean 0, variance 1; 1 after 1/sqrt(d_k), 1/d_k after 1/d_k.

    Statement: let the 2 d_k components of q and k be independent. Then E(q.k) = sum_l m_q m_k and
    Var(q.k) = sum_l (s_q^2 s_k^2 + m_q^2 s_k^2 + m_k^2 s_q^2), with means m and variances s^2 of component l. With
    means 0 and variances 1 this is d_k. A factor c multiplies any variance, also that of any given data, by c^2.
    Derivation: E((q_l k_l)^2) = (s_q^2 + m_q^2)(s_k^2 + m_k^2), minus (m_q m_k)^2. Two different components have
    covariance 0, as the expectation of a product of independent factors is the product of their expectations; so
    the variances add. Less is enough: q_l independent of k_l for each l, and the products q_l k_l uncorrelated.
    So 1/sqrt(d_k) makes the variance 1, and 1/d_k makes it 1/d_k; for d_k = 1 scaling changes nothing.
    What it is not: a statement about the scores of one given matrix, whose variance may be anything (see
    `scaled-variance`), nor about components of other means: uniform on [0, 1), the variance is 7 d_k/144.
    Source: Vaswani et al. 2017 (arXiv 1706.03762), footnote 4.
    """

    name = "score-variance"
    statement = "Var(q.k) = d_k for independent components of mean 0 and variance 1"
    options = THOROUGH | {
        "scale": "the factor on q.k, in d_k and other sizes; 1 if not given",
        "expected": "the variance that is claimed, in d_k and sigma, mu, ...",
        "expected_mean": "the mean of the scaled q.k that is claimed",
        "expected_deviation": "the standard deviation of the scaled q.k that is claimed",
        "relation": "= (if not given), <=, >=, < or >: how what is true stands to what is claimed",
        "d_k": "a number, when the claim is about one",
        "distribution": "standard: mean 0, variance 1, such as normal; uniform: on [0, 1); any: both and more",
        "mean": "mean of each component of q and of k",
        "variance": "variance of each component of q and of k",
        "sigma": "standard deviation of each component of q and of k",
        "mean_q": "mean of each component of q, 0 if not given",
        "mean_k": "mean of each component of k, 0 if not given",
        "variance_q": "variance of each component of q, 1 if not given",
        "variance_k": "variance of each component of k, 1 if not given",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides the general formula for d_k = 1 and 2 (thorough: 4) and every d_k, then what is claimed of it."""
        widths = range(1, 5 if is_thorough(self, options) else 3)
        proof = Proof(algebra())
        for width in widths:
            _show_general(proof, width)
        _show_additive(proof)
        _show_scaling(proof)
        assumed, others = _assumed(options)
        values, counterexample = _claimed(proof, options, assumed)
        for name, moments in others.items():
            if counterexample is None:
                _, found = _claimed(proof, options, moments)
                counterexample = f"components {name}, {found}" if found else None
        about = _about(assumed) if not others else "with any means and variances"
        order = "standard components, uniform on [0, 1), then any; in each " if others else ""
        sought = f"; the counterexample is the first among {order}{ORDER}" if counterexample else ""
        return proof.decision(
            f"{_statement(options, values)} for independent components {about}",
            [f"d_k={width}" for width in widths] + ["every d_k"],
            f"components of q and k independent, {about}; by algebra on moments at the stated sizes, "
            f"for every d_k because the covariance of different components is 0{sought}",
            values,
            counterexample,
            _corrected(options, values, others),
        )


def _assumed(options: Mapping[str, str]) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """The moments of the components, and with `distribution: any` further ones to try, by their words.

    Errors: UsageError for what is stated twice.
    """
    found: dict[str, str] = {}
    deviation = str(options.get("sigma", "")).strip()
    deviation = deviation if deviation.isidentifier() else f"({deviation})"
    sigma = {"variance": f"{deviation}**2"} if "sigma" in options else {}
    for key, value in [*options.items(), *sigma.items()]:
        for part in SHORT.get(key, (key,) if key in ASSUMED else ()):
            if part in found:
                raise UsageError(f"found two values of {part}, wanted one: state the mean, variance or sigma once")
            found[part] = str(value)
    if not any(key in options for key in CLAIMED) and options.keys() & {"relation", "distribution"}:
        raise UsageError("found an assumption or a relation without a claim, wanted `expected` with the variance")
    kind = choice(options, "distribution", "standard", "normal", "uniform", "any")
    if kind in ("uniform", "any") and found:
        raise UsageError(f"found {next(iter(found))} beside distribution {kind!r}, wanted one of the two")
    if kind == "any":
        return ASSUMED, {DISTRIBUTION_WORDS["uniform"]: DISTRIBUTIONS["uniform"], "in general": GENERAL}
    return DISTRIBUTIONS["uniform"] if kind == "uniform" else ASSUMED | found, {}


def _about(assumed: Mapping[str, str]) -> str:
    """The assumed moments in words."""
    known = (DISTRIBUTION_WORDS[name] for name, moments in DISTRIBUTIONS.items() if dict(assumed) == dict(moments))
    return next(known, f"with {', '.join(f'{key} {value}' for key, value in assumed.items())}")


def _statement(options: Mapping[str, str], values: Mapping[str, str]) -> str:
    """What is claimed, in a formula."""
    scale, relation = str(options.get("scale", "1")), _relation(options)
    score = "q.k" if scale == "1" else f"({scale}) q.k"
    parts = {
        "expected": f"Var({score})",
        "expected_mean": f"E({score})",
        "expected_deviation": f"the standard deviation of {score}",
    }
    claims = [f"{text} {relation} {options[key]}" for key, text in parts.items() if key in options]
    return ", ".join(claims) or f"Var({score}) = {values['variance']}"


def _corrected(options: Mapping[str, str], values: Mapping[str, str], others: Mapping[str, Any]) -> str:
    """What is true of the scaled score."""
    if others:
        return f"Var(c q.k) = c^2 {values['general']}"
    score = "q.k" if "scale" not in options else f"({options['scale']}) q.k"
    return f"Var({score}) = {values['variance']}" + (f", E({score}) = {values['mean']}" if "mean" in values else "")


def _relation(options: Mapping[str, str]) -> str:
    return choice(options, "relation", *RELATIONS)


def _moments(proof: Proof, width: int) -> tuple[Any, Any, dict[Any, tuple[Any, Any]], Any, Any]:
    """q, k as rows of variables; their first two moments; means and standard deviations as rows (q, then k)."""
    ar = proof.ar
    vectors = [ar.symbols(label, 1, width) for label in "qk"]
    means = [ar.symbols(f"m_{label}", 1, width) for label in "qk"]
    spreads = [ar.symbols(f"s_{label}", 1, width) for label in "qk"]
    moments = {
        x: (m, s**2 + m**2)
        for x, m, s in zip(
            np.concatenate(vectors, 1)[0], np.concatenate(means, 1)[0], np.concatenate(spreads, 1)[0], strict=True
        )
    }
    return vectors[0], vectors[1], moments, means, spreads


def _show_general(proof: Proof, width: int) -> None:
    """The general formula at one width, from the score as attention computes it."""
    ar = proof.ar
    q, k, moments, (m_q, m_k), (s_q, s_k) = _moments(proof, width)
    score = ar.matmul_transposed(q, k)[0, 0]
    mean = expectation(ar, score, moments)
    proof.equal(f"d_k={width}: E(q.k) = sum_l m_q m_k", mean, (m_q * m_k).sum())
    variance = expectation(ar, score**2, moments) - mean**2
    formula = (s_q**2 * s_k**2 + m_q**2 * s_k**2 + m_k**2 * s_q**2).sum()
    proof.equal(f"d_k={width}: Var(q.k) = sum_l (s_q^2 s_k^2 + m_q^2 s_k^2 + m_k^2 s_q^2)", variance, formula)


def _show_additive(proof: Proof) -> None:
    """Why the variances of components add, for every d_k."""
    ar = proof.ar
    q, k, moments, (m_q, m_k), _ = _moments(proof, 2)
    first, second = (q * k)[0]
    covariance = expectation(ar, first * second, moments) - (m_q * m_k)[0].prod()
    proof.equal("two components: Cov(q_0 k_0, q_1 k_1) = 0, so for every d_k the variances add", covariance, 0)


def _show_scaling(proof: Proof) -> None:
    """For any data: a factor c multiplies the variance by c^2; what 1/sqrt(d_k) does for d_k > 1."""
    ar, c = proof.ar, proof.ar.algebra.name("c")
    data = ar.symbols("x", 1, 3)[0]
    proof.equal("any three data: Var(c x) = c^2 Var(x)", _variance(c * data), c**2 * _variance(data))
    more = 1 + ar.algebra.sp.Dummy("t", positive=True)
    proof.add(
        "d_k > 1: dividing by sqrt(d_k) lowers a variance: 1 - 1/d_k > 0",
        "SymPy: d_k = 1 + t, t > 0",
        positive(ar, 1 - 1 / more),
    )


def _variance(data: Any) -> Any:
    """Of given data, every one equally likely."""
    return (data**2).sum() / len(data) - (data.sum() / len(data)) ** 2


def _claimed(proof: Proof, options: Mapping[str, str], assumed: Mapping[str, str]) -> tuple[dict[str, str], str | None]:
    """Variance and mean under the stated assumptions and scale, compared with what is claimed."""
    known = size(options, "d_k")
    d_k = read(proof, "d_k", known)
    m_q, m_k, v_q, v_k = (read(proof, assumed[key], known) for key in ASSUMED)
    unscaled = d_k * (v_q * v_k + m_q**2 * v_k + m_k**2 * v_q)
    sp, scale = proof.ar.algebra.sp, read(proof, options.get("scale", "1"), known)
    variance, mean = sp.cancel(scale**2 * unscaled), sp.cancel(scale * d_k * m_q * m_k)
    values = {
        "general": f"sum_l (s_q**2*s_k**2 + m_q**2*s_k**2 + m_k**2*s_q**2) {COMPONENT}",
        "unscaled": str(sp.cancel(unscaled)),
        "after 1/sqrt(d_k)": str(sp.cancel(unscaled / d_k)),
        "after 1/d_k": str(sp.cancel(unscaled / d_k**2)),
        "variance": str(variance),
    }
    true = {"expected": variance, "expected_mean": mean, "expected_deviation": sp.sqrt(variance)}
    if not options.keys() - {"thorough"}:
        free = variable(proof, "d_k")
        proof.equal("means 0, variances 1: Var(q.k) = d_k", unscaled, free)
        proof.equal("means 0, variances 1: after 1/sqrt(d_k) it is 1", unscaled / free, 1)
        proof.equal("means 0, variances 1: after 1/d_k it is 1/d_k", unscaled / free**2, 1 / free)
    found = None
    for key in CLAIMED:
        if key in options:
            claimed = read(proof, options[key], known)
            values |= {key: str(claimed)} | ({"mean": str(mean)} if key == "expected_mean" else {})
            what = f"{WORDS[key]} as claimed, components {_about(assumed)}"
            found = found or compare(proof, what, true[key], claimed, _relation(options))
    return values, found


LAW = ScoreVariance()

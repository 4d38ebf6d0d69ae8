"""What documents claim of laws, with options: right ones hold, wrong ones fail with a counterexample.

S.. are claims of the two source documents, K.. collected ones; the right answers were worked out beside them.
"""

from __future__ import annotations

from typing import Any

import pytest

from exactattn import plugins
from exactattn.engines.symbolic import ENGINE
from exactattn.errors import NumeralError, UsageError
from exactattn.findings import Verdict

UNIFORM = {"mean_q": "1/2", "mean_k": "1/2", "variance_q": "1/12", "variance_k": "1/12"}
SIGMA = {"variance_q": "sigma**2", "variance_k": "sigma**2"}
SPLIT = {"d_k": "d_model/H", "d_v": "d_model/H"}
NORMAL = {"sample": "normal", "variance": "2", "measured": "1.6"}
PRODUCTS = {"sample": "products", "rows": "2", "columns": "2", "d_k": "2", "variance": "2", "measured": "1.6"}

HOLD = [
    ("score-variance", {"expected": "d_k"}),  # K01, S25
    ("score-variance", {"scale": "1/sqrt(d_k)", "expected": "1"}),  # K09
    ("score-variance", {"scale": "1/d_k", "expected": "1/d_k"}),  # K09
    ("score-variance", {"scale": "d_k**(-1/2)", "expected": "1.0"}),
    ("score-variance", {"d_k": "1", "scale": "1/d_k", "expected": "1"}),  # S25: no change for d_k = 1
    ("score-variance", {"d_k": "64", "expected": "8**2"}),  # K08: standard deviation 8
    ("score-variance", {**UNIFORM, "expected": "7*d_k/144"}),  # K01
    ("score-variance", {**SIGMA, "expected": "d_k*sigma**4"}),  # K02
    ("score-variance", {**SIGMA, "scale": "1/d_k", "expected": "sigma**4/d_k"}),  # K02
    ("score-variance", {"scale": "3"}),
    ("weights-in-unit-interval", {"mask": "none"}),  # S17
    ("permutation-equivariance", {"mask": "none"}),  # S41
    ("convex-hull", {"weights": "A"}),  # S32
    ("context-factors", {"equals": "A X", "W_V": "identity"}),  # S38
    ("context-factors", {"equals": "A X W_V"}),
    ("orientation", {"reading": "C W_O"}),  # S36
    ("parameter-count", {**SPLIT, "expected": "4*d_model**2"}),  # S43
    ("parameter-count", {"expected": "H*d_model*(2*d_k + 2*d_v)"}),  # S43
    ("operation-count", {"part": "core", "expected": "2*n**2*d"}),  # S44
    ("operation-count", {"part": "projections", "expected": "4*n*d**2"}),  # S44
    ("operation-count", {"expected": "2*n*d*(n + 2*d)"}),
    ("operation-count", {"part": "scores", "n": "100000", "expected": "10**10"}),  # K10
    ("operation-count", {"part": "core", "n": "4096", "d": "512", "expected": "17.2e9"}),  # 17,179,869,184
    ("operation-count", {"part": "core", "n": "100000", "d": "512", "expected": "10240000000000"}),  # K10
    ("score-variance", {"expected": "d_k", "expected_mean": "0"}),  # K01
    ("score-variance", {"distribution": "uniform", "expected": "7*d_k/144", "expected_mean": "d_k/4"}),  # K01
    ("score-variance", {"distribution": "normal", "expected": "d_k"}),
    ("score-variance", {"sigma": "sigma", "expected": "d_k*sigma**4"}),  # K02
    ("score-variance", {"sigma": "1", "scale": "1/sqrt(d_k)", "expected": "1"}),  # K02: sigma^4 = sigma^2 for sigma = 1
    ("score-variance", {"sigma": "sigma", "scale": "1/d_k", "relation": "<=", "expected": "sigma**4"}),  # K02
    ("score-variance", {"mean": "mu", "relation": ">=", "expected": "d_k"}),
    ("score-variance", {"d_k": "64", "expected_deviation": "8"}),  # K08
    ("scaled-variance", {"factor": "1/n", "divides_by": "n**2"}),  # K04
    ("scaled-variance", {"factor": "1/sqrt(d_k)", "divides_by": "d_k"}),
    ("scaled-variance", {"numbers": "[1, 2, 3, 4]", "expected": "5/4"}),
    ("scaled-variance", {"numbers": "[1, 2, 3, 4]", "kind": "sample", "expected": "5/3"}),
    ("scaled-variance", {"numbers": "[1, 2, 3, 4]", "factor": "1/sqrt(3)", "expected": "0.417"}),
    ("permutation-equivariance", {"claims": "pooled"}),  # K06
    ("permutation-equivariance", {"claims": "fixed query"}),  # K05
    ("layer-cost", {"layer": "attention", "growth": "n**2*d"}),  # K07
    ("layer-cost", {"layer": "attention with projections", "growth": "n**2*d + n*d**2"}),  # K07
    ("layer-cost", {"layer": "convolution", "growth": "k*n*d**2"}),  # K07
    ("layer-cost", {"layer": "convolution", "counts": "path", "growth": "n/k"}),  # K07
    ("layer-cost", {"layer": "recurrent", "counts": "path", "growth": "n"}),  # K07
    ("layer-cost", {"layer": "recurrent", "expected": "2*n*d**2"}),
    ("normal-tail", {"bound": "20", "variance": "64", "outside": "0.01242"}),  # K12
    ("normal-tail", {"bound": "20", "scale": "1/sqrt(64)", "scaled_bound": "2.5"}),  # K12
    ("scale-convention", {"declared": "1/d_k", "used": "1/d_k"}),  # K13
    ("scale-convention", {"used": "1/sqrt(d_model)", "heads": "several", "claims": "differ"}),  # K16
    ("scale-convention", {"used": "1/sqrt(d_model)", "heads": "1"}),  # K16
    ("scale-convention", {"used": "1/sqrt(d_model)", "heads": "8", "factor": "sqrt(8)"}),  # K16
    ("weights-in-unit-interval", {"keys": "1", "claims": "one"}),  # K14
    ("weights-in-unit-interval", {"keys": "2", "claims": "inside (0, 1)"}),
    ("weights-in-unit-interval", {"claims": "positive"}),
    ("weights-in-unit-interval", {"keys": "1", "claims": "positive", "format": "float32"}),
    ("mask-before-softmax", {"masked": "after", "row_sums": "below 1"}),  # K17
    ("mask-before-softmax", {"masked": "before", "row_sums": "1"}),  # K17
    ("transposed-weights", {"claims": "equal", "weights": "symmetric"}),  # K18
    ("saturated-gradient", {"at": "[20, -15, 30]", "diagonal": "[4.54e-5, 2.86e-20, 4.54e-5]"}),  # K19
    ("saturated-gradient", {"claims": "never zero"}),  # K19
    ("entropy-limit", {"others": "stay"}),
    ("entropy-limit", {"others": "scaled"}),
    ("sample-variance", {**NORMAL, "entries": "4", "claims": "agrees"}),  # K03
    ("sample-variance", {**NORMAL, "entries": "1000"}),
]

FAIL = [
    ("score-variance", {"scale": "1/d_k", "expected": "1"}, "d_k = 2: it is 1/2, not 1"),  # S23
    ("score-variance", {"expected": "1"}, "d_k = 2: it is 2, not 1"),
    ("score-variance", {"expected": "sqrt(d_k)"}, "d_k = 2: it is 2, not sqrt(2)"),
    ("score-variance", {"expected": "exp(d_k)"}, "d_k = 1: it is 1, not E"),
    ("score-variance", {**UNIFORM, "scale": "1/sqrt(d_k)", "expected": "1"}, "7/144, not 1"),  # K01
    ("score-variance", {**SIGMA, "scale": "1/sqrt(d_k)", "expected": "sigma**2"}, "sigma = 2: it is 16, not 4"),  # K02
    ("score-variance", {"scale": "1/sqrt(d_model)", "expected": "1"}, "d_k = 1, d_model = 2: it is 1/2"),  # K16
    ("score-variance", {"d_k": "64", "expected": "8"}, "it is 64, not 8"),
    ("weights-in-unit-interval", {"mask": "causal"}, "[1, 0]"),  # S40
    ("permutation-equivariance", {"mask": "causal"}, "f(PX) = [1, 1/2], P f(X) = [1/2, 0]"),
    (
        "convex-hull",
        {"weights": "transposed"},
        "scores [[0, 0], [0, 1]], V = [1, 1]: A^T V = [0.768941, 1.23106], outside [1, 1]",
    ),  # K18
    ("context-factors", {"equals": "A X"}, "the context is [2], A X is [1]"),  # S38
    ("orientation", {"reading": "W_O C"}, "C W_O = [0, 1], W_O C^T = [2, 0]^T"),  # S36
    ("parameter-count", {**SPLIT, "expected": "4*H*d_model**2"}, "H = 2, d_model = 2: it is 16, not 32"),  # S43
    ("operation-count", {"expected": "n**2*d"}, "d = 1, n = 1: it is 6, not 1"),
    ("operation-count", {"part": "core", "n": "100000", "d": "512", "expected": "10**10"}, "10240000000000"),  # K10
    ("operation-count", {"part": "scores", "n": "100000", "expected": "10**9"}, "10000000000, not 1000000000"),
    (
        "score-variance",
        {"distribution": "any", "scale": "1/sqrt(d_k)", "expected": "1"},
        "uniform on [0, 1), whatever the sizes are: it is 7/144",
    ),
    ("score-variance", {"expected_mean": "0", "mean": "1/2"}, "d_k = 1: it is 1/4, not 0"),
    (
        "score-variance",
        {"sigma": "sigma", "scale": "1/d_k", "relation": ">=", "expected": "sigma**4"},
        "d_k = 2, sigma = 1",
    ),
    ("score-variance", {"d_k": "64", "expected_deviation": "64"}, "it is 8, not 64"),
    ("score-variance", {"relation": "<", "expected": "d_k"}, "whatever the sizes are: it is d_k, not below d_k"),
    ("scaled-variance", {"factor": "1/n", "divides_by": "n"}, "n = 2: it is 4, not 2"),
    (
        "scaled-variance",
        {"numbers": "[[1, 0, 1], [1, 1, 2], [2, 1, 3]]", "factor": "1/sqrt(2)", "expected": "1"},
        "it is 1/3",
    ),
    ("scaled-variance", {"numbers": "[1, 2, 3, 4]", "expected": "5/3"}, "it is 5/4, not 5/3"),
    (
        "permutation-equivariance",
        {"claims": "invariant"},
        "X = [[0], [1]], W_Q = [[1]], W_K = [[1]], W_V = [[1]]",
    ),  # K05
    ("permutation-equivariance", {"claims": "pooled", "mask": "causal"}, "[3/4]"),
    ("layer-cost", {"layer": "attention with projections", "growth": "n**2*d"}, "d = t, t growing"),  # K07
    ("layer-cost", {"layer": "attention", "growth": "n*d"}, "n = t, t growing, all else fixed: it grows as t**2"),
    ("layer-cost", {"layer": "convolution", "counts": "path", "growth": "1"}, "n = t"),
    ("layer-cost", {"layer": "recurrent", "counts": "path", "growth": "n/k"}, "n = t, k = t"),
    ("layer-cost", {"layer": "attention", "counts": "path", "expected": "2"}, "it is 1, not 2"),
    ("normal-tail", {"bound": "20", "variance": "64", "outside": "0"}, "0.0124193306516"),  # K12
    ("normal-tail", {"bound": "20", "variance": "81", "outside": "0.01242"}, "it is 0.0262"),
    ("normal-tail", {"bound": "20", "scale": "1/64", "scaled_bound": "2.5"}, "it is 5/16"),
    ("scale-convention", {"used": "1/d_k"}, "d_k = 2: it is 1/2, not sqrt(2)/2"),  # K13
    ("scale-convention", {"used": "1/sqrt(d_model)", "heads": "1", "claims": "differ"}, "the sizes are"),  # K16
    ("scale-convention", {"used": "1/sqrt(d_model)"}, "H = 2, d_k = 1"),
    ("scale-convention", {"used": "1/sqrt(d_model)", "heads": "8", "factor": "8"}, "2*sqrt(2), not 8"),
    ("weights-in-unit-interval", {"keys": "2", "claims": "one"}, "every weight is 1/2"),  # K14
    ("weights-in-unit-interval", {"keys": "any"}, "one key, scores [0]: every weight is 1"),
    ("weights-in-unit-interval", {"claims": "positive", "format": "float32"}, "scores [104, 0]"),
    (
        "mask-before-softmax",
        {"masked": "after", "row_sums": "1"},
        "2 tokens, all scores 0, causal: the first row sums to 1/2",
    ),
    ("mask-before-softmax", {"masked": "before", "row_sums": "below 1"}, "the first row sums to 1"),
    ("transposed-weights", {"claims": "equal"}, "scores [[0, 0], [0, 1]], V = [0, 1]"),  # K18
    ("saturated-gradient", {"claims": "zero"}, "scores [5, 0]"),  # K19
    ("saturated-gradient", {"format": "float32"}, "from [104, 0] every element of the gradient is 0"),
    (
        "saturated-gradient",
        {"at": "[20, -15, 30]", "diagonal": "[4.54e-5, 0, 4.54e-5]"},
        "da_2/ds_2: it is 2.86238862831e-20",
    ),
    ("entropy-limit", {"others": "together"}, "2 keys, scores [0, 0], t added to each: the entropy is log(2)"),
    ("entropy-limit", {"others": "scaled", "ties": "yes"}, "the entropy is log(2) for every t"),
    ("sample-variance", {**NORMAL, "entries": "4"}, "1.6 lies in [0.143864, 6.23227]"),  # K03
    ("sample-variance", {**NORMAL, "entries": "1000", "claims": "agrees"}, "lies outside"),
    ("sample-variance", {**PRODUCTS}, "has a probability of at least 0.23"),  # K03
]

OPEN = [
    ("sample-variance", {"sample": "any", "entries": "4", "kurtosis": "3", "variance": "2", "measured": "1.6"}),
    ("sample-variance", {**PRODUCTS, "measured": "3"}),
    ("saturated-gradient", {"format": "e5m2", "claims": "zero"}),
    ("normal-tail", {"bound": "1e3000", "outside": "0"}),
    ("saturated-gradient", {"at": "[1e3000, 0]", "diagonal": "[0, 0]"}),
]

CROOKED: list[tuple[str, dict[str, str], type[Exception], str]] = [
    ("score-variance", {"expected": "d_q"}, NumeralError, "unknown name 'd_q'"),
    ("score-variance", {"scale": "1/"}, NumeralError, "wanted"),
    ("score-variance", {"d_k": "2.5"}, UsageError, "whole number"),
    ("score-variance", {"d_k": "0"}, UsageError, "whole number"),
    ("score-variance", {"scal": "1"}, UsageError, "did you mean 'scale'"),
    ("convex-hull", {"weights": "B"}, UsageError, "wanted one of: A, transposed"),
    ("operation-count", {"expected": "9**9**9"}, NumeralError, "large|many|digits|exponent"),
    ("score-variance", {"expected": "(d_k + 1)**5000"}, UsageError, "exponents up to 24"),
    ("score-variance", {"variance": "((d_k + 1)**50)**50", "expected": "1"}, UsageError, "exponents up to 24"),
    ("layer-cost", {"layer": "attention", "growth": "(n + d + k)**20"}, UsageError, "at most 100 terms"),
    ("scale-convention", {"used": "((d_k + 1)*(d_v + 1)*(n + 1))**9"}, UsageError, "at most 100 terms"),
    ("scaled-variance", {"factor": "0", "divides_by": "1"}, UsageError, "nothing is divided"),
    ("saturated-gradient", {"at": f"{[0] * 17}", "diagonal": f"{[0] * 17}"}, UsageError, "at most 16"),
    ("sample-variance", {**NORMAL, "entries": "4", "confidence": "0." + "9" * 1500}, UsageError, "such as 0.95"),
    ("operation-count", {"part": "core", "n": "3"}, UsageError, "without a claim"),
    ("score-variance", {"mean": "0", "mean_q": "1", "expected": "1"}, UsageError, "two values of mean_q"),
    ("score-variance", {"distribution": "uniform", "mean": "0", "expected": "1"}, UsageError, "one of the two"),
    ("score-variance", {"distribution": "any"}, UsageError, "without a claim"),
    ("score-variance", {"relation": "~", "expected": "1"}, UsageError, "wanted one of"),
    ("scaled-variance", {"factor": "1/n"}, UsageError, "wanted both"),
    ("scaled-variance", {"numbers": "[1, x]", "expected": "1"}, NumeralError, "unknown name 'x'"),
    ("scaled-variance", {"numbers": "[1, 2]"}, UsageError, "without a claim"),
    ("scaled-variance", {"numbers": "[1]", "kind": "sample", "expected": "0"}, UsageError, "at least two"),
    ("sample-variance", {"sample": "normal", "variance": "2", "measured": "1"}, UsageError, "needs `entries`"),
    ("sample-variance", {**NORMAL, "entries": "4", "rows": "2"}, UsageError, "found 'rows'"),
    ("sample-variance", {**NORMAL, "entries": "1e9"}, UsageError, "whole number from 2 to 10000"),
    ("sample-variance", {**NORMAL, "entries": "4", "confidence": "95"}, UsageError, "between 0 and 1"),
    ("layer-cost", {"layer": "attention"}, UsageError, "with one of"),
    ("layer-cost", {"layer": "attention", "growth": "exp(n)"}, UsageError, "sum of terms"),
    ("layer-cost", {"layer": "convolution", "counts": "path", "expected": "n/k"}, UsageError, "claim its `growth`"),
    ("normal-tail", {"bound": "20"}, UsageError, "without a claim"),
    ("scale-convention", {"declared": "1/d_k"}, UsageError, "no scale that is used"),
    ("scale-convention", {"used": "0"}, UsageError, "found 0"),
    ("weights-in-unit-interval", {"keys": "2", "mask": "causal"}, UsageError, "beside a causal mask"),
    ("weights-in-unit-interval", {"keys": "3", "format": "float32"}, UsageError, "wanted 1, 2 or any"),
    ("weights-in-unit-interval", {"format": "float31"}, UsageError, "float32"),
    ("mask-before-softmax", {"masked": "after"}, UsageError, "wanted both"),
    ("saturated-gradient", {"at": "[1, 2]", "diagonal": "[0]"}, UsageError, "wanted as many"),
    ("entropy-limit", {"ties": "yes"}, UsageError, "others: scaled"),
]


@pytest.mark.parametrize(("law", "options"), HOLD)
def test_a_right_claim_holds(law: str, options: dict[str, str]) -> None:
    decision = plugins.get("laws", law).decide(ENGINE.arithmetic, **options)
    assert decision.verdict is Verdict.HOLDS
    assert decision.counterexample is None


@pytest.mark.parametrize(("law", "options", "witness"), FAIL)
def test_a_wrong_claim_fails_with_a_counterexample(law: str, options: dict[str, str], witness: str) -> None:
    decision = plugins.get("laws", law).decide(ENGINE.arithmetic, **options)
    assert decision.verdict is Verdict.FAILS
    assert witness in (decision.counterexample or "")
    assert decision.statement != plugins.get("laws", law).statement
    assert decision.corrected


@pytest.mark.parametrize(("law", "options"), OPEN)
def test_what_cannot_be_told_is_not_decided(law: str, options: dict[str, str]) -> None:
    decision = plugins.get("laws", law).decide(ENGINE.arithmetic, **options)
    assert decision.verdict is Verdict.UNDECIDED
    assert decision.counterexample is decision.corrected is None


@pytest.mark.parametrize(("law", "options", "error", "text"), CROOKED)
def test_what_cannot_be_read_is_refused(law: str, options: dict[str, str], error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        plugins.get("laws", law).decide(ENGINE.arithmetic, **options)


def test_the_corrected_value_is_given() -> None:
    decision = plugins.get("laws", "score-variance").decide(ENGINE.arithmetic, scale="1/d_k", expected="1")
    assert decision.values["variance"] == "1/d_k"
    assert decision.values["after 1/sqrt(d_k)"] == "1"

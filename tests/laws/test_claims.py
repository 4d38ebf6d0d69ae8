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
    ("convex-hull", {"weights": "transposed"}, "[5/6, 7/6], outside [1, 1]"),  # K18
    ("context-factors", {"equals": "A X"}, "the context is [2], A X is [1]"),  # S38
    ("orientation", {"reading": "W_O C"}, "C W_O = [0, 1], W_O C^T = [2, 0]^T"),  # S36
    ("parameter-count", {**SPLIT, "expected": "4*H*d_model**2"}, "H = 2, d_model = 2: it is 16, not 32"),  # S43
    ("operation-count", {"expected": "n**2*d"}, "not"),
]

CROOKED: list[tuple[str, dict[str, str], type[Exception], str]] = [
    ("score-variance", {"expected": "d_q"}, NumeralError, "unknown name 'd_q'"),
    ("score-variance", {"scale": "1/"}, NumeralError, "wanted"),
    ("score-variance", {"d_k": "2.5"}, UsageError, "whole number"),
    ("score-variance", {"d_k": "0"}, UsageError, "whole number"),
    ("score-variance", {"scal": "1"}, UsageError, "did you mean 'scale'"),
    ("convex-hull", {"weights": "B"}, UsageError, "wanted one of: A, transposed"),
    ("operation-count", {"expected": "9**9**9"}, NumeralError, "large|many|digits|exponent"),
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


@pytest.mark.parametrize(("law", "options", "error", "text"), CROOKED)
def test_what_cannot_be_read_is_refused(law: str, options: dict[str, str], error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        plugins.get("laws", law).decide(ENGINE.arithmetic, **options)


def test_the_corrected_value_is_given() -> None:
    decision = plugins.get("laws", "score-variance").decide(ENGINE.arithmetic, scale="1/d_k", expected="1")
    assert decision.values["variance"] == "1/d_k"
    assert decision.values["after 1/sqrt(d_k)"] == "1"

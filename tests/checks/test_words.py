"""Words about the formula against the formula: same function, or the numbers that tell them apart."""

from __future__ import annotations

import mpmath
import pytest
from samples import by_id, document_n, scores

from exactattn.bench import Bench
from exactattn.checks.words import CHECK
from exactattn.findings import Claim, Verdict

SCORED = (
    Claim("s26", "formula", {"formula": "e_ij = Q K_j^T"}),
    Claim("s27", "formula", {"formula": r"e_{ij} = \frac{Q K_j^T}{\sqrt{d_k}}"}),
)


def judge(problem=None, formulas=(), **fields):
    claim = Claim("r", "reading", {"reading": "words", **fields})
    return by_id(CHECK, Bench(the_problem=problem, claims=(*formulas, claim)))["r"]


def softmax(*logits):
    """Oracle: mpmath at 40 digits."""
    with mpmath.workdps(40):
        powers = [mpmath.exp(x) for x in logits]
        return [p / sum(powers) for p in powers]


def test_the_words_of_document_t():
    """S23 of source-claims.md: the weights and entropies under 1/d_k and 1/sqrt(d_k); S25: the variances."""
    found = judge(formulas=SCORED, scale="1/d_k", against="scaled")
    assert (found.code, found.verdict, found.reason) == ("EA204", Verdict.FAILS, "contradiction")
    evidence = found.evidence
    assert evidence["stated_by"] == "claim s27"
    assert [x[:10] for x in evidence["weights"]["said"][0]] == ["0.38365173", "0.23269653", "0.38365173"]
    assert [x[:10] for x in evidence["weights"]["stated"][0]] == ["0.40111209", "0.19777581", "0.40111209"]
    for key, scale in (("said", mpmath.mpf(1) / 2), ("stated", mpmath.sqrt(mpmath.mpf(1) / 2))):
        with mpmath.workdps(40):
            wanted = softmax(scale, 0, scale)
            entropy = -sum(w * mpmath.log(w) for w in wanted)
            assert abs(mpmath.mpf(evidence["entropy"][key][0]) - entropy) < 1e-14
    assert evidence["variance"] == {"said": "1/d_k", "stated": "1", "unscaled": "d_k"}
    assert evidence["agree_for_d_k"] == [1]
    for text in ("1/d_k", "0.38365173", "0.23269654", "0.40111209", "0.19777581", "1.0744", "1.0534"):
        assert text in found.message


def test_the_other_words_of_document_t():
    """S24: the square root; the same function as the formula, however it is spelt."""
    for scale in ("1/sqrt(d_k)", "d_k**(-1/2)", "sqrt(d_k)/d_k"):
        assert judge(formulas=SCORED, scale=scale, against="s27").verdict is Verdict.HOLDS
    assert judge(formulas=SCORED, scale="1", against="s26").verdict is Verdict.HOLDS
    assert judge(scale="1/sqrt(d_k)").evidence["stated_by"] == "the usual definition"


def test_with_a_problem_its_own_data_are_shown():
    found = judge(document_n(), scale="1/d_k")
    assert found.evidence["stated_by"] == "the problem"
    assert len(found.evidence["weights"]["said"]) == 3
    assert found.evidence["weights"]["said"][2][2].startswith("0.4518")  # S7: scale 1/2 gives 0.274, 0.274, 0.452
    assert judge(document_n(), scale="1/sqrt(2)").verdict is Verdict.HOLDS
    assert judge(document_n(), scale="1/2").verdict is Verdict.FAILS
    plain = scores([1, 0, 1])
    assert judge(plain, scale="1").verdict is Verdict.HOLDS
    assert judge(plain, scale="2").verdict is Verdict.FAILS


def test_bases_and_masks():
    base = judge(document_n(), base="2")
    assert base.verdict is Verdict.FAILS
    assert round(float(base.evidence["weights"]["said"][2][0]), 4) == 0.2753  # S7
    assert judge(document_n(), base="e").verdict is Verdict.HOLDS
    causal = judge(document_n(), causal="top-left")
    assert causal.verdict is Verdict.FAILS
    assert [float(x) for x in causal.evidence["weights"]["said"][0]] == [1, 0, 0]  # S40
    assert causal.evidence["weights"]["said"][1][0].startswith("0.33023845")
    assert causal.evidence["entropy"]["said"][0] == "0"
    assert judge(document_n(), causal="none").verdict is Verdict.HOLDS


def test_another_size_is_another_function():
    found = judge(document_n(), scale="1/sqrt(d_model)")
    assert found.verdict is Verdict.FAILS
    assert "do not differ" in found.message  # d_model = d_k here
    assert judge(scale="1/sqrt(d_model)").verdict is Verdict.FAILS


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"scale": "1/foo"},
        {"scale": "1/d_k", "against": "nope"},
        {"scale": "1/d_k", "against": "C_i = sum_j a_ij V_j"},
        {"scale": "1/d_k", "against": "e_ij = Q_i K_j^T + 1"},
        {"scale": "1/d_k", "against": "e_ij = exp(Q_i K_j^T)"},
        {"scale": "1/d_k", "against": "e_ij = (("},
        {"scale": "1/d_k", "agianst": "scaled"},
        {"scale": "(" * 9000},
        {"base": "-2"},
        {"causal": "sometimes"},
    ],
)
def test_a_mistake_is_a_finding(fields):
    found = judge(formulas=SCORED, **fields)
    assert (found.code, found.reason) == ("EA209", "unreadable"), found.message

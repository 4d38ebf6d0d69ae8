"""Proofs as they are shown."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from exactattn.errors import UsageError
from exactattn.findings import Verdict
from exactattn.journeys.prove import Proof, prove
from exactattn.laws.law import Decision, Step
from exactattn.numbers.enclosure import Answer

FAILED = Proof(
    "a-law",
    "What it says.\n\nStatement: one line\nthat goes on.\n    a = b",
    Decision(
        Verdict.FAILS, "a statement", ("n=1", "n=2, d=3"), "for all scores",
        (Step("first", "SymPy"), Step("second", "SymPy", Answer.CANNOT_TELL)), "x = 1", {"formula": "1/d_k"},
    ),
)  # fmt: skip


def test_a_law_is_decided_and_shown():
    proof = prove("rows-sum-to-one")
    assert proof.status == 0
    text = proof.text()
    assert text.startswith("rows-sum-to-one: holds\n\nthe weights of every row sum to 1\n")
    for part in ("Statement:", "Derivation: the denominator", "  1. row of 1 key", "[SymPy: ", "Decided for S=1; S=2"):
        assert part in text
    assert max(map(len, text.split("\n"))) <= 80


def test_everything_of_a_decision_is_shown():
    assert FAILED.text() == (
        "a-law: fails\n\na statement\n\nWhat it says.\n\nStatement: one line that goes on.\n    a = b\n\n"
        "Derivation\n  1. first\n     [SymPy]\n  2. second\n     [SymPy: cannot tell]\n\n"
        "Decided for n=1; n=2, d=3. For all scores.\nCounterexample: x = 1\nformula: 1/d_k\n"
    )
    assert FAILED.status == 1
    data = json.loads(json.dumps(FAILED.as_json()))
    assert data["schema"] == "exactattn/proof/1"
    assert [step["answer"] for step in data["steps"]] == ["yes", "cannot tell"]


def test_what_is_right_instead_is_shown():
    proof = prove("score-variance", scale="1/d_k", expected="1")
    assert proof.status == 1
    assert "\nCounterexample: d_k = 2: it is 1/2, not 1\nCorrected: Var((1/d_k) q.k) = 1/d_k\n" in proof.text()
    assert proof.as_json()["corrected"] == "Var((1/d_k) q.k) = 1/d_k"


def test_the_options_of_a_law_are_listed():
    proof = prove("operation-count")
    assert "\nOptions\n  thorough: true: larger shapes too\n  part: all, core" in proof.text()
    assert set(proof.as_json()["options"]) == {"thorough", "part", "expected", "n", "d"}


@pytest.mark.parametrize(
    ("scope", "shown"),
    [("for all n", "For all n."), ("For all.", "For all."), ("d_k at least 1", "d_k at least 1."), ("", "")],
)
def test_a_scope_is_a_sentence(scope, shown):
    proof = replace(FAILED, decision=replace(FAILED.decision, scope=scope))
    assert f"Decided for n=1; n=2, d=3. {shown}".rstrip() in [line.rstrip() for line in proof.text().split("\n")]


def test_an_unknown_law_or_option_is_said():
    with pytest.raises(UsageError, match="there is no law named 'rows-sum'"):
        prove("rows-sum")
    with pytest.raises(UsageError, match="did you mean 'thorough'"):
        prove("rows-sum-to-one", thorogh="true")
    for word in ("self", "algebra", "name"):
        with pytest.raises(UsageError, match=f"no option '{word}'"):
            prove("rows-sum-to-one", **{word: "1"})

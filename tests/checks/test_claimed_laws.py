"""Claims that name a law: decided with their options; a misspelt one is a finding."""

from __future__ import annotations

from samples import by_id

from exactattn.bench import Bench
from exactattn.checks.claimed_laws import CHECK
from exactattn.findings import Claim, Verdict


def judge(**fields):
    return by_id(CHECK, Bench(claims=(Claim("l", "law", fields),)))["l"]


def test_a_law_that_holds():
    found = judge(law="rows-sum-to-one", cites="S31", says="weights sum to 1")
    assert (found.code, found.verdict, found.level) == ("EA201", Verdict.HOLDS, "note")
    assert found.evidence["law"] == "rows-sum-to-one"
    assert found.evidence["shapes"]
    assert any("SymPy" in by for by in found.evidence["by"])
    assert len(found.evidence["steps"]) >= len(found.evidence["by"])
    assert found.evidence["options"] == {}


def test_options_are_passed_on():
    """S23, S25: after 1/d_k the variance is 1/d_k and not 1."""
    right = judge(law="score-variance", scale="1/d_k", expected="1/d_k")
    wrong = judge(law="score-variance", scale="1/d_k", expected="1")
    assert (right.verdict, wrong.verdict) == (Verdict.HOLDS, Verdict.FAILS)
    assert wrong.evidence["counterexample"]


def test_a_misspelt_law_or_option():
    found = judge(law="rows-sum-to-on")
    assert (found.code, found.reason) == ("EA209", "unreadable")
    assert "rows-sum-to-one" in found.message
    assert judge(law="score-variance", scael="1").code == "EA209"


def test_assumptions_are_options_apart_from_the_claim():
    fields = {"law": "score-variance", "scale": "1/sqrt(d_k)", "expected": "1"}
    right, wrong = (judge(**fields, assumptions=stated) for stated in ({"mean": "0"}, {"distribution": "uniform"}))
    assert (right.verdict, wrong.verdict) == (Verdict.HOLDS, Verdict.FAILS)
    assert wrong.evidence["assumptions"] == {"distribution": "uniform"}
    assert wrong.evidence["options"] == {"scale": "1/sqrt(d_k)", "expected": "1"}


def test_assumptions_in_words_or_twice_are_not_guessed():
    for stated, text in (("independent", "assumptions in words"), (["mean 0"], "in words"), ({"scale": "2"}, "beside")):
        found = judge(law="score-variance", scale="1", expected="d_k", assumptions=stated)
        assert (found.code, found.reason) == ("EA209", "unreadable")
        assert text in found.message


def test_what_is_right_instead_is_said():
    wrong = judge(law="score-variance", scale="1/d_k", expected="1")
    assert wrong.evidence["corrected"] == "Var((1/d_k) q.k) = 1/d_k"
    assert wrong.message.endswith("; right is: Var((1/d_k) q.k) = 1/d_k")
    assert wrong.evidence["steps"][-1].endswith(": no")
    assert judge(law="score-variance").evidence["corrected"] is None


def test_lists_are_read_as_statements_write_them():
    found = judge(law="scaled-variance", numbers=[["1", "2"], ["3", "4"]], expected="5/4")
    assert found.verdict is Verdict.HOLDS
    assert found.evidence["options"]["numbers"] == "[[1, 2], [3, 4]]"


def test_names_of_python_are_no_options():
    for word in ("self", "algebra", "name"):
        for fields in ({word: "1"}, {"assumptions": {word: "1"}}):
            found = judge(law="rows-sum-to-one", **fields)
            assert (found.code, found.reason) == ("EA209", "unreadable")
            assert f"has no option {word!r}" in found.message

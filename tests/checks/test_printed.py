"""Remarks on printed blocks, and what the messages say. True values from closed forms or NumPy, named beside them."""

import json

from click.testing import CliRunner

from exactattn.cli import main


def findings(text):
    result = CliRunner().invoke(main, ["verify", "-", "--json", "-"], input="version: 1\n" + text)
    (report,) = json.loads(result.stdout)["reports"]
    return {finding["id"]: finding for finding in report["findings"]}


CUT = """
problem: {Q: [[1, 0], [0, 1], [1, 1]], K: [[1, 2], [0, 1], [1, 1]], V: [[1], [2], [3]]}
printed: {weights: [[0.40, 0.19, 0.40], [%s, 0.24, 0.24], [0.57, 0.14, 0.28]]}
"""


def test_a_block_that_is_cut_throughout_is_not_mixed():
    # true rows (NumPy): 0.4011 0.1978 0.4011, 0.5035 0.2483 0.2483, 0.5760 0.1400 0.2840
    found = findings(CUT % "0.50")
    assert "mixed:weights" not in found
    assert all(found[f"sum:weights[{i}]"]["verdict"] == "holds" for i in range(3))


def test_a_block_that_mixes_is_remarked():
    # 0.5035 is right only when rounded, 0.19 only when cut
    found = findings(CUT % "0.5035")
    assert found["mixed:weights"]["code"] == "EA107"


def test_a_complement_is_named():
    # W17: 0.5036 = 1 - 2 * 0.2482; the true weight is 0.50348984
    text = """
problem: {Q: [[1, 1]], K: [[1, 0], [0, 1], [1, 1]], V: [[1], [2], [3]]}
printed: {weights: [0.2482, 0.2482, 0.5036]}
"""
    found = findings(text)
    assert found["weights[0,2]"]["reason"] == "new"
    assert found["complement:weights[0,2]"]["code"] == "EA108"


def test_a_float32_print_without_its_type_gets_a_hint():
    # sigma(1) = 0.73105857863; 0.7310588 is 3 float32 ulp off
    text = "problem: {scores: [[1, 0]], V: [[1], [2]], scale: 1}\nprinted: {weights: [0.7310588, 0.26894143]}\n"
    assert "state `dtype: float32`" in findings(text)["weights[0,0]"]["message"]
    typed = text.replace("[0.7310588, 0.26894143]", "{dtype: float32, values: [0.7310588, 0.26894143]}")
    assert findings(typed)["weights[0,0]"]["reason"] == "float-noise"


def test_a_new_number_that_rests_on_a_wrong_one_says_so():
    text = """
problem: {scores: [[2, 1, 0]], V: [[1], [1], [2]], scale: 1}
printed: {weights: [0.5, 0.4, 0.1], output: [1.9]}
"""
    message = findings(text)["output[0,0]"]["message"]
    assert "it rests on weights[0,:] but does not follow from it" in message


def test_carried_rounding_is_a_warning():
    # W16: 0.4011*10 + 0.4011*5 = 6.0165, the truth is 6.01668
    text = """
problem: {Q: [[1, 0]], K: [[1, 0], [0, 1], [1, 1]], V: [[10, 0], [0, 10], [5, 5]]}
printed: {weights: [0.4011, 0.1978, 0.4011], output: [6.0165, 3.9833]}
"""
    found = findings(text)["output[0,0]"]
    assert (found["level"], found["reason"]) == ("warning", "propagated")
    assert "carries on rounding" in found["message"]


def test_sums_that_rounding_cannot_explain_fail():
    # W10: rows of 0.31, 0.34, 0.28 sum to 0.93; three rounded numbers may miss 1 by 0.015
    text = """
problem: {Q: [[0.5, 0.5]], K: [[0.2, 0.8], [0.9, 0.3], [0.1, 0.7]], V: [[1], [2], [3]]}
printed: {weights: [0.31, 0.34, 0.28]}
"""
    found = findings(text)["sum:weights[0]"]
    assert (found["verdict"], found["level"]) == ("fails", "warning")
    assert found["evidence"]["sum"] == "0.93"


def test_printed_minus_infinity_is_judged():
    text = """
problem: {scores: [[1, 2], [3, 4]], V: [[1], [2]], scale: 1, causal: true}
printed: {masked: [[1, %s], [3, %s]]}
"""
    right = findings(text % ("-inf", "4"))
    assert (right["masked[0,1]"]["reason"], right["masked[0,1]"]["evidence"]["true"]) == ("exact", "-inf")
    wrong = findings(text % ("0", "-inf"))
    for index, true in (("0,1", "-inf"), ("1,1", "4")):
        found = wrong[f"masked[{index}]"]
        assert (found["verdict"], found["reason"], found["evidence"]["true"]) == ("fails", "new", true)
    assert not any(finding["verdict"] == "broken" for finding in wrong.values())

"""What `verify` must show, from outside: the verdicts, evidence and exit statuses of the two source documents."""

import json
import re

import pytest
from click.testing import CliRunner
from goldens import ROOT

from exactattn.cli import main

EXAMPLE = ROOT / "cases" / "example.yaml"


def run(*arguments, text=None):
    return CliRunner().invoke(main, ["verify", *map(str, arguments), "--json", "-"], input=text)


def findings(result):
    (report,) = json.loads(result.stdout)["reports"]
    return {finding["id"]: finding for finding in report["findings"]}


def without_expectations(path):
    return re.sub(r"(?ms)^expect:.*\Z", "", path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["expected", "unexpected"])
def example(request):
    if request.param == "expected":
        result = run(EXAMPLE)
        assert result.exit_code == 0, result.stderr
    else:
        result = run("-", text=without_expectations(EXAMPLE))
        assert result.exit_code == 1, result.stderr
    return findings(result)


# True values: Source: the list of claims of document N (mpmath, from the closed forms with t = e^(1/sqrt 2))
def test_the_wrong_weights_are_new(example):
    for index, true in (
        ("2,0", "0.24825507825772306969"),
        ("2,1", "0.24825507825772306969"),
        ("2,2", "0.50348984348455386061"),
    ):
        found = example[f"weights[{index}]"]
        assert (found["verdict"], found["reason"], found["code"]) == ("fails", "new", "EA102")
        assert found["evidence"]["true"] == true
        assert found["readings"] == ["base=2"]
    assert example["weights[2,0]"]["evidence"]["closed_form"] == "1/(2 + exp(sqrt(2)/2))"


def test_the_wrong_outputs_are_propagated(example):
    for index in ("2,0", "2,1"):
        found = example[f"output[{index}]"]
        assert (found["verdict"], found["reason"]) == ("fails", "propagated")
        assert found["evidence"]["true"].startswith("0.7517449217")
        assert found["evidence"]["origin"] == "wrong"
        assert found["evidence"]["first_wrong"] == "weights[2,:]"
        assert found["evidence"]["follows"] == "0.7"


def test_everything_else_printed_holds(example):
    for i in range(2):
        assert [example[f"weights[{i},{j}]"]["reason"] for j in range(3)] == ["rounded"] * 3
        assert [example[f"output[{i},{j}]"]["reason"] for j in range(2)] == ["rounded"] * 2
    assert {example[f"scaled[{i},{j}]"]["reason"] for i in range(3) for j in range(3)} == {"exact"}
    for id in ("s10-a", "s10-b", "s10-c", "s10-d", "s10-e", "s11", "s12", "s8-sum"):
        assert (example[id]["verdict"], example[id]["reason"]) == ("holds", "exact")


def test_a_row_sum_does_not_find_the_error_and_the_report_says_so(example):
    found = example["sum:weights[2]"]
    assert found["verdict"] == "holds"
    assert "a row-sum check does not find" in found["message"]


def test_the_fitted_scales(example):
    found = example["fit:weights/scale"]
    assert "from ln(3/2) = 0.405465" in found["message"]
    assert "to ln(18/11) = 0.492476" in found["message"]
    assert "both ends are ties" in found["message"]
    assert "no usual scale lies there" in found["message"]
    assert "coincidence" in found["message"]
    assert found["readings"] == ["base=2"]


def test_an_expectation_that_is_not_met_fails(tmp_path):
    text = without_expectations(EXAMPLE) + "expect:\n  'weights[2,:]': {verdict: fails, reason: propagated}\n"
    result = run("-", text=text)
    assert result.exit_code == 1
    unmet = [finding for id, finding in findings(result).items() if id.startswith("expect:")]
    assert [finding["code"] for finding in unmet] == ["EA902"]
    nothing = without_expectations(EXAMPLE) + "expect:\n  'wieghts[2,:]': {verdict: fails}\n"
    assert "nothing has such an id" in run("-", text=nothing).stdout


def times_1000(formats="[float64, float32, float16]"):
    return f"""
version: 1
title: document N with X times 1000
problem: {{X: [[1000, 0], [0, 1000], [1000, 1000]], W_Q: identity, W_K: identity, W_V: identity}}
runs: {{formats: {formats}, algorithms: [naive, shifted, online]}}
"""


def test_x_times_1000_overflows_exp_where_it_is_not_shifted():
    found = findings(run("-", text=times_1000("[float32]")))
    hazard = found["hazard:exp-overflow/float32"]
    evidence = hazard["evidence"]
    # Source: THEORY's table and NumPy's own exp around its threshold
    assert evidence["ln_max"].startswith("88.72283905206835")
    assert evidence["ln_overflow"].startswith("88.72283908187")
    assert evidence["last_safe"] == 88.72283172607422 or evidence["last_safe"].startswith("88.72283172607422")
    assert float(evidence["first_overflowing"]) == 88.72283935546875
    assert hazard["level"] == "warning"
    assert evidence["count"] == 3
    assert {"shifted", "online"} <= set(evidence["unaffected"])
    assert found["run:float32/naive"]["verdict"] == "fails"
    assert {found[f"run:float32/{name}"]["verdict"] for name in ("shifted", "online")} == {"holds"}


def test_the_sum_overflows_silently():
    text = """
version: 1
title: three scores of 88
problem: {scores: [[88, 88, 88]], V: [[1], [2], [3]], scale: 1}
runs: {formats: [float32], algorithms: [naive, shifted]}
"""
    found = findings(run("-", text=text))
    hazard = found["hazard:sum-overflow/float32"]
    assert hazard["evidence"]["run"]["weights"] == [0.0, 0.0, 0.0]
    assert "hazard:exp-overflow/float32" not in found
    assert found["run:float32/naive"]["verdict"] == "fails"


@pytest.mark.parametrize("seed", ["0", "7"])
def test_the_same_run_twice_gives_the_same_bytes(seed):
    first, second = (run(EXAMPLE, "--seed", seed).stdout_bytes for _ in range(2))
    assert first == second


def test_one_bad_file_does_not_stop_the_others(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text("version: 1\ntitel: x\n", encoding="utf-8")
    result = run(bad, EXAMPLE, tmp_path / "missing.yaml")
    assert result.exit_code == 2
    reports = json.loads(result.stdout)["reports"]
    assert len(reports) == 3
    assert reports[1]["summary"]["unexpected"] == 0


def test_a_check_that_breaks_loses_nothing_else(monkeypatch):
    from exactattn import plugins

    def broken(bench):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(plugins.get("checks", "row-sums"), "run", broken, raising=True)
    found = findings(run(EXAMPLE))
    assert found["check:row-sums"]["verdict"] == "broken"
    assert "planted" in found["check:row-sums"]["message"]
    assert found["weights[2,0]"]["reason"] == "new"
    assert run(EXAMPLE, "--strict").exit_code == 3

"""Case files just under the caps: every one ends, and what is too much is said to be so, never `broken`."""

import json
import random

import pytest
from click.testing import CliRunner
from samples import no_hang

from exactattn.cli import main


def matrix(rows, columns, entry):
    return "[" + ",".join("[" + ",".join(entry() for _ in range(columns)) + "]" for _ in range(rows)) + "]"


def attention(tokens, width, entry, rest=""):
    parts = "".join(f"\n  {name}: {matrix(tokens, width, entry)}" for name in "QKV")
    return f"version: 1\nproblem:{parts}\n{rest}"


def scores(rows, rest=""):
    return f"version: 1\nproblem:\n  scale: 1\n  scores: {rows}\n  V: [[1], [2], [3]]\n{rest}"


def claims(*texts):
    return "claims:\n" + "".join(f"  - {text}\n" for text in texts)


rng = random.Random(7)
PRINTED = "printed: {weights: [[0.5, 0.5, 0.0], [0.1, 0.3, 0.6], [1.0, 0.0, 0.0]]}\n"
LONG = "".join(rng.choice("123456789") for _ in range(1990))
CASES = {
    "scores of 1e4000": lambda: scores("[[1e4000, 1e4000, 0], [1e-4000, 1, 2], [1e4000, -1e4000, 1]]", PRINTED),
    "exp of 9000": lambda: scores("[[exp(1000), exp(exp(5)), 0], [exp(exp(7)), 1, 2], [exp(9000), 0, 1]]", PRINTED),
    "exp of exp of 9999": lambda: scores("[[exp(exp(9999)), 0, 1], [1, 2, 3], [1, 2, 3]]", PRINTED),
    "2000 digits": lambda: attention(
        2, 2, lambda: f"0.{rng.choice('123')}{LONG}", "printed: {weights: [[0.5, 0.5], [0.5, 0.5]]}"
    ),
    "long statements": lambda: (
        f"version: 1\n{claims(f'equation: {LONG}e4000 = {LONG}e4000', f'equation: {LONG}e3999*sqrt(2) = pi')}"
    ),
    "sums of roots": lambda: scores(
        matrix(3, 3, lambda: "+".join(f"sqrt({rng.randint(2, 999)})" for _ in range(40))), PRINTED
    ),
    "a power of three logarithms": lambda: (
        f"version: 1\n{claims('equation: (log(2) + log(3) + log(5) + 1)**300 = exp((pi + sqrt(2) + log(7))**200)')}"
    ),
    "long rows": lambda: attention(20, 4, lambda: f"{rng.uniform(-3, 3):.4f}", claims("order: sum(weights[3]) = 1")),
    "endless sums": lambda: attention(
        20, 2, lambda: f"{rng.uniform(-3, 3):.4f}", claims("order: sum(weights)*sum(output) = 20*sum(output)")
    ),
    "wide rows": lambda: attention(4, 900, lambda: f"{rng.uniform(-3, 3):.4f}", claims("order: weights > 0")),
}


def findings(text):
    result = CliRunner().invoke(main, ["verify", "-", "--json", "-"], input=text)
    assert result.exit_code in (0, 1), result.stderr
    (report,) = json.loads(result.stdout)["reports"]
    return {finding["id"]: finding for finding in report["findings"]}


@pytest.mark.parametrize("name", CASES)
@no_hang()
def test_it_ends_and_nothing_breaks(name):
    found = findings(CASES[name]())
    assert {finding["verdict"] for finding in found.values()} <= {"holds", "fails", "undecided", "not_run"}
    assert not [finding for finding in found.values() if finding["code"] == "EA209"]


def test_a_row_of_twenty_weights_sums_to_one():
    assert findings(CASES["long rows"]())["order:1"]["verdict"] == "holds"


def test_large_scores_are_judged_with_more_bits():
    found = findings(CASES["scores of 1e4000"]())
    assert found["weights[0,0]"]["verdict"] == "holds"
    assert found["weights[2,0]"]["verdict"] == "holds"
    assert found["hazard:score-variance"]["reason"] == "saturated"


def test_numbers_beyond_every_engine_are_not_run():
    found = findings(CASES["exp of exp of 9999"]())
    assert found["check:printed"]["verdict"] == "not_run"
    assert "too large to enclose" in found["check:printed"]["message"]


@no_hang()
def test_statements_about_very_many_values_are_not_run():
    texts = ["order: weights > 0"] * 12
    found = findings(attention(50, 1, lambda: f"{rng.uniform(-1, 1):.2f}", claims(*texts)))
    verdicts = [found[f"order:{number}"]["verdict"] for number in range(1, 13)]
    assert verdicts == ["holds"] * 8 + ["not_run"] * 4
    assert "more than 40000 values" in found["order:12"]["message"]


def test_a_reading_of_a_large_problem_is_shown_on_the_small_example():
    reading = claims("{reading: reciprocal of the key dimension, scale: 1/d_k, against: scaled}")
    small, large = (
        findings(attention(n, 2, lambda: f"{rng.uniform(-1, 1):.1f}", reading))["reading:1"] for n in (3, 30)
    )
    assert small["verdict"] == large["verdict"] == "fails"
    assert (small["evidence"]["data"], large["evidence"]["data"]) == ("the problem", "scores (1, 0, 1), d_k = 2")

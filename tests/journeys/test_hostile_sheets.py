"""Documents that divide by their own zeros, break off or grow without bounds: a clear word, and nothing else stops."""

import pytest
from samples import no_hang

from exactattn.findings import Verdict
from exactattn.journeys.verify import verify


@pytest.fixture
def findings(tmp_path):
    """The findings of a case by id."""

    def of(text):
        path = tmp_path / "case.yaml"
        path.write_text("version: 1\n" + text, encoding="utf-8")
        with no_hang():
            (report,) = verify(path).reports
        assert not [f for f in report.findings if f.code == "EA900"], report.findings
        return {finding.id: finding for finding in report.findings}

    return of


def steps(*formulas, inputs="{x: [1, 2]}"):
    """A case with a printed block for each formula."""
    lines = [f"problem: {{inputs: {inputs}}}", "printed:"]
    lines += [f"  s{i}: {{of: {formula!r}, values: {values}}}" for i, (formula, values) in enumerate(formulas)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("first", "wrong", "second"),
    [
        ("total(x)", "0.0", ("x/s0", "[0.33, 0.67]")),  # 1/3, 2/3
        ("exp(x)", "[0.0, 0.0]", ("shares(s0)", "[0.27, 0.73]")),  # 1/(1 + e), e/(1 + e)
        ("exp(x)", "[-1.0, 7.4]", ("log(s0)", "[1.0, 2.0]")),
        ("exp(x)", "[0.0, 7.4]", ("log(s0)", "[1.0, 2.0]")),
    ],
)
def test_a_printed_zero_that_something_is_divided_by_stops_no_other_number(findings, first, wrong, second):
    found = findings(steps((first, wrong), second))
    assert (found["s0" if wrong == "0.0" else "s0[0]"].verdict) is Verdict.FAILS
    assert {found["s1[0]"].verdict, found["s1[1]"].verdict} == {Verdict.HOLDS}


@pytest.mark.parametrize(
    ("formula", "inputs"),
    [
        ("exp(exp(20*x))", "{x: [1, 2]}"),
        ("exp(10**300*x)", "{x: [1, 2]}"),
        ("log(x)", "{x: {values: [0.0, 0.0], rounded: true}}"),
        ("softmax(x)", "{x: {values: [1e6, 2e6], rounded: true}}"),
        ("exp(x)", "{x: {values: [1e3000, 1], rounded: true}}"),
        ("x/(exp(log(2)) - 2)", "{x: [1, 2]}"),  # a division by zero that no ball can see
    ],
)
def test_what_cannot_be_enclosed_is_open_and_nothing_else(findings, formula, inputs):
    found = findings(steps((formula, "[1, 2]"), ("2*3", "6"), inputs=inputs))
    assert found["s0[0]"].verdict is Verdict.UNDECIDED
    assert "cannot be enclosed" in found["s0[0]"].message
    assert found["s1"].verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (steps(("jacobian(x)", "[1]"), inputs=f"{{x: {list(range(2000))}}}"), "jacobian takes a list of at most 100"),
        (steps(*[(f"matmul({a}, {a})", "[[1, 1], [1, 1]]") for a in ["m"] + [f"s{i}" for i in range(40)]],
               inputs="{m: [[1, 2], [3, 4]]}"), "more than 14000 bits"),
        (steps(("total(x)", "[1]"), inputs=f"{{x: {[f'1/{10**50 + i}' for i in range(600)]}}}"), "14000 bits"),
        (steps(*[(f"sigmoid({a})", "[1, 1]") for a in ["x"] + [f"s{i}" for i in range(200)]]), "one inside another"),
    ],
)  # fmt: skip
def test_formulas_that_explode_are_named_with_their_line(findings, text, message):
    (mistake,) = [f for f in findings(text).values() if f.code == "EA901"]
    assert message in mistake.message
    assert mistake.where is not None


def test_readings_of_another_shape_are_no_readings(findings):
    # softmax([1, 2]) = 0.2689, 0.7311
    readings = "{a: total(x), b: 'cat(x, x)', c: 'cat(total(x))', d: 'vstack(x, x)', e: x/10}"
    block = f"{{of: softmax(x), readings: {readings}, values: [0.10, 0.20]}}"
    found = findings(f"problem: {{inputs: {{x: [1, 2]}}}}\nprinted: {{s: {block}}}\n")
    assert found["s[0]"].reason == "convention"
    assert found["s[0]"].readings == ("e",)


def test_a_long_chain_of_wrong_steps_ends(findings):
    chain = [(f"{a}*2", f"[{i + 2}.5, 3.5]") for i, a in enumerate(["x"] + [f"s{i}" for i in range(99)])]
    found = findings(steps(*chain))
    assert found["s0[0]"].reason == "new"
    assert found["stages"].evidence["first_wrong"] == "s0"

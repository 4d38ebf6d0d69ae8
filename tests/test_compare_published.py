"""The comparison with a second judge finds what it is for, on a made-up example; the corpus passes as a whole."""

import json
from copy import deepcopy

import compare_published
import pytest
from compare_published import CASES, Tally, compare
from goldens import ROOT

from exactattn.journeys.verify import exit_status, verify

CASE = """\
version: 1
title: made up
problem: {inputs: {a: [1, 2]}}
printed:
  half: {of: a/2, values: [0.5, 1.1]}
  sum: {of: total(half), values: 1.6}
  third: {of: a/3, values: [0.33, 0.67]}
"""
EXAMPLE = {
    "id": "W99",
    "first_wrong_step": "half",
    "steps": [
        {"name": "half", "printed": ["0.5", "1.1"], "expected": ["exact", "new"], "true": ["0.50000", "1.0"]},
        {"name": "sum", "printed": ["1.6"], "expected": ["propagated"], "true": ["3/2"], "origin": ["wrong"]},
        {"name": "third", "printed": ["0.33", "0.67"], "expected": ["rounded"] * 2, "true": ["1/3", "2/3"]},
    ],
}
PLANTED = {  # the place in the example, a wrong value there, and the kind of the disagreement
    "reason": (("steps", 0, "expected", 0), "rounded", "W99 half[0]: reason"),
    "true value": (("steps", 2, "true", 0), "0.333333333333333334", "W99 third[0]: true value"),
    "lost value": (("steps", 2, "true", 0), None, "W99 third[0]: true value"),
    "a bound": (("steps", 0, "true", 1), "<=1.1", "W99 half[1]: true value"),
    "printed": (("steps", 2, "printed", 1), "0.66", "W99 third[1]: printed"),
    "origin": (("steps", 1, "origin", 0), "rounding", "W99 sum[0]: origin"),
    "by accident": (("steps", 2, "by_accident"), [[1]], "W99 third[1]: by accident"),
    "tie": (("steps", 0, "ties"), [[0]], "W99 half[0]: tie"),
    "first wrong step": (("first_wrong_step",), "sum", "W99: first wrong step"),
    "a name": (("steps", 1, "name"), "total", "W99 total: 1 numbers, and exactattn judges 0"),
}


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "w99.yaml"
    path.write_text(CASE, encoding="utf-8")
    return verify([str(path)]).reports[0]


def compared(example, report):
    tally = Tally()
    compare(example, report, tally)
    return tally


def test_nothing_is_noted_where_the_judges_agree(report):
    tally = compared(EXAMPLE, report)
    assert tally.disagreements == []
    assert tally.compared["reason"] == tally.compared["true value"] == 5
    assert tally.compared["first wrong step"] == 1


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_disagreement_is_noted(report, planted):
    path, value, said = PLANTED[planted]
    example = deepcopy(EXAMPLE)
    place = example
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    noted = compared(example, report).disagreements
    assert any(line.startswith(said) for line in noted), noted


def test_readings_are_compared_where_the_other_judge_tried_some(report):
    example = deepcopy(EXAMPLE)
    example["steps"][2] |= {"alternatives": {"scale=2": "a*2"}, "readings": ["scale=2"]}
    tally = compared(example, report)
    assert tally.compared["readings"] == 1
    assert tally.disagreements == ["W99 third: readings: the other judge says ['scale=2'], exactattn []"]


def test_the_command_says_what_differs_and_exits_1(tmp_path, monkeypatch, capsys, report):
    monkeypatch.setattr(compare_published, "report_of", lambda name: report)
    file = tmp_path / "examples.json"
    for example, status in ((EXAMPLE, 0), (EXAMPLE | {"first_wrong_step": None}, 1)):
        file.write_text(json.dumps({"examples": [example]}), encoding="utf-8")
        assert compare_published.main([str(file)]) == status
    assert "W99: first wrong step: the other judge says None, exactattn half" in capsys.readouterr().out
    assert compare_published.main([]) == 2


def test_the_whole_corpus_comes_out_as_its_cases_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    cases = sorted(str(path) for path in CASES.glob("w*.yaml"))
    assert len(cases) == 38
    assert exit_status(verify(cases), strict=True) == 0

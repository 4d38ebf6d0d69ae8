"""Evidence as a reader sees it: no raw records, nothing twice, nothing empty."""

from __future__ import annotations

import pytest

from exactattn.findings import Finding, Level, Verdict
from exactattn.render.evidence import Line, brief, details


def shown(message="it fails", **evidence):
    """The lines of a finding with such evidence, as nested pairs."""
    finding = Finding("s", "claims", "EA201", Level.ERROR, Verdict.FAILS, message, evidence=evidence)
    return [pair(line) for line in details(finding)]


def pair(line):
    """A line as (label, text), or (label, [lines under it])."""
    return (line.label, [pair(part) for part in line.parts] if line.parts else line.text)


@pytest.mark.parametrize(
    "nothing",
    [None, False, [], {}, "", {"rows": [], "count": 0, "affected": ["naive"]}, {"a": None, "b": []}],
)
def test_nothing_is_not_shown(nothing):
    assert shown(thing=nothing) == []
    assert shown(count=0) == []


def test_short_records_stand_on_one_line_and_long_ones_on_several():
    assert shown(worst={"row": 0, "logit": "1414.25"}) == [("worst", "row: 0, logit: 1414.25")]
    law = {"name": "score-variance", "assumptions": "the entries are independent with mean 0 and variance 1"}
    assert shown(law=law) == [
        ("law", [("name", "score-variance"), ("assumptions", "the entries are independent with mean 0 and variance 1")])
    ]


def test_names_stay_as_they_are_written():
    assert shown(shapes={"e_ij": "1 x 1", "W_O": "2 x 2"}) == [("shapes", "e_ij: 1 x 1, W_O: 2 x 2")]
    assert shown(missing_indices=["i", "j"]) == [("missing indices", "i, j")]


def test_records_in_a_list_stand_one_a_line():
    assert shown(things=[{"a": 1, "b": 2}, {"a": 3, "b": 4}]) == [("things", [("", "a: 1, b: 2"), ("", "a: 3, b: 4")])]


def test_sentences_and_formulas_in_a_list_stand_one_a_line():
    steps = ["W_V = I: A (X W_V) = A X", "one token: the context is [1]"]
    assert shown(steps=steps) == [("steps", [("", step) for step in steps])]
    assert shown(affected=["naive", "shifted"]) == [("affected", "naive, shifted")]
    (formula,) = details(
        Finding("s", "c", "EA207", Level.ERROR, Verdict.FAILS, "m", evidence={"f": "C_i = \\sum_j a V"})
    )
    assert formula.literal


def test_a_chain_shows_its_links_and_where_it_broke():
    links = [{"link": "1 + 1 = 2", "verdict": "holds", "reason": "exact"},
             {"link": "[2, 2] = [2, 3]", "verdict": "fails", "reason": "off"}]  # fmt: skip
    began = {"link": 1, "text": "[2, 2] = [2, 3]", "index": [1]}
    assert shown(links=links, first_wrong=began) == [
        ("began at", "[2, 2] = [2, 3], element [1]"),
        ("links", [("", "1 + 1 = 2: holds"), ("", "[2, 2] = [2, 3]: fails")]),
    ]


def test_what_the_message_says_is_not_said_again():
    link = {"link": "a + b = 1.4", "verdict": "fails", "reason": "off"}
    message = "a + b = 1.4: the left side is 1.5034898, the right side 1.4; off by 0.1035"
    assert shown(
        message, true="1.50348984348455", links=[link], first_wrong={"link": 0, "text": "a + b = 1.4", "index": []},
        values=["1.50348984348455", "1.4"], error="0.103490",
    ) == [("true value", "1.50348984348455")]  # fmt: skip
    repair = {"formula": "e = Q_i K", "what": "Q_i in place of Q", "verdict": "holds"}
    assert shown("e = Q_i K (Q_i in place of Q) fits", repairs=[repair]) == []
    assert shown("it does not fit", repairs=[repair]) == [("repairs", "e = Q_i K (Q_i in place of Q)")]
    sides = {"left": {"text": "W", "shape": "2 x 3"}, "right": {"text": "C", "shape": "1 x 3"}, "kind": "product"}
    assert shown("W is 2 x 3 and C is 1 x 3", misfit=sides) == []
    assert shown("no", misfit=sides) == [("misfit", [("", "W is 2 x 3"), ("", "C is 1 x 3")])]


def test_part_of_a_number_is_not_the_number():
    assert shown("the sum is 0.2482", threshold="0.24") == [("threshold", "0.24")]
    assert shown("the sum is 0.24.", threshold="0.24") == []


def test_tables_within_tables_can_be_left_for_later():
    deep = Line("trace", parts=(Line("mean", parts=(Line("a", "1"),)),))
    flat = Line("rows", "0")
    assert brief([deep, flat], "later") == [Line("trace", "later", literal=False), flat]

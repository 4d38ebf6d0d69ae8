"""Every renderer: its golden, the same text twice, and nothing hostile in it."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace

import pytest

from exactattn import plugins
from exactattn.findings import Finding, Level, Report, Reports, Subject, Verdict

NAMES = sorted(plugins.found("render"))


@pytest.mark.parametrize("name", NAMES)
def test_golden(name, reports, golden):
    renderer = plugins.get("render", name)
    golden(f"{name}{renderer.suffix}", renderer.render(reports))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_reports_give_the_same_text(name, reports):
    renderer = plugins.get("render", name)
    again = Reports.from_json(json.loads(json.dumps(reports.as_json())))
    assert renderer.render(reports) == renderer.render(reports) == renderer.render(again)


@pytest.mark.parametrize("name", NAMES)
def test_no_hidden_character_gets_through(name, hostile):
    text = plugins.get("render", name).render(hostile)
    hidden = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert hidden <= {"\n"}
    assert text.endswith("\n")


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_report_is_shown_too(name):
    reports = Reports(("verify",), (Report(Subject("case", ""), ()), Report(Subject("case", "x"), ())))
    assert plugins.get("render", name).render(reports)
    assert plugins.get("render", name).render(Reports((), ()))


def test_json_is_the_report(reports, hostile):
    for each in (reports, hostile):
        text = plugins.get("render", "json").render(each)
        assert json.loads(text) == json.loads(json.dumps(each.as_json()))


def test_json_has_no_numbers_that_json_does_not_have():
    from exactattn.render.json import dump

    assert json.loads(dump({"a": [float("inf"), float("nan"), 1.5], "\U000e0001": "\U000e0001"})) == {
        "a": ["inf", "nan", 1.5],
        "\U000e0001": "\U000e0001",
    }
    assert "\U000e0001" not in dump(["\U000e0001"])
    assert "三" in dump(["三"])


def test_markdown_holds_no_markup_from_outside(hostile):
    text = plugins.get("render", "markdown").render(hostile)
    outside_code = "\n".join(line.split("`")[0] for line in text.split("\n"))
    assert "<script" not in outside_code
    assert "](javascript" not in outside_code.replace("\\[x](", "")
    assert not any(line.startswith("# head") for line in text.split("\n"))


def test_the_table_of_a_block_marks_what_is_wrong(reports):
    lines = plugins.get("render", "markdown").render(reports).split("\n")
    assert "| **1** | `0.3` ✗ 0.248255 | `0.5` ! |" in lines
    assert "| **0** | `0.7` ↳ 0.75174 | `0.8` ~ 0.80222 |" in lines
    assert "| **1** |  | `0.9` ? |" in lines


def test_unknown_evidence_is_shown(reports):
    text = plugins.get("render", "terminal").render(reports)
    assert "worst" in text
    assert "row: 2, logit: 1414.25" in text


@pytest.mark.parametrize("name", ["terminal", "markdown"])
def test_what_explains_a_failure_stands_with_its_block(name, reports):
    text = plugins.get("render", name).render(reports)
    start = text.index("What could explain it")
    assert text.index("What holds" if name == "markdown" else "Holds:") > text.index("no scale fits") > start
    assert text.index("does not find the error") < text.index("Float runs that break")
    assert text.count("no scale fits") == 1


@pytest.mark.parametrize("name", ["terminal", "markdown"])
def test_the_other_reading_of_a_case_that_cannot_be_read(name, reports):
    mistake = Finding("case:1", "case", "EA901", Level.ERROR, Verdict.FAILS, "no such key", "unreadable")
    unread = replace(reports, reports=(Report(Subject("case", "c.yaml", "c.yaml"), (mistake,)),))
    text = plugins.get("render", name).render(unread)
    assert "exactattn 0.1.0" in text
    assert "c.yaml" in text
    assert not any(word in text for word in ("numpy", "seed", "verify"))

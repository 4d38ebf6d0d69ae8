"""The terminal report at every width, and with colour only where asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from exactattn.findings import Report
from exactattn.render.terminal import MOST_FINDINGS, RENDERER


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width, reports, hostile):
    for each in (reports, hostile):
        text = RENDERER.render(each, width=width)
        assert max(cell_len(line) for line in text.split("\n")) <= width


def test_colour_only_where_asked(reports, monkeypatch):
    assert "\x1b" not in RENDERER.render(reports)
    assert "\x1b[" in RENDERER.render(reports, color=True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in RENDERER.render(reports)


def test_colour_changes_no_word(reports):
    import re

    colored = RENDERER.render(reports, color=True)
    plain = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", colored).split("\n")]
    assert plain == RENDERER.render(reports).split("\n")


def test_a_great_many_findings_are_cut_and_counted(reports):
    wrong = next(f for f in reports.reports[0].findings if f.id == "words")
    many = tuple(replace(wrong, id=f"c:{i}") for i in range(MOST_FINDINGS + 5))
    text = RENDERER.render(replace(reports, reports=(Report(reports.reports[0].subject, many),)))
    assert "... and 5 more" in text


def test_the_verdict_comes_first(reports):
    lines = [line for line in RENDERER.render(reports).split("\n") if line]
    assert lines[1].startswith("2 of 8 printed numbers are wrong; 1 follows from an earlier wrong one;")


def test_a_case_that_cannot_be_read(reports):
    wrong = next(f for f in reports.reports[0].findings if f.id == "words")
    mistake = replace(wrong, id="case:1", code="EA901", reason="unreadable")
    text = RENDERER.render(replace(reports, reports=(Report(reports.reports[0].subject, (mistake,)),)))
    assert "The case cannot be read: 1 mistake." in text
    assert "case:1  unreadable, line 30, column 5, EA901" in text
    assert "Wrong" not in text


def test_wrong_numbers_stand_on_the_first_screen(reports):
    screen = RENDERER.render(reports).split("\n")[:24]
    assert any(line.split() == ["[1,:]", "printed", "0.3", "✗", "0.5", "!"] for line in screen)
    assert any(line.split() == ["true", "0.248255", "0.503490"] for line in screen)
    assert any(line.split()[:3] == ["off", "by", "0.517"] for line in screen)


def test_details_of_each_number_only_where_asked(reports):
    short, long = RENDERER.render(reports), RENDERER.render(reports, verbose=True)
    for detail in ("1/(2 + exp(sqrt(2)/2))", "[0.24825507825772306, 0.24825507825772307]", "0.24825507825772307\n"):
        assert detail not in short
        assert detail in long
    assert "every query has an allowed key" in long
    assert "1 other hazard looked for: none found" in short
    assert "float32  naive 0.5 (0.25)" in short


def test_failures_of_each_kind_have_their_section(reports):
    text = RENDERER.render(reports)
    order = (
        "Printed numbers that differ\n",
        "Statements that could not be read (1)\n",
        "Wrong (1)\n",
        "Float runs that break (1)\n",
        "Warnings and remarks (1)\n",
        "Not decided (3)\n",
        "Printed numbers that are right\n",
        "Holds: ",
    )
    places = [text.find(f"\n{title}") for title in order]
    assert places == sorted(places)
    assert min(places) > 0


def test_a_wide_block_is_cut_into_columns_that_fit(reports):
    number = next(f for f in reports.reports[0].findings if f.id == "weights[1,0]")
    wide = tuple(replace(number, id=f"w[{i},{j}]") for i in range(12) for j in range(30))
    report = Report(reports.reports[0].subject, wide)
    text = RENDERER.render(replace(reports, reports=(report,)))
    assert max(cell_len(line) for line in text.split("\n")) <= 80
    assert text.count("0.3 ✗") == 8 * 30
    assert "and 4 more rows with a number that differs" in text
    assert RENDERER.render(replace(reports, reports=(report,)), verbose=True).count("  true ") >= 12


def test_findings_that_repeat_each_other_share_their_evidence(reports):
    hazard = next(f for f in reports.reports[0].findings if f.id == "hazard:exp-overflow/float32")
    again = replace(hazard, id="hazard:exp-overflow/float64", evidence={**hazard.evidence, "threshold": "709.78"})
    text = RENDERER.render(replace(reports, reports=(Report(reports.reports[0].subject, (hazard, again)),)))
    assert text.count("Subtract the row maximum") == 1
    assert "Each of these 2:" in text
    assert "88.72" in text
    assert "709.78" in text

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

"""The table over many cases: each printed number in one column, and nothing but the report is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exactattn import plugins
from exactattn.findings import Finding, Level, Report, Reports, Subject, Verdict
from exactattn.render.table import COLUMNS, Counts, kind_of

HOLDS = ("exact", "rounded", "float-noise", "truncated")


def number(id, reason, verdict=None, level=Level.ERROR, **evidence):
    """A finding about one printed number."""
    verdict = verdict or (Verdict.HOLDS if reason in HOLDS else Verdict.FAILS)
    return Finding(id, "printed", "EA100", level, verdict, "", reason, evidence={"printed": "0.3"} | evidence)


NUMBERS = {  # findings for each column, in the order of a file
    "right": [number("a[0]", "exact"), number("a[1]", "rounded"), number("a[2]", "float-noise")],
    "truncated": [number("a[3]", "truncated")],
    "new": [number("b[0,1]", "new")],
    "inherited": [number("b[1,1]", "propagated", origin="wrong")],
    "reading": [number("c", "convention", reading="scale=1/d_k")],
    "carried": [number("d[0]", "propagated", level=Level.WARNING, origin="rounding")],
    "undecided": [number("d[1]", None, Verdict.UNDECIDED, Level.WARNING)],
}
EVERYTHING = tuple(finding for findings in NUMBERS.values() for finding in findings)


def shown(*reports):
    return plugins.get("render", "table").render(Reports(("verify", "cases"), reports))


def report(*findings, title="a case"):
    return Report(Subject("case", title, "a.yaml"), findings)


@pytest.mark.parametrize("column", COLUMNS)
def test_every_number_is_in_one_column(column):
    assert {kind_of(finding) for finding in NUMBERS[column]} == {column}


def test_a_line_counts_the_numbers_of_a_case():
    counts = Counts.of(report(*EVERYTHING))
    assert counts.counts == (9, 3, 1, 1, 1, 1, 1, 1)
    assert counts.first_wrong == "b"
    assert "| a case | 9 | 3 | 1 | 1 | 1 | 1 | 1 | 1 | `b` | `scale=1/d_k` |" in shown(report(*EVERYTHING)).split("\n")


def test_the_last_line_adds_them_up_and_the_first_says_it_in_words():
    text = shown(report(*EVERYTHING), report(NUMBERS["right"][0], title="another"))
    assert "| **all** | **10** | **4** | **1** | **1** | **1** | **1** | **1** | **1** |  |  |" in text.split("\n")
    assert "2 cases, 10 printed numbers: 5 right, 3 wrong, 1 carrying on rounding, 1 undecided." in text
    assert "`exactattn verify cases --table FILE`" in text


def test_readings_of_a_whole_block_come_before_that_of_a_number():
    whole = replace(NUMBERS["reading"][0], readings=("scale=1/d_k", "scale=1/sqrt(d_model)"))
    assert Counts.of(report(whole)).readings == ("scale=1/d_k", "scale=1/sqrt(d_model)")


def test_the_kinds_of_error_are_counted_over_all_cases():
    slip, sum_ = number("b", "new", kind="a slip"), number("c", "new", kind="a wrong sum")
    lines = shown(report(slip, sum_), report(slip, number("a", "exact", kind=None)), report()).split("\n")
    start = lines.index("## Kinds of error")
    assert lines[start + 4 : start + 6] == ["| a slip | 2 | 2 |", "| a wrong sum | 1 | 1 |"]
    assert "## Kinds of error" not in shown(report(number("a", "exact")))


def test_statements_and_remarks_are_no_numbers():
    remark = Finding("sum:a", "row-sums", "EA106", Level.WARNING, Verdict.FAILS, "0.93")
    claim = Finding("claim", "equations", "EA202", Level.ERROR, Verdict.FAILS, "no")
    assert Counts.of(report(remark, claim)) == Counts("a case", (0,) * 8)


def test_a_case_that_cannot_be_read_says_so():
    mistake = Finding("case:1", "case", "EA901", Level.ERROR, Verdict.FAILS, "no such key", "unreadable")
    text = shown(report(mistake), report(*NUMBERS["right"]))
    assert "| a case |  |  |  |  |  |  |  |  | cannot be read: 1 mistake |  |" in text.split("\n")
    assert "1 case could not be read." in text


def test_no_markup_from_outside(hostile):
    text = plugins.get("render", "table").render(hostile)
    rows = [line for line in text.split("\n") if line.startswith("|")]
    assert len(rows) == 2 + len(hostile.reports) + 1
    assert not any("<script" in line.split("`")[0] for line in rows)

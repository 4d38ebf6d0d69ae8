"""Renderer `markdown`: a report to put beside the text it judges; plain CommonMark with tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from exactattn.findings import Finding, Report, Reports, Verdict
from exactattn.render.evidence import details
from exactattn.render.outline import (
    Block,
    Outline,
    by_family,
    headline,
    index_of,
    overall,
    place_of,
    provenance,
    reason_of,
    summary_of,
)
from exactattn.render.text import code, markdown

LEGEND = (
    "✗ wrong · ↳ wrong, follows from an earlier wrong number · ~ carries on intermediate rounding · "
    "! right by accident · ? undecided"
)


class MarkdownRenderer:
    """The report as one Markdown document, to put beside the text it judges."""

    name = "markdown"
    suffix = ".md"

    def render(self, reports: Reports, **options: Any) -> str:  # noqa: ARG002 - Markdown has no options
        """The whole document."""
        lines: list[str] = []
        total = overall(reports)
        if total:
            lines += ["# exactattn", "", f"**{markdown(total)}**", ""]
        for report in reports.reports:
            lines += _report(report)
        lines += ["## How this was made", ""]
        lines += [f"- {line.label}: {code(line.text)}" for line in provenance(reports)]
        return "\n".join(lines) + "\n"


def _report(report: Report) -> Iterator[str]:
    outline = Outline.of(report)
    yield from (f"# {markdown(report.subject.title or report.subject.kind)}", "")
    yield from (f"**{markdown(headline(report))}**", "")
    if report.subject.path or report.subject.sha256:
        digest = f" (SHA-256 {code(report.subject.sha256)})" if report.subject.sha256 else ""
        yield from (f"{markdown(report.subject.kind.capitalize())}: {code(report.subject.path or '-')}{digest}", "")
    yield from _blocks(outline.blocks)
    for title, findings in (
        ("Mistakes in the case", outline.mistakes),
        ("What is wrong", outline.wrong),
        ("What is wrong, as expected", outline.expected),
        ("Warnings and remarks", outline.warnings),
        ("Not decided", outline.open),
    ):
        if findings:
            yield from (f"## {title}", "")
            for finding in findings:
                yield from _finding(finding)
    if outline.holds:
        yield from ("## What holds", "")
    for family, findings in by_family(outline.holds):
        yield from (f"{family.capitalize()}:", "")
        yield from (f"- {code(f.id)}: {markdown(f.message)}" for f in findings)
        yield ""


def _finding(finding: Finding) -> Iterator[str]:
    """A heading, the message, the evidence."""
    tags = [reason_of(finding), place_of(finding), finding.code]
    yield from (f"### {code(finding.id)}: {markdown(', '.join(tag for tag in tags if tag))}", "")
    yield from (markdown(finding.message), "")
    lines = details(finding)
    for line in lines:
        yield f"- {markdown(line.label)}: {code(line.text) if line.literal else markdown(line.text)}"
    if lines:
        yield ""


def _blocks(blocks: Sequence[Block]) -> Iterator[str]:
    if not blocks:
        return
    yield from ("## The printed numbers", "")
    if any(_mark(finding) for block in blocks for finding in block.findings):
        yield from (LEGEND, "")
    for block in blocks:
        yield from (f"{code(block.name)}{markdown(block.factor)}: {markdown(summary_of(block))}", "")
        yield from _table(block)
        yield ""


def _table(block: Block) -> Iterator[str]:
    """The numbers as printed, with marks; the last axis across, the others down."""
    cells = {index_of(finding): finding for finding in block.findings}
    flat = any(len(index) < 2 for index in cells)
    rows = sorted({index if flat else index[:-1] for index in cells})
    columns = [0] if flat else sorted({index[-1] for index in cells})
    yield "|  | " + " | ".join("" if flat else str(column) for column in columns) + " |"
    yield "|" + " --- |" * (1 + len(columns))
    for row in rows:
        found = [cells.get(row if flat else (*row, column)) for column in columns]
        label = ",".join(str(i) for i in row)
        yield f"| **{label}** | " + " | ".join("" if f is None else _cell(f) for f in found) + " |"


def _cell(finding: Finding) -> str:
    mark = _mark(finding)
    return code(finding.evidence["printed"]) + (f" {mark}" if mark else "")


def _mark(finding: Finding) -> str:
    if finding.verdict is Verdict.FAILS:
        if finding.reason != "propagated":
            return "✗"
        return "↳" if finding.evidence.get("origin") == "wrong" else "~"
    if finding.verdict is not Verdict.HOLDS:
        return "?"
    return "!" if finding.evidence.get("by_accident") else ""


RENDERER = MarkdownRenderer()

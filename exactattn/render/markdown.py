"""Renderer `markdown`: a report to put beside the text it judges; plain CommonMark with tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from exactattn.findings import Finding, Report, Reports
from exactattn.render.blocks import (
    Block,
    Row,
    notes_of,
    off_of,
    printed_of,
    rows_of,
    summary_of,
    tags_of_block,
    true_of,
)
from exactattn.render.evidence import Line
from exactattn.render.headline import headline, overall
from exactattn.render.holds import held
from exactattn.render.outline import Group, Outline, explanations, groups, provenance
from exactattn.render.text import clean_lines, code, markdown
from exactattn.render.words import MARKS, mark_of, tags_of


class MarkdownRenderer:
    """The report as one Markdown document, to put beside the text it judges. Options: verbose=False."""

    name = "markdown"
    suffix = ".md"

    def render(self, reports: Reports, *, verbose: bool = False, **options: Any) -> str:  # noqa: ARG002
        """The whole document. `verbose`: every check that holds."""
        lines: list[str] = []
        total = overall(reports)
        if total:
            lines += ["# exactattn", "", f"**{markdown(total)}**", ""]
        for report in reports.reports:
            lines += _report(report, verbose)
        made = provenance(reports)
        if made:
            lines += ["## How this was made", ""]
            lines += [f"- {line.label}: {code(line.text)}" for line in made]
        return "\n".join(lines).rstrip("\n") + "\n"


def _report(report: Report, verbose: bool) -> Iterator[str]:
    outline = Outline.of(report)
    yield from (f"# {markdown(report.subject.title or report.subject.kind)}", "")
    yield from (f"**{markdown(headline(report))}**", "")
    if report.subject.path or report.subject.sha256:
        digest = f" (SHA-256 {code(report.subject.sha256)})" if report.subject.sha256 else ""
        yield from (f"{markdown(report.subject.kind.capitalize())}: {code(report.subject.path or '-')}{digest}", "")
    yield from _differing(outline)
    for title, findings in (
        ("Mistakes in the case", outline.mistakes),
        ("Statements that could not be read", outline.unreadable),
        ("What is wrong", outline.wrong),
        ("Float runs that break", outline.runs),
        ("What is wrong, as expected", outline.expected),
        ("Warnings and remarks", outline.warnings),
        ("Not decided", outline.open),
    ):
        if findings:
            yield from (f"## {title}", "")
            for group in groups(findings):
                yield from _group(group)
    if outline.right:
        yield from ("## Printed numbers that are right", "")
        for block in outline.right:
            yield from _table(block, with_true=False)
    if outline.holds:
        yield from ("## What holds", "")
    for family in held(report, outline.holds, verbose):
        yield from (f"{family.title.capitalize()}:", "")
        yield from (
            f"- {code(label)}: {markdown(text)}" if label else f"- {markdown(text)}" for label, text in family.rows
        )
        yield ""


def _group(group: Group) -> Iterator[str]:
    """Each finding: a heading, the message, the evidence; then the evidence that all share."""
    for (finding, lines), last in zip(group.findings, group.says_something_new, strict=True):
        tags = tags_of(finding, expected=finding.code.startswith("EA5"))
        yield from (f"### {code(finding.id)}: {markdown(tags)}", "")
        if last:
            yield from (markdown(finding.message), "")
        if finding.evidence.get("excerpt"):
            shown = clean_lines(str(finding.evidence["excerpt"])).splitlines()
            yield from (*(f"    {line}" for line in shown), "")
        if lines:
            yield from (*_evidence(lines), "")
    if group.shared:
        yield from (f"Each of these {len(group.findings)}:", "", *_evidence(group.shared), "")


def _evidence(lines: Sequence[Line], indent: str = "") -> Iterator[str]:
    for line in lines:
        text = code(line.text) if line.literal else markdown(line.text)
        label = markdown(line.label)
        start = f"{label}: " if label and not line.parts else f"{label}:" if label else ""
        yield f"{indent}- {start}{text if not line.parts else ''}".rstrip()
        yield from _evidence(line.parts, indent + "  ")


def _differing(outline: Outline) -> Iterator[str]:
    """The blocks with a number that differs: what is wrong beside what is true, why, and what could explain it."""
    if not outline.differing:
        return
    yield from (f"## {outline.differing_title}", "")
    marks = {mark_of(f) for block in outline.differing for f in block.findings}
    yield from (markdown(" · ".join(f"{mark} {words}" for mark, words in MARKS.items() if mark in marks)), "")
    said = explanations(outline.differing)
    for block in outline.differing:
        yield from _table(block, with_true=True)
        yield from _numbers(block)
        notes = [f"- {markdown(label)}: {markdown(text)}" for label, text in notes_of(block)]
        yield from (*notes, "") if notes else ()
        yield from _explained(block, said)


def _explained(block: Block, said: Mapping[int, str]) -> Iterator[str]:
    if block.explained:
        yield from ("What could explain it:", "")
        yield from (f"- {code(f.id)} ({f.code}): {markdown(said[id(f)])}" for f in block.explained)
        yield ""


def _table(block: Block, with_true: bool) -> Iterator[str]:
    """The numbers as printed, with marks and, beside what differs, the true value; the last axis across."""
    tags = f" ({markdown(tags_of_block(block))})" if with_true else ""
    yield from (f"{code(block.name)}{markdown(block.factor)}: {markdown(summary_of(block))}{tags}", "")
    rows = rows_of(block, differing=False)
    columns = sorted({column for row in rows for column in row.columns})
    yield "|  | " + " | ".join(map(str, columns)) + " |"
    yield "|" + " --- |" * (1 + len(columns))
    for row in rows:
        label = f"**{row.label}**" if row.label else ""
        yield f"| {label} | " + " | ".join(_cells(row, columns)) + " |"
    yield ""


def _cells(row: Row, columns: Sequence[int]) -> Iterator[str]:
    found = dict(zip(row.columns, row.cells, strict=True))
    for column in columns:
        finding = found.get(column)
        yield "" if finding is None else _cell(finding)


def _cell(finding: Finding) -> str:
    mark = mark_of(finding)
    shown = code(printed_of(finding).removesuffix(f" {mark}")) + (f" {mark}" if mark else "")
    if mark in ("", "!") or finding.evidence.get("true") is None:
        return shown
    return f"{shown} {markdown(true_of(finding))}"


def _numbers(block: Block) -> Iterator[str]:
    """Every number that differs with all its digits."""
    columns = ["number", "true value", "off by (units of the last digit)", "closed form"]
    rows = [
        [code(f.id), *(code(text) if text else "" for text in _exactly(f))]
        for f in block.differing
        if f.evidence.get("true") is not None
    ]
    kept = [n for n in range(len(columns)) if any(row[n] for row in rows)]
    if rows:
        yield "| " + " | ".join(columns[n] for n in kept) + " |"
        yield "|" + " --- |" * len(kept)
        yield from ("| " + " | ".join(row[n] for n in kept) + " |" for row in rows)
        yield ""


def _exactly(finding: Finding) -> tuple[str, str, str]:
    return str(finding.evidence["true"]), off_of(finding), str(finding.evidence.get("closed_form") or "")


RENDERER = MarkdownRenderer()

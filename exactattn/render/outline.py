"""The order in which a report is read: verdict, printed numbers that differ, what fails, warnings, what is open, holds.

Renderers share this; it gives plain text pieces that each renderer cleans and lays out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exactattn.findings import Finding, Level, Report, Reports, Verdict
from exactattn.render.blocks import Block, blocks_of
from exactattn.render.evidence import Line, details
from exactattn.render.headline import headlines
from exactattn.render.words import UNREADABLE_CASE, UNREADABLE_CLAIM, is_broken_run, is_error, is_printed

__all__ = ["Group", "Outline", "explanations", "groups", "headlines", "provenance"]
ALIKE = ("EA3", "EA5")  # families whose findings repeat each other from format to format


@dataclass(frozen=True, slots=True)
class Outline:
    """One report in reading order. Printed numbers are only in the blocks, with what could explain their failures."""

    mistakes: tuple[Finding, ...]
    unreadable: tuple[Finding, ...]
    differing: tuple[Block, ...]
    wrong: tuple[Finding, ...]
    runs: tuple[Finding, ...]
    expected: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    open: tuple[Finding, ...]
    right: tuple[Block, ...]
    holds: tuple[Finding, ...]

    @staticmethod
    def of(report: Report) -> Outline:
        """The findings of a report, each where it is read."""
        blocks = blocks_of(report)
        shown = {id(f) for block in blocks for f in block.explained}
        rest = [f for f in report.findings if not is_printed(f) and id(f) not in shown]
        errors = [f for f in rest if is_error(f)]
        others = [f for f in errors if f.code not in (UNREADABLE_CASE, UNREADABLE_CLAIM) and not is_broken_run(f)]
        opened = [f for f in rest if f.verdict in (Verdict.UNDECIDED, Verdict.NOT_RUN, Verdict.BROKEN)]
        return Outline(
            mistakes=tuple(f for f in errors if f.code == UNREADABLE_CASE),
            unreadable=tuple(f for f in errors if f.code == UNREADABLE_CLAIM),
            differing=tuple(block for block in blocks if block.differing),
            wrong=tuple(f for f in others if not f.expected),
            runs=tuple(f for f in errors if is_broken_run(f)),
            expected=tuple(f for f in others if f.expected),
            warnings=tuple(f for f in rest if f.verdict is Verdict.FAILS and f.level is not Level.ERROR),
            open=tuple(sorted(opened, key=lambda f: f.verdict is not Verdict.BROKEN)),
            right=tuple(block for block in blocks if not block.differing),
            holds=tuple(f for f in rest if f.verdict is Verdict.HOLDS),
        )

    @property
    def is_surprising(self) -> bool:
        """Does something fail that was not expected?"""
        numbers = [f for block in self.differing for f in block.differing if is_error(f)]
        failing = (*self.mistakes, *self.unreadable, *self.wrong, *self.runs, *numbers)
        return any(not f.expected for f in failing)

    @property
    def differing_title(self) -> str:
        """The title over the blocks that differ."""
        failing = any(f.verdict is Verdict.FAILS for block in self.differing for f in block.differing)
        return "Printed numbers that differ" if failing else "Printed numbers that are not decided"


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one check that repeat each other, each with its own lines, and the lines that all share."""

    findings: tuple[tuple[Finding, tuple[Line, ...]], ...]
    shared: tuple[Line, ...]

    @property
    def says_something_new(self) -> list[bool]:
        """For each finding: is its message still to be said, as the next one (with no lines between) says another?"""
        following = [*self.findings[1:], None]
        return [
            then is None or bool(lines) or then[0].message != finding.message
            for (finding, lines), then in zip(self.findings, following, strict=True)
        ]


def groups(findings: Sequence[Finding]) -> list[Group]:
    """Findings in their order; those of hazards and float runs of one code together."""
    gathered: dict[tuple[str, str], list[Finding]] = {}
    for number, finding in enumerate(findings):
        alike = finding.code.startswith(ALIKE) and "/" in finding.id
        key = (finding.code, finding.check if alike else str(number))
        gathered.setdefault(key, []).append(finding)
    return [_group(members) for members in gathered.values()]


def _group(findings: Sequence[Finding]) -> Group:
    lines = [details(finding) for finding in findings]
    if len(findings) == 1:
        return Group(((findings[0], tuple(lines[0])),), ())
    shared = [line for line in lines[0] if all(line in others for others in lines)]
    own = (tuple(line for line in one if line not in shared) for one in lines)
    return Group(tuple(zip(findings, own, strict=True)), tuple(shared))


def explanations(blocks: Sequence[Block]) -> dict[int, str]:
    """The message of each finding that explains, by its identity; one that was said before only names where."""
    first: dict[str, str] = {}
    found = {}
    for block in blocks:
        for finding in block.explained:
            earlier = first.setdefault(finding.message, finding.id)
            found[id(finding)] = finding.message if earlier == finding.id else f"the same as {earlier}"
    return found


def provenance(reports: Reports) -> list[Line]:
    """What is needed to repeat it; of cases that cannot be read only what read them."""
    lines = [Line("command", " ".join(("exactattn", *reports.command)))]
    tool = [Line("tool", " ".join(str(value) for value in reports.tool.values()))] if reports.tool else []
    if _nothing_was_judged(reports):
        return tool
    if reports.environment:
        tool.append(Line("with", ", ".join(f"{key} {value}" for key, value in reports.environment.items())))
    return [*lines, *tool, Line("seed", str(reports.seed))]


def _nothing_was_judged(reports: Reports) -> bool:
    """Could none of the cases be read?"""
    return bool(reports.reports) and all(
        any(f.code == UNREADABLE_CASE for f in report.findings) for report in reports.reports
    )

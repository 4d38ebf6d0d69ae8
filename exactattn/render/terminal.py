"""Renderer `terminal`: the report for a person at a terminal, readable at 80 columns and without colour."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from exactattn.findings import Finding, Report, Reports, Verdict
from exactattn.render.blocks import Block, notes_of, summary_of, tags_of_block
from exactattn.render.evidence import Line, brief, details
from exactattn.render.grid import grid
from exactattn.render.headline import headline, overall
from exactattn.render.holds import held
from exactattn.render.outline import Outline, explanations, groups, provenance
from exactattn.render.text import clean, clean_lines, flow
from exactattn.render.words import MARKS, is_error, mark_of, tags_of

if TYPE_CHECKING:
    from rich.console import Console

MOST_FINDINGS = 40
NARROW = 60
RED, YELLOW, MAGENTA, GREEN = "bold red", "bold yellow", "bold magenta", "bold green"


class TerminalRenderer:
    """Text for a terminal, with or without colour. Options: width=80, color=False, verbose=False."""

    name = "terminal"
    suffix = ".txt"

    def render(
        self,
        reports: Reports,
        *,
        width: int = 80,
        color: bool = False,
        verbose: bool = False,
        **options: Any,  # noqa: ARG002
    ) -> str:
        """The whole text; no line is wider than `width` cells. `verbose`: every number and every check that holds."""
        from rich.console import Console

        out = StringIO()
        console = Console(
            file=out, width=max(width, 20), force_terminal=color, color_system="standard" if color else None,
            no_color=not color, legacy_windows=False, emoji=False, markup=False, highlight=False, _environ={},
        )  # fmt: skip
        page = _Page(console, verbose)
        for report in reports.reports:
            page.report(report)
        made = provenance(reports)
        if made:
            page.section("How this was made", "")
            page.rows([(line.label, line.text) for line in made])
        total = overall(reports)
        if total:
            page.paragraph(total, "bold")
        return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").split("\n")) + "\n"


class _Page:
    """Lays pieces out on a console; every text is cleaned here."""

    def __init__(self, console: Console, verbose: bool) -> None:
        self.console, self.verbose = console, verbose

    def report(self, report: Report) -> None:
        """One subject from its verdict to what holds."""
        outline = Outline.of(report)
        self.paragraph(report.subject.title or report.subject.kind, "bold underline", exact=True)
        self.paragraph(headline(report), RED if outline.is_surprising else GREEN)
        source = [("path", report.subject.path), ("sha256", report.subject.sha256)]
        self.rows([(label, text) for label, text in source if text])
        self.blocks(outline)
        self.findings("Mistakes in the case", outline.mistakes, RED)
        self.findings("Statements that could not be read", outline.unreadable, RED)
        self.findings("Wrong", outline.wrong, RED)
        self.findings("Float runs that break", outline.runs, RED)
        self.findings("Wrong, as expected", outline.expected, YELLOW)
        self.findings("Warnings and remarks", outline.warnings, YELLOW)
        self.findings("Not decided", outline.open, MAGENTA)
        if outline.right:
            self.section("Printed numbers that are right", GREEN)
            self.rows([(block.name, summary_of(block)) for block in outline.right])
        for family in held(report, outline.holds, self.verbose):
            self.section(f"Holds: {family.title}", GREEN)
            self.rows(family.rows)

    def blocks(self, outline: Outline) -> None:
        """The printed numbers that differ, block by block, and what could explain them."""
        if not outline.differing:
            return
        surprising = any(is_error(f) and not f.expected for block in outline.differing for f in block.differing)
        self.section(outline.differing_title, RED if surprising else YELLOW)
        marks = {mark_of(f) for block in outline.differing for f in block.findings}
        self.line("  ".join(f"{mark} {words}" for mark, words in MARKS.items() if mark in marks), indent=2)
        said = explanations(outline.differing)
        for block in outline.differing:
            self.console.print()
            self.block(block, said, RED if surprising else YELLOW)
        known = any(f.evidence.get("true") is not None for block in outline.differing for f in block.differing)
        if known and not self.verbose:
            self.console.print()
            self.line("All digits, closed form and proof of each number: --verbose")

    def block(self, block: Block, said: Mapping[int, str], style: str) -> None:
        """Summary, printed against true, what is common to all, what could explain it."""
        self.head(block.name, f"{summary_of(block)}{block.factor} ({tags_of_block(block)})", style)
        for line in grid(block, self.console.width - 2, self.verbose):
            self.line(line, indent=2)
        self.rows(notes_of(block))
        if block.explained:
            wrong = any(f.verdict is Verdict.FAILS for f in block.differing)
            self.line("What could explain it" if wrong else "Beside it", indent=2)
            self.rows([(f.id, said[id(f)]) for f in block.explained], indent=4)
        if self.verbose:
            for finding in block.differing:
                self.console.print()
                self.finding(finding, details(finding), style)

    def findings(self, title: str, findings: Sequence[Finding], style: str) -> None:
        """A section of findings, each with its evidence; what several share is said once."""
        if not findings:
            return
        self.section(f"{title} ({len(findings)})", style)
        for number, group in enumerate(groups(findings[:MOST_FINDINGS])):
            if number:
                self.console.print()
            for (finding, lines), last in zip(group.findings, group.says_something_new, strict=True):
                self.finding(finding, lines, style, message=last)
            if group.shared:
                self.line(f"Each of these {len(group.findings)}:", indent=2)
                self.evidence(self.fitting(group.shared), indent=4)
        if len(findings) > MOST_FINDINGS:
            self.paragraph(f"... and {len(findings) - MOST_FINDINGS} more: see --markdown or --json")

    def finding(self, finding: Finding, lines: Sequence[Line], style: str, message: bool = True) -> None:
        """Head line, message, evidence."""
        self.head(finding.id, tags_of(finding, expected=finding.code.startswith(("EA1", "EA5"))), style)
        if message:
            self.line(flow(finding.message), indent=2)
        for line in clean_lines(str(finding.evidence.get("excerpt", ""))).splitlines():
            self.console.print(line, markup=False, highlight=False, no_wrap=True, overflow="ellipsis")
        self.evidence(self.fitting(lines))

    def fitting(self, lines: Sequence[Line]) -> Sequence[Line]:
        """All evidence where it is asked for, else without the largest tables."""
        return lines if self.verbose else brief(lines, "a table: see --verbose")

    def evidence(self, lines: Sequence[Line], indent: int = 2) -> None:
        """Labels and texts in two columns; what has parts stands over them, a step further out."""
        plain: list[Line] = []
        for line in lines:
            if not line.parts:
                plain.append(line)
                continue
            self.rows([(part.label, part.text) for part in plain], indent)
            plain = []
            self.line(clean(line.label) or "-", indent)
            self.evidence(line.parts, indent + 2)
        self.rows([(part.label, part.text) for part in plain], indent)

    def head(self, name: str, rest: str, style: str) -> None:
        """A name, and what is said beside it."""
        from rich.text import Text

        head = Text(overflow="fold")
        head.append(clean(name), style)
        head.append(f"  {flow(rest)}")
        self.console.print(head)

    def section(self, title: str, style: str) -> None:
        """An empty line and a title."""
        from rich.text import Text

        self.console.print()
        self.console.print(Text(title, style, overflow="fold"))

    def paragraph(self, text: str, style: str = "", exact: bool = False) -> None:
        """A paragraph; `exact` shows its line breaks as escapes."""
        from rich.text import Text

        self.console.print()
        self.console.print(Text(clean(text) if exact else flow(text), style, overflow="fold"))

    def line(self, text: str, indent: int = 0) -> None:
        """Text of ours, or cleaned, wrapped under its indent."""
        from rich.padding import Padding
        from rich.text import Text

        self.console.print(Padding(Text(text, overflow="fold"), (0, 0, 0, min(indent, self.console.width // 4))))

    def rows(self, rows: Iterable[tuple[str, str]], indent: int = 2) -> None:
        """Labels and texts in two columns, or one under the other where there is no room; without labels a list."""
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        pairs = [(clean(label), flow(text)) for label, text in rows]
        if not pairs:
            return
        longest = max(len(label) for label, _ in pairs)
        grid = Table.grid(padding=(0, 2, 0, 0))
        if longest == 0 or self.console.width < NARROW or longest > self.console.width * 2 // 5:
            grid.add_column(overflow="fold")
            for label, text in pairs:
                grid.add_row(Text(f"{label}: {text}" if label else text, overflow="fold"))
        else:
            grid.add_column(style="dim", no_wrap=True, min_width=longest)
            grid.add_column(overflow="fold")
            for label, text in pairs:
                grid.add_row(Text(label), Text(text, overflow="fold"))
        self.console.print(Padding(grid, (0, 0, 0, min(indent, self.console.width // 4))))


RENDERER = TerminalRenderer()

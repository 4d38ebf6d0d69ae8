"""Renderer `terminal`: the report for a person at a terminal, readable at 80 columns and without colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from exactattn.findings import Finding, Report, Reports
from exactattn.render.evidence import details
from exactattn.render.outline import (
    Outline,
    by_family,
    headline,
    overall,
    place_of,
    provenance,
    reason_of,
    summary_of,
)
from exactattn.render.text import clean, flow

if TYPE_CHECKING:
    from rich.console import Console

MOST_FINDINGS = 40
NARROW = 60


class TerminalRenderer:
    """Text for a terminal, with or without colour. Options: width=80, color=False."""

    name = "terminal"
    suffix = ".txt"

    def render(self, reports: Reports, *, width: int = 80, color: bool = False, **options: Any) -> str:  # noqa: ARG002
        """The whole text; no line is wider than `width` cells."""
        from rich.console import Console

        out = StringIO()
        console = Console(
            file=out, width=max(width, 20), force_terminal=color, color_system="standard" if color else None,
            no_color=not color, legacy_windows=False, emoji=False, markup=False, highlight=False, _environ={},
        )  # fmt: skip
        page = _Page(console)
        for report in reports.reports:
            page.report(report)
        page.section("How this was made", "")
        page.rows([(line.label, line.text) for line in provenance(reports)])
        total = overall(reports)
        if total:
            page.paragraph(total, "bold")
        return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").split("\n")) + "\n"


class _Page:
    """Writes the pieces of a report to a rich console; every text is cleaned here."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def report(self, report: Report) -> None:
        """One subject from its verdict to what holds."""
        outline = Outline.of(report)
        bad = outline.mistakes or outline.wrong
        self.paragraph(report.subject.title or report.subject.kind, "bold underline", exact=True)
        self.paragraph(headline(report), "bold red" if bad else "bold green")
        source = [("path", report.subject.path), ("sha256", report.subject.sha256)]
        self.rows([(label, text) for label, text in source if text])
        self.findings("Mistakes in the case", outline.mistakes, "bold red")
        self.findings("Wrong", outline.wrong, "bold red")
        self.findings("Wrong, as expected", outline.expected, "bold yellow")
        self.findings("Warnings and remarks", outline.warnings, "bold yellow")
        self.findings("Not decided", outline.open, "bold magenta")
        if outline.blocks:
            self.section("Printed numbers", "bold")
            self.rows([(block.name, summary_of(block)) for block in outline.blocks])
        for family, findings in by_family(outline.holds):
            self.section(f"Holds: {family}", "bold green")
            self.rows([(f.id, f.message) for f in findings])

    def findings(self, title: str, findings: Sequence[Finding], style: str) -> None:
        """A section of findings, each with its evidence."""
        if not findings:
            return
        self.section(f"{title} ({len(findings)})", style)
        for number, finding in enumerate(findings[:MOST_FINDINGS]):
            if number:
                self.console.print()
            self.finding(finding, style)
        if len(findings) > MOST_FINDINGS:
            self.paragraph(f"... and {len(findings) - MOST_FINDINGS} more: see --markdown or --json")

    def finding(self, finding: Finding, style: str) -> None:
        """Head line, message, evidence."""
        from rich.padding import Padding
        from rich.text import Text

        head = Text(overflow="fold")
        head.append(clean(finding.id), style)
        tags = ", ".join(tag for tag in (reason_of(finding), place_of(finding), finding.code) if tag)
        head.append(f"  {clean(tags)}")
        self.console.print(head)
        self.console.print(Padding(Text(flow(finding.message), overflow="fold"), (0, 0, 0, 2)))
        self.rows([(line.label, line.text) for line in details(finding)], indent=2)

    def section(self, title: str, style: str) -> None:
        """An empty line and a title."""
        from rich.text import Text

        self.console.print()
        self.console.print(Text(title, style))

    def paragraph(self, text: str, style: str = "", exact: bool = False) -> None:
        """A paragraph; `exact` shows its line breaks as escapes."""
        from rich.text import Text

        self.console.print()
        self.console.print(Text(clean(text) if exact else flow(text), style, overflow="fold"))

    def rows(self, rows: Iterable[tuple[str, str]], indent: int = 2) -> None:
        """Labels and texts in two columns, or one under the other where there is no room."""
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        pairs = [(clean(label), flow(text)) for label, text in rows]
        if not pairs:
            return
        longest = max(len(label) for label, _ in pairs)
        grid = Table.grid(padding=(0, 2, 0, 0))
        if self.console.width < NARROW or longest > self.console.width * 2 // 5:
            grid.add_column(overflow="fold")
            for label, text in pairs:
                grid.add_row(Text(f"{label}: {text}", overflow="fold"))
        else:
            grid.add_column(style="dim", no_wrap=True, min_width=longest)
            grid.add_column(overflow="fold")
            for label, text in pairs:
                grid.add_row(Text(label), Text(text, overflow="fold"))
        self.console.print(Padding(grid, (0, 0, 0, indent)))


RENDERER = TerminalRenderer()

"""Renderer `table`: one line a case, over any number of cases: what was judged, and where each went wrong first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from exactattn.findings import Finding, Report, Reports, Verdict
from exactattn.render.text import code, markdown
from exactattn.render.words import UNREADABLE_CASE, is_carried, is_printed, plural

COLUMNS = {
    "right": "exact, right when rounded, or within the noise of the format it was printed from",
    "truncated": "right when cut toward zero",
    "new": "wrong, and nothing earlier explains it",
    "inherited": "wrong, and it follows from an earlier wrong number",
    "reading": "wrong as stated, and right under another reading",
    "carried": "differs only because rounded numbers were carried on",
    "undecided": "it cannot be told",
}
COUNTED = ("numbers", *COLUMNS)


@dataclass(frozen=True, slots=True)
class Counts:
    """What came of the printed numbers of one case.

    counts       how many are of each column
    first_wrong  the first block, in the order of the file, with a number that differs
    readings     the other readings under which its numbers are right
    kinds        of error, one for each number that differs
    mistakes     in a case that cannot be read
    """

    title: str
    counts: tuple[int, ...]
    first_wrong: str = ""
    readings: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    mistakes: int = 0

    @staticmethod
    def of(report: Report) -> Counts:
        """The counts of a report."""
        numbers = [finding for finding in report.findings if is_printed(finding)]
        kinds = [kind_of(finding) for finding in numbers]
        wrong = [finding for finding in numbers if finding.verdict is Verdict.FAILS]
        return Counts(
            report.subject.title or report.subject.path or report.subject.kind,
            (len(numbers), *(kinds.count(kind) for kind in COLUMNS)),
            wrong[0].id.partition("[")[0] if wrong else "",
            tuple(dict.fromkeys(reading for finding in wrong for reading in readings_of(finding))),
            tuple(str(kind) for finding in wrong if (kind := finding.evidence.get("kind"))),
            sum(finding.code == UNREADABLE_CASE for finding in report.findings),
        )


def kind_of(finding: Finding) -> str:
    """The column that counts a printed number."""
    if finding.verdict is Verdict.HOLDS:
        return "truncated" if finding.reason == "truncated" else "right"
    if finding.verdict is not Verdict.FAILS:
        return "undecided"
    if is_carried(finding):
        return "carried"
    return {"propagated": "inherited", "convention": "reading"}.get(finding.reason or "", "new")


def readings_of(finding: Finding) -> tuple[str, ...]:
    """The readings that explain a wrong number: of its whole block, else its own."""
    own = finding.evidence.get("reading")
    return finding.readings or ((str(own),) if own else ())


class TableRenderer:
    """One Markdown table over all cases, and what its columns count."""

    name = "table"
    suffix = ".md"

    def render(self, reports: Reports, **options: Any) -> str:  # noqa: ARG002
        """The whole document."""
        rows = [Counts.of(report) for report in reports.reports]
        lines = ["# Printed numbers, case by case", "", f"**{markdown(_summary(rows))}**", ""]
        if rows:
            lines += [*_table(rows), ""]
        lines += [f"- **{name}**: {markdown(text)}" for name, text in COLUMNS.items()]
        lines += _kinds(rows)
        if reports.command:
            lines += ["", f"Made with {code(' '.join(('exactattn', *reports.command, '--table FILE')))}."]
        return "\n".join(lines) + "\n"


def _summary(rows: Sequence[Counts]) -> str:
    total = _total(rows)
    found = dict(zip(COUNTED, total, strict=True))
    wrong = found["new"] + found["inherited"] + found["reading"]
    unread = sum(row.mistakes > 0 for row in rows)
    text = f"{plural(rows, 'case')}, {found['numbers']:,} printed numbers: "
    text += f"{found['right'] + found['truncated']} right, {wrong} wrong, {found['carried']} carrying on rounding, "
    text += f"{found['undecided']} undecided."
    return text + (f" {plural(unread, 'case')} could not be read." if unread else "")


def _total(rows: Iterable[Counts]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*(row.counts for row in rows), strict=True))) or (0,) * len(COUNTED)


def _table(rows: Sequence[Counts]) -> Iterable[str]:
    yield "| case | " + " | ".join(COUNTED) + " | first wrong step | right under |"
    yield "| --- |" + " ---: |" * len(COUNTED) + " --- | --- |"
    for row in rows:
        last = [code(row.first_wrong) if row.first_wrong else "", ", ".join(map(code, row.readings))]
        if row.mistakes:
            last[0] = f"cannot be read: {plural(row.mistakes, 'mistake')}"
        yield _line([markdown(row.title), *map(_number, row.counts), *last])
    yield _line(["**all**", *(f"**{count:,}**" if count else "" for count in _total(rows)), "", ""])


def _kinds(rows: Sequence[Counts]) -> Iterable[str]:
    """How often each kind of error was made, and in how many cases; the most frequent first."""
    counts = Counter(kind for row in rows for kind in row.kinds)
    if counts:
        yield from ("", "## Kinds of error", "", "| kind | numbers | cases |", "| --- | ---: | ---: |")
    for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield _line([markdown(kind), _number(count), _number(sum(kind in row.kinds for row in rows))])


def _number(count: int) -> str:
    return f"{count:,}" if count else ""


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


RENDERER = TableRenderer()

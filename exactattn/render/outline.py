"""The order in which a report is read: verdict, what fails, warnings, what is open, what holds, how it was made.

Renderers share this; it gives plain text pieces that each renderer cleans and lays out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exactattn.findings import Finding, Level, Report, Reports, Verdict
from exactattn.render.evidence import Line

REASONS = {
    "exact": "exact",
    "rounded": "rounded",
    "truncated": "truncated",
    "float-noise": "float noise",
    "propagated": "follows from earlier",
    "convention": "another reading",
    "new": "new error",
}
UNREADABLE = "EA901"
FAMILIES = {
    "EA1": "printed numbers",
    "EA2": "statements",
    "EA3": "range hazards",
    "EA4": "statistics",
    "EA5": "float runs",
    "EA6": "conventions and semantics",
    "EA7": "determinism",
}


@dataclass(frozen=True, slots=True)
class Block:
    """The printed numbers of one name, in the order of the file."""

    name: str
    findings: tuple[Finding, ...]

    @property
    def factor(self) -> str:
        """The factor in front of the numbers, or nothing."""
        times = self.findings[0].evidence.get("times")
        return f" ({times} times the numbers shown)" if times else ""


@dataclass(frozen=True, slots=True)
class Outline:
    """One report in reading order."""

    mistakes: tuple[Finding, ...]
    wrong: tuple[Finding, ...]
    expected: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    open: tuple[Finding, ...]
    blocks: tuple[Block, ...]
    holds: tuple[Finding, ...]

    @staticmethod
    def of(report: Report) -> Outline:
        """The findings of a report, each where it is read; those that hold and are printed numbers only in `blocks`."""
        fails = [f for f in report.findings if f.verdict is Verdict.FAILS]
        errors = [f for f in fails if f.level is Level.ERROR]
        opened = [f for f in report.findings if f.verdict in (Verdict.UNDECIDED, Verdict.NOT_RUN, Verdict.BROKEN)]
        return Outline(
            mistakes=tuple(f for f in errors if f.code == UNREADABLE),
            wrong=tuple(f for f in errors if not f.expected and f.code != UNREADABLE),
            expected=tuple(f for f in errors if f.expected),
            warnings=tuple(f for f in fails if f.level is not Level.ERROR),
            open=tuple(sorted(opened, key=lambda f: f.verdict is not Verdict.BROKEN)),
            blocks=_blocks(report),
            holds=tuple(f for f in report.findings if f.verdict is Verdict.HOLDS and not is_printed(f)),
        )


def by_family(findings: Sequence[Finding]) -> list[tuple[str, tuple[Finding, ...]]]:
    """The findings under the name of their family of codes, families in order."""
    named: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=lambda f: f.code[:3]):
        named.setdefault(FAMILIES.get(finding.code[:3], "others"), []).append(finding)
    return [(family, tuple(members)) for family, members in named.items()]


def is_printed(finding: Finding) -> bool:
    """Is it about one printed number?"""
    return finding.code.startswith("EA1") and "printed" in finding.evidence


def _blocks(report: Report) -> tuple[Block, ...]:
    named: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if is_printed(finding):
            named.setdefault(finding.id.partition("[")[0], []).append(finding)
    return tuple(Block(name, tuple(findings)) for name, findings in named.items())


def index_of(finding: Finding) -> tuple[int, ...]:
    """The index at the end of an id; () when there is none."""
    inside = finding.id.rpartition("[")[2].rstrip("]") if finding.id.endswith("]") else ""
    parts = inside.split(",") if inside else []
    return tuple(int(part) for part in parts) if all(part.strip().isdecimal() for part in parts) else ()


def headline(report: Report) -> str:
    """The verdict in one or two sentences."""
    mistakes = sum(f.code == UNREADABLE for f in report.findings)
    if mistakes:
        return f"The case cannot be read: {mistakes} mistake{'s' if mistakes > 1 else ''}."
    parts = [part for part in (_printed(report), _statements(report), _others(report)) if part]
    verdict = ". ".join(part[0].upper() + part[1:] for part in parts) or "Nothing was judged"
    return f"{verdict}.{_surprise(report)}"


def _printed(report: Report) -> str:
    numbers = [f for f in report.findings if is_printed(f)]
    if not numbers:
        return ""
    wrong = [f for f in numbers if _is_error(f)]
    carried = sum(f.verdict is Verdict.FAILS for f in numbers) - len(wrong)
    unclear = sum(f.verdict is Verdict.UNDECIDED for f in numbers)
    total = f"{len(numbers)} printed number{_s(numbers)}"
    if not wrong:
        text = f"none of {total} is wrong" if carried or unclear else f"all {total} are right"
        text = "the printed number is right" if len(numbers) == 1 and not carried + unclear else text
    else:
        inherited = sum(f.reason == "propagated" for f in wrong)
        text = f"{len(wrong)} of {total} {'is' if len(wrong) == 1 else 'are'} wrong"
        text += f"; {inherited} follow{'s' if inherited == 1 else ''} from an earlier wrong one" if inherited else ""
    text += f"; {carried} carr{'ies' if carried == 1 else 'y'} on intermediate rounding" if carried else ""
    return text + (f"; {unclear} could not be decided" if unclear else "")


def _statements(report: Report) -> str:
    claims = [f for f in report.findings if not is_printed(f) and f.code.startswith("EA2")]
    judged = [f for f in claims if f.verdict in (Verdict.HOLDS, Verdict.FAILS)]
    wrong = [f for f in judged if _is_error(f)]
    if not judged:
        return ""
    if not wrong:
        return "the statement that was checked holds" if len(judged) == 1 else f"all {len(judged)} statements hold"
    return f"{len(wrong)} of {len(judged)} statement{_s(judged)} fail{'s' if len(wrong) == 1 else ''}"


def _others(report: Report) -> str:
    rest = [f for f in report.findings if not is_printed(f) and not f.code.startswith("EA2")]
    failing = sum(_is_error(f) for f in rest)
    parts = [f"{failing} other check{'s' if failing > 1 else ''} fail{'' if failing > 1 else 's'}"] if failing else []
    warnings = sum(f.level is Level.WARNING and f.verdict is Verdict.FAILS for f in rest)
    parts += [f"{warnings} warning{'s' if warnings > 1 else ''}"] if warnings else []
    for verdict, words in (
        (Verdict.UNDECIDED, "undecided"),
        (Verdict.NOT_RUN, "not run"),
        (Verdict.BROKEN, "broken: please report it"),
    ):
        count = sum(f.verdict is verdict and not is_printed(f) for f in report.findings)
        parts += [f"{count} {words}"] if count else []
    return "; ".join(parts)


def _surprise(report: Report) -> str:
    errors = [f for f in report.findings if _is_error(f)]
    unexpected = sum(not f.expected for f in errors)
    if not errors or unexpected == len(errors):
        return ""
    if unexpected == 0:
        return " This was expected." if len(errors) == 1 else " All of these failures were expected."
    return f" {unexpected} of these failures {'was' if unexpected == 1 else 'were'} not expected."


def overall(reports: Reports) -> str | None:
    """One sentence over several subjects, or None for a single one."""
    if len(reports.reports) < 2:
        return None
    bad = sum(report.summary["unexpected"] > 0 for report in reports.reports)
    return f"{len(reports.reports)} subjects: {bad or 'none'} with failures that were not expected."


def headlines(reports: Reports) -> list[str]:
    """The verdict of each subject in one line."""
    return [f"{report.subject.path or report.subject.title}: {headline(report)}" for report in reports.reports]


def reason_of(finding: Finding) -> str:
    """The reason in words, or the verdict where there is none."""
    verdict = str(finding.verdict).replace("_", " ")
    return verdict if finding.reason is None else REASONS.get(finding.reason, finding.reason.replace("_", " "))


def summary_of(block: Block) -> str:
    """A block in one line: how many are right, and how; how many are not, and why."""
    right = [f for f in block.findings if f.verdict is Verdict.HOLDS]
    how = _counted(right)
    for key, words in (("tie", "tie"), ("by_accident", "by accident")):
        count = sum(bool(f.evidence.get(key)) for f in right)
        how += f", {count} {words}" if count else ""
    text = f"{len(right)} of {len(block.findings)} right{f': {how}' if how else ''}"
    wrong = [f for f in block.findings if _is_error(f)]
    text += f"; {len(wrong)} wrong: {_counted(wrong)}" if wrong else ""
    carried = sum(f.verdict is Verdict.FAILS for f in block.findings) - len(wrong)
    text += f"; {carried} carried on from rounding" if carried else ""
    unclear = sum(f.verdict is Verdict.UNDECIDED for f in block.findings)
    return text + (f"; {unclear} undecided" if unclear else "")


def _counted(findings: list[Finding]) -> str:
    """The reasons, with how many of each when there are several."""
    counts: dict[str, int] = {}
    for finding in findings:
        counts[reason_of(finding)] = counts.get(reason_of(finding), 0) + 1
    return ", ".join(name if len(counts) == 1 else f"{count} {name}" for name, count in counts.items())


def provenance(reports: Reports) -> list[Line]:
    """What is needed to repeat it."""
    lines = [Line("command", " ".join(("exactattn", *reports.command)))]
    if reports.tool:
        lines.append(Line("tool", " ".join(str(value) for value in reports.tool.values())))
    if reports.environment:
        lines.append(Line("with", ", ".join(f"{key} {value}" for key, value in reports.environment.items())))
    return [*lines, Line("seed", str(reports.seed))]


def place_of(finding: Finding) -> str:
    """Where it stands in the case file, or nothing."""
    if finding.where is None:
        return ""
    return f"line {finding.where.line}" + (f", column {finding.where.column}" if finding.code == UNREADABLE else "")


def _is_error(finding: Finding) -> bool:
    return finding.level is Level.ERROR and finding.verdict is Verdict.FAILS


def _s(things: list[Finding]) -> str:
    return "" if len(things) == 1 else "s"

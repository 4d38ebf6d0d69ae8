"""What holds, in few lines: statements one by one; hazards, statistics and float runs counted, unless all is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from exactattn.findings import Finding, Report, Verdict
from exactattn.render.evidence import details
from exactattn.render.words import FAMILIES, family_of, plural

SHARED = ("assumptions", "proven by")
Rows = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Held:
    """A family of findings that hold: its title, and rows of a label and a text."""

    title: str
    rows: tuple[tuple[str, str], ...]


def held(report: Report, findings: Sequence[Finding], verbose: bool) -> list[Held]:
    """The findings that hold, under the names of their families in the order of codes."""
    families: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=family_of):
        families.setdefault(family_of(finding), []).append(finding)
    found = []
    for family, members in families.items():
        title, rows = FAMILIES.get(family, "others"), [(f.id, f.message) for f in members]
        if family == "EA51":
            rows = _tensors(members)
        elif not verbose and family == "EA5":
            title, rows = _runs(title, members)
        elif not verbose and family in SHORT:
            rows = SHORT[family](report, members)
        found.append(Held(title, tuple(rows)))
    return found


def _sums(report: Report, findings: Sequence[Finding]) -> Rows:  # noqa: ARG001 - one form for all families
    """Findings that say the same on one line."""
    alike: dict[str, list[str]] = {}
    for finding in findings:
        alike.setdefault(finding.message, []).append(finding.id)
    return [(ids[0] + (f" and {len(ids) - 1} more" if len(ids) > 1 else ""), message) for message, ids in alike.items()]


def _hazards(report: Report, findings: Sequence[Finding]) -> Rows:
    """How many were looked for; one that holds for a reason of its own on its line."""
    plain = [f for f in findings if f.reason is None]
    others: Rows = [(f.id, f.message) for f in findings if f.reason is not None]
    if not plain:
        return others
    formats = dict.fromkeys(name for f in plain for name in _keys(f.evidence.get("formats")))
    failing = any(f.code.startswith("EA3") and f.verdict is not Verdict.HOLDS for f in report.findings)
    what = plural(plain, "other hazard" if failing or others else "hazard")
    where = f" in {', '.join(formats)}" if formats else ""
    return [("", f"{what} looked for{where}: none found"), *others]


def _tensors(findings: Sequence[Finding]) -> Rows:
    """Each with its evidence; what all enclosures rest on is said once."""
    rows: Rows = []
    for finding in findings:
        rows.append((finding.id, finding.message))
        for line in details(finding):
            shown = [(f"{line.label}, {part.label}", part.text) for part in line.parts] or [(line.label, line.text)]
            rows += [row for row in shown if row[1] and not (row in rows and line.label in SHARED)]
    return rows


def _keys(value: object) -> Iterable[str]:
    return map(str, value) if isinstance(value, Mapping) else ()


def _statistics(report: Report, findings: Sequence[Finding]) -> Rows:  # noqa: ARG001
    """What each says first."""
    return [(f.id, f.message.partition("; ")[0]) for f in findings]


def _runs(title: str, findings: Sequence[Finding]) -> tuple[str, Rows]:
    """One row a format: the largest error of each algorithm."""
    formats: dict[str, list[str]] = {}
    measured = both = False
    for finding in findings:
        start, _, algorithm = finding.id.rpartition("/")
        name = start.replace("run:", "") or finding.id
        written, stored = _error(finding, "written"), _error(finding, "stored")
        error = written if stored in ("", written) else f"{written} ({stored})"
        measured, both = measured or bool(written), both or error != written
        formats.setdefault(name, []).append(f"{algorithm} {error}".strip())
    if measured:
        title += ", largest error of the output in ulp" + (" (as stored in brackets)" if both else "")
    return title, [(name, ", ".join(runs)) for name, runs in formats.items()]


def _error(finding: Finding, truth: str) -> str:
    """The largest error of the output in ulps, to three digits; nothing when it was not measured."""
    stages = finding.evidence.get(truth)
    output = stages.get("output") if isinstance(stages, Mapping) else None
    ulps = output.get("max_ulps") if isinstance(output, Mapping) else None
    return f"{ulps:.3g}" if isinstance(ulps, (int, float)) else "" if ulps is None else str(ulps)


SHORT = {"EA1": _sums, "EA3": _hazards, "EA4": _statistics}

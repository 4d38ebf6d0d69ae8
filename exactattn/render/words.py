"""What findings are called in a report, and which kind each is."""

from __future__ import annotations

from collections.abc import Sized

from exactattn.findings import Finding, Level, Verdict

REASONS = {
    "exact": "exact",
    "rounded": "rounded",
    "truncated": "truncated",
    "float-noise": "float noise",
    "bound": "a bound that holds",
    "propagated": "follows from an earlier wrong number",
    "convention": "another reading",
    "new": "new error",
}
CARRIED = "carries on rounding"
UNREADABLE_CASE = "EA901"
UNREADABLE_CLAIM = "EA209"
FAMILIES = {
    "EA1": "printed numbers",
    "EA2": "statements",
    "EA3": "range hazards",
    "EA4": "statistics",
    "EA5": "float runs",
    "EA51": "tensors",
    "EA6": "conventions and semantics",
    "EA7": "determinism",
    "EA9": "the document",
}
MARKS = {
    "✗": "wrong",
    "↳": "follows from an earlier wrong number",
    "~": CARRIED,
    "!": "right by accident",
    "?": "undecided",
}


def is_printed(finding: Finding) -> bool:
    """Is it about one printed number?"""
    return finding.code.startswith("EA1") and "printed" in finding.evidence


def is_error(finding: Finding) -> bool:
    """Does it fail, and matter?"""
    return finding.level is Level.ERROR and finding.verdict is Verdict.FAILS


def is_carried(finding: Finding) -> bool:
    """A printed number that differs only because rounded numbers were carried on: neither right nor wrong."""
    return finding.verdict is Verdict.FAILS and finding.level is not Level.ERROR and is_printed(finding)


def is_broken_run(finding: Finding) -> bool:
    """A float run that is not finite where the truth is."""
    return family_of(finding) == "EA5" and is_error(finding)


def family_of(finding: Finding) -> str:
    """The beginning of its code that says what kind of thing it is about."""
    return "EA51" if finding.code.startswith("EA51") else finding.code[:3]


def reason_of(finding: Finding) -> str:
    """The reason in words, or the verdict where there is none."""
    if finding.reason is None:
        return str(finding.verdict).replace("_", " ")
    if finding.reason == "propagated" and finding.evidence.get("origin") == "rounding":
        return CARRIED
    return REASONS.get(finding.reason, finding.reason.replace("_", " "))


def place_of(finding: Finding) -> str:
    """Where it stands in the case file, or nothing."""
    if finding.where is None:
        return ""
    exact = finding.code == UNREADABLE_CASE
    return f"line {finding.where.line}" + (f", column {finding.where.column}" if exact else "")


def tags_of(finding: Finding, expected: bool = False) -> str:
    """What stands beside an id: reason, place, code, and, where asked for, that it was expected."""
    known = "as expected" if expected and finding.expected else ""
    return ", ".join(tag for tag in (reason_of(finding), known, place_of(finding), finding.code) if tag)


def mark_of(finding: Finding) -> str:
    """The mark beside a printed number, one of `MARKS`; none when it is simply right."""
    if finding.verdict is Verdict.FAILS:
        if finding.reason != "propagated":
            return "✗"
        return "~" if finding.evidence.get("origin") == "rounding" else "↳"
    if finding.verdict is not Verdict.HOLDS:
        return "?"
    return "!" if finding.evidence.get("by_accident") else ""


def plural(things: Sized | int, one: str, many: str | None = None) -> str:
    """The number and the noun: 1 warning, 2 warnings."""
    count = things if isinstance(things, int) else len(things)
    return f"{count} {one if count == 1 else many or one + 's'}"

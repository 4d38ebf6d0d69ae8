"""The verdict of a report in a few sentences."""

from __future__ import annotations

from exactattn.findings import Finding, Level, Report, Reports, Verdict
from exactattn.render.words import (
    UNREADABLE_CASE,
    UNREADABLE_CLAIM,
    family_of,
    is_broken_run,
    is_carried,
    is_error,
    is_printed,
    plural,
)

MOST_NAMES = 6  # of tensors in a headline
NO_BOUND = "no bound was set with --within, so no error of a finite number fails"
CARRIED = "differs only because rounded numbers were carried on"


def headline(report: Report) -> str:
    """The verdict in a few sentences."""
    mistakes = sum(f.code == UNREADABLE_CASE for f in report.findings)
    if mistakes:
        return f"The case cannot be read: {plural(mistakes, 'mistake')}."
    parts = [
        _printed(report),
        _statements(report),
        _unreadable(report),
        _runs(report),
        *_tensors(report),
        _others(report),
    ]
    parts = [part for part in parts if part]
    verdict = ". ".join(part[0].upper() + part[1:] for part in parts) or _without_parts(report)
    return f"{verdict}.{_surprise(report)}{_hidden(report)}"


def _without_parts(report: Report) -> str:
    """The verdict where there is nothing to count: only hazards that are none, or nothing at all."""
    if report.findings:
        return "Nothing that was looked for fails"
    return "No finding has a code that was asked for" if hidden_in(report) else "Nothing was judged"


def hidden_in(report: Report) -> int:
    """How many findings the choice of codes left out."""
    return int(getattr(report, "hidden", 0))


def _hidden(report: Report) -> str:
    hidden = hidden_in(report)
    if not hidden:
        return ""
    return f" {plural(hidden, 'finding')} with {'another code is' if hidden == 1 else 'other codes are'} not shown."


def _printed(report: Report) -> str:
    numbers = [f for f in report.findings if is_printed(f)]
    if not numbers:
        return ""
    wrong = [f for f in numbers if is_error(f)]
    carried = sum(map(is_carried, numbers))
    unclear = sum(f.verdict is Verdict.UNDECIDED for f in numbers)
    if len(numbers) == 1 and not wrong:
        how = CARRIED if carried else "could not be decided" if unclear else "is right"
        return f"the printed number {how}"
    total = plural(numbers, "printed number") + (" shown" if hidden_in(report) else "")
    if wrong:
        inherited = sum(f.reason == "propagated" for f in wrong)
        text = f"{len(wrong)} of {total} {'is' if len(wrong) == 1 else 'are'} wrong"
        text += f"; {inherited} follow{'s' if inherited == 1 else ''} from an earlier wrong one" if inherited else ""
    elif carried or unclear:
        right = len(numbers) - carried - unclear
        if unclear == len(numbers):
            return f"none of the {total} could be decided"
        text = f"{right or 'none'} of {total} {'is' if right == 1 else 'are'} right"
    else:
        text = f"all {total} are right"
    more = " more" if wrong else ""
    text += f"; {carried}{more} {CARRIED if carried == 1 else CARRIED.replace('differs', 'differ')}" if carried else ""
    return text + (f"; {unclear} could not be decided" if unclear else "")


def _statements(report: Report) -> str:
    claims = [f for f in report.findings if not is_printed(f) and f.code.startswith("EA2")]
    judged = [f for f in claims if f.verdict in (Verdict.HOLDS, Verdict.FAILS) and f.code != UNREADABLE_CLAIM]
    wrong = [f for f in judged if is_error(f)]
    if not judged:
        return ""
    if not wrong:
        return "the statement that was checked holds" if len(judged) == 1 else f"all {len(judged)} statements hold"
    return f"{len(wrong)} of {plural(judged, 'statement')} fail{'s' if len(wrong) == 1 else ''}"


def _unreadable(report: Report) -> str:
    count = sum(f.code == UNREADABLE_CLAIM for f in report.findings)
    return f"{plural(count, 'statement')} could not be read" if count else ""


def _runs(report: Report) -> str:
    count = sum(map(is_broken_run, report.findings))
    return (
        f"{plural(count, 'float run')} {'is' if count == 1 else 'are'} not finite where the truth is" if count else ""
    )


def _tensors(report: Report) -> list[str]:
    """What is said first of each array that was judged."""
    said = ("EA513", "EA514", "EA515", "EA516", "EA518")
    first = [
        f.message.partition(";")[0] for f in report.findings if f.code in said and (f.code != "EA514" or is_error(f))
    ]
    codes = {f.code for f in report.findings}
    open_ = "EA513" in codes and not codes & {"EA514", "EA518"} and not hidden_in(report)
    return [*first, *([NO_BOUND] if open_ else []), *_unused(report)]


def _unused(report: Report) -> list[str]:
    """The tensors of the file that nothing uses."""
    found = (f.evidence.get("not_used") for f in report.findings if f.code == "EA510")
    names = [str(name) for some in found if isinstance(some, (list, tuple)) for name in some]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return [f"not used: {', '.join(names[:MOST_NAMES])}{more}"] if names else []


def _others(report: Report) -> str:
    rest = [f for f in report.findings if not is_printed(f) and not f.code.startswith("EA2")]
    failing = sum(is_error(f) and not is_broken_run(f) and family_of(f) != "EA51" for f in rest)
    parts = [f"{plural(failing, 'other check')} fail{'' if failing > 1 else 's'}"] if failing else []
    warnings = sum(f.level is Level.WARNING and f.verdict is Verdict.FAILS for f in rest)
    parts += [plural(warnings, "warning")] if warnings else []
    for verdict, words in (
        (Verdict.UNDECIDED, "undecided"),
        (Verdict.NOT_RUN, "not run"),
        (Verdict.BROKEN, "broken: please report it"),
    ):
        count = sum(f.verdict is verdict and not is_printed(f) for f in report.findings)
        parts += [f"{count} {words}"] if count else []
    return "; ".join(parts)


def _surprise(report: Report) -> str:
    errors: list[Finding] = [f for f in report.findings if is_error(f)]
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

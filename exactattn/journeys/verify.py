"""Journey `verify`: case files -> Reports. Each case is a report of its own; one that cannot be read stops no other."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from exactattn import plugins
from exactattn.bench import Bench, Check
from exactattn.documents.case import Case
from exactattn.documents.expect import matches
from exactattn.documents.files import case_files
from exactattn.errors import CaseError, ExactattnError, Mistake
from exactattn.findings import (
    Expectation,
    Finding,
    Level,
    Place,
    Report,
    Reports,
    Subject,
    Verdict,
    is_unexpected,
    with_expected,
)
from exactattn.journeys.notes import CODES as NOTES_CODES
from exactattn.journeys.notes import open_any
from exactattn.numbers.balls import MOST_BITS, TooCoarse
from exactattn.numbers.formats import format_named

CODES = NOTES_CODES | {
    "EA900": "A check of this tool failed on its own account (`broken`). The other findings stand. Please report it "
    "with the case file.",
    "EA901": "A case file could not be read. Every mistake found in it is listed with line and column; mend them and "
    "run again. `exactattn schema` prints a JSON Schema that an editor can use, `exactattn new` a template.",
    "EA902": "The case says under `expect` that something fails (or is undecided), and it did not come out so: either "
    "the document or the tool changed, or the pattern names nothing. Mend or remove the expectation.",
}


UNREADABLE = ("EA901", "EA209")  # a case, or a claim in it, that cannot be read


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """digits of true values in evidence; seed of anything drawn; which codes to keep or leave out, by prefix."""

    digits: int = 20
    seed: int = 0
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def as_command(self) -> tuple[str, ...]:
        """The options that differ from the default, as they are typed."""
        default = VerifyOptions()
        words = [("--digits", str(self.digits))] if self.digits != default.digits else []
        words += [("--seed", str(self.seed))] if self.seed != default.seed else []
        words += [("--select", code) for code in self.select] + [("--ignore", code) for code in self.ignore]
        return tuple(word for pair in words for word in pair)


def verify(paths: str | Path | Sequence[str | Path], options: VerifyOptions | None = None) -> Reports:
    """Judges case files: one path or several, a folder for the cases in it, or "-" for standard input.

    Errors: none for a bad case file, which becomes a report with the findings EA901.
    """
    options = options or VerifyOptions()
    names = [str(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
    return Reports(
        command=("verify", *names, *options.as_command()),
        reports=tuple(_one(file, options) for name in names for file in case_files(name)),
        seed=options.seed,
        tool={"name": "exactattn", "version": version("exactattn")},
        environment=environment(),
    )


def exit_status(reports: Reports, strict: bool = False) -> int:
    """What the process ends with.

    2 when a case or a claim could not be read; else 1 when something unexpected failed, or an expected failure is
    none; else, with `strict`, 3 when something is undecided, not run or broken; else 0.
    """
    findings = [finding for report in reports.reports for finding in report.findings]
    if any(finding.code in UNREADABLE and not finding.expected for finding in findings):
        return 2
    if any(map(is_unexpected, findings)):
        return 1
    open_ = (Verdict.UNDECIDED, Verdict.NOT_RUN, Verdict.BROKEN)
    return 3 if strict and any(f.verdict in open_ and not f.expected for f in findings) else 0


def environment() -> dict[str, str]:
    """What the figures of float runs depend on."""
    import numpy as np

    return {
        "python": platform.python_version(),
        "platform": platform.machine(),
        "numpy": np.__version__,
        "exp": f"numpy {np.__version__} on {platform.machine()}",
    }


def _one(path: str, options: VerifyOptions) -> Report:
    try:
        opened = open_any(path)
    except CaseError as error:
        return _unreadable(path, error)
    case = opened.case
    judged = [opened.placed(finding) for bench in _benches(case, options) for finding in _judged(bench)]
    findings = _expected(case, [*judged, *opened.findings()])
    kept = tuple(sorted(_selected(findings, options), key=_reading_order))
    return Report(Subject(opened.kind, case.title, case.path, case.sha256), kept, len(findings) - len(kept))


def _reading_order(finding: Finding) -> tuple[bool, int, int]:
    """In the order of the file; what has no place there comes after, as the checks gave it."""
    place = finding.where
    return (True, 0, 0) if place is None else (False, place.line, place.column)


def _unreadable(path: str, error: CaseError) -> Report:
    findings = tuple(_mistake(number, mistake) for number, mistake in enumerate(error.mistakes, start=1))
    return Report(Subject("case", path, path), findings)


def _mistake(number: int, mistake: Mistake) -> Finding:
    """One mistake; lines of the file that its message shows become evidence of their own."""
    message, _, excerpt = mistake.message.partition("\n")
    return Finding(
        f"case:{number}",
        "case",
        "EA901",
        Level.ERROR,
        Verdict.FAILS,
        message + (f" ({mistake.hint})" if mistake.hint else ""),
        "unreadable",
        None if mistake.line is None else Place(mistake.line, mistake.column or 1),
        evidence={"excerpt": excerpt} if excerpt else {},
    )


def _benches(case: Case, options: VerifyOptions) -> Iterator[Bench]:
    """One bench a problem, and one for claims that belong to none."""
    formats = tuple(format_named(name) for name in case.formats)
    for name in dict.fromkeys([*case.problems, *case.sheets, *case.claims, *case.printed]):
        yield Bench(
            name=name,
            the_problem=case.problems.get(name),
            sheet=case.sheets.get(name),
            printed=case.printed.get(name, ()),
            claims=case.claims.get(name, ()),
            formats=formats,
            algorithms=case.algorithms,
            digits=options.digits,
            seed=options.seed,
        )


def _judged(bench: Bench) -> Iterator[Finding]:
    """Every check's findings; a check that fails on its own account gives `broken`, and the others go on."""
    for check in plugins.found("checks").values():
        try:
            yield from list(check.run(bench))
        except Exception as error:  # noqa: BLE001 - whatever a check does, the other findings must not be lost
            yield _broken(bench, check, error)


def _broken(bench: Bench, check: Check, error: Exception) -> Finding:
    if isinstance(error, ExactattnError | TooCoarse):
        reason = f"numbers too large to enclose at {MOST_BITS} bits" if isinstance(error, TooCoarse) else error
        message = f"check {check.name} could not be run: {reason}"
        return Finding(bench.id(f"check:{check.name}"), check.name, "EA900", Level.ERROR, Verdict.NOT_RUN, message)
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    place = "" if where is None else f" ({where.tb_frame.f_code.co_qualname}, line {where.tb_lineno})"
    message = f"check {check.name} broke: {type(error).__name__}: {error}{place}; this is our fault, please report it"
    return Finding(bench.id(f"check:{check.name}"), check.name, "EA900", Level.ERROR, Verdict.BROKEN, message)


def _expected(case: Case, findings: list[Finding]) -> list[Finding]:
    """Marks what was expected, and adds a finding for each expectation that came out otherwise."""
    extra = []
    for expectation in case.expect:
        hits = [number for number, finding in enumerate(findings) if matches(expectation.pattern, finding.id)]
        for number in hits:
            if _as_said(expectation, findings[number]):
                findings[number] = with_expected(findings[number])
        others = [findings[number] for number in hits if not _as_said(expectation, findings[number])]
        if others or not hits:
            extra.append(_unmet(expectation, others))
    return findings + extra


def _as_said(expectation: Expectation, finding: Finding) -> bool:
    return finding.verdict is expectation.verdict and expectation.reason in (None, finding.reason)


def _unmet(expectation: Expectation, others: list[Finding]) -> Finding:
    wanted = f"{expectation.verdict}" + (f" ({expectation.reason})" if expectation.reason else "")
    message = f"expected {expectation.pattern} to come out as {wanted}, but "
    if others:
        found = "; ".join(f"{f.id} {f.verdict}" + (f" ({f.reason})" if f.reason else "") for f in others[:5])
        message += found + (f"; and {len(others) - 5} more" if len(others) > 5 else "")
    else:
        message += "nothing has such an id: check the name and the index"
    return Finding(
        f"expect:{expectation.pattern}", "expect", "EA902", Level.ERROR, Verdict.FAILS, message,
        "unmet-expectation", expectation.where,
    )  # fmt: skip


def _selected(findings: Iterable[Finding], options: VerifyOptions) -> Iterator[Finding]:
    for finding in findings:
        wanted = not options.select or finding.code.startswith(options.select)
        if (wanted and not finding.code.startswith(options.ignore)) or finding.code == "EA901":
            yield finding

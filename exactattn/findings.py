"""What goes in and out of a check: plain frozen data, to and from JSON.

In: `PrintedBlock` (numbers as somebody printed them), `Claim` (one checkable sentence), `Expectation` (what is known
to be wrong). Out: `Finding`, gathered in a `Report`. Renderers read this module and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from exactattn.attention.sheet import Where
from exactattn.numbers.exact import Exact, is_long, spell

SCHEMA = "exactattn/reports/1"


class Verdict(StrEnum):
    """What came of a check."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"
    NOT_RUN = "not_run"
    BROKEN = "broken"


class Level(StrEnum):
    """How much it matters; only errors touch the exit status."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a case file, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """One printed number.

    index  (row, column) of its stage as shown, or (row,) for lse; without the head
    text   as printed; value: the exact number printed, a factor in front included; None for a printed -inf
    unit   of the last printed digit, the factor included; None when no digits end it (1/3)
    digits significant digits printed; form: integer, decimal, percent, fraction, closed or minus-infinity
    mark   what the author says of it: "=", "~" (about), "<" (just under), ">", "<=" or ">="
    cut    does the author say that more digits follow? word: the unit beside it, such as GB
    bound  is it only said to be a bound ("less than 600"), and no value that is nearly reached ("just under 600")?
    """

    index: tuple[int, ...]
    text: str
    value: Exact | None
    unit: Exact | None
    digits: int | None
    form: str
    where: Place | None = None
    mark: str = "="
    cut: bool = False
    word: str | None = None
    bound: bool = False

    @property
    def number(self) -> Exact:
        """The value of what is a number."""
        assert self.value is not None, "-inf is no number"
        return self.value


@dataclass(frozen=True, slots=True)
class PrintedBlock:
    """Numbers that an author printed for one stage of one head.

    `name` is what findings are called by; `dtype` the float format the author's program printed from, where stated;
    `times` the factor in front of all of it, as written; `tolerance` and `rounding` what the author says of them.
    """

    name: str
    stage: Where
    cells: tuple[PrintedCell, ...]
    head: int | None = None
    dtype: str | None = None
    times: str | None = None
    tolerance: Exact | None = None
    rounding: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable sentence. `kind` is the key that says what it is (law, equation, ...); `fields` all its text."""

    id: str
    kind: str
    fields: Mapping[str, Any]
    where: Place | None = None

    @property
    def text(self) -> str:
        """What stands under the key of its kind."""
        return str(self.fields[self.kind])


@dataclass(frozen=True, slots=True)
class Expectation:
    """A finding, or a slice of findings, known to come out so."""

    pattern: str
    verdict: Verdict
    reason: str | None = None
    where: Place | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check on one thing.

    id [PROBLEM:]NAME[index]; check: who found it; code: stable for ever; reason: why, in one word; evidence: whatever
    lets a reader check it, JSON values only; readings: other readings that make it right; expected: known beforehand.
    """

    id: str
    check: str
    code: str
    level: Level
    verdict: Verdict
    message: str
    reason: str | None = None
    where: Place | None = None
    readings: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    expected: bool = False

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values; what is absent is null."""
        data = asdict(self)
        data["readings"] = list(self.readings)
        return data

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Finding:
        """The finding that `as_json` wrote."""
        place = data.get("where")
        known = {key: data[key] for key in ("id", "check", "code", "message", "reason", "evidence", "expected")}
        return Finding(
            **known,
            level=Level(data["level"]),
            verdict=Verdict(data["verdict"]),
            where=Place(**place) if place else None,
            readings=tuple(data["readings"]),
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """What was judged."""

    kind: str
    title: str
    path: str | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The findings about one subject; `hidden` says how many more were left out by a choice of codes."""

    subject: Subject
    findings: tuple[Finding, ...]
    hidden: int = 0

    @property
    def summary(self) -> dict[str, int]:
        """How many findings of each verdict, how many errors came unexpected, and how many are hidden, if any."""
        counts = {str(verdict): sum(f.verdict is verdict for f in self.findings) for verdict in Verdict}
        counts |= {"unexpected": sum(is_unexpected(finding) for finding in self.findings)}
        return counts | ({"hidden": self.hidden} if self.hidden else {})

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """What fails at level error, expected or not: the list that a script wants."""
        return tuple(f for f in self.findings if f.level is Level.ERROR and f.verdict is Verdict.FAILS)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        subject = {key: value for key, value in asdict(self.subject).items() if value is not None}
        return {
            "subject": subject,
            "summary": self.summary,
            "findings": [finding.as_json() for finding in self.findings],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Report:
        """The report that `as_json` wrote."""
        findings = tuple(Finding.from_json(item) for item in data["findings"])
        return Report(Subject(**data["subject"]), findings, data["summary"].get("hidden", 0))


@dataclass(frozen=True, slots=True)
class Reports:
    """Everything one command produced, and what is needed to repeat it."""

    command: tuple[str, ...]
    reports: tuple[Report, ...]
    seed: int = 0
    tool: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The JSON of DESIGN section 6."""
        return {
            "schema": SCHEMA,
            "tool": dict(self.tool),
            "command": list(self.command),
            "environment": dict(self.environment),
            "seed": self.seed,
            "reports": [report.as_json() for report in self.reports],
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Reports:
        """The reports that `as_json` wrote."""
        reports = tuple(Report.from_json(item) for item in data["reports"])
        return Reports(tuple(data["command"]), reports, data["seed"], data["tool"], data["environment"])


def is_unexpected(finding: Finding) -> bool:
    """An error that fails without being expected."""
    return finding.level is Level.ERROR and finding.verdict is Verdict.FAILS and not finding.expected


def with_expected(finding: Finding) -> Finding:
    """The same finding, marked as known beforehand."""
    return replace(finding, expected=True)


def name_index(name: str, *index: int | None) -> str:
    """The id of an element: NAME[i,j]; absent axes (None) are left out."""
    known = [str(i) for i in index if i is not None]
    return f"{name}[{','.join(known)}]" if known else name


def as_text(x: Exact | None) -> str | None:
    """An exact number for evidence: a terminating decimal where it is one of at most 40 digits, else as spelt.

    A rational of more than 1000 bits is told to 40 digits, after the word "about".
    """
    if not isinstance(x, Fraction):
        return None if x is None else str(x)
    if is_long(x):
        return spell(x)
    rest = x.denominator
    twos = fives = 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 40 or abs(x.numerator).bit_length() > 400:
        return str(x)
    if places == 0:
        return str(x.numerator)
    scaled = abs(x.numerator) * 10**places // x.denominator
    text = str(scaled).rjust(places + 1, "0")
    return f"{'-' if x < 0 else ''}{text[:-places]}.{text[-places:]}"

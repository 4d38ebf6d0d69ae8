"""The printed numbers of one name: as a table of printed against true, and what is said once for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation

from exactattn.findings import Finding, Report, Verdict
from exactattn.render.words import is_carried, is_error, is_printed, mark_of, place_of, plural, reason_of

Index = tuple[int, ...]
TRUE_DIGITS = 6
MOST_DIGITS = 20
MOST_IN_CELL = 24
MOST_NAMED = 6
EXPLAINING = ("fit", "complement", "sum")


@dataclass(frozen=True, slots=True)
class Block:
    """The printed numbers of one name, in the order of the file, and findings that hold but explain its failures."""

    name: str
    findings: tuple[Finding, ...]
    explained: tuple[Finding, ...] = ()

    @property
    def differing(self) -> tuple[Finding, ...]:
        """The numbers that are not right."""
        return tuple(f for f in self.findings if f.verdict is not Verdict.HOLDS)

    @property
    def cells(self) -> Mapping[Index, Finding]:
        """Each number by its index."""
        return {index_of(finding): finding for finding in self.findings}

    @property
    def factor(self) -> str:
        """The factor in front of the numbers, or nothing."""
        times = self.findings[0].evidence.get("times")
        return f" ({times} times the numbers shown)" if times else ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a block: what stands before it, the place across of each cell, and the cells."""

    label: str
    columns: tuple[int, ...]
    cells: tuple[Finding | None, ...]


def blocks_of(report: Report) -> tuple[Block, ...]:
    """The blocks of a report, those that differ with what could explain it."""
    named: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if is_printed(finding):
            named.setdefault(finding.id.partition("[")[0], []).append(finding)
    explained: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.verdict is Verdict.HOLDS and _explains(finding):
            explained.setdefault(_explained_block(finding, named), []).append(finding)
    made = [Block(name, tuple(findings), tuple(explained.get(name, ()))) for name, findings in named.items()]
    return tuple(block if block.differing else Block(block.name, block.findings) for block in made)


def _explains(finding: Finding) -> bool:
    """Does a finding that holds tell something about wrong numbers? A fitting row sum only by missing an error."""
    if finding.code == "EA106":
        return finding.evidence.get("finds_the_error") is False
    return finding.code in ("EA108", "EA110") and not is_printed(finding)


def _explained_block(finding: Finding, names: Iterable[str]) -> str:
    """The block that a finding such as fit:NAME/scale, sum:NAME[i] or PROBLEM:complement:PROBLEM:NAME[i,j] is about."""
    parts = re.split(r"[\[/]", finding.id, maxsplit=1)[0].split(":")
    kinds = [place for place, part in enumerate(parts) if part in EXPLAINING]
    if not kinds:
        return ""
    before, after = parts[: kinds[0]], parts[kinds[0] + 1 :]
    wanted = (":".join(after), ":".join([*before, *after]))
    return next((name for name in wanted if name in names), "")


def index_of(finding: Finding) -> Index:
    """The index at the end of an id; () when there is none."""
    inside = finding.id.rpartition("[")[2].rstrip("]") if finding.id.endswith("]") else ""
    parts = inside.split(",") if inside else []
    return tuple(int(part) for part in parts) if all(part.strip().isdecimal() for part in parts) else ()


def rows_of(block: Block, differing: bool) -> list[Row]:
    """The rows of a block, the last axis across; only those with a number that differs where asked for."""
    cells = block.cells
    found = []
    for start in sorted({index[:-1] for index in cells}):
        columns = sorted({index[-1] for index in cells if index and index[:-1] == start})
        row = tuple(cells[*start, column] for column in columns) or (cells[()],)
        if not differing or any(f.verdict is not Verdict.HOLDS for f in row):
            found.append(Row(",".join(map(str, start)), tuple(columns) or (0,), row))
    return found


def printed_of(finding: Finding) -> str:
    """The number as printed, with its mark."""
    mark = mark_of(finding)
    return _cut(str(finding.evidence["printed"])) + (f" {mark}" if mark else "")


def true_of(finding: Finding) -> str:
    """The true value for the eye: some digits more than are printed, at least six."""
    true = finding.evidence.get("true")
    if true is None:
        return "-"
    printed = sum(c.isdigit() for c in str(finding.evidence["printed"]).lstrip("-+0.").partition("e")[0])
    return rounded(str(true), min(max(TRUE_DIGITS, printed + 2), MOST_DIGITS))


def rounded(text: str, digits: int) -> str:
    """A decimal cut to so many significant digits; any other text shortened."""
    try:
        number = Context(prec=digits).create_decimal(Decimal(text)) if len(text) < 1000 else None
    except InvalidOperation:
        number = None
    if number is None or not number.is_finite():
        return _cut(text)
    return format(number, "f") if -7 <= number.adjusted() < MOST_DIGITS else str(number).lower()


def off_of(finding: Finding) -> str:
    """How far off, in units of the last printed digit; only of a number that differs."""
    units = finding.evidence.get("error_units")
    return "" if units is None or finding.verdict is Verdict.HOLDS else _cut(str(units))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_IN_CELL else text[: MOST_IN_CELL - 3] + "..."


def summary_of(block: Block) -> str:
    """A block in one line: how many are right, and how; how many are not, and why."""
    right = [f for f in block.findings if f.verdict is Verdict.HOLDS]
    how = _counted(right)
    for key, words in (("tie", "tie"), ("by_accident", "by accident")):
        count = sum(bool(f.evidence.get(key)) for f in right)
        how += f", {count} {words}" if count else ""
    text = f"{len(right)} of {len(block.findings)} right{f': {how}' if how else ''}"
    wrong = [f for f in block.findings if is_error(f)]
    text += f"; {len(wrong)} wrong: {_counted(wrong)}" if wrong else ""
    carried = sum(map(is_carried, block.findings))
    text += f"; {carried} carr{'ies' if carried == 1 else 'y'} on rounding" if carried else ""
    unclear = sum(f.verdict is Verdict.UNDECIDED for f in block.findings)
    return text + (f"; {unclear} undecided" if unclear else "")


def _counted(findings: Sequence[Finding]) -> str:
    """The reasons, with how many of each when there are several."""
    counts: dict[str, int] = {}
    for finding in findings:
        counts[reason_of(finding)] = counts.get(reason_of(finding), 0) + 1
    return ", ".join(name if len(counts) == 1 else f"{count} {name}" for name, count in counts.items())


def tags_of_block(block: Block) -> str:
    """Where the numbers that differ stand, their codes, and whether they were expected."""
    wrong = [f for f in block.differing if is_error(f)]
    surprising = sum(not f.expected for f in wrong)
    known = "as expected" if wrong and not surprising else ""
    if wrong and 0 < surprising < len(wrong):
        known = f"{surprising} of {len(wrong)} not expected"
    places = list(dict.fromkeys(place_of(f) for f in block.differing))
    shown = [*places[:1], f"and {plural(len(places) - 1, 'more line')}"] if len(places) > 2 else places
    codes = sorted({f.code for f in block.differing})
    return ", ".join(tag for tag in (known, *shown, *codes) if tag)


def notes_of(block: Block) -> list[tuple[str, str]]:
    """What is said once for all numbers that differ: why, the readings, and how the true values are proven."""
    differing = block.differing
    notes = _shared("why", differing, {id(f): _remark(f) for f in differing})
    notes += _shared("whole stage right under", differing, {id(f): ", ".join(f.readings) for f in differing})
    engines = dict.fromkeys(
        f"{f.evidence['engine']}" + (f", {f.evidence['bits']} bits" if f.evidence.get("bits") else "")
        for f in differing
        if f.evidence.get("engine")
    )
    return [*notes, *([("true values", f"proven by {'; '.join(engines)}")] if engines else [])]


def _shared(label: str, findings: Sequence[Finding], texts: Mapping[int, str]) -> list[tuple[str, str]]:
    """One line for all when they share a text, else one a text with the places it is said of."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        if texts[id(finding)]:
            groups.setdefault(texts[id(finding)], []).append(finding)
    alone = len(groups) == 1 and len(next(iter(groups.values()))) == len(findings)
    return [(label if alone else f"{label}, {_named(members)}", text) for text, members in groups.items()]


def _named(findings: Sequence[Finding]) -> str:
    names = [f"[{','.join(map(str, index_of(f)))}]" for f in findings]
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _remark(finding: Finding) -> str:
    """What the message says after printed, distance and true value; all of it where nothing could be told."""
    if finding.verdict is Verdict.FAILS:
        return finding.message.partition("; ")[2]
    return finding.message.removeprefix(f"printed {finding.evidence['printed']}, but ")

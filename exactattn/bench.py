"""What a check is handed: one problem with its printed numbers, claims and runs, each thing computed once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

from exactattn import plugins
from exactattn.attention.sheet import Sheet, role_of
from exactattn.attention.spec import Problem, Stage
from exactattn.errors import ProblemError
from exactattn.findings import Claim, Finding, Level, Place, PrintedBlock, Verdict
from exactattn.numbers.folding import shape
from exactattn.numbers.formats import Format
from exactattn.truth.face import AnyTruth
from exactattn.truth.judge import judge
from exactattn.truth.ladder import Truth
from exactattn.truth.prints import Judged
from exactattn.truth.runs import Run, run, stored
from exactattn.truth.sheet import SheetTruth


class Check(Protocol):
    """One kind of question. `CODES` maps each code to the text that `exactattn explain` prints."""

    @property
    def name(self) -> str:
        """What findings say they come from."""

    @property
    def CODES(self) -> Mapping[str, str]:
        """Each code and its explanation."""

    def run(self, bench: Bench) -> Iterable[Finding]:
        """The findings about what is on the bench; none where the check has nothing to say."""


@dataclass
class Bench:
    """One problem of a case. A case of claims alone has no problem.

    name        the problem's name, "" when the case has only one
    sheet       its inputs and formulas, where it has any
    formats, algorithms   the float runs that are wanted
    digits      significant digits of true values in evidence
    """

    name: str = ""
    the_problem: Problem | None = None
    sheet: Sheet | None = None
    printed: tuple[PrintedBlock, ...] = ()
    claims: tuple[Claim, ...] = ()
    formats: tuple[Format, ...] = ()
    algorithms: tuple[str, ...] = ()
    digits: int = 20
    seed: int = 0
    _stored: dict[str, Truth | None] = field(default_factory=dict)
    _runs: dict[tuple[str, str], Run] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        """The problem. Errors: ProblemError when the case has none."""
        if self.the_problem is None:
            raise ProblemError("this needs a problem, and the case has none: add `problem:` with its inputs")
        return self.the_problem

    @cached_property
    def truth(self) -> Truth:
        """What the problem truly gives, for its inputs as written."""
        return Truth(self.problem)

    @cached_property
    def referee(self) -> AnyTruth:
        """What printed numbers are judged against: the problem, and the formulas beside it or instead of it."""
        return self.sheet_truth or self.truth

    @cached_property
    def sheet_truth(self) -> SheetTruth | None:
        """What the formulas truly give, where there are any."""
        return None if self.sheet is None else SheetTruth(self.sheet)

    @property
    def the_truth(self) -> Truth | None:
        """What the problem truly gives; None when there is no problem."""
        return None if self.the_problem is None else self.truth

    @property
    def several_heads(self) -> bool:
        """Do stages carry the index of a head?"""
        return self.the_problem is not None and self.the_problem.several_heads

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """Every printed number with its verdict, in the order of the file."""
        if self.the_problem is None and self.sheet is None:
            return ()
        items = tuple(judge(self.referee, self.printed))
        for row in self._rows_of_weights(items).values():
            _mark_complement(row)
        return items

    @cached_property
    def weight_rows(self) -> Mapping[tuple[str, int, int], list[Judged]]:
        """The printed weights by (block, head, query), where every key of the query is printed in the block."""
        return self._rows_of_weights(self.judged)

    def _rows_of_weights(self, items: Iterable[Judged]) -> Mapping[tuple[str, int, int], list[Judged]]:
        rows: dict[tuple[str, int, int], list[Judged]] = {}
        for item in items:
            if role_of(item.element.stage) is Stage.WEIGHTS:
                query = item.element.row(self.the_problem)
                rows.setdefault((item.block.name, item.element.head, query), []).append(item)
        return {key: row for key, row in rows.items() if len(row) == self._keys(row[0])}

    def _keys(self, item: Judged) -> int:
        """How many weights the row of one has."""
        if isinstance(item.element.stage, Stage):
            return self.problem.lengths[1]
        assert isinstance(self.referee, SheetTruth)
        if self.referee.unfinished(item.element):
            return -1  # nobody knows
        array = self.referee.array(str(item.element.stage))
        return shape(array)[-1] if isinstance(array, tuple) else 1

    def stored(self, fmt: Format) -> Truth | None:
        """What the problem truly gives for its inputs as stored in a format; None when they do not fit in it."""
        if fmt.name not in self._stored:
            kept = stored(self.problem, fmt)
            self._stored[fmt.name] = None if kept is None else Truth(kept)
        return self._stored[fmt.name]

    def run(self, fmt: Format, algorithm: str) -> Run:
        """One float run. Errors: Unavailable when this machine has no such format."""
        key = (fmt.name, algorithm)
        if key not in self._runs:
            self._runs[key] = run(self.problem, fmt, algorithm)
        return self._runs[key]

    def law(self, name: str) -> Any:
        """A law by name. Errors: UsageError with the closest name."""
        return plugins.get("laws", name)

    def claims_of(self, kind: str) -> Iterator[Claim]:
        """The claims of one kind, in the order of the file."""
        return (claim for claim in self.claims if claim.kind == kind)

    def id(self, text: str) -> str:
        """A finding's id, with the problem named when there are several."""
        return f"{self.name}:{text}" if self.name else text

    def finding(
        self,
        check: Check,
        code: str,
        id: str,
        verdict: Verdict,
        message: str,
        *,
        level: Level = Level.ERROR,
        reason: str | None = None,
        where: Place | None = None,
        readings: tuple[str, ...] = (),
        **evidence: Any,
    ) -> Finding:
        """A finding of a check about this problem; what holds is a note."""
        assert code in check.CODES, f"{check.name} does not declare {code}"
        level = Level.NOTE if verdict is Verdict.HOLDS else level
        return Finding(self.id(id), check.name, code, level, verdict, message, reason, where, readings, evidence)


def _mark_complement(row: list[Judged]) -> None:
    """Marks the one wrong weight of a row whose prints sum to exactly 1: it is 1 minus the others."""
    wrong = [item for item in row if item.wrong]
    total = sum((item.cell.number for item in row if isinstance(item.cell.number, Fraction)), Fraction(0))
    if len(row) >= 3 and len(wrong) == 1 and total == 1:
        wrong[0].complement = True

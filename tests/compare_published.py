"""Command: does `exactattn verify` judge every published worked example as a second, independent judge did?

    python tests/compare_published.py PATH/worked-examples.json

The file lists each example's steps with, per printed number, the reason of its verdict, the true value, where an error
came from, ties and accidents, and per step the other readings that make all of it right. Every number of every step
is compared with the report of `cases/published/wNN.yaml`; each disagreement is printed. Exit status: 1 if there is any.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

from exactattn.findings import Finding, Report, Verdict
from exactattn.journeys.verify import verify

CASES = Path(__file__).parent.parent / "cases" / "published"
NUMBER_CODES = ("EA101", "EA102", "EA103", "EA104", "EA105")
DIGITS = 18  # significant digits in which true values must agree
BOUND_SLACK = Decimal("1e-6")  # by how much a bound may be wider than the other judge's
WRONG = ("propagated", "convention", "new")


@dataclass
class Tally:
    """What was compared, by kind, and every disagreement."""

    compared: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)

    def check(self, place: str, kind: str, wanted: object, got: object) -> None:
        """Counts one comparison; notes it when the two are not the same."""
        self.compared[kind] += 1
        if wanted != got:
            self.note(f"{place}: {kind}: the other judge says {wanted}, exactattn {got}")

    def note(self, text: str) -> None:
        """One disagreement."""
        self.disagreements.append(text)


def main(arguments: list[str]) -> int:
    """Prints every disagreement and the totals. Exit status: 2 for bad usage, 1 for a disagreement, else 0."""
    if len(arguments) != 1:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    examples = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))["examples"]
    tally = Tally()
    for example in examples:
        compare(example, report_of(example["id"]), tally)
    lines = [*tally.disagreements, summary(tally, len(examples))]
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if tally.disagreements else 0


def report_of(name: str) -> Report:
    """The report of the case of an example."""
    return verify(str(CASES / f"{name.lower()}.yaml")).reports[0]


def summary(tally: Tally, examples: int) -> str:
    """The totals in one line."""
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in tally.compared.items())
    return (
        f"{tally.compared['reason']:,} numbers of {examples} examples compared, "
        f"{len(tally.disagreements)} disagreements ({kinds})"
    )


def compare(example: Mapping[str, Any], report: Report, tally: Tally) -> None:
    """Compares one example, step by step and number by number."""
    blocks = blocks_of(report)
    for step in example["steps"]:
        name = block_name(step)
        place = f"{example['id']} {name}"
        findings, wanted = blocks.get(name, []), list(leaves(step["expected"]))
        if len(findings) != len(wanted):
            tally.note(f"{place}: {len(wanted)} numbers, and exactattn judges {len(findings)}")
            continue
        for (index, _), finding in zip(wanted, findings, strict=True):
            compare_number(step, index, finding, f"{place}{list(index)}", tally)
        if step.get("alternatives"):  # the readings that the other judge tried
            tally.check(place, "readings", sorted(step.get("readings", ())), readings_of(findings))
    tally.check(example["id"], "first wrong step", example["first_wrong_step"], first_wrong(example, blocks))


def compare_number(step: Mapping[str, Any], index: tuple[int, ...], finding: Finding, place: str, tally: Tally) -> None:
    """Compares everything that is said of one printed number."""
    evidence = finding.evidence
    wanted, words = at(step["printed"], index), str(evidence.get("printed")).split()
    tally.check(place, "printed", wanted, next((word for word in words if word == wanted), " ".join(words)))
    tally.check(place, "reason", at(step["expected"], index), reason_of(finding))
    compare_true(at(step["true"], index), evidence.get("true"), place, tally)
    tally.check(place, "by accident", listed(step, "by_accident", index), bool(evidence.get("by_accident")))
    tally.check(place, "tie", listed(step, "ties", index), bool(evidence.get("tie")))
    origin = at(step["origin"], index) if "origin" in step else None
    tally.check(place, "origin", origin, evidence.get("origin"))


def compare_true(wanted: str | None, got: str | None, place: str, tally: Tally) -> None:
    """Compares true values to 18 digits, and upper bounds (`<=x`) as bounds."""
    tally.compared["true value"] += 1
    if wanted is None or got is None:
        agree = wanted is got
    elif wanted.startswith("<="):
        bound = decimal(wanted.removeprefix("<="))
        upper = decimal(got.rpartition(" to ")[2])
        agree = bound <= upper * (1 + Decimal(10) ** -DIGITS) and upper <= bound + BOUND_SLACK
    else:
        agree = " to " not in got and close(decimal(wanted), decimal(got))
    if not agree:
        tally.note(f"{place}: true value: the other judge says {wanted}, exactattn {got}")


def close(one: Decimal, other: Decimal) -> bool:
    """Do two numbers agree to so many significant digits?"""
    with localcontext(prec=60):
        return abs(one - other) <= max(abs(one), abs(other)) * Decimal(10) ** -DIGITS


def decimal(text: str) -> Decimal:
    """A decimal, or a fraction to 60 digits."""
    top, slash, bottom = text.partition("/")
    with localcontext(prec=60):
        return Decimal(top) / Decimal(bottom) if slash else Decimal(text)


def block_name(step: Mapping[str, Any]) -> str:
    """The name of a step's block in the case: that of the step, and the head where there are several."""
    return step["name"] if step.get("head") is None else f"{step['name']}_{step['head']}"


def blocks_of(report: Report) -> dict[str, list[Finding]]:
    """The judged numbers of each printed block in the order of the file, by its name without the problem.

    Where several problems have a block of one name, the first is meant: the others vary the example.
    """
    full: dict[str, list[Finding]] = {}
    for finding in report.findings:
        if finding.check == "printed" and finding.code in NUMBER_CODES:
            full.setdefault(finding.id.partition("[")[0], []).append(finding)
    out: dict[str, list[Finding]] = {}
    for name, findings in full.items():
        out.setdefault(name.rpartition(":")[2], findings)
    return out


def leaves(tree: Any, index: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """The elements of nested lists with their indices, row by row."""
    if not isinstance(tree, list):
        yield index, tree
        return
    for i, item in enumerate(tree):
        yield from leaves(item, (*index, i))


def at(tree: Any, index: Iterable[int]) -> Any:
    """An element of nested lists."""
    for i in index:
        tree = tree[i]
    return tree


def listed(step: Mapping[str, Any], key: str, index: tuple[int, ...]) -> bool:
    """Is an element named in a list of indices?"""
    return list(index) in step.get(key, [])


def reason_of(finding: Finding) -> str:
    """The reason of a verdict, or `undecided`."""
    return "undecided" if finding.verdict is Verdict.UNDECIDED else str(finding.reason)


def readings_of(findings: Iterable[Finding]) -> list[str]:
    """The other readings that make all of a block right."""
    return sorted({reading for finding in findings for reading in finding.readings})


def first_wrong(example: Mapping[str, Any], blocks: Mapping[str, list[Finding]]) -> str | None:
    """The first step, in the order of the example, with a number that is wrong."""
    for step in example["steps"]:
        if any(reason_of(finding) in WRONG for finding in blocks.get(block_name(step), ())):
            return str(step["name"])
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

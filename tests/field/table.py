"""The table of the field cases, from their tests: what each computes, and the numbers that it proves when it is run."""

from __future__ import annotations

import importlib
import re
from itertools import product
from pathlib import Path

from field.ids import CASES, NOT_AS_PRINTED, status
from field.printing import PROVEN

FOLDER = Path(__file__).parent
PATH = FOLDER.parent.parent / "reports" / "field-cases.md"
MOST_NUMBERS = 5  # of a list that is shown whole
MOST_TEXTS = 6  # of one case


def cases_tested():
    """The tests of each case, in the order of the files: test_b45_decode_step is one of B45."""
    found = {}
    for path in sorted(FOLDER.glob("test_*.py")):
        module = importlib.import_module(f"field.{path.stem}")
        for name, test in vars(module).items():
            if match := re.match(r"test_(b\d+)_", name):
                found.setdefault(match.group(1).upper(), []).append(test)
    return found


def proven_by(tests):
    """The printed numbers that some tests prove, each once."""
    PROVEN.clear()
    for test in tests:
        for arguments in calls(test):
            test(**arguments)
    return list(dict.fromkeys(PROVEN))


def calls(test):
    """The arguments of a test, for each set of its parameters."""
    choices = []
    for mark in getattr(test, "pytestmark", []):
        names, values = mark.args
        single = isinstance(names, str)
        choices.append([{names: x} if single else dict(zip(names, x, strict=True)) for x in values])
    return [{name: x for one in chosen for name, x in one.items()} for chosen in product(*choices)]


def shown(texts):
    """Some printed numbers, long lists and many of them shortened."""
    short = [_short(text) for text in texts[:MOST_TEXTS]] + (["..."] if len(texts) > MOST_TEXTS else [])
    return "; ".join(short)


def _short(text):
    parts = text.split(", ")
    if text.startswith("[[") or len(parts) <= MOST_NUMBERS:
        return text
    return f"{', '.join(parts[:2])}, ..., {parts[-1]} ({len(parts)} numbers)"


def table():
    """The report as Markdown."""
    tests = cases_tested()
    count = sum(map(len, CASES.values()))
    lines = [
        "# Field cases",
        "",
        f"**{count} public reports, by section: {count - len(NOT_AS_PRINTED)} reproduced, {len(NOT_AS_PRINTED)} not as "
        "printed.** A number is proven when an enclosure of the true value lies within half a unit of its last digit, "
        "zeros at the end that were left out included. It may be that of another convention, which explains a wrong "
        "result. The tests are in `tests/field/`.",
        "",
        "| case | section | what is computed | proven | status |",
        "| --- | --- | --- | --- | --- |",
    ]
    for section, cases in CASES.items():
        for case in cases:
            what = tests[case][0].__doc__.strip()
            lines.append(f"| {case} | {section} | {what} | {shown(proven_by(tests[case]))} | {status(case)} |")
    return "\n".join(lines) + "\n"

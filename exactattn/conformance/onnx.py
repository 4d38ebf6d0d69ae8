"""The node tests of the installed onnx against our enclosures.

    python -m exactattn.conformance.onnx [--write reports/onnx-conformance.md]

Prints a table and what is not within its bound, then runs problems of drawn options by onnx's reference evaluator. The
exit status is 1 when an element is outside for no known reason.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from exactattn.conformance.onnx_judged import EXPLAINED, JudgedCase, JudgedDraws, judged_cases, judged_draws
from exactattn.conformance.onnx_nodes import count_of_others, node_cases, onnx_module
from exactattn.conformance.onnx_report import HEAD, SIZES, markdown, outside, summary
from exactattn.conformance.onnx_text import text_of
from exactattn.errors import Unavailable
from exactattn.numbers.enclosure import Answer

COLUMNS = {
    "operator": "operator",
    "tests": "tests",
    "elements": "elements",
    "within": "within",
    "outside": "outside",
    "cannot tell": "unknown",
    SIZES[0]: "ulps",
    SIZES[1]: "of its bound",
    SIZES[2]: "in float32",
}
"""What the terminal shows of the summary, in short words."""


def _print(cases: Sequence[JudgedCase], version: str) -> None:
    """The table for a terminal."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=sys.stdout, highlight=False)
    table = Table(title=f"ONNX node tests, onnx {version}, NumPy {np.__version__}", box=None, padding=(0, 1, 0, 0))
    for name in COLUMNS.values():
        table.add_column(name, justify="left" if name == "operator" else "right", no_wrap=name == "operator")
    for row in summary(cases):
        table.add_row(*(row[(*HEAD, *SIZES).index(name)] for name in COLUMNS))
    console.print(table)
    for line in outside(cases):
        console.print(line, markup=False)


def unexplained(cases: Sequence[JudgedCase], draws: Sequence[JudgedDraws] = ()) -> list[str]:
    """The names of the node tests and drawn problems with an element outside for which no reason is known."""
    names = [one.case.name for one in cases if one.count(Answer.NO) and one.case.name not in EXPLAINED]
    return names + [name for one in draws for name in one.unexplained]


def main(arguments: Sequence[str] | None = None) -> int:
    """Judges all, prints, writes; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="a Markdown file to write the report to")
    options = parser.parse_args(arguments)
    try:
        version = str(onnx_module().__version__)
    except Unavailable as error:
        sys.stderr.write(f"{error}\n")
        return 2
    text = text_of(version)
    cases = list(judged_cases(node_cases(), text))
    _print(cases, version)
    draws = list(judged_draws(text))
    for one in draws:
        count = sum(output.count(Answer.NO) > 0 for output in one.outputs)
        sys.stdout.write(f"{one.problems} drawn problems, {one.way}: {count} of {len(one.outputs)} outputs outside\n")
    if options.write:
        versions = {"onnx": version, "NumPy": np.__version__}
        options.write.write_text(markdown(cases, text, versions, count_of_others(), draws), encoding="utf-8")
    return 1 if unexplained(cases, draws) else 0


if __name__ == "__main__":
    sys.exit(main())

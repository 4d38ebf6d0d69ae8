"""Every measurement of the design's table of targets, in one run.

    python -m benchmarks [--rounds N] [--rows N] [--write FILE]

Ratios are of contenders that take turns in one run; the best of all rounds counts. Nothing is asserted: machines are
shared. `--write` keeps the table and all lines as Markdown.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from benchmarks import attention, balls, gradients, long, others, startup
from benchmarks.results import HEAD, Result


def lines(rounds: int, rows: int, results: list[Result]) -> Iterator[str]:
    """All lines; the results go to `results`."""
    return chain(
        attention.enclosures(rounds, results),
        balls.lines(rounds, 4, results),
        long.lines(rows, results),
        gradients.lines(rounds, results),
        startup.lines(3 * rounds, results),
        attention.certificates(rounds, results),
        others.lines(rounds),
    )


def main() -> None:
    """Prints, and writes where that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2048, help="query rows of the long heads that are timed")
    parser.add_argument("--write", type=Path, help="a Markdown file")
    options = parser.parse_args()
    results: list[Result] = []
    before = os.getloadavg()[0]
    text: list[str] = []
    for line in lines(options.rounds, options.rows, results):
        text.append(line)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    where = (
        f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}, {os.cpu_count()} cores, "
        f"load {before:.1f} at the start and {os.getloadavg()[0]:.1f} at the end, {options.rounds} rounds"
    )
    table = "\n".join([HEAD, *(one.row() for one in sorted(results, key=lambda one: one.id))])
    sys.stdout.write(f"\n{where}\n{table}\n")
    if options.write:
        body = "\n".join(text)
        page = f"# Benchmark\n\n{where}.\n\n{table}\n\nAll lines of the run:\n\n```\n{body}\n```\n"
        options.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

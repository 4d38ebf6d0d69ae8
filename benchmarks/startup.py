"""P5: how long whole commands take, beside what Python and SymPy alone take, in one run.

    python -m benchmarks.startup [--runs N] [--write FILE]

Each command runs in a process of its own, the commands in turn, so that a slow spell of the machine hits all of them.
The table has the fastest and the median of the runs: the fastest is the least disturbed by other work.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.results import Result

ROOT = Path(__file__).parent.parent
PYTHON = [sys.executable]
SCALE = "python -c 'import sympy'"  # what the machine is worth at the moment: about 0.56 s when it is quiet
COMMANDS: dict[str, tuple[list[str], float | None]] = {
    "python -c pass": ([*PYTHON, "-c", "pass"], None),
    SCALE: ([*PYTHON, "-c", "import sympy"], None),
    "exactattn --help": ([*PYTHON, "-m", "exactattn", "--help"], 0.25),
    "exactattn verify cases/example.yaml": ([*PYTHON, "-m", "exactattn", "verify", "cases/example.yaml"], 1.5),
}


def measure(runs: int) -> dict[str, list[float]]:
    """The seconds of each run of each command, after one run that fills the caches."""
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(runs + 1):
        for name, (command, _) in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - the commands above
            if number:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def table(seconds: dict[str, list[float]]) -> str:
    """The measurements in Markdown."""
    lines = ["| id | work | target | fastest | median | fastest / importing SymPy |", "|---|---|---|---|---|---|"]
    scale = min(seconds[SCALE])
    for name, values in seconds.items():
        target = COMMANDS[name][1]
        wanted = "" if target is None else f"<= {target} s"
        identity = "" if target is None else "P5"
        fastest, median = min(values), statistics.median(values)
        lines.append(f"| {identity} | `{name}` | {wanted} | {fastest:.2f} s | {median:.2f} s | {fastest / scale:.2f} |")
    return "\n".join(lines)


def lines(runs: int, results: list[Result]) -> Iterator[str]:
    """The lines of the measurement; the results go to `results`."""
    seconds = measure(runs)
    yield "P5: whole processes; s, fastest and median"
    for name, values in seconds.items():
        yield f"  {name:40} {min(values):.2f} {statistics.median(values):.2f}"
        target = COMMANDS[name][1]
        if target is not None:
            measured = f"{min(values):.2f} s, {min(values) / min(seconds[SCALE]):.2f} x importing SymPy"
            results.append(Result("P5", f"`{name}`", f"<= {target} s", measured))


def main() -> None:
    """Measures and prints, and writes where that is wanted."""
    parser = argparse.ArgumentParser(description="P5: how long whole commands take")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--write", type=Path, help="a Markdown file to write the table to")
    options = parser.parse_args()
    text = table(measure(options.runs))
    sys.stdout.write(text + "\n")
    if options.write:
        where = f"Python {platform.python_version()}, {platform.machine()}, {options.runs} runs of each in turn"
        options.write.write_text(f"# Benchmark\n\n{where}.\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""P3 of the design: a long head enclosed in bounded memory, in time linear in L*S, beside plain float64.

    python -m benchmarks.long [--rows N]

Rows are independent, so some of them are timed and the head's time is that of all; `--rows 32768` does all of them.
Each length runs in a process of its own, whose peak memory is read when it ends.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.plain import attention
from benchmarks.results import Result
from exactattn.truth.blocks import enclose_rows
from exactattn.truth.tensors import Tensors

TOKENS, WIDTH = (8192, 16384, 32768), 128


def one(keys: int, rows: int) -> dict[str, float]:
    """Seconds, peak memory in GiB and the radius of some rows of one length, and the seconds of plain float64."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, keys, WIDTH)).astype(np.float32) for _ in range(3))
    some = np.arange(rows)
    start = time.perf_counter()
    found = enclose_rows(Tensors.of(q, k, v), some)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # Linux counts in KiB
    start = time.perf_counter()
    attention(*(x.astype(np.float64) for x in (q[:, :rows], k, v)), 64)
    plain = time.perf_counter() - start
    radius = float(np.median(found.rad) / np.abs(v).max())
    return {"seconds": seconds, "peak": peak, "radius": radius, "plain": plain}


def lines(rows: int, results: list[Result]) -> Iterator[str]:
    """The lines of the measurement; the result goes to `results`."""
    yield f"P3: one head, d={WIDTH}, float32, {rows} of L rows timed and scaled up; target 1.5 GiB, time linear in L*S"
    peak, pace = 0.0, []
    for keys in TOKENS:
        command = [sys.executable, "-m", "benchmarks.long", "--one", str(keys), "--rows", str(min(rows, keys))]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - the command above
        found = json.loads(done.stdout)
        scores = min(rows, keys) * keys
        pace.append(found["seconds"] / scores * 1e9)
        peak = max(peak, found["peak"])
        whole = found["seconds"] * keys / min(rows, keys)
        ratio = found["seconds"] / found["plain"]
        yield (
            f"  L=S={keys:6}: {whole:7.1f} s a head, {pace[-1]:5.1f} ns a score, x {ratio:.2f} of float64, "
            f"peak {found['peak']:.2f} GiB, median radius {found['radius']:.1e} * max|v|"
        )
    spread = f"{min(pace):.0f} to {max(pace):.0f} ns a score from {TOKENS[0]} to {TOKENS[-1]} keys"
    results.append(
        Result(
            "P3",
            f"one head, L=S={TOKENS[-1]}, d={WIDTH}",
            "<= 1.5 GiB, linear",
            f"{peak:.2f} GiB, {spread}",
            f"radius {found['radius']:.1e}",
        )
    )


def main() -> None:
    """Prints the lines, or the figures of one length as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--one", type=int, help="the number of keys")
    options = parser.parse_args()
    if options.one:
        sys.stdout.write(json.dumps(one(options.one, options.rows)))
        return
    for line in lines(options.rows, []):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""P2 of the design: proven enclosures of all outputs by balls of 113 bits, beside plain float64 and mpmath.

    python -m benchmarks.balls [--rounds N] [--rows N]

The contenders take turns and the best of all rounds counts. mpmath (34 digits, correctly rounded one by one, nothing
proven) and loops over single balls run on a few query rows; their times are scaled up, as rows are independent.
Nothing here is asserted: machines are shared.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import flint
import mpmath
import numpy as np

from benchmarks.attention import BLOCKS
from benchmarks.plain import Floats, attention
from benchmarks.results import Result, best
from exactattn.numbers.balls import precision
from exactattn.truth.ball_blocks import BITS, BallRows, enclose_rows_by_balls
from exactattn.truth.tensors import Tensors
from exactattn.truth.workers import Workers

TOKENS, WIDTH, DIGITS = 512, 64, 34


def drawn() -> list[Any]:
    """q, k, v of normal float32 numbers."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal((TOKENS, WIDTH)).astype(np.float32) for _ in range(3)]


def by_mpmath(q: Any, k: Any, v: Any) -> list[list[Any]]:
    """Some rows, by mpmath's own sums of products. Shapes: lists (n, d), (S, d), and the columns of v (d_v, S)."""
    with mpmath.workdps(DIGITS):
        scale = 1 / mpmath.sqrt(WIDTH)
        out = []
        for query in q:
            scores = [scale * mpmath.fdot(query, key) for key in k]
            largest = max(scores)
            powers = [mpmath.exp(s - largest) for s in scores]
            total = mpmath.fsum(powers)
            out.append([mpmath.fdot(powers, column) / total for column in v])
        return out


def by_single_balls(q: Any, k: Any, v: Any) -> list[list[Any]]:
    """The same in a loop over single balls."""
    with precision(BITS):
        scale = 1 / flint.arb(WIDTH).sqrt()
        out = []
        for query in q:
            powers = [(scale * sum(a * b for a, b in zip(query, key, strict=True))).exp() for key in k]
            total = sum(powers, flint.arb(0))
            out.append([sum(a * b for a, b in zip(powers, column, strict=True)) / total for column in v])
        return out


def lists(number: Callable[[float], Any], q: Floats, k: Floats, v: Floats) -> list[Any]:
    """The tensors as lists of another number, v by columns."""
    return [[[number(x) for x in row] for row in matrix.astype(np.float64).tolist()] for matrix in (q, k, v.T)]


def lines(rounds: int, rows: int, results: list[Result]) -> Iterator[str]:
    """The lines of the measurement; the result goes to `results`."""
    q, k, v = drawn()
    tensors = Tensors.of(q, k, v)
    heads = [x.astype(np.float64)[np.newaxis] for x in (q, k, v)]
    with Workers(2) as two:
        enclose_rows_by_balls(tensors, workers=two)  # warm
        runs: dict[str, Callable[[], Any]] = {f"float64/{b}": partial(attention, *heads, b) for b in BLOCKS[:-1]}
        runs["balls, one process"] = partial(enclose_rows_by_balls, tensors)
        runs["balls, two workers"] = partial(enclose_rows_by_balls, tensors, workers=two)
        times = best(runs, rounds)
        plain = min(times.pop(name) for name in list(times) if name.startswith("float64"))
    few = q[:rows]
    slow = best(
        {
            "mpmath, 34 digits": partial(by_mpmath, *lists(mpmath.mpf, few, k, v)),
            "single balls in loops": partial(by_single_balls, *lists(flint.arb, few, k, v)),
        },
        1,
    )
    times |= {name: t * TOKENS / rows for name, t in slow.items()}
    yield f"P2: L=S={TOKENS}, d={WIDTH}, float32 inputs, {BITS} bits; target x 200 of float64, mpmath 15 times as long"
    yield f"  {'float64':22} {1e3 * plain:10.1f} ms"
    for name, t in times.items():
        speed = times["mpmath, 34 digits"] / t
        yield f"  {name:22} {1e3 * t:10.1f} ms  x {t / plain:8.1f}  {speed:6.1f} times the speed of mpmath"
    found = enclose_rows_by_balls(tensors)
    yield from quality(found, v)
    ours, slower = times["balls, two workers"], times["mpmath, 34 digits"]
    measured = f"x {ours / plain:.0f}, {slower / ours:.0f} times the speed of mpmath"
    largest = np.log2(float(found.rest.max() / np.abs(v).max()))
    target = "<= 200 x float64, >= 15 x mpmath"
    results.append(
        Result("P2", "outputs by balls, 113 bits, L=S=512, d=64", target, measured, f"radius 2^{largest:.1f}")
    )


def quality(found: BallRows, v: Floats) -> Iterator[str]:
    """What makes P2 count: small radii everywhere."""
    largest = float(found.rest.max() / np.abs(v).max())
    bits = sorted(set(found.bits.ravel().tolist()))
    yield f"  largest radius 2^{np.log2(largest):.1f} * max|v| (counts from 2^-90), bits {bits}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=8, help="query rows for mpmath and for loops over single balls")
    args = parser.parse_args()
    versions = f"python-flint {flint.__version__}, mpmath {mpmath.__version__} on {mpmath.libmp.BACKEND}"
    sys.stdout.write(f"NumPy {np.__version__}, {versions}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    for line in lines(args.rounds, args.rows, []):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    sys.stdout.write(f"load {os.getloadavg()[0]:.1f} at the end\n")


if __name__ == "__main__":
    main()

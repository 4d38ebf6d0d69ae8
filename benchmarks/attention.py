"""P1 and P6 of the design: proven enclosures of all outputs, and exact scores, beside plain float64 in NumPy.

    python -m benchmarks.attention [--rounds N]

Everything runs in one process, the contenders in turn, so that other load meets them alike; the best of all rounds
counts. Nothing here is asserted: machines are shared.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.plain import attention
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import FORMATS
from exactattn.numbers.grid import certified
from exactattn.numbers.near import exactly
from exactattn.truth.blocks import enclose_rows, within_ulps
from exactattn.truth.tensors import Tensors

HEADS, TOKENS, WIDTH = 8, 1024, 64
BLOCKS = (64, 128, 256, 512, 1024)
CHEAP = ("midradius",)


def best(contenders: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The shortest time of each in seconds, over rounds in which all take turns."""
    times = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def drawn(dtype: Any, *shape: int) -> list[Any]:
    """q, k, v of normal numbers in a format."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape).astype(dtype) for _ in range(3)]


def dtypes() -> dict[str, Any]:
    """The formats of inputs."""
    import ml_dtypes

    return {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16, "float16": np.float16}


def enclosures(rounds: int) -> None:
    """P1: every output of 8 heads of 1024 tokens."""
    print(f"P1: H={HEADS}, L=S={TOKENS}, d={WIDTH}; ms, the fastest block of {BLOCKS}; target 1.5")
    for name, dtype in dtypes().items():
        tensors = Tensors.of(*drawn(dtype, HEADS, TOKENS, WIDTH))
        runs: dict[str, Callable[[], Any]] = {}
        for b in BLOCKS:
            runs[f"float64/{b}"] = lambda b=b: attention(tensors.q, tensors.k, tensors.v, b)
            runs[f"cheap/{b}"] = lambda b=b: enclose_rows(tensors, block=b)
            runs[f"cheap, 2 threads/{b}"] = lambda b=b: enclose_rows(tensors, block=b, workers=2)
            runs[f"sharp/{b}"] = lambda b=b: enclose_rows(tensors, block=b, sharp=True)
        times = best(runs, rounds)
        fastest = {
            kind: min((t, label.split("/")[1]) for label, t in times.items() if label.split("/")[0] == kind)
            for kind in dict.fromkeys(label.split("/")[0] for label in times)
        }
        plain = fastest["float64"][0]
        for kind, (t, block) in fastest.items():
            print(f"  {name:9} {kind:17} {1e3 * t:8.1f}  x {t / plain:.2f}  (block {block})")
        quality(tensors)


def quality(tensors: Tensors) -> None:
    """What makes P1 count: small radii, and float32 outputs decided."""
    largest = np.abs(tensors.v).max()
    for sharp in (False, True):
        found = enclose_rows(tensors, sharp=sharp)
        print(f"    {'sharp' if sharp else 'cheap'}: median radius {np.median(found.rad) / largest:.1e} * max|v|", end="")
        print(f", largest {found.rad.max() / largest:.1e}")
    data = found.mid.astype(np.float32)
    for engines in (CHEAP, ("midradius", "midradius, sharp")):
        decided = within_ulps(tensors, data, FORMATS["float32"], 0.501, engines=engines)
        share = 1 - decided.count(Answer.CANNOT_TELL) / data.size
        print(f"    float32 outputs decided by {' + '.join(engines)}: {100 * share:.4f} %, rows {dict(decided.rows)}")


def certificates(rounds: int) -> None:
    """P6: which of 1024 x 1024 scores are exact."""
    print(f"P6: scores {TOKENS} x {TOKENS} x {WIDTH}; ms, certificate and product together; target 3")
    for name, dtype in dtypes().items():
        q, k = (x.astype(np.float64) for x in drawn(dtype, TOKENS, WIDTH)[:2])
        runs: dict[str, Callable[[], Any]] = {
            "float64": lambda q=q, k=k: q @ k.T,
            "certified": lambda q=q, k=k: (q @ k.T, certified(exactly(q), exactly(k))),
        }
        times = best(runs, 20 * rounds)
        share = 100 * certified(exactly(q), exactly(k)).mean()
        ratio = times["certified"] / times["float64"]
        print(f"  {name:9} {1e3 * times['float64']:6.2f} {1e3 * times['certified']:6.2f}  x {ratio:.2f}  {share:.3f} %")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(f"NumPy {np.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    enclosures(rounds)
    certificates(rounds)
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()

"""P1 and P6 of the design: proven enclosures of all outputs, and exact scores, beside plain float64 in NumPy.

    python -m benchmarks.attention [--rounds N]

Everything runs in one process, the contenders in turn, so that other load meets them alike; the best of all rounds
counts. Nothing here is asserted: machines are shared.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from benchmarks.plain import Floats, attention
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import FORMATS
from exactattn.numbers.grid import certified
from exactattn.numbers.near import exactly
from exactattn.truth.blocks import enclose_rows, within_ulps
from exactattn.truth.tensors import Tensors

HEADS, TOKENS, WIDTH = 8, 1024, 64
BLOCKS = (64, 128, 256, 512, 1024)
OUR_BLOCKS = (128, 256, 512, 1024)


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


def contenders(tensors: Tensors) -> dict[str, Callable[[], Any]]:
    """Plain float64 and the enclosures, at every size of block, under KIND/BLOCK."""
    q, k, v = tensors.q, tensors.k, tensors.v
    runs: dict[str, Callable[[], Any]] = {f"float64/{b}": partial(attention, q, k, v, b) for b in BLOCKS}
    for b in OUR_BLOCKS:
        runs[f"cheap/{b}"] = partial(enclose_rows, tensors, block=b)
        runs[f"cheap, 2 threads/{b}"] = partial(enclose_rows, tensors, block=b, workers=2)
        runs[f"sharp/{b}"] = partial(enclose_rows, tensors, block=b, sharp=True)
    return runs


def enclosures(rounds: int) -> Iterator[str]:
    """P1: every output of 8 heads of 1024 tokens."""
    yield f"P1: H={HEADS}, L=S={TOKENS}, d={WIDTH}; ms with the fastest block of each; target 1.5"
    for name, dtype in dtypes().items():
        tensors = Tensors.of(*drawn(dtype, HEADS, TOKENS, WIDTH))
        fastest: dict[str, tuple[float, str]] = {}
        for label, t in best(contenders(tensors), rounds).items():
            kind, block = label.split("/")
            fastest[kind] = min(fastest.get(kind, (t, block)), (t, block))
        for kind, (t, block) in fastest.items():
            yield f"  {name:9} {kind:17} {1e3 * t:8.1f}  x {t / fastest['float64'][0]:.2f}  (block {block})"
        yield from quality(tensors)


def quality(tensors: Tensors) -> Iterator[str]:
    """What makes P1 count: small radii, and float32 outputs decided."""
    for sharp in (False, True):
        found = enclose_rows(tensors, sharp=sharp)
        rad = found.rad / np.abs(tensors.v).max()
        name = "sharp" if sharp else "cheap"
        yield f"    {name}: median radius {np.median(rad):.1e} * max|v|, largest {rad.max():.1e}"
    data = found.mid.astype(np.float32)
    for engines in (("midradius",), ("midradius", "midradius, sharp")):
        decided = within_ulps(tensors, data, FORMATS["float32"], 0.501, engines=engines)
        share = 100 * (1 - decided.count(Answer.CANNOT_TELL) / data.size)
        yield f"    float32 outputs decided by {' + '.join(engines)}: {share:.4f} %, rows {dict(decided.rows)}"


def exact_scores(q: Floats, k: Floats) -> Any:
    """The product and its certificate."""
    return q @ k.T, certified(exactly(q), exactly(k))


def certificates(rounds: int) -> Iterator[str]:
    """P6: which of 1024 x 1024 scores are exact."""
    yield f"P6: scores {TOKENS} x {TOKENS} x {WIDTH}; ms, certificate and product together; target 3"
    for name, dtype in dtypes().items():
        q, k = (x.astype(np.float64) for x in drawn(dtype, TOKENS, WIDTH)[:2])
        times = best({"float64": partial(np.matmul, q, k.T), "certified": partial(exact_scores, q, k)}, 20 * rounds)
        share = 100 * certified(exactly(q), exactly(k)).mean()
        plain, ours = times["float64"], times["certified"]
        yield f"  {name:9} {1e3 * plain:6.2f} {1e3 * ours:6.2f}  x {ours / plain:.2f}  {share:.3f} % certified"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    start = f"NumPy {np.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    for line in chain([start], enclosures(rounds), certificates(rounds)):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    sys.stdout.write(f"load {os.getloadavg()[0]:.1f} at the end\n")


if __name__ == "__main__":
    main()

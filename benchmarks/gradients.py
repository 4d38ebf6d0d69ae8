"""P4 of the design: proven enclosures of dq, dk and dv, beside plain float64 forward and backward in NumPy.

python -m benchmarks.gradients [--rounds N]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.plain import forward_backward
from benchmarks.results import Result, best, fastest
from exactattn.truth.gradients import enclose_gradients
from exactattn.truth.tensors import Tensors

HEADS, TOKENS, WIDTH = 8, 1024, 64
BLOCKS = (256, 512, 1024)


def lines(rounds: int, results: list[Result]) -> Iterator[str]:
    """The lines of the measurement; the result goes to `results`."""
    rng = np.random.default_rng(0)
    q, k, v, g = (rng.standard_normal((HEADS, TOKENS, WIDTH)).astype(np.float32) for _ in range(4))
    tensors, plain = Tensors.of(q, k, v), [x.astype(np.float64) for x in (q, k, v, g)]
    runs: dict[str, Callable[[], Any]] = {}
    for block in BLOCKS:
        runs[f"float64/{block}"] = partial(forward_backward, *plain, block)
        runs[f"enclosed/{block}"] = partial(enclose_gradients, tensors, g, block=block)
        runs[f"enclosed, 2 threads/{block}"] = partial(enclose_gradients, tensors, g, block=block, workers=2)
    yield f"P4: dq, dk, dv of H={HEADS}, L=S={TOKENS}, d={WIDTH}, float32; ms with the fastest block; target 1.5"
    times = fastest(best(runs, rounds))
    base = times["float64"][0]
    for kind, (t, block) in times.items():
        yield f"  {kind:22} {1e3 * t:8.1f}  x {t / base:.2f}  (block {block})"
    found, (_, *want) = enclose_gradients(tensors, g), forward_backward(*plain, 256)
    sizes, errors = [], []
    for name, other in zip("qkv", want, strict=True):
        one = getattr(found, name)
        sizes.append(float(np.median(one.rad) / np.abs(one.mid).max()))
        errors.append(float((np.abs(one.mid - other) / one.rad).max()))
        yield f"    d{name}: median radius {sizes[-1]:.1e} * max|d{name}|, float64 errs by {errors[-1]:.1e} of it"
    ratio = min(t for kind, (t, _) in times.items() if kind.startswith("enclosed")) / base
    results.append(
        Result(
            "P4", "dq, dk, dv by midradius, P1's size", "<= 1.5 x float64", f"x {ratio:.2f}", f"radius {max(sizes):.1e}"
        )
    )


def main() -> None:
    """Prints the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    for line in lines(parser.parse_args().rounds, []):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

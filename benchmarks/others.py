"""One head by every way there is, side by side, and how the time of ours grows with L, S, d, d_v and threads.

    python -m benchmarks.others [--rounds N]

The slow ways run on a few query rows, and their time is scaled up, as rows are independent.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import flint
import mpmath
import numpy as np

from benchmarks.balls import by_mpmath, by_single_balls, lists
from benchmarks.plain import attention, by_longdouble
from benchmarks.results import best
from exactattn.truth.ball_blocks import enclose_rows_by_balls
from exactattn.truth.blocks import enclose_rows
from exactattn.truth.tensors import Tensors

SIZES = ((128, 64), (512, 64), (2048, 128))
GROWTH = (
    ("tokens of queries", [(256, 1024, 64, 64), (512, 1024, 64, 64), (1024, 1024, 64, 64), (2048, 1024, 64, 64)]),
    ("keys", [(512, 512, 64, 64), (512, 1024, 64, 64), (512, 4096, 64, 64), (512, 16384, 64, 64)]),
    ("width of q and k", [(512, 1024, 32, 64), (512, 1024, 64, 64), (512, 1024, 128, 64), (512, 1024, 256, 64)]),
    ("width of v", [(512, 1024, 64, 32), (512, 1024, 64, 64), (512, 1024, 64, 128), (512, 1024, 64, 256)]),
)
FEW = 4  # query rows of the slow ways


def drawn(queries: int, keys: int, width: int, values: int) -> list[Any]:
    """q, k, v of normal float32 numbers."""
    rng = np.random.default_rng(0)
    shapes = (queries, width), (keys, width), (keys, values)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


def by_torch(q: Any, k: Any, v: Any) -> Callable[[], Any] | None:
    """torch's scaled_dot_product_attention in float64; None where torch is not installed."""
    try:
        import torch
    except ImportError:
        return None
    tensors = [torch.from_numpy(x.astype(np.float64))[None, None] for x in (q, k, v)]
    return lambda: torch.nn.functional.scaled_dot_product_attention(*tensors)


def side_by_side(rounds: int) -> Iterator[str]:
    """Every way on one head of several sizes."""
    for tokens, width in SIZES:
        q, k, v = drawn(tokens, tokens, width, width)
        heads = [x.astype(np.float64)[np.newaxis] for x in (q, k, v)]
        tensors = Tensors.of(q, k, v)
        quick: dict[str, Callable[[], Any]] = {
            "NumPy float64": partial(attention, *heads, 256),
            "midradius": partial(enclose_rows, tensors),
            "midradius, sharp": partial(enclose_rows, tensors, sharp=True),
        }
        torch = by_torch(q, k, v)
        if torch is not None:
            quick["torch float64"] = torch
        times = best(quick, rounds)
        rows = min(tokens, 64)
        few = np.arange(rows)
        slow = best({"balls, 113 bits": partial(enclose_rows_by_balls, tensors, few)}, 2)
        slow |= best({"NumPy longdouble": partial(by_longdouble, *(x.astype(np.float64) for x in (q[:rows], k, v)))}, 2)
        times |= {name: t * tokens / rows for name, t in slow.items()}
        several = {
            "python-flint loops": partial(by_single_balls, *lists(flint.arb, q[:FEW], k, v)),
            "mpmath, 34 digits": partial(by_mpmath, *lists(mpmath.mpf, q[:FEW], k, v)),
        }
        times |= {name: t * tokens / FEW for name, t in best(several, 1).items()}
        yield f"one head, L=S={tokens}, d={width}"
        base = times["NumPy float64"]
        for name, t in sorted(times.items(), key=lambda item: item[1]):
            yield f"  {name:20} {1e3 * t:12.1f} ms  x {t / base:10.1f}"
        if torch is None:
            yield "  torch float64        not run: torch is not installed"


def growth(rounds: int) -> Iterator[str]:
    """The time of midradius as one size grows, beside float64."""
    for name, shapes in GROWTH:
        yield f"growing {name} (L, S, d, d_v)"
        for shape in shapes:
            q, k, v = drawn(*shape)
            heads = [x.astype(np.float64)[np.newaxis] for x in (q, k, v)]
            times = best(
                {"plain": partial(attention, *heads, 256), "ours": partial(enclose_rows, Tensors.of(q, k, v))}, rounds
            )
            plain, ours = times["plain"], times["ours"]
            yield f"  {shape!s:24} float64 {1e3 * plain:8.1f} ms  midradius {1e3 * ours:8.1f} ms  x {ours / plain:.2f}"
    tensors = Tensors.of(*(np.stack([x] * 8) for x in drawn(1024, 1024, 64, 64)))
    yield "threads, 8 heads of 1024 tokens"
    for threads, t in best({f"{n}": partial(enclose_rows, tensors, workers=n) for n in (1, 2, 4)}, rounds).items():
        yield f"  {threads} threads {1e3 * t:8.1f} ms"


def lines(rounds: int) -> Iterator[str]:
    """Both."""
    yield from side_by_side(rounds)
    yield from growth(rounds)


def main() -> None:
    """Prints the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    for line in lines(parser.parse_args().rounds):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

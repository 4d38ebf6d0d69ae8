"""P1 and P6 of the design: proven enclosures of all outputs, and exact scores, beside plain float64 in NumPy.

    python -m benchmarks.attention [--rounds N]

Everything runs in one process, the contenders in turn, so that other load meets them alike; the best of all rounds
counts. Nothing here is asserted: machines are shared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from benchmarks.plain import Floats, attention
from benchmarks.results import Result, best, fastest
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import FORMATS
from exactattn.numbers.grid import certified
from exactattn.numbers.near import exactly
from exactattn.truth.blocks import enclose_rows, within_ulps
from exactattn.truth.tensors import Tensors

HEADS, TOKENS, WIDTH = 8, 1024, 64
BLOCKS = (64, 128, 256, 512, 1024)
OUR_BLOCKS = (128, 256, 512, 1024)


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
    q, k, v = (np.stack([np.asarray(getattr(head, x), np.float64) for head in tensors.heads]) for x in "qkv")
    runs: dict[str, Callable[[], Any]] = {f"float64/{b}": partial(attention, q, k, v, b) for b in BLOCKS}
    for b in OUR_BLOCKS:
        runs[f"cheap/{b}"] = partial(enclose_rows, tensors, block=b)
        runs[f"cheap, 2 threads/{b}"] = partial(enclose_rows, tensors, block=b, workers=2)
        runs[f"sharp/{b}"] = partial(enclose_rows, tensors, block=b, sharp=True)
    return runs


def enclosures(rounds: int, results: list[Result]) -> Iterator[str]:
    """P1: every output of 8 heads of 1024 tokens."""
    yield f"P1: H={HEADS}, L=S={TOKENS}, d={WIDTH}; ms with the fastest block of each; target 1.5"
    ratios, radii, shares = [], [], []
    for name, dtype in dtypes().items():
        tensors = Tensors.of(*drawn(dtype, HEADS, TOKENS, WIDTH))
        times = fastest(best(contenders(tensors), rounds))
        base = times["float64"][0]
        for kind, (t, block) in times.items():
            yield f"  {name:9} {kind:17} {1e3 * t:8.1f}  x {t / base:.2f}  (block {block})"
        ratios.append(min(t for kind, (t, _) in times.items() if kind.startswith("cheap")) / base)
        radius, share = yield from quality(tensors)
        radii.append(radius)
        shares.append(share)
    measured = ", ".join(f"{name} x {ratio:.2f}" for name, ratio in zip(dtypes(), ratios, strict=True))
    counts = f"median radius {max(radii):.1e} * max abs(v), {min(shares):.3f} % decided"
    results.append(Result("P1", "outputs by midradius, H=8, L=S=1024, d=64", "<= 1.5 x float64", measured, counts))


def quality(tensors: Tensors) -> Generator[str, None, tuple[float, float]]:
    """What makes P1 count: small radii, and float32 outputs decided; the median radius, and the share in percent."""
    radius = 0.0
    for sharp in (True, False):
        found = enclose_rows(tensors, sharp=sharp)
        rad = found.rad / max(float(np.abs(head.v).max()) for head in tensors.heads)
        radius = float(np.median(rad))
        name = "sharp" if sharp else "cheap"
        yield f"    {name}: median radius {radius:.1e} * max|v|, largest {rad.max():.1e}"
    data = found.mid.astype(np.float32)
    share = 0.0
    for engines in (("midradius", "midradius, sharp"), ("midradius",)):
        decided = within_ulps(tensors, data, FORMATS["float32"], 0.501, engines=engines)
        share = 100 * (1 - decided.count(Answer.CANNOT_TELL) / data.size)
        yield f"    float32 outputs decided by {' + '.join(engines)}: {share:.4f} %, rows {dict(decided.rows)}"
    return radius, share


def exact_scores(q: Floats, k: Floats) -> Any:
    """The product and its certificate."""
    return q @ k.T, certified(exactly(q), exactly(k))


def certificates(rounds: int, results: list[Result]) -> Iterator[str]:
    """P6: which of 1024 x 1024 scores are exact."""
    yield f"P6: scores {TOKENS} x {TOKENS} x {WIDTH}; ms, certificate and product together; target 3"
    ratios, shares = [], []
    for name, dtype in dtypes().items():
        q, k = (x.astype(np.float64) for x in drawn(dtype, TOKENS, WIDTH)[:2])
        times = best({"float64": partial(np.matmul, q, k.T), "certified": partial(exact_scores, q, k)}, 20 * rounds)
        share = 100 * certified(exactly(q), exactly(k)).mean()
        plain, ours = times["float64"], times["certified"]
        yield f"  {name:9} {1e3 * plain:6.2f} {1e3 * ours:6.2f}  x {ours / plain:.2f}  {share:.3f} % certified"
        if name != "float32":  # 48-bit products: the certificate cannot hold there
            ratios.append(f"{name} x {ours / plain:.2f}")
            shares.append(float(share))
    work, counts = "exact scores certified, 1024 x 1024 x 64", f"{min(shares):.2f} % certified"
    results.append(Result("P6", work, "<= 3 x the GEMM", ", ".join(ratios), counts))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    for line in chain(enclosures(rounds, []), certificates(rounds, [])):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""The campaign of containment: outputs of hard and of drawn problems, enclosed by midradius, against balls.

    python -m benchmarks.containment [--minutes N] [--seed N]

Counts elements, misses (enclosures that surely do not hold the truth; there must be none), enclosures without a finite
radius, and the largest error as a part of its radius. The exit status is 1 when anything was missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from exactattn import plugins
from exactattn.attention.definition import stages
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.numbers.balls import MOST_BITS, TooCoarse
from exactattn.numbers.exact import sqrt
from exactattn.tensors.drawn import DRAWN, Drawn, normal
from exactattn.truth.blocks import enclose_rows
from exactattn.truth.reference import Parts
from exactattn.truth.tensors import Tensors

BITS = 256
SCALES = (None, Fraction(1), Fraction(1, 3), sqrt(Fraction(2)), Fraction(-1, 7), Fraction(5))


@dataclass
class Tally:
    """What was found for one kind of problem."""

    elements: int = 0
    misses: int = 0
    unknown: int = 0
    worst: float = 0.0


def problem(rng: np.random.Generator, make: Any) -> Tensors:
    """Tensors of a generator under a drawn spec, mask and bias; a mask of the generator stays."""
    head = make(rng)
    shape = len(head.q), len(head.k)
    mask = rng.random(shape) < 0.8 if head.mask is None and rng.random() < 0.3 else head.mask
    bias = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4) if rng.random() < 0.3 else None
    spec = AttentionSpec(
        scale=SCALES[rng.integers(len(SCALES))],
        base=Fraction(2) if rng.random() < 0.2 else None,
        causal=("none", "top-left", "bottom-right")[rng.integers(3)],
    )
    return Tensors.of(head.q, head.k, head.v, spec, mask, bias)


def drawn(rng: np.random.Generator) -> Drawn:
    """Normal numbers of a drawn shape, size and format."""
    queries, keys, width = (int(x) for x in rng.integers(1, (40, 200, 80)))
    dtype = (np.float16, np.float32, np.float64)[rng.integers(3)]
    return normal(rng, queries, keys, width, dtype, float(2.0 ** rng.integers(-8, 4)))


def balls(tensors: Tensors, rows: Any, stage: Stage) -> Parts:
    """The truth, by as many bits as it needs."""
    engine = plugins.get("engines", "ball")
    bits, head = BITS, tensors.heads[0]
    while True:
        with engine.precision(bits):
            try:
                balls = stages(head.problem(rows), engine.arithmetic(), until=stage)[stage, 0]
                return Parts.of(balls, engine, np.nonzero(head.undefined(rows, stage))[0])
            except TooCoarse:
                bits *= 4
                if bits > MOST_BITS:
                    raise


def judge(tensors: Tensors, tally: Tally, sharp: bool) -> None:
    """Adds one problem: |mid - t| surely above the radius is a miss."""
    rows = np.arange(tensors.shape[2])
    for stage in (Stage.LSE, Stage.CONTEXT):
        found = enclose_rows(tensors, stage=stage, sharp=sharp, block=int(rows[-1]) // 2 + 1)
        truth = balls(tensors, rows, stage)
        known = np.isfinite(found.rad[0]) & found.defined[0]
        error, slack = truth.error_of(np.where(known, found.mid[0], 0.0))
        known &= np.isfinite(error)
        least = np.maximum(np.abs(error) - slack, 0)[known]
        rad = found.rad[0][known]
        tally.elements += int(known.sum())
        tally.misses += int((least > rad).sum())
        tally.unknown += int((np.isinf(found.rad[0])).sum())
        if (rad > 0).any():
            tally.worst = max(tally.worst, float((least[rad > 0] / rad[rad > 0]).max()))


def campaign(minutes: float, seed: int) -> dict[str, Tally]:
    """Problems of every kind in turn until the time is over."""
    rng = np.random.default_rng(seed)
    makers = {name: make for name, make in DRAWN.items() if not make(rng).options}  # no option is in `problem` yet
    makers |= {"drawn": drawn, "drawn again": drawn}
    tallies = {name: Tally() for name in makers}
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        for name, make in makers.items():
            judge(problem(rng, make), tallies[name], bool(rng.random() < 0.3))
    return tallies


def main() -> None:
    """Prints the tallies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tallies = campaign(options.minutes, options.seed)
    total = Tally(
        sum(t.elements for t in tallies.values()),
        sum(t.misses for t in tallies.values()),
        sum(t.unknown for t in tallies.values()),
        max(t.worst for t in tallies.values()),
    )
    for name, t in (*tallies.items(), ("all", total)):
        line = f"{name:26} {t.elements:9} elements {t.misses:4} misses {t.unknown:8} unknown"
        sys.stdout.write(f"{line}  largest error {t.worst:.3f} of its radius\n")
    sys.exit(1 if total.misses else 0)


if __name__ == "__main__":
    main()

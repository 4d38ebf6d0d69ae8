"""The campaign of containment: outputs and gradients of hard and of drawn problems, by midradius against balls.

    python -m benchmarks.containment [--minutes N] [--seed N]

Each problem is a head of a generator under a drawn spec: any option of the spec may be there. Counts elements of
outputs and lse, and of gradients; misses (enclosures that surely do not hold the truth; there must be none); enclosures
without a finite radius; and the largest error as a part of its radius. The exit status is 1 when anything was missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator

from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.numbers.exact import sqrt
from exactattn.tensors.drawn import DRAWN, Drawn, normal
from exactattn.truth.ball_blocks import enclose_rows_by_balls
from exactattn.truth.blocks import enclose_rows
from exactattn.truth.gradients import enclose_gradients, enclose_gradients_by_balls
from exactattn.truth.tensors import Tensors

SCALES = (None, Fraction(1), Fraction(1, 3), sqrt(Fraction(2)), Fraction(-1, 7), Fraction(5))
WINDOWS = ((3, None), (None, 1), (2, 2), (0, 40))
CAUSAL = ("none", "none", "top-left", "bottom-right", "offset")
RULES = ("undefined", "zero", "uniform", "mean")
GRADIENT_BITS = 200


@dataclass
class Count:
    """Elements seen, missed, without a finite radius, and the largest error in radii."""

    elements: int = 0
    misses: int = 0
    unknown: int = 0
    worst: float = 0.0

    def add(self, error: Any, slack: Any, found: Any) -> None:
        """|error| surely above the radius is a miss; what has no finite radius is unknown, and no miss."""
        known = np.isfinite(found.rad) & np.isfinite(found.mid) & np.isfinite(error) & np.isfinite(slack)
        least, rad = np.maximum(np.abs(error[known]) - slack[known], 0), found.rad[known]
        self.elements += int(known.sum())
        self.misses += int((least > rad).sum())
        self.unknown += int(np.isinf(found.rad).sum())
        if (rad > 0).any():
            self.worst = max(self.worst, float((least[rad > 0] / rad[rad > 0]).max()))

    def __add__(self, other: Count) -> Count:
        """Both together."""
        return Count(
            self.elements + other.elements,
            self.misses + other.misses,
            self.unknown + other.unknown,
            max(self.worst, other.worst),
        )


@dataclass
class Tally:
    """What was found for one kind of problem."""

    outputs: Count = field(default_factory=Count)
    gradients: Count = field(default_factory=Count)


def spec(rng: Generator, width: int, options: Mapping[str, Any], biased: bool) -> AttentionSpec:
    """A spec with a few options at once."""

    def some(p: float = 0.2) -> bool:
        return bool(rng.random() < p)

    causal = CAUSAL[rng.integers(len(CAUSAL))]
    window = WINDOWS[rng.integers(len(WINDOWS))] if some() else (None, None)
    cap = options.get("softcap", Fraction(int(rng.integers(1, 100)), 4) if some() else None)
    forms = ("distance", "signed")
    layouts = ("halves", "interleaved")
    orders = ("before-bias", "after-bias", "after-mask")
    alibi = Alibi((Fraction(int(rng.integers(1, 9)), 8),), forms[rng.integers(2)]) if some() else None  # type: ignore[arg-type]
    rotary = Rotary(base=Fraction(100), layout=layouts[rng.integers(2)]) if width % 2 == 0 and some(0.1) else None  # type: ignore[arg-type]
    return AttentionSpec(
        scale=SCALES[rng.integers(len(SCALES))],
        base=Fraction(2) if some() else None,
        lse_base=Fraction(2) if some() else None,
        causal=causal,  # type: ignore[arg-type]
        offset=int(rng.integers(-5, 30)) if causal == "offset" else None,
        window=window,
        softcap=cap,
        softcap_order=orders[rng.integers(3)] if cap is not None else "before-bias",  # type: ignore[arg-type]
        bias_place="inside" if (biased or alibi) and some() else "outside",
        alibi=alibi,
        rotary=rotary,
        qk_norm=QKNorm("rms", Fraction(1, 10**6)) if some(0.1) else None,
        masked_row=RULES[rng.integers(4)],  # type: ignore[arg-type]
    )


def problem(rng: Generator, make: Any) -> Tensors:
    """Tensors of a generator under a drawn spec, mask, bias, sink and length; a mask of the generator stays."""
    head: Drawn = make(rng)
    (queries, width), keys = head.q.shape, len(head.k)
    mask = rng.random((queries, keys)) < 0.8 if head.mask is None and rng.random() < 0.3 else head.mask
    bias = rng.standard_normal((queries, keys)) * 10.0 ** rng.integers(-3, 4) if rng.random() < 0.3 else None
    sinks = [Fraction(int(rng.integers(-40, 40)), 8)] if rng.random() < 0.2 else None
    lengths = [int(rng.integers(0, keys + 1))] if rng.random() < 0.1 else None
    chosen = spec(rng, width, head.options, bias is not None)
    return Tensors.of(head.q, head.k, head.v, chosen, mask, bias, sinks=sinks, key_lengths=lengths)


def drawn(rng: Generator) -> Drawn:
    """Normal numbers of a drawn shape, size and format."""
    queries, keys, width = (int(x) for x in rng.integers(1, (40, 200, 80)))
    dtype = (np.float16, np.float32, np.float64)[rng.integers(3)]
    return normal(rng, queries, keys, width, dtype, float(2.0 ** rng.integers(-8, 4)))


def wide(rng: Generator) -> Drawn:
    """The same with wide values, so that there are many outputs; some of them nearly cancel, some are huge."""
    queries, keys = (int(x) for x in rng.integers(20, (100, 160)))
    one = normal(rng, queries, keys, 16, np.float32, float(2.0 ** rng.integers(-3, 2)))
    v = rng.standard_normal((keys, 1024)) * 2.0 ** rng.integers(-40, 40, 1024)
    v[:, ::7] += 1e6
    return Drawn(one.q, one.k, v.astype(np.float32).astype(np.float64))


def judge(rng: Generator, tensors: Tensors, tally: Tally, sharp: bool) -> None:
    """Adds one problem."""
    block = tensors.shape[2] // 2 + 1
    for stage in (Stage.LSE, Stage.CONTEXT):
        found = enclose_rows(tensors, stage=stage, sharp=sharp, block=block)
        truth = enclose_rows_by_balls(tensors, stage=stage)
        tally.outputs.add(*truth.error_of(np.where(np.isfinite(found.mid), found.mid, 0.0)), found)
    head = tensors.heads[0]
    rows = np.arange(tensors.shape[2])
    g = rng.standard_normal((len(rows), head.v.shape[1])) * ~head.undefined(rows)[:, np.newaxis]
    if g.size + head.v.size > 20_000 and rng.random() < 0.9:
        return
    ours = enclose_gradients(tensors, g, sharp=sharp, block=block, bias=True)
    try:
        balls = enclose_gradients_by_balls(tensors, g, bits=GRADIENT_BITS, bias=True)
    except ArithmeticError:  # no finite ball with these bits, as where scores differ by 10**9
        return
    for name in ("q", "k", "v", "bias", "sinks"):
        one, other = getattr(ours, name), getattr(balls, name)
        if one is not None:
            with np.errstate(all="ignore"):
                error = one.mid - other.mid
                tally.gradients.add(error, other.rad + np.abs(error) * 2.0**-50, one)


def campaign(minutes: float, seed: int) -> dict[str, Tally]:
    """Problems of every kind in turn, at least one of each, until the time is over."""
    rng = np.random.default_rng(seed)
    makers = dict(DRAWN) | {"drawn": drawn} | {f"wide {i}": wide for i in range(3)}
    tallies = {name: Tally() for name in makers}
    end = time.monotonic() + 60 * minutes
    while True:
        for name, make in makers.items():
            judge(rng, problem(rng, make), tallies[name], bool(rng.random() < 0.3))
        if time.monotonic() >= end:
            return tallies


def lines(tallies: Mapping[str, Tally]) -> list[str]:
    """The table, with all kinds together at its end."""
    whole = Tally()
    for one in tallies.values():
        whole = Tally(whole.outputs + one.outputs, whole.gradients + one.gradients)
    out = []
    for name, one in (*tallies.items(), ("all", whole)):
        for what in ("outputs", "gradients"):
            count: Count = getattr(one, what)
            text = f"{name:26} {what:9} {count.elements:9} elements {count.misses:3} misses {count.unknown:8} unknown"
            out.append(f"{text}  largest error {count.worst:.3f} of its radius")
    return out


def main() -> None:
    """Prints the tallies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tallies = campaign(options.minutes, options.seed)
    sys.stdout.write("\n".join(lines(tallies)) + "\n")
    sys.exit(1 if any(one.outputs.misses + one.gradients.misses for one in tallies.values()) else 0)


if __name__ == "__main__":
    main()

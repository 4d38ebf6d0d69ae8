"""Float runs of a problem, and their error against the truth, as written and as stored kept apart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exactattn import plugins
from exactattn.attention.algorithms import ALGORITHMS
from exactattn.attention.definition import Where, stages
from exactattn.attention.spec import Problem
from exactattn.numbers.balls import nearest
from exactattn.numbers.exact import Exact
from exactattn.numbers.formats import Format


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What one float run gave: every stage it formed, as float64 copies of its numbers (which are exact).

    Shapes: tokens as rows. `engine` says who ran it.
    """

    format: Format
    algorithm: str
    engine: str
    outputs: dict[Where, NDArray[np.float64]]


def run(problem: Problem, fmt: Format, algorithm: str) -> Run:
    """Runs a problem in a format with an algorithm. Errors: Unavailable when this machine has no such format."""
    arithmetic = plugins.get("engines", "hardware").arithmetic(fmt)
    arrays = stages(problem, arithmetic, algorithm=ALGORITHMS[algorithm])
    return Run(fmt, algorithm, arithmetic.name, {where: a.astype(np.float64) for where, a in arrays.items()})


def stored(problem: Problem, fmt: Format) -> Problem | None:
    """The problem with its inputs as the format stores them (the scale stays exact); None when one is not finite.

    Exact value: each input element correctly rounded to the format; what differs from the problem as written is
    representation error.
    """

    def change(x: Exact) -> Exact:
        y = nearest(x, fmt)
        if not np.isfinite(y):
            raise OverflowError
        return Fraction(y)

    try:
        return problem.rounded(change)
    except OverflowError:
        return None

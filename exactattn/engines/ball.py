"""Engine `ball`: proven enclosures at any precision, by Arb's midpoint-radius arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

import flint
import numpy as np

from exactattn.numbers.balls import BallField, interval, precision
from exactattn.numbers.elementwise import Array, Elementwise
from exactattn.numbers.enclosure import Enclosure


class BallArithmetic(Elementwise[flint.arb]):
    """Arb balls. Rounding or proof: every operation encloses (Johansson 2017, arXiv 1611.02831)."""

    def __init__(self) -> None:
        super().__init__("ball", BallField())

    def matmul(self, a: Array, b: Array) -> Array:
        """The product by Arb's matrix multiplication. Shapes: (n, k), (k, m) -> (n, m)."""
        product = flint.arb_mat(a.tolist()) * flint.arb_mat(b.tolist())
        out = np.empty((a.shape[0], b.shape[1]), object)
        out[:] = product.tolist()
        return out

    def pick(self, row: Sequence[flint.arb]) -> flint.arb:
        """The largest midpoint: an exact point, so the same number is subtracted from the whole row."""
        return max((ball.mid() for ball in row), key=_Order)


class _Order:
    """Order of exact (radius 0) balls, for which Arb's comparison is decided."""

    __slots__ = ("point",)

    def __init__(self, point: flint.arb) -> None:
        self.point = point

    def __lt__(self, other: _Order) -> bool:
        return bool(self.point < other.point)


class BallEngine:
    """Runs anything written over an `Arithmetic` in balls."""

    name = "ball"
    guarantee = "proven enclosures (Arb ball arithmetic)"

    def arithmetic(self) -> BallArithmetic:
        """Balls at the working precision, which `precision` sets."""
        return BallArithmetic()

    def precision(self, bits: int):  # type: ignore[no-untyped-def]
        """A context in which the engine works with so many bits."""
        return precision(bits)

    def enclosure(self, array: Array) -> Enclosure:
        """The exact ends of an array of balls. Errors: TooCoarse when one has none."""
        bounds = []
        for row in array:
            ends = [interval(ball) for ball in row]
            bounds.append([(end.lower, end.upper) for end in ends])
        return Enclosure.of(bounds)  # type: ignore[arg-type]


ENGINE = BallEngine()

"""Engine `ball`: proven enclosures at any precision, by Arb's midpoint-radius arithmetic.

One number system with two faces: object arrays, of which a formula may take single elements, and whole matrices
(`numbers/ball_matrices.py`), which are many times faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

import flint
import numpy as np

from exactattn.numbers.ball_floats import pairs
from exactattn.numbers.ball_matrices import BallMatrices
from exactattn.numbers.ball_matrix import Balls
from exactattn.numbers.balls import BallField, TooCoarse, interval, largest_middle, precision
from exactattn.numbers.elementwise import Array, Elementwise, each
from exactattn.numbers.enclosure import Enclosure
from exactattn.numbers.near import Floats


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

    def tanh(self, a: Array) -> Array:
        """The hyperbolic tangent."""
        return each(lambda x: x.tanh(), a)

    def pick(self, row: Sequence[flint.arb]) -> flint.arb:
        """The largest midpoint: an exact point, so the same number is subtracted from the whole row."""
        return largest_middle(row)


class BallEngine:
    """Runs anything written over an `Arithmetic` in balls."""

    name = "ball"
    guarantee = "proven enclosures (Arb ball arithmetic)"

    @overload
    def arithmetic(self, whole: Literal[False] = False) -> BallArithmetic: ...

    @overload
    def arithmetic(self, whole: Literal[True]) -> BallMatrices: ...

    def arithmetic(self, whole: bool = False) -> BallArithmetic | BallMatrices:
        """Balls at the working precision, which `precision` sets: in object arrays, or as whole matrices."""
        return BallMatrices() if whole else BallArithmetic()

    def precision(self, bits: int):  # type: ignore[no-untyped-def]
        """A context in which the engine works with so many bits."""
        return precision(bits)

    def enclosure(self, array: Array | Balls) -> Enclosure:
        """The exact ends of an array of balls. Errors: TooCoarse when one has none."""
        bounds = []
        for row in array.array if isinstance(array, Balls) else array:
            ends = [interval(ball) for ball in row]
            bounds.append([(end.lower, end.upper) for end in ends])
        return Enclosure.of(bounds)  # type: ignore[arg-type]

    def floats(self, array: Array | Balls) -> tuple[Floats, Floats, Floats]:
        """High, low and rest of each ball: |t - (high + low)| <= rest for every t in it. No rational is formed.

        Shapes: that of the array, three times. NaN where a ball reaches beyond float64. Errors: TooCoarse when a
        ball is not finite. Rounding or proof: `numbers/ball_floats.py`.
        """
        balls = array.entries if isinstance(array, Balls) else array.ravel().tolist()
        high, low, rest, finite = pairs(balls)
        if not finite.all():
            raise TooCoarse(str(balls[int(finite.argmin())]))
        return high.reshape(array.shape), low.reshape(array.shape), rest.reshape(array.shape)


ENGINE = BallEngine()

"""Engine `ball`: proven enclosures at any precision, by Arb's midpoint-radius arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import flint
import numpy as np
from numpy.typing import NDArray

from exactattn.numbers.balls import BallField, TooCoarse, interval, precision
from exactattn.numbers.elementwise import Array, Elementwise, each
from exactattn.numbers.enclosure import Enclosure

Floats = NDArray[np.float64]


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

    def floats(self, array: Array) -> tuple[Floats, Floats, Floats]:
        """High, low and rest of each ball: |t - (high + low)| <= rest for every t in it. No rational is formed.

        Shapes: that of the array, three times. NaN where a ball reaches beyond float64. Errors: TooCoarse when a
        ball is not finite.
        Rounding or proof: high is near t and low near t - high, whatever float() does. Subtracting a float64 from a
        ball encloses every difference, so the ball t - high - low holds what is left out; `abs_upper` is no less
        than any magnitude in it, and the next float64 up is no less than that, as float() errs by under one ulp.
        The rest is 0 only for a ball of radius 0 that two float64 numbers give exactly.
        """
        high, low, rest = (np.full(array.size, np.nan) for _ in range(3))
        exact = np.zeros(array.size, dtype=np.bool_)
        for place, ball in enumerate(array.flat):
            if not ball.is_finite():
                raise TooCoarse(str(ball))
            head = float(ball)
            if isfinite(head):
                left = ball - head
                tail = float(left)
                bound = (left - tail).abs_upper()
                high[place], low[place], rest[place] = head, tail, float(bound)
                exact[place] = bound.is_zero()
        rest = np.where(exact, 0.0, np.nextafter(rest, np.inf))
        beyond = ~np.isfinite(rest)
        return tuple(np.where(beyond, np.nan, part).reshape(array.shape) for part in (high, low, rest))  # type: ignore[return-value]


ENGINE = BallEngine()

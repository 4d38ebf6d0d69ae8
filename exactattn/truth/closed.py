"""Closed expressions as an `Arithmetic`: the definition of attention over exact numbers that nobody has computed yet.

What comes out are trees over the inputs. Steps of a document carry on from them, and any engine can give them values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from exactattn.numbers import exact
from exactattn.numbers.elementwise import Array, Elementwise
from exactattn.numbers.exact import Exact, add, div, mul, sub
from exactattn.truth.arrays import total


class ExactField:
    """The `Field` of closed expressions: rationals are computed, all else is written down."""

    def rational(self, x: Fraction) -> Exact:
        """The number itself."""
        return x

    def pi(self) -> Exact:
        """The number pi."""
        return exact.PI

    add, mul, div, power = (staticmethod(getattr(exact, name)) for name in ("add", "mul", "div", "power"))
    exp, log, sin, cos, name = (staticmethod(getattr(exact, name)) for name in ("exp", "log", "sin", "cos", "name"))


class Closed(Elementwise[Exact]):
    """See `Arithmetic`. The shift of a row is its first allowed score, so that equal scores get equal weights."""

    def __init__(self) -> None:
        super().__init__("closed", ExactField())

    def lift(self, matrix: exact.Matrix | Array) -> Array:
        """The numbers themselves."""
        if isinstance(matrix, np.ndarray):
            return super().lift(matrix)
        out = np.empty((len(matrix), len(matrix[0]) if matrix else 0), object)
        for i, row in enumerate(matrix):
            out[i, :] = row
        return out

    def override(self, a: Array, cells: Any) -> Array:
        """A copy of a with some elements replaced."""
        out = a.copy()
        for index, x in cells.items():
            out[index] = x
        return out

    def matmul(self, a: Array, b: Array) -> Array:
        """Shapes: (n, k), (k, m) -> (n, m)."""
        out = np.empty((a.shape[0], b.shape[1]), object)
        for i, j in np.ndindex(*out.shape):
            out[i, j] = total([mul(x, y) for x, y in zip(a[i], b[:, j], strict=True)])
        return out

    def scale(self, a: Array, factor: Exact) -> Array:
        """Every element times one exact number."""
        return _zip(mul, a, _filled(a, factor))

    def add(self, a: Array, b: Array) -> Array:
        """Element by element."""
        return _zip(add, a, b)

    def sub(self, a: Array, b: Array) -> Array:
        """Element by element."""
        return _zip(sub, a, b)

    def mul(self, a: Array, b: Array) -> Array:
        """Element by element."""
        return _zip(mul, a, b)

    def fill(self, a: Array, where: Any, x: Exact) -> Array:
        """A copy of a with one number in some places."""
        return np.where(where, _filled(a, x), a)

    def sub_column(self, a: Array, column: Array) -> Array:
        """Each row minus its element of the column."""
        return _zip(sub, a, np.broadcast_to(column, a.shape))

    def mul_column(self, a: Array, column: Array) -> Array:
        """Each row times its element of the column."""
        return _zip(mul, a, np.broadcast_to(column, a.shape))

    def div_column(self, a: Array, column: Array) -> Array:
        """Each row divided by its element of the column."""
        return _zip(div, a, np.broadcast_to(column, a.shape))

    def row_sum(self, a: Array) -> Array:
        """Shapes: (n, m) -> (n, 1)."""
        out = np.empty((a.shape[0], 1), object)
        for i, row in enumerate(a):
            out[i, 0] = total(list(row))
        return out

    def pick(self, row: Sequence[Exact]) -> Exact:
        """The first score of the row."""
        return row[0]


def _filled(a: Array, x: Exact) -> Array:
    out = np.empty(a.shape, object)
    out.fill(x)
    return out


def _zip(make: Callable[[Any, Any], Any], a: Array, b: Array) -> Array:
    out = np.empty(a.shape, object)
    for index in np.ndindex(*a.shape):
        out[index] = make(a[tuple(index)], b[tuple(index)])
    return out

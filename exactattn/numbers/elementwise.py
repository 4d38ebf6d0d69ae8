"""An `Arithmetic` from a number system of single numbers: object arrays, one Python operation an element.

The engines symbolic, multiprecision, ball and rational are this, each with its own `Field`, shift and exponential.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from exactattn.numbers.arithmetic import Cells, Mask
from exactattn.numbers.exact import ONE, ZERO, Exact, Field, Matrix, evaluate

T = TypeVar("T")
Array = NDArray[Any]
HALF = Fraction(1, 2)


class Elementwise(Generic[T]):
    """See `Arithmetic`, whose operations these are; numbers are those of `field`."""

    def __init__(self, name: str, field: Field[T]) -> None:
        self.name = name
        self.field = field

    def lift(self, matrix: Matrix | Array) -> Array:
        """Exact numbers into this system, of a float64 array too; an object array is lifted already."""
        if isinstance(matrix, np.ndarray):
            if matrix.dtype == object:
                return matrix
            matrix = tuple(tuple(map(Fraction, row)) for row in matrix.tolist())
        out = np.empty((len(matrix), len(matrix[0]) if matrix else 0), object)
        for i, row in enumerate(matrix):
            for j, x in enumerate(row):
                out[i, j] = evaluate(x, self.field)
        return out

    def override(self, a: Array, cells: Cells) -> Array:
        """A copy of a with some elements replaced by exact numbers."""
        out = a.copy()
        for index, x in cells.items():
            out[index] = evaluate(x, self.field)
        return out

    def matmul(self, a: Array, b: Array) -> Array:
        """Shapes: (n, k), (k, m) -> (n, m)."""
        with np.errstate(all="ignore"):  # of SymPy's own estimates in floats
            return np.asarray(a @ b, dtype=object)

    def matmul_transposed(self, a: Array, b: Array) -> Array:
        """Exact value: a times the transpose of b."""
        return self.matmul(a, b.T)

    def transposed_matmul(self, a: Array, b: Array) -> Array:
        """Exact value: the transpose of a times b."""
        return self.matmul(a.T, b)

    def scale(self, a: Array, factor: Exact) -> Array:
        """Every element times one exact number."""
        return np.asarray(a * evaluate(factor, self.field), dtype=object)

    def add(self, a: Array, b: Array) -> Array:
        """Element by element."""
        return np.asarray(a + b, dtype=object)

    def sub(self, a: Array, b: Array) -> Array:
        """Element by element."""
        return np.asarray(a - b, dtype=object)

    def mul(self, a: Array, b: Array) -> Array:
        """Element by element."""
        return np.asarray(a * b, dtype=object)

    def fill(self, a: Array, where: Mask, x: Exact) -> Array:
        """A copy of a with one exact number in some places."""
        out = a.copy()
        out[where] = evaluate(x, self.field)
        return out

    def sub_column(self, a: Array, column: Array) -> Array:
        """Each row minus its element of the column."""
        return np.asarray(a - column, dtype=object)

    def mul_column(self, a: Array, column: Array) -> Array:
        """Each row times its element of the column."""
        return np.asarray(a * column, dtype=object)

    def div_column(self, a: Array, column: Array) -> Array:
        """Each row divided by its element of the column."""
        return np.asarray(a / column, dtype=object)

    def shift(self, a: Array, allowed: Mask, carried: tuple[Array, Mask] | None = None) -> Array:
        """One number a row: `pick` of what is allowed in it and of what was carried; 0 when there is nothing."""
        out = np.empty((a.shape[0], 1), object)
        for i in range(a.shape[0]):
            seen = list(a[i, allowed[i]])
            if carried is not None and carried[1][i, 0]:
                seen.append(carried[0][i, 0])
            out[i, 0] = self.pick(seen) if seen else self.field.rational(ZERO)
        return out

    def pick(self, row: Sequence[T]) -> T:
        """A number to subtract from the row: its maximum, for numbers that have an order."""
        largest: T = max(row)  # type: ignore[type-var]
        return largest

    def exp(self, a: Array, allowed: Mask) -> Array:
        """The exponential where allowed, exact zero elsewhere."""
        zero = self.field.rational(ZERO)
        out = np.full(a.shape, zero, dtype=object)
        for index in zip(*np.nonzero(allowed), strict=True):
            out[index] = self.field.exp(a[index])
        return out

    def log(self, a: Array) -> Array:
        """The natural logarithm."""
        return each(self.field.log, a)

    def tanh(self, a: Array) -> Array:
        """The hyperbolic tangent. Exact value: (e^2x - 1)/(e^2x + 1)."""
        field = self.field
        one, less = field.rational(ONE), field.rational(-ONE)

        def tanh(x: T) -> T:
            t = field.exp(field.add(x, x))
            return field.div(field.add(t, less), field.add(t, one))

        return each(tanh, a)

    def sqrt(self, a: Array) -> Array:
        """The square root."""
        return each(lambda x: self.field.power(x, HALF), a)

    def row_sum(self, a: Array) -> Array:
        """Shapes: (n, m) -> (n, 1)."""
        return np.asarray(a.sum(axis=1, keepdims=True), dtype=object)

    def columns(self, a: Array, start: int, stop: int) -> Array:
        """Columns start, ..., stop - 1."""
        return a[:, start:stop]

    def take(self, a: Array, places: Sequence[int]) -> Array:
        """The columns at these places, in their order."""
        return a[:, list(places)]

    def rows(self, a: Array, start: int, stop: int) -> Array:
        """Rows start, ..., stop - 1."""
        return a[start:stop]

    def join(self, parts: Sequence[Array]) -> Array:
        """The parts side by side."""
        return np.concatenate(parts, axis=1)


def each(function: Callable[[Any], Any], a: Array) -> Array:
    """function of every element, as an object array of the same shape."""
    out = np.empty(a.shape, object)
    for index in np.ndindex(*a.shape):
        out[index] = function(a[index])
    return out


def dyadic(mantissa: int, exponent: int) -> Fraction:
    """Exact value: mantissa * 2**exponent."""
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)

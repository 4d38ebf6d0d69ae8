"""Engine `hardware`: what NumPy gives on this machine, in its own float64, float32 and float16.

It is the thing measured, so nothing is promised. Every operation is NumPy's on arrays of the format's type (a
float16 matrix product accumulates as NumPy does); inputs and the scale are rounded correctly, once, before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from exactattn.errors import Unavailable
from exactattn.numbers.arithmetic import Cells, Mask
from exactattn.numbers.balls import nearest
from exactattn.numbers.elementwise import Array
from exactattn.numbers.exact import Exact, Matrix
from exactattn.numbers.formats import Format


class HardwareArithmetic:
    """NumPy arrays of one floating-point type as an `Arithmetic`.

    Overflow, underflow and invalid operations give what IEEE gives, without a warning: they are looked for in the
    results.
    """

    def __init__(self, fmt: Format) -> None:
        if fmt.library != "numpy" or fmt.dtype is None:
            raise Unavailable(f"NumPy has no {fmt.name}; formats that run here: float64, float32, float16")
        self.name = f"hardware/{fmt.name}"
        self.format = fmt
        self.dtype = np.dtype(fmt.dtype)

    def lift(self, matrix: Matrix | Array) -> Array:
        """Exact numbers, each correctly rounded to the format, or a float64 array, whose numbers are."""
        if isinstance(matrix, np.ndarray):
            with np.errstate(all="ignore"):
                return matrix.astype(self.dtype)
        known = {x: self._number(x) for x in {x for row in matrix for x in row}}
        return np.array([[known[x] for x in row] for row in matrix], dtype=self.dtype)

    def _number(self, x: Exact) -> Any:
        with np.errstate(all="ignore"):
            return self.dtype.type(nearest(x, self.format))

    def override(self, a: Array, cells: Cells) -> Array:
        """A copy of a with some elements replaced."""
        out = a.copy()
        for index, x in cells.items():
            out[index] = self._number(x)
        return out

    def matmul(self, a: Array, b: Array) -> Array:
        """NumPy's product. Rounding: the order of summation is NumPy's (BLAS for float32 and float64)."""
        with np.errstate(all="ignore"):
            return np.asarray(a @ b)

    def matmul_transposed(self, a: Array, b: Array) -> Array:
        """a times the transpose of b."""
        return self.matmul(a, b.T)

    def transposed_matmul(self, a: Array, b: Array) -> Array:
        """The transpose of a times b."""
        return self.matmul(a.T, b)

    def scale(self, a: Array, factor: Exact) -> Array:
        """Times the factor rounded to the format."""
        with np.errstate(all="ignore"):
            return np.asarray(a * self._number(factor))

    def add(self, a: Array, b: Array) -> Array:
        """The rounded sum."""
        with np.errstate(all="ignore"):
            return np.asarray(a + b)

    def sub(self, a: Array, b: Array) -> Array:
        """The rounded difference."""
        with np.errstate(all="ignore"):
            return np.asarray(a - b)

    def mul(self, a: Array, b: Array) -> Array:
        """The rounded product."""
        with np.errstate(all="ignore"):
            return np.asarray(a * b)

    def fill(self, a: Array, where: Mask, x: Exact) -> Array:
        """A copy of a with a number, rounded to the format, in some places."""
        return np.asarray(np.where(where, self._number(x), a))

    def sub_column(self, a: Array, column: Array) -> Array:
        """The rounded difference."""
        with np.errstate(all="ignore"):
            return np.asarray(a - column)

    def mul_column(self, a: Array, column: Array) -> Array:
        """The rounded product."""
        with np.errstate(all="ignore"):
            return np.asarray(a * column)

    def div_column(self, a: Array, column: Array) -> Array:
        """The rounded quotient."""
        with np.errstate(all="ignore"):
            return np.asarray(a / column)

    def shift(self, a: Array, allowed: Mask, carried: tuple[Array, Mask] | None = None) -> Array:
        """The maximum of the row, and of what was carried; 0 in a row with nothing. Exact: no rounding."""
        low = self.dtype.type(-np.inf)
        largest = np.where(allowed, a, low).max(axis=1, keepdims=True, initial=low)
        seen = allowed.any(axis=1, keepdims=True)
        if carried is not None:
            largest = np.where(carried[1], np.maximum(largest, carried[0]), largest)
            seen = seen | carried[1]
        return np.asarray(np.where(seen, largest, self.dtype.type(0)))

    def exp(self, a: Array, allowed: Mask) -> Array:
        """NumPy's exp where allowed, zero elsewhere."""
        with np.errstate(all="ignore"):
            return np.asarray(np.where(allowed, np.exp(a), self.dtype.type(0)))

    def log(self, a: Array) -> Array:
        """NumPy's log."""
        with np.errstate(all="ignore"):
            return np.asarray(np.log(a))

    def tanh(self, a: Array) -> Array:
        """NumPy's tanh."""
        return np.asarray(np.tanh(a))

    def sqrt(self, a: Array) -> Array:
        """The rounded square root."""
        with np.errstate(all="ignore"):
            return np.asarray(np.sqrt(a))

    def row_sum(self, a: Array) -> Array:
        """NumPy's sum. Rounding: pairwise in blocks."""
        with np.errstate(all="ignore"):
            return np.asarray(a.sum(axis=1, keepdims=True, dtype=self.dtype))

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


class HardwareEngine:
    """Runs anything written over an `Arithmetic` in NumPy floats."""

    name = "hardware"
    guarantee = "none; it is the thing measured"
    formats = ("float64", "float32", "float16")

    def arithmetic(self, fmt: Format) -> HardwareArithmetic:
        """NumPy arrays of a format. Errors: Unavailable for a format that NumPy does not have."""
        return HardwareArithmetic(fmt)


ENGINE = HardwareEngine()

"""What a number system must offer so that attention can be computed in it.

The formulas of `attention/` are written once, over an `Arithmetic`; SymPy, mpmath, Arb balls, exact rationals and
NumPy floats each provide one. Two rules make one text serve all:

- Infinities never enter. A boolean array `allowed` stands beside the values: `exp` gives exact zeros elsewhere.
- The shift of a row does not change the real value of a softmax, so it is a primitive: a float arithmetic takes
  the row maximum, a ball arithmetic any exact point near it, SymPy a fresh symbol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from exactattn.numbers.exact import Exact, Matrix

A = TypeVar("A")
Mask = NDArray[np.bool_]
Cells = Mapping[tuple[int, int], Exact]


class Arithmetic(Protocol[A]):
    """Matrix operations over one number system; A is its array type.

    Shapes: every array is a matrix (rows, columns); a "column" has one column and speaks for the rows beside it.
    """

    name: str

    def lift(self, matrix: Matrix) -> A:
        """Exact numbers into this system: of a matrix or a float64 array; what is lifted already stays.

        Rounding: once per element, where the system rounds.
        """

    def override(self, a: A, cells: Cells) -> A:
        """A copy of a with some elements replaced by exact numbers."""

    def matmul(self, a: A, b: A) -> A:
        """Shapes: (n, k), (k, m) -> (n, m)."""

    def matmul_transposed(self, a: A, b: A) -> A:
        """Exact value: a times the transpose of b. Shapes: (n, k), (m, k) -> (n, m)."""

    def transposed_matmul(self, a: A, b: A) -> A:
        """Exact value: the transpose of a times b. Shapes: (n, k), (n, m) -> (k, m)."""

    def scale(self, a: A, factor: Exact) -> A:
        """Every element times one exact number."""

    def add(self, a: A, b: A) -> A:
        """Element by element; both of one shape."""

    def sub(self, a: A, b: A) -> A:
        """Element by element; both of one shape."""

    def mul(self, a: A, b: A) -> A:
        """Element by element; both of one shape."""

    def fill(self, a: A, where: Mask, x: Exact) -> A:
        """A copy of a with one exact number where `where` is true. Shapes: where has the shape of a."""

    def sub_column(self, a: A, column: A) -> A:
        """Each row of a minus its element of the column."""

    def mul_column(self, a: A, column: A) -> A:
        """Each row of a times its element of the column."""

    def div_column(self, a: A, column: A) -> A:
        """Each row of a divided by its element of the column, which is not zero."""

    def shift(self, a: A, allowed: Mask, carried: tuple[A, Mask] | None = None) -> A:
        """One number a row, to be subtracted before `exp`; 0 in a row with nothing allowed.

        `carried` is the shift of what was seen of the row before, and in which rows anything was. Floats return
        the maximum over both; any number is right as far as the real value goes.
        """

    def exp(self, a: A, allowed: Mask) -> A:
        """The exponential where allowed, exact zero elsewhere."""

    def log(self, a: A) -> A:
        """The natural logarithm of positive elements."""

    def tanh(self, a: A) -> A:
        """The hyperbolic tangent."""

    def sqrt(self, a: A) -> A:
        """The square root of elements that are not negative."""

    def row_sum(self, a: A) -> A:
        """Shapes: (n, m) -> (n, 1)."""

    def columns(self, a: A, start: int, stop: int) -> A:
        """Columns start, ..., stop - 1."""

    def take(self, a: A, places: Sequence[int]) -> A:
        """The columns at these places, in their order."""

    def rows(self, a: A, start: int, stop: int) -> A:
        """Rows start, ..., stop - 1."""

    def join(self, parts: Sequence[A]) -> A:
        """The parts side by side. Shapes: (n, m1), (n, m2), ... -> (n, m1 + m2 + ...)."""

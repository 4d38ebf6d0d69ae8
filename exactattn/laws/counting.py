"""An `Arithmetic` that only counts: its arrays are shapes, its result is how many operations were asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from exactattn.numbers.arithmetic import Cells, Mask
from exactattn.numbers.exact import ONE, Exact, Matrix

Shape = tuple[int, int]


class CountingArithmetic:
    """See `Arithmetic`. `counts` holds multiplications of matrix products (`product`), scale, divide, add, exp, log,
    tanh, sqrt."""

    name = "counting"

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def lift(self, matrix: Matrix) -> Shape:
        """Shape of the matrix."""
        return len(matrix), len(matrix[0])

    def override(self, a: Shape, cells: Cells) -> Shape:  # noqa: ARG002
        """Replacing costs nothing."""
        return a

    def matmul(self, a: Shape, b: Shape) -> Shape:
        """Shapes: (n, k), (k, m) -> (n, m), with n k m multiplications."""
        assert a[1] == b[0]
        self.counts["product"] += a[0] * a[1] * b[1]
        return a[0], b[1]

    def matmul_transposed(self, a: Shape, b: Shape) -> Shape:
        """Shapes: (n, k), (m, k) -> (n, m), with n k m multiplications."""
        return self.matmul(a, b[::-1])

    def transposed_matmul(self, a: Shape, b: Shape) -> Shape:
        """Shapes: (n, k), (n, m) -> (k, m), with n k m multiplications."""
        return self.matmul(a[::-1], b)

    def scale(self, a: Shape, factor: Exact) -> Shape:
        """One multiplication an element, none for the factor 1."""
        return self._each("scale", a) if factor != ONE else a

    def add(self, a: Shape, b: Shape) -> Shape:
        """One addition an element."""
        assert a == b
        return self._each("add", a)

    def sub(self, a: Shape, b: Shape) -> Shape:
        """One subtraction an element."""
        return self.add(a, b)

    def mul(self, a: Shape, b: Shape) -> Shape:
        """One multiplication an element."""
        assert a == b
        return self._each("scale", a)

    def fill(self, a: Shape, where: Mask, x: Exact) -> Shape:  # noqa: ARG002
        """Replacing costs nothing."""
        return a

    def sub_column(self, a: Shape, column: Shape) -> Shape:
        """One subtraction an element."""
        return self._by_column("add", a, column)

    def mul_column(self, a: Shape, column: Shape) -> Shape:
        """One multiplication an element."""
        return self._by_column("scale", a, column)

    def div_column(self, a: Shape, column: Shape) -> Shape:
        """One division an element."""
        return self._by_column("divide", a, column)

    def shift(self, a: Shape, allowed: Mask, carried: tuple[Shape, Mask] | None = None) -> Shape:  # noqa: ARG002
        """A maximum: no arithmetic."""
        return a[0], 1

    def exp(self, a: Shape, allowed: Mask) -> Shape:
        """One exponential an allowed element."""
        self.counts["exp"] += int(allowed.sum())
        return a

    def log(self, a: Shape) -> Shape:
        """One logarithm an element."""
        return self._each("log", a)

    def tanh(self, a: Shape) -> Shape:
        """One hyperbolic tangent an element."""
        return self._each("tanh", a)

    def sqrt(self, a: Shape) -> Shape:
        """One square root an element."""
        return self._each("sqrt", a)

    def row_sum(self, a: Shape) -> Shape:
        """One addition less than there are elements in a row."""
        self.counts["add"] += a[0] * (a[1] - 1)
        return a[0], 1

    def columns(self, a: Shape, start: int, stop: int) -> Shape:
        """Taking a part costs nothing."""
        return a[0], stop - start

    def take(self, a: Shape, places: Sequence[int]) -> Shape:
        """Taking a part costs nothing."""
        return a[0], len(places)

    def rows(self, a: Shape, start: int, stop: int) -> Shape:
        """Taking a part costs nothing."""
        return stop - start, a[1]

    def join(self, parts: Sequence[Shape]) -> Shape:
        """Side by side costs nothing."""
        return parts[0][0], sum(columns for _, columns in parts)

    def _each(self, what: str, a: Shape) -> Shape:
        self.counts[what] += a[0] * a[1]
        return a

    def _by_column(self, what: str, a: Shape, column: Shape) -> Shape:
        assert column == (a[0], 1)
        return self._each(what, a)

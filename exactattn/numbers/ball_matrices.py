"""An `Arithmetic` of whole matrices of balls: what Arb does to a matrix at once it does at once.

The same real numbers as ball by ball (`engines/ball.py`), many times faster, and the same proof: every operation of
Arb encloses (Johansson 2017, arXiv 1611.02831), at whatever precision the caller has set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mul

import flint
import numpy as np

from exactattn.numbers.angles import Angles
from exactattn.numbers.arithmetic import Cells, Mask
from exactattn.numbers.ball_floats import near
from exactattn.numbers.ball_matrix import Balls, Difference, Quotient
from exactattn.numbers.balls import BallField, largest_middle
from exactattn.numbers.elementwise import Array
from exactattn.numbers.exact import Exact, Matrix, evaluate
from exactattn.numbers.near import Floats


class BallMatrices:
    """`Balls` as an `Arithmetic`. Rounding or proof: that of Arb; where there is more to say, it is said."""

    name = "ball"

    def __init__(self) -> None:
        self.field = BallField()

    def lift(self, matrix: Matrix | Angles | Floats | Array | Balls) -> Balls:
        """Exact numbers, float64 arrays, object arrays of balls, or what is lifted already.

        Rounding or proof: a float is taken as the dyadic number it is, exactly at any precision.
        """
        if isinstance(matrix, Balls):
            return matrix
        if isinstance(matrix, Angles):
            return Balls((len(matrix), len(matrix.layout)), entries=matrix.balls())
        if isinstance(matrix, np.ndarray):
            if matrix.dtype == object:
                return Balls.from_array(matrix)
            assert matrix.dtype == np.float64
            rows, columns = matrix.shape
            return Balls.of(flint.arb_mat(rows, columns, matrix.ravel().tolist()))
        shape = (len(matrix), len(matrix[0]) if matrix else 0)
        return Balls(shape, entries=[self._ball(x) for row in matrix for x in row])

    def override(self, a: Balls, cells: Cells) -> Balls:
        """A copy of a with some elements replaced by exact numbers."""
        entries = list(a.entries)
        for (i, j), x in cells.items():
            entries[i * a.shape[1] + j] = self._ball(x)
        return Balls(a.shape, entries=entries)

    def matmul(self, a: Balls, b: Balls) -> Balls:
        """The product; a pending quotient is divided after it."""
        if isinstance(a, Quotient):
            return Quotient(self.matmul(a.source, b), a.column)
        return Balls.of(a.mat * b.mat)

    def matmul_transposed(self, a: Balls, b: Balls) -> Balls:
        """a times the transpose of b."""
        return self.matmul(a, b.transposed)

    def transposed_matmul(self, a: Balls, b: Balls) -> Balls:
        """The transpose of a times b. Exact value: with a = diag(1/c) n, a^T b = n^T (diag(1/c) b)."""
        if isinstance(a, Quotient):
            return self.transposed_matmul(a.source, Quotient(b, a.column))
        return Balls.of(a.transposed.mat * b.mat)

    def scale(self, a: Balls, factor: Exact) -> Balls:
        """Every element times one exact number."""
        return Balls.of(a.mat * self._ball(factor))

    def add(self, a: Balls, b: Balls) -> Balls:
        """Element by element."""
        return Balls.of(a.mat + b.mat)

    def sub(self, a: Balls, b: Balls) -> Balls:
        """Element by element."""
        return Balls.of(a.mat - b.mat)

    def mul(self, a: Balls, b: Balls) -> Balls:
        """Element by element."""
        assert a.shape == b.shape
        return Balls(a.shape, entries=list(map(mul, a.entries, b.entries)))

    def fill(self, a: Balls, where: Mask, x: Exact) -> Balls:
        """A copy of a with one exact number in some places."""
        ball = self._ball(x)
        pairs = zip(a.entries, where.ravel().tolist(), strict=True)
        return Balls(a.shape, entries=[ball if filled else y for y, filled in pairs])

    def sub_column(self, a: Balls, column: Balls) -> Balls:
        """Each row minus its element of the column, pending."""
        return Difference(a, column)

    def mul_column(self, a: Balls, column: Balls) -> Balls:
        """Each row times its element of the column."""
        return Balls(a.shape, entries=[x * c for i, c in enumerate(column.entries) for x in a.row(i)])

    def div_column(self, a: Balls, column: Balls) -> Balls:
        """Each row divided by its element of the column, pending."""
        return Quotient(a, column)

    def shift(self, a: Balls, allowed: Mask, carried: tuple[Balls, Mask] | None = None) -> Balls:
        """An exact number of each row near its largest: the middle of an allowed element, or of what was carried.

        Rounding or proof: any number will do; floats choose, and where they overflow the middles themselves.
        """
        seen, size = np.broadcast_to(allowed, a.shape), near(a.entries).reshape(a.shape)
        if carried is not None:
            seen, size = np.hstack([seen, carried[1]]), np.hstack([size, near(carried[0].entries)[:, np.newaxis]])
        size = np.where(seen, size, -np.inf)
        out = []
        for i in range(a.shape[0]):
            row = a.row(i) if carried is None else [*a.row(i), carried[0].entries[i]]
            out.append(_pick(row, size[i], seen[i]))
        return Balls((a.shape[0], 1), entries=out)

    def exp(self, a: Balls, allowed: Mask) -> Balls:
        """The exponential where allowed, exact zero elsewhere."""
        allowed, zero = np.broadcast_to(allowed, a.shape), flint.arb(0)
        if isinstance(a, Difference):
            return a.exp(allowed)
        pairs = zip(a.entries, allowed.ravel().tolist(), strict=True)
        return Balls(a.shape, entries=[x.exp() if seen else zero for x, seen in pairs])

    def log(self, a: Balls) -> Balls:
        """The natural logarithm."""
        return a.each(flint.arb.log)

    def tanh(self, a: Balls) -> Balls:
        """The hyperbolic tangent."""
        return a.each(flint.arb.tanh)

    def sqrt(self, a: Balls) -> Balls:
        """The square root."""
        return a.each(flint.arb.sqrt)

    def row_sum(self, a: Balls) -> Balls:
        """Shapes: (n, m) -> (n, 1)."""
        return self.matmul(a, Balls.of(flint.arb_mat(a.shape[1], 1, [1] * a.shape[1])))

    def columns(self, a: Balls, start: int, stop: int) -> Balls:
        """Columns start, ..., stop - 1."""
        return _part(a, lambda array: array[:, start:stop])

    def take(self, a: Balls, places: Sequence[int]) -> Balls:
        """The columns at these places, in their order."""
        return _part(a, lambda array: array[:, list(places)])

    def rows(self, a: Balls, start: int, stop: int) -> Balls:
        """Rows start, ..., stop - 1."""
        return _part(a, lambda array: array[start:stop])

    def join(self, parts: Sequence[Balls]) -> Balls:
        """The parts side by side."""
        if len(parts) == 1:
            return parts[0]
        return Balls.from_array(np.concatenate([part.array for part in parts], axis=1))

    def _ball(self, x: Exact) -> flint.arb:
        return evaluate(x, self.field)


def _pick(row: list[flint.arb], size: Floats, seen: Mask) -> flint.arb:
    """The middle of the element whose float is largest; of all that are seen where that is no number; 0 for none."""
    best = int(size.argmax()) if row else 0
    if row and np.isfinite(size[best]):
        return row[best].mid()
    some = [row[j] for j in np.flatnonzero(seen)]
    return largest_middle(some) if some else flint.arb(0)


def _part(a: Balls, chosen: Callable[[Array], Array]) -> Balls:
    return Balls.from_array(chosen(a.array))

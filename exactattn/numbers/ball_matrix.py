"""Matrices of balls as Arb holds them, and what waits to be computed with them.

A matrix is kept as one `arb_mat`, as the list of its elements, or as both, whichever was asked for: Arb multiplies,
adds and scales matrices as wholes, and takes an exponential of one element after the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property

import flint
import numpy as np

from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.balls import precision
from exactattn.numbers.elementwise import Array

Shape = tuple[int, int]


class Balls:
    """A matrix of balls, not to be changed. Shapes: (rows, columns), either of them may be 0."""

    def __init__(self, shape: Shape, mat: flint.arb_mat | None = None, entries: list[flint.arb] | None = None) -> None:
        self.shape = shape
        self._mat, self._entries = mat, entries

    @staticmethod
    def of(mat: flint.arb_mat) -> Balls:
        """From Arb's own matrix."""
        return Balls((mat.nrows(), mat.ncols()), mat)

    @staticmethod
    def from_array(array: Array) -> Balls:
        """From an object array of balls."""
        rows, columns = array.shape
        return Balls((rows, columns), entries=array.ravel().tolist())

    @property
    def mat(self) -> flint.arb_mat:
        """The matrix as Arb has it. Rounding or proof: Arb copies balls and does not round them."""
        if self._mat is None:
            self._mat = flint.arb_mat(*self.shape, self.entries)
        return self._mat

    @property
    def entries(self) -> list[flint.arb]:
        """The elements, row by row."""
        if self._entries is None:
            self._entries = self._computed()
        return self._entries

    def _computed(self) -> list[flint.arb]:
        """The elements, where only the matrix is there."""
        entries: list[flint.arb] = self.mat.entries()
        return entries

    @cached_property
    def transposed(self) -> Balls:
        """Rows and columns exchanged."""
        return Balls.of(self.mat.transpose())

    @property
    def array(self) -> Array:
        """A new object array of the elements, for work on single ones."""
        out = np.empty(self.shape[0] * self.shape[1], object)
        out[:] = self.entries
        return out.reshape(self.shape)

    def each(self, function: Callable[[flint.arb], flint.arb]) -> Balls:
        """function of every element."""
        return Balls(self.shape, entries=list(map(function, self.entries)))

    def row(self, i: int) -> list[flint.arb]:
        """The elements of one row."""
        return self.entries[i * self.shape[1] : (i + 1) * self.shape[1]]

    def __len__(self) -> int:
        """The number of rows: a problem measures its matrices."""
        return self.shape[0]

    def __getitem__(self, i: int) -> list[flint.arb]:
        """One row, whose length a problem measures. Errors: IndexError past the last one, which ends an iteration."""
        if not 0 <= i < self.shape[0]:
            raise IndexError(i)
        return [self.mat[i, j] for j in range(self.shape[1])] if self._entries is None else self.row(i)


class Pending(Balls, ABC):
    """Each row of a matrix with its element of a column, not computed before somebody asks.

    Waiting changes no real value: e^(a - m) needs no list of the differences, and (a / c) b = (a b) / c divides the
    smaller matrix. The precision is that of the moment when it was asked to wait.
    """

    def __init__(self, source: Balls, column: Balls) -> None:
        assert column.shape == (source.shape[0], 1)
        super().__init__(source.shape)
        self.source, self.column, self.bits = source, column, flint.ctx.prec

    def _computed(self) -> list[flint.arb]:
        with precision(self.bits):
            return [x for row, c in self._rows() for x in self._of_row(row, c)]

    def _rows(self) -> Iterator[tuple[list[flint.arb], flint.arb]]:
        """The rows of the source beside their elements of the column."""
        for i, c in enumerate(self.column.entries):
            yield self.source.row(i), c

    @abstractmethod
    def _of_row(self, row: list[flint.arb], c: flint.arb) -> list[flint.arb]:
        """What a row and its element of the column make."""


class Difference(Pending):
    """Each row minus its element of the column."""

    def _of_row(self, row: list[flint.arb], c: flint.arb) -> list[flint.arb]:
        return [x - c for x in row]

    def exp(self, allowed: Mask) -> Balls:
        """The exponential where allowed, exact zero elsewhere, at the precision of now. Shapes: that of the matrix."""
        if allowed.all():
            return Balls(self.shape, entries=[(x - c).exp() for row, c in self._rows() for x in row])
        zero, out = flint.arb(0), []
        for (row, c), seen in zip(self._rows(), allowed.tolist(), strict=True):
            out += [(x - c).exp() if is_seen else zero for x, is_seen in zip(row, seen, strict=True)]
        return Balls(self.shape, entries=out)


class Quotient(Pending):
    """Each row divided by its element of the column."""

    def _of_row(self, row: list[flint.arb], c: flint.arb) -> list[flint.arb]:
        return [x / c for x in row]

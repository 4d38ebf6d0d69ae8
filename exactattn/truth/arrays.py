"""Arrays of exact numbers as statements use them: parts by index, and a few functions of whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from exactattn.errors import NumeralError
from exactattn.numbers.exact import Exact, Matrix, add, mul
from exactattn.numbers.expressions import Index, Slice
from exactattn.numbers.folding import Array, shape

MOST_PRODUCTS = 1_000_000  # multiplications of one matmul
Cells: TypeAlias = "Mapping[tuple[int, ...], Any]"


def cells_of(matrix: Matrix | None) -> dict[tuple[int, ...], Exact] | None:
    """A matrix as elements by (row, column)."""
    return None if matrix is None else {(i, j): x for i, row in enumerate(matrix) for j, x in enumerate(row)}


def cells_of_array(array: Any) -> dict[tuple[int, ...], Any]:
    """Nested tuples as elements by index."""
    if not isinstance(array, tuple):
        return {(): array}
    return {(i, *place): x for i, item in enumerate(array) for place, x in cells_of_array(item).items()}


def pick(cells: Cells, indices: tuple[Index, ...]) -> Any:
    """The part of an array that indices pick, as nested tuples; fewer indices than axes mean all of the rest.

    Errors: NumeralError for an index that is not there, or a part with holes.
    """
    axes = len(next(iter(cells)))
    if len(indices) > axes:
        raise NumeralError(f"found {len(indices)} indices, wanted at most {axes}")
    ranges: list[list[int]] = []
    for axis in range(axes):
        index = indices[axis] if axis < len(indices) else Slice.ALL
        there = sorted({place[axis] for place in cells if _starts(place, ranges)})
        if not isinstance(index, Slice) and index not in there:
            raise NumeralError(
                f"there is no index {index} on axis {axis}; the indices go from {there[0]} to {there[-1]}"
            )
        ranges.append(there if isinstance(index, Slice) else [index])
    single = [axis < len(indices) and not isinstance(indices[axis], Slice) for axis in range(axes)]
    return _nest(cells, ranges, single, ())


def _starts(place: tuple[int, ...], ranges: list[list[int]]) -> bool:
    return all(i in there for i, there in zip(place, ranges, strict=False))


def _nest(cells: Cells, ranges: list[list[int]], single: list[bool], place: tuple[int, ...]) -> Any:
    if len(place) == len(ranges):
        if place not in cells:
            raise NumeralError(f"nothing stands at [{','.join(map(str, place))}]")
        return cells[place]
    parts = [_nest(cells, ranges, single, (*place, i)) for i in ranges[len(place)]]
    return parts[0] if single[len(place)] else tuple(parts)


def map_array(make: Callable[[Any], Any], array: Any) -> Any:
    """make(x) of every element of nested tuples."""
    return tuple(map_array(make, item) for item in array) if isinstance(array, tuple) else make(array)


def flat(array: Any) -> list[Any]:
    """The elements of nested tuples, row by row."""
    return [x for item in array for x in flat(item)] if isinstance(array, tuple) else [array]


def _matmul(a: Array, b: Array) -> Array:
    """`matmul(a, b)`: the product of two matrices."""
    left, right = shape(a), shape(b)
    if len(left) != 2 or len(right) != 2 or left[1] != right[0]:
        raise NumeralError(f"matmul needs (n x k) and (k x m), found {_spell(a)} and {_spell(b)}")
    if left[0] * left[1] * right[1] > MOST_PRODUCTS:
        raise NumeralError(f"matmul of more than {MOST_PRODUCTS} multiplications; take rows of it")
    columns = tuple(zip(*cast(Matrix, b), strict=True))
    return tuple(
        tuple(total([mul(x, y) for x, y in zip(row, column, strict=True)]) for column in columns)
        for row in cast(Matrix, a)
    )


def total(terms: list[Exact]) -> Exact:
    """The sum of at least one number, in pairs, so that a long sum is not a high tree."""
    while len(terms) > 1:
        odd = terms[len(terms) & ~1 :]
        terms = [add(a, b) for a, b in zip(terms[::2], terms[1::2], strict=False)] + odd
    return terms[0]


def _transpose(a: Array) -> Array:
    """`transpose(a)`: rows and columns exchanged."""
    if len(shape(a)) != 2:
        raise NumeralError(f"transpose needs a matrix, found {_spell(a)}")
    return tuple(zip(*cast(Matrix, a), strict=True))


def _reverse(a: Array) -> Array:
    """`reverse(a)`: the items in the opposite order."""
    if not isinstance(a, tuple):
        raise NumeralError("reverse needs a list, found one number")
    return a[::-1]


def _spell(a: Array) -> str:
    return " x ".join(map(str, shape(a))) or "one number"


CALLS: Mapping[str, Callable[..., Array]] = {"matmul": _matmul, "transpose": _transpose, "reverse": _reverse}

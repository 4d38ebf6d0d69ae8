"""Generator `r`: R's set.seed, then runif, rnorm, sample, floor and matrix, from a Mersenne Twister written here.

It is R's default stream: RNGkind("Mersenne-Twister", "Inversion", "Rejection"), the last since R 3.6.0 (earlier
versions drew other numbers for `sample`). A vector is a tuple; a matrix, filled by column as in R, a tuple of rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from exactattn.errors import NumeralError
from exactattn.generators.arguments import MAX_NUMBERS, Arguments, R, integer
from exactattn.generators.calls import Call, Number, Span, Value
from exactattn.generators.generator import Drawn, Generator, Plan
from exactattn.generators.r_stream import RStream
from exactattn.numbers.tokens import shorten

MOST = 2**31 - 1  # the largest integer of R
MAX_ITEMS = 10**7  # to choose from without replacement; beyond, R goes another way


class RGenerator(Generator[RStream]):
    """R's set.seed(...) and its default stream."""

    name = "r"
    text = "R's set.seed, then runif, rnorm, sample, floor, matrix (Mersenne-Twister, Inversion, Rejection: R >= 3.6)"
    seeds = range(-MOST, MOST + 1)

    @property
    def functions(self) -> Mapping[str, Callable[[Call], Plan[RStream]]]:
        """How each function's call is read."""
        return {
            "floor": self._floor,
            "matrix": self._matrix,
            "rnorm": _rnorm,
            "runif": _runif,
            "sample": _sample,
            "sample.int": _sample_int,
        }

    def stream(self, seed: int) -> RStream:
        """What follows set.seed(seed)."""
        return RStream(seed)

    def _inner(self, value: Value, wanted: str) -> Plan[RStream]:
        if not isinstance(value, Call):
            raise NumeralError(f"wanted a call as {wanted!r}, such as runif(9)", value.offset)
        return self.planned(value)

    def _floor(self, call: Call) -> Plan[RStream]:
        inner = self._inner(Arguments(call, "x", R).value("x"), "x")
        return Plan(inner.numbers, lambda stream: _floor_of(inner.run(stream)))

    def _matrix(self, call: Call) -> Plan[RStream]:
        """matrix(CALL, nrow, ncol, byrow): all numbers used once, so nothing is recycled."""
        given = Arguments(call, "data nrow ncol byrow", R)
        inner = self._inner(given.value("data"), "data")
        rows, columns = _shape(given, inner.numbers)
        by_row = given.flag("byrow", False)

        def run(stream: RStream) -> Drawn:
            x = _vector(inner.run(stream))
            return tuple(
                tuple(x[i * columns + j] if by_row else x[j * rows + i] for j in range(columns)) for i in range(rows)
            )

        return Plan(inner.numbers, run)


def _shape(given: Arguments, length: int) -> tuple[int, int]:
    """Rows and columns of a matrix; one alone gives the other, none a single column."""
    rows = given.integer("nrow", 1, MAX_NUMBERS) if given.has("nrow") else None
    columns = given.integer("ncol", 1, MAX_NUMBERS) if given.has("ncol") else None
    if columns is None:
        columns = 1 if rows is None else -(-length // rows)
    if rows is None:
        rows = -(-length // columns)
    if rows * columns != length:
        raise NumeralError(
            f"found {length} numbers for a matrix {rows} x {columns}; wanted as many as it has places",
            given.call.offset,
        )
    return rows, columns


def _vector(x: Drawn) -> tuple[Fraction, ...]:
    """The numbers in R's order: a matrix is read by column."""
    if isinstance(x, Fraction):
        return (x,)
    if any(isinstance(part, tuple) for part in x):
        columns = zip(*(_vector(part) for part in x), strict=True)
        return tuple(number for column in columns for number in column)
    return tuple(number for part in x for number in _vector(part))


def _floor_of(x: Drawn) -> Drawn:
    """The largest integer below or at each number."""
    return Fraction(math.floor(x)) if isinstance(x, Fraction) else tuple(_floor_of(part) for part in x)


def _vector_plan(n: int, one: Callable[[RStream], float]) -> Plan[RStream]:
    return Plan(n, lambda stream: tuple(Fraction(one(stream)) for _ in range(n)))


def _runif(call: Call) -> Plan[RStream]:
    """Rounding: min + (max - min) u in doubles; min itself, and nothing drawn, where both are equal."""
    given = Arguments(call, "n min max", R)
    n, low, high = given.integer("n", 1, MAX_NUMBERS), given.real("min", 0.0), given.real("max", 1.0)
    if low > high:
        raise NumeralError("wanted 'min' at most 'max': R gives NaN", call.offset)
    return _vector_plan(n, lambda stream: low if low == high else low + (high - low) * stream.uniform())


def _rnorm(call: Call) -> Plan[RStream]:
    """Rounding: mean + sd z in doubles; mean itself, and nothing drawn, where sd is 0."""
    given = Arguments(call, "n mean sd", R)
    n, mean, sd = given.integer("n", 1, MAX_NUMBERS), given.real("mean", 0.0), given.real("sd", 1.0)
    if sd < 0:
        raise NumeralError("wanted at least 0 as 'sd': R gives NaN", given.value("sd").offset)
    return _vector_plan(n, lambda stream: mean if sd == 0 else mean + sd * stream.normal())


def _sample(call: Call) -> Plan[RStream]:
    """sample(x, size, replace): x is an integer n for 1, ..., n, a range a:b, or c(...).

    A vector of one integer n >= 1 means 1, ..., n too, as in R.
    """
    given = Arguments(call, "x size replace", R)
    value = given.value("x")
    items = _items(value)
    if len(items) == 1 and items[0] >= 1:
        items = range(1, int(items[0]) + 1)
    return _chosen(given, items)


def _sample_int(call: Call) -> Plan[RStream]:
    given = Arguments(call, "n size replace", R)
    return _chosen(given, range(1, given.integer("n", 1, MOST) + 1))


def _items(value: Value) -> range | list[Fraction]:
    if isinstance(value, Span):
        step = 1 if value.first <= value.last else -1
        if max(abs(value.first), abs(value.last)) > MOST:
            raise NumeralError(f"wanted ends up to {MOST}", value.offset)
        return range(value.first, value.last + step, step)
    if isinstance(value, Call):
        if value.function != "c" or not value.arguments:
            raise NumeralError(
                f"found {shorten(value.function)!r}, wanted an integer, a range or c(1, 2, 3)", value.offset
            )
        return [_number(argument.value) for argument in value.arguments]
    return [Fraction(integer(value, "x", 1, MOST, R))]


def _number(value: Value) -> Fraction:
    """The double of a number of c(...)."""
    if not isinstance(value, Number) or abs(value.value) > MOST:
        raise NumeralError(f"wanted a number up to {MOST}", value.offset)
    return Fraction(float(value.value))


def _chosen(given: Arguments, items: range | list[Fraction]) -> Plan[RStream]:
    n = len(items)
    replace = given.flag("replace", False)
    if not replace and n > MAX_ITEMS:
        raise NumeralError(f"wanted at most {MAX_ITEMS} to choose from without replacement", given.call.offset)
    size = given.integer("size", 1, MOST) if given.has("size") else n
    if not replace and size > n:
        raise NumeralError(
            f"found a sample of {size} from {n}; wanted at most {n}, or replace = TRUE", given.value("size").offset
        )

    def run(stream: RStream) -> Drawn:
        return tuple(Fraction(items[k]) for k in _indices(stream, n, size, replace))

    return Plan(size, run)


def _indices(stream: RStream, n: int, size: int, replace: bool) -> list[int]:
    """`size` of 0, ..., n - 1. Without replacement the last one left takes the place of the one drawn."""
    if replace:
        return [stream.index(n) for _ in range(size)]
    moved: dict[int, int] = {}
    drawn = []
    for left in range(n, n - size, -1):
        k = stream.index(left)
        drawn.append(moved.get(k, k))
        moved[k] = moved.get(left - 1, left - 1)
    return drawn


GENERATOR = RGenerator()

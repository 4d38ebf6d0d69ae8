"""What depends on where tokens stand: rotation of q and k, the distances of ALiBi; and the norm before it.

Each is written once, over an `Arithmetic`; tables of cosines and sines are exact numbers, or the caches that are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.errors import ProblemError
from exactattn.numbers.angles import Angles
from exactattn.numbers.arithmetic import Arithmetic
from exactattn.numbers.exact import ONE, ZERO, Exact, mul, neg, power

A = TypeVar("A")


def rotated(ar: Arithmetic[A], x: A, width: int, rotary: Rotary, positions: Sequence[int]) -> A:
    """x with its pairs turned by position times frequency. Shapes: (n, width), (n,) -> (n, width).

    Exact value: (a, b) of a pair becomes (a cos t - b sin t, b cos t + a sin t); what is beyond `rotary.width` stays.
    """
    cosines, sines = tables(rotary, width, positions)
    return ar.add(ar.mul(x, ar.lift(cosines)), ar.mul(ar.take(x, partners(rotary, width)), ar.lift(sines)))


def turned_back(ar: Arithmetic[A], x: A, width: int, rotary: Rotary, positions: Sequence[int]) -> A:
    """The transpose of `rotated`, which a gradient needs: the partner of a partner is the element itself."""
    cosines, sines = tables(rotary, width, positions)
    return ar.add(ar.mul(x, ar.lift(cosines)), ar.take(ar.mul(x, ar.lift(sines)), partners(rotary, width)))


def partners(rotary: Rotary, width: int) -> list[int]:
    """The place of the other element of each pair; its own for what is not turned."""
    own = rotary.turned(width)
    half = own // 2
    halves = [*range(half, own), *range(half)]
    pairs = [place ^ 1 for place in range(own)] if rotary.layout == "interleaved" else halves
    return pairs + list(range(own, width))


def tables(rotary: Rotary, width: int, positions: Sequence[int]) -> tuple[Any, Any]:
    """Factors of each element and of its partner. Shapes: (n,) -> (n, width) twice, exact numbers or floats."""
    own = rotary.turned(width)
    half = own // 2
    layout = _interleaved if rotary.layout == "interleaved" else _halves
    if rotary.cache is not None:
        return _cached(rotary, half, width, positions, layout)
    turns = tuple(power(rotary.base, Fraction(-2 * place, own)) for place in range(half))

    def columns(first: str, second: str, rest: str) -> tuple[tuple[str, int], ...]:
        pairs = layout([(first, place) for place in range(half)], [(second, place) for place in range(half)])
        return (*pairs, *((rest, 0),) * (width - own))

    return (
        Angles(positions, turns, rotary.factor, columns("cos", "cos", "1")),
        Angles(positions, turns, rotary.factor, columns("-sin", "sin", "0")),
    )


def _halves(first: Any, second: Any) -> list[Any]:
    return [*first, *second]


def _interleaved(first: Any, second: Any) -> list[Any]:
    return [x for pair in zip(first, second, strict=True) for x in pair]


def _cached(rotary: Rotary, half: int, width: int, positions: Sequence[int], layout: Any) -> tuple[Any, Any]:
    """The same from given cosines and sines: a row for each position.

    Errors: ProblemError for a cache of another width, or one that ends before the positions do.
    """
    assert rotary.cache is not None
    parts = []
    for label, table in zip(("cosines", "sines"), rotary.cache, strict=True):
        size = len(table), len(table[0])
        most, least = max(positions, default=0), min(positions, default=0)
        if size[1] != half or least < 0 or most >= size[0]:
            raise ProblemError(
                f"the cache of {label} is {size[0]} x {size[1]}, wanted a row for each of the positions {least} to "
                f"{most} and {half} columns, one for each pair"
            )
        parts.append(_chosen(table, positions, rotary.factor))
    c, s = parts
    if isinstance(c, np.ndarray):
        rest = np.ones((len(c), width - 2 * half))
        order = layout(list(range(half)), list(range(half, 2 * half)))
        return (
            np.concatenate([np.concatenate([c, c], axis=1)[:, order], rest], axis=1),
            np.concatenate([np.concatenate([-s, s], axis=1)[:, order], 0 * rest], axis=1),
        )
    ones, zeros = (ONE,) * (width - 2 * half), (ZERO,) * (width - 2 * half)
    return (
        tuple((*layout(row, row), *ones) for row in c),
        tuple((*layout([neg(x) for x in row], row), *zeros) for row in s),
    )


def _chosen(table: Any, positions: Sequence[int], factor: Exact) -> Any:
    """The rows of some positions; floats stay an array where no factor changes them."""
    if isinstance(table, np.ndarray):
        rows = np.asarray(table, dtype=np.float64)[np.asarray(positions, dtype=np.intp)]
        if factor == ONE:
            return rows
        table, positions = [[Fraction(x) for x in row] for row in rows.tolist()], range(len(rows))
    return [[mul(factor, x) for x in table[int(position)]] for position in positions]


def normed(ar: Arithmetic[A], x: A, shape: tuple[int, int], norm: QKNorm, weight: Sequence[Exact] | None) -> A:
    """x divided by its norm, each row by itself. Shapes: (n, d) -> (n, d)."""
    out = ar.div_column(x, root_of_squares(ar, x, shape, norm))
    if weight is None:
        return out
    if len(weight) != shape[1]:
        raise ProblemError(f"the norm has {len(weight)} weights for {shape[1]} elements: give one for each")
    return ar.mul(out, ar.lift((tuple(weight),) * shape[0]))


def root_of_squares(ar: Arithmetic[A], x: A, shape: tuple[int, int], norm: QKNorm) -> A:
    """What the norm divides by: sqrt(mean or sum of x^2, plus eps). Shapes: (n, d) -> (n, 1)."""
    squares = ar.row_sum(ar.mul(x, x))
    if norm.kind == "rms":
        squares = ar.scale(squares, Fraction(1, shape[1]))
    if norm.eps != ZERO:
        squares = ar.add(squares, ar.lift(((norm.eps,),) * shape[0]))
    return ar.sqrt(squares)


def distances(alibi: Alibi, positions: Sequence[int], keys: int) -> Any:
    """-|p - j| or j - p of every query and key. Shapes: (n,) -> (n, keys), floats, which are exact below 2**53."""
    start = np.asarray(positions, dtype=np.float64)
    ahead = np.arange(keys, dtype=np.float64) - start[:, np.newaxis]
    return ahead if alibi.form == "signed" else -np.abs(ahead)


def falling_slopes(heads: int) -> tuple[Exact, ...]:
    """The slopes 2 ** (-8 h / H), h = 1, ..., H, of the paper's sentence. Exact numbers."""
    return tuple(power(Fraction(2), Fraction(-8 * (head + 1), heads)) for head in range(heads))


def authors_slopes(heads: int) -> tuple[Exact, ...]:
    """The slopes of the authors' code: those of the next lower power of two, then every second one of the next.

    They are those of the paper where the number of heads is a power of two.
    """
    lower = 1 << (heads.bit_length() - 1)
    return falling_slopes(lower) + falling_slopes(2 * lower)[0::2][: heads - lower]

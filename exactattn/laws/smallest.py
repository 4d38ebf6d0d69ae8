"""Small problems in a fixed order, for counterexamples that are the smallest of their kind."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from exactattn.numbers.exact import Matrix

MOST_SUM = 4  # of the entries of a counterexample
SMALLEST = "scores and values that are whole numbers from 0, fewest tokens first, then smallest sum"


def whole_numbers(total: int, count: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a total as a sum of so many whole numbers from 0, the first of them growing last."""
    if count <= 1:
        yield from [(total,) * count] if count or not total else []
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in whole_numbers(total - first, count - 1))


def scores_and_values() -> Iterator[tuple[str, Matrix, Matrix]]:
    """Scores of n x n and values of n x 1, with their text, for one and two tokens, in the order of `SMALLEST`."""
    for n, total in product((1, 2), range(MOST_SUM + 1)):
        for numbers in whole_numbers(total, n * n + n):
            entries = [Fraction(x) for x in numbers]
            scores = tuple(tuple(entries[i * n : (i + 1) * n]) for i in range(n))
            values = tuple((x,) for x in entries[n * n :])
            text = ", ".join(f"[{', '.join(map(str, row))}]" for row in scores)
            yield f"scores [{text}], V = [{', '.join(str(row[0]) for row in values)}]", scores, values

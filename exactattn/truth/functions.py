"""Functions of whole arrays of exact numbers, for the formulas of steps.

Arrays are nested tuples: () deep for a number, one deep for a vector, two for a matrix. A masked score is None: it
takes no part in a softmax, where its weight is exactly 0. `Rest` ends a row of which only the first scores are known.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactattn.attention.definition import stages
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.errors import NumeralError
from exactattn.numbers import exact
from exactattn.numbers.exact import ONE, ZERO, Exact, add, div, exp, mul, name, neg, power, sqrt, sub
from exactattn.numbers.folding import shape
from exactattn.truth.arrays import CALLS, flat, map_array, total
from exactattn.truth.closed import Closed

MOST_SIZE = 64  # rows and columns of what `pe` makes
MOST_JACOBIAN = 100  # rows and columns of what `jacobian` makes


@dataclass(frozen=True, slots=True)
class Rest:
    """Stands at the end of a row for the scores that were not printed.

    `share` is the name of what the known ones have of the sum of exponentials, a number above 0 and at most 1.
    """

    share: str


def softmax(a: Any, base: Any = None) -> Any:
    """`softmax(a)`, `softmax(a, base)`: along the last axis, by the definition of attention.

    Exact value: base^a_j / sum_l base^a_l over the scores that are not masked. After a row that an ellipsis ends, each
    is that over the known scores, times the share that those have of the whole sum.
    """
    if not isinstance(a, tuple):
        raise NumeralError("softmax needs a list of numbers, found one number")
    if not isinstance(a[0], tuple):
        return _softmax_row(a, base)
    return tuple(_softmax_row(row, base) for row in a)


def _softmax_row(row: Any, base: Any) -> Any:
    rest = row[-1] if isinstance(row[-1], Rest) else None
    known = row[:-1] if rest else row
    allowed = tuple(x is not None for x in known)
    if not any(allowed):
        raise NumeralError("softmax of a row in which everything is masked has no value")
    scores = (tuple(ZERO if x is None else x for x in known),)
    spec = AttentionSpec(scale=ONE, base=None if base is None else _base(base))
    problem = Problem((Head(scores=scores, v=((ZERO,),) * len(known)),), spec=spec, mask=(allowed,))
    weights = stages(problem, Closed(), until=Stage.LSE)[Stage.WEIGHTS, 0][0]
    return tuple(mul(w, name(rest.share)) for w in weights) if rest else tuple(weights)


def column_softmax(a: Any, base: Any = None) -> Any:
    """`column_softmax(a)`: down each column of a matrix."""
    return transposed(softmax(transposed(a), base))


def causal(a: Any) -> Any:
    """`causal(a)`: masked where the key comes after the query, both counted from the first."""
    rows = _matrix(a, "causal")
    scores = map_array(lambda x: ZERO if x is None else x, rows)
    spec = AttentionSpec(scale=ONE, causal="top-left")
    allowed = Problem((Head(scores=scores, v=((ZERO,),) * len(rows[0])),), spec=spec).allowed
    return tuple(tuple(x if allowed[i, j] else None for j, x in enumerate(row)) for i, row in enumerate(rows))


def zeroed(a: Any) -> Any:
    """`zeroed(a)`: zeros where the key comes after the query, as a mask after the softmax leaves them."""
    return map_array(lambda x: ZERO if x is None else x, causal(a))


def mirrored(a: Any) -> Any:
    """`mirrored(a)`: each row in the opposite order."""
    if not isinstance(a, tuple):
        raise NumeralError("mirrored needs a list, found one number")
    return tuple(map(mirrored, a)) if isinstance(a[0], tuple) else a[::-1]


def jacobian(p: Any) -> Any:
    """`jacobian(p)`: diag(p) - p p^T of a vector, the derivative of softmax where its value is p."""
    row = _vector(p, "jacobian")
    if len(row) > MOST_JACOBIAN:
        raise NumeralError(f"jacobian takes a list of at most {MOST_JACOBIAN} numbers, found {len(row)}")
    return tuple(tuple(mul(a, sub(ONE, a)) if i == j else neg(mul(a, b)) for j, b in enumerate(row))
                 for i, a in enumerate(row))  # fmt: skip


def positions(rows: Any, width: Any, base: Any) -> Any:
    """`pe(n, d, base)`: sinusoidal positions, n x d: sin and cos of position / base^(2i/d), in turn.

    Source: Vaswani et al. 2017 (arXiv 1706.03762), section 3.5, where the base is 10000.
    """
    n, d = (_whole(x, "pe", MOST_SIZE) for x in (rows, width))
    angle = [[div(Fraction(place), power(_base(base), Fraction(2 * (j // 2), d))) for j in range(d)]
             for place in range(n)]  # fmt: skip
    return tuple(tuple(exact.cos(x) if j % 2 else exact.sin(x) for j, x in enumerate(row)) for row in angle)


def shares(a: Any) -> Any:
    """`shares(a)`: each number divided by the sum of its row."""
    if isinstance(a, tuple) and isinstance(a[0], tuple):
        return tuple(shares(row) for row in a)
    bottom = total(list(_vector(a, "shares")))
    if bottom == ZERO:
        raise NumeralError("shares of a row whose sum is 0 have no value")
    return tuple(div(x, bottom) for x in a)


def whole(a: Any) -> Exact:
    """`total(a)`: the sum of all elements."""
    return total(_numbers(a, "total"))


def deviation(a: Any) -> Exact:
    """`std(a)`: the root of the variance."""
    return sqrt(variance(a))


def mean(a: Any) -> Exact:
    """`mean(a)`: of all elements."""
    numbers = _numbers(a, "mean")
    return div(total(numbers), Fraction(len(numbers)))


def variance(a: Any) -> Exact:
    """`variance(a)`: of the population of all elements."""
    middle = mean(a)
    return mean(tuple(power(sub(x, middle), Fraction(2)) for x in _numbers(a, "variance")))


def cat(*parts: Any) -> Any:
    """`cat(a, b, ...)`: numbers and lists into one list."""
    return tuple(x for part in parts for x in (part if isinstance(part, tuple) else (part,)))


def vstack(*parts: Any) -> Any:
    """`vstack(a, b, ...)`: rows and matrices into one matrix."""
    rows = tuple(row for part in parts for row in (part if isinstance(cat(part)[0], tuple) else (cat(part),)))
    if len({len(row) for row in rows}) != 1:
        raise NumeralError("vstack needs rows of one length")
    return rows


def concat(*parts: Any) -> Any:
    """`concat(a, b, ...)`: matrices side by side."""
    if len({len(_matrix(part, "concat")) for part in parts}) != 1:
        raise NumeralError("concat needs matrices with equally many rows")
    return tuple(cat(*rows) for rows in zip(*parts, strict=True))


def rows(a: Any, start: Any, stop: Any) -> Any:
    """`rows(a, i, j)`: rows i to j - 1."""
    if not isinstance(a, tuple):
        raise NumeralError("rows needs a list, found one number")
    first, last = (_whole(x, "rows", len(a)) for x in (start, stop))
    if not first < last:
        raise NumeralError(f"there are no rows from {first} to before {last}")
    return a[first:last]


def hadamard(a: Any, b: Any) -> Any:
    """`hadamard(a, b)`: the product element by element."""
    if shape(a) != shape(b):
        raise NumeralError("hadamard needs two arrays of one shape")
    return tuple(map(hadamard, a, b)) if isinstance(a, tuple) else mul(a, b)


def product(a: Any, b: Any) -> Any:
    """`matmul(a, b)`: of matrices and vectors; a vector is a row on the left and a column on the right."""
    left, right = len(shape(a)), len(shape(b))
    if not left or not right:
        raise NumeralError("matmul needs matrices or vectors; write * for a number")
    if None in flat(a) or None in flat(b):
        raise NumeralError("matmul of masked scores has no value")
    wide = (a,) if left == 1 else a
    tall = tuple((x,) for x in b) if right == 1 else b
    found: Any = CALLS["matmul"](wide, tall)
    if right == 1:
        found = tuple(row[0] for row in found)
    return found[0] if left == 1 else found


def transposed(a: Any) -> Any:
    """`T(a)`, `transpose(a)`: rows and columns exchanged."""
    return tuple(zip(*_matrix(a, "transpose"), strict=True))


def sigmoid(x: Exact) -> Exact:
    """Exact value: 1 / (1 + e^-x)."""
    return div(ONE, add(ONE, exp(neg(x))))


def _each(function: Callable[[Exact], Exact]) -> Callable[[Any], Any]:
    return lambda a: map_array(lambda x: None if x is None else function(x), a)


def _matrix(a: Any, function: str) -> Any:
    if len(shape(a)) != 2:
        raise NumeralError(f"{function} needs a matrix")
    return a


def _vector(a: Any, function: str) -> Any:
    if len(shape(a)) != 1:
        raise NumeralError(f"{function} needs a list of numbers")
    return a


def _numbers(a: Any, function: str) -> list[Exact]:
    found = flat(a)
    if any(x is None or isinstance(x, Rest) for x in found):
        raise NumeralError(f"{function} needs numbers, and some here are masked or not known")
    return found


def _base(x: Any) -> Exact:
    if not isinstance(x, Fraction) or x <= 0 or x == 1:
        raise NumeralError("a base must be one rational number above 0, and not 1")
    return x


def _whole(x: Any, function: str, most: int) -> int:
    if not isinstance(x, Fraction) or x.denominator != 1 or not 0 <= x <= most:
        raise NumeralError(f"{function} needs whole numbers from 0 to {most} there")
    return int(x)


def _counted(label: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with an error of our own for a wrong number of arguments."""
    signature = inspect.signature(function)

    def call(*args: Any) -> Any:
        try:
            signature.bind(*args)
        except TypeError:
            wanted = ", ".join(str(p) for p in signature.parameters)
            raise NumeralError(f"{label} takes ({wanted}), found {len(args)} arguments") from None
        return function(*args)

    return call


_TABLE: Mapping[str, Callable[..., Any]] = {
    **CALLS,
    "matmul": product,
    "T": transposed,
    "transpose": transposed,
    "softmax": softmax,
    "column_softmax": column_softmax,
    "causal": causal,
    "zeroed": zeroed,
    "mirrored": mirrored,
    "jacobian": jacobian,
    "pe": positions,
    "shares": shares,
    "total": whole,
    "mean": mean,
    "variance": variance,
    "std": deviation,
    "cat": cat,
    "vstack": vstack,
    "concat": concat,
    "rows": rows,
    "hadamard": hadamard,
    "sigmoid": _each(sigmoid),
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {label: _counted(label, function) for label, function in _TABLE.items()}

"""What an expression can be when every decimal in it was rounded: intervals over its tree, exact in rationals.

Proof: each decimal lies within half its last digit of what was rounded; +, -, * and / of intervals enclose the values
of their operands. A number that occurs twice only makes the interval wider.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from exactattn.numbers.expressions import Binary, Call, ListNode, Node, Number, Unary

Interval: TypeAlias = tuple[Fraction, Fraction]
Value: TypeAlias = "Interval | list[Value]"
HALF = Fraction(1, 2)


def agree(a: Node, b: Node) -> bool:
    """Could two sides be equal before their decimals were rounded? False where that cannot be told."""
    left, right = ranged(a), ranged(b)
    return left is not None and right is not None and _meet(left, right)


def _meet(a: Value, b: Value) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_meet, a, b))
    return isinstance(a, tuple) and isinstance(b, tuple) and a[0] <= b[1] and b[0] <= a[1]


def ranged(node: Node) -> Value | None:
    """The interval of an expression, or a list of them; None for what is no rational arithmetic."""
    match node:
        case Number():
            x, unit = node.numeral.value, node.numeral.unit
            if not isinstance(x, Fraction):
                return None
            slack = HALF * unit if unit is not None and node.numeral.form != "integer" else Fraction(0)
            return x - slack, x + slack
        case Unary():
            inner = ranged(node.operand)
            return inner if inner is None or node.op == "+" else _times(inner, (Fraction(-1), Fraction(-1)))
        case ListNode():
            items = [ranged(item) for item in node.items]
            return [item for item in items if item is not None] if None not in items else None
        case Call(function="matmul", args=(a, b)):
            left, right = ranged(a), ranged(b)
            return None if left is None or right is None else _product(left, right)
        case Binary():
            left, right = ranged(node.left), ranged(node.right)
            return None if left is None or right is None else _combined(node.op, left, right)
    return None


def _combined(op: str, a: Value, b: Value) -> Value | None:
    if op in "+-":
        return _each(_plus if op == "+" else _minus, a, b)
    if op == "*":
        return _times(a, b)
    if op == "/" and isinstance(b, tuple) and not b[0] <= 0 <= b[1]:
        return _times(a, (1 / b[1], 1 / b[0]))
    return None


def _each(make: Callable[[Interval, Interval], Interval], a: Value, b: Value) -> Value | None:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return make(a, b)
    if not isinstance(a, list) or not isinstance(b, list) or len(a) != len(b):
        return None
    items = [_each(make, x, y) for x, y in zip(a, b, strict=True)]
    return [item for item in items if item is not None] if None not in items else None


def _plus(a: Interval, b: Interval) -> Interval:
    return a[0] + b[0], a[1] + b[1]


def _minus(a: Interval, b: Interval) -> Interval:
    return a[0] - b[1], a[1] - b[0]


def _times(a: Value, b: Value) -> Value | None:
    """A product in which one side at least is a number."""
    if isinstance(a, list) and isinstance(b, list):
        return None
    if isinstance(a, list) or isinstance(b, list):
        items = [_times(item, b) for item in a] if isinstance(a, list) else []
        items += [_times(a, item) for item in b] if isinstance(b, list) else []
        return [item for item in items if item is not None]
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _product(a: Value, b: Value) -> Value | None:
    """A matrix product; None where the two are no matrices that fit."""
    if not isinstance(a, list) or not isinstance(b, list) or not all(isinstance(row, list) for row in [*a, *b]):
        return None
    rows: list[Value] = []
    for row in a:
        if not isinstance(row, list) or len(row) != len(b):
            return None
        parts = [_times(line, x) for x, line in zip(row, b, strict=True) if isinstance(x, tuple)]
        total: Value | None = parts[0] if len(parts) == len(b) else None
        for part in parts[1:]:
            total = None if total is None or part is None else _each(_plus, total, part)
        if total is None:
            return None
        rows.append(total)
    return rows

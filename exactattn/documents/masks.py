"""Masks: which keys a query may see, as 1 and 0, or as numbers added to the scores."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactattn.documents.cells import Reader
from exactattn.documents.nodes import Mapping, Node, Scalar
from exactattn.numbers.exact import ZERO, Exact

ALLOWED = {"1": True, "true": True, "0": False, "false": False}
MINUS_INFINITY_FORM = "minus-infinity"  # of a printed cell
MINUS_INFINITY = ("-inf", "-.inf", "-infinity", "-∞", "-oo", 'float("-inf")', "float('-inf')")


def read_mask(node: Node, reader: Reader) -> dict[str, Any]:
    """The fields of a Problem that a mask sets: `mask`, and `bias` where numbers are added.

    A matrix of nothing but 1 and 0 (true and false) says which keys are allowed. With any other entry it is
    additive: -inf means not allowed, everything else is added to the scaled scores.
    """
    if isinstance(node, Mapping):
        wanted = "a matrix: a list of rows, for example [[1, 0], [1, 1]]"
        reader.mistakes.wrong_kind(node, wanted, "write the factor out")
        return {}
    if isinstance(node, Scalar) and "causal" in node.text.lower():
        hint = "write `causal: true` in place of `mask:`"
        reader.mistakes.wrong_kind(node, "a matrix of 1 and 0, or of numbers that are added", hint)
        return {}
    cells = reader.rows(node)
    if cells is None:
        return {}
    words = [[cell.text.strip().lower() for cell in row] for row in cells]
    if all(word in ALLOWED for row in words for word in row):
        return {"mask": tuple(tuple(ALLOWED[word] for word in row) for row in words)}
    bias = tuple(tuple(_added(cell, reader) for cell in row) for row in cells)
    fields: dict[str, Any] = {"mask": tuple(tuple(not is_minus_infinity(cell) for cell in row) for row in cells)}
    if any(x != ZERO for row in bias for x in row):
        fields["bias"] = bias
    return fields


def is_minus_infinity(cell: Scalar) -> bool:
    """Is this minus infinity, in one of its spellings?"""
    return cell.text.strip().lower() in MINUS_INFINITY


def _added(cell: Scalar, reader: Reader) -> Exact:
    """What an entry of an additive mask adds; 0 where nothing is added because the key is not allowed."""
    if is_minus_infinity(cell):
        return ZERO
    if cell.text.strip().lower() in ("true", "false"):
        hint = "write 0 for allowed and -inf for not allowed, or only 1 and 0"
        reader.mistakes.add(f"found {cell.text!r} among numbers that are added to the scores", cell, hint)
        return ZERO
    value = reader.exact(cell)
    return Fraction(0) if value is None else value

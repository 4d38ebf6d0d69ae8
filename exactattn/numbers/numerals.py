"""Text -> exact number, and how many digits were printed.

The door of the room: `tokens` reads one literal, `expressions` parses, `folding` computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exactattn.numbers import exact
from exactattn.numbers.exact import Exact
from exactattn.numbers.expressions import Binary, Node, Number, Unary, parse_expression
from exactattn.numbers.folding import NO_NAMES, fold
from exactattn.numbers.tokens import Form, Numeral

__all__ = ["Form", "Numeral", "parse_exact", "parse_numeral"]


def parse_numeral(text: str, names: Mapping[str, Exact] = NO_NAMES) -> Numeral:
    """A number as printed: `12`, `-0.40`, `6.33e-02`, `28.4 %`, `1/3`, or a closed form, `1/sqrt(d_k)`.

    Exact value: the text read as exact; a decimal is the rational it spells. One sign in front belongs to the
    number. Errors: NumeralError with the place in the text.
    """
    node = parse_expression(text)
    bare = node.operand if isinstance(node, Unary) else node
    printed = text.strip()
    if isinstance(bare, Number):
        value = bare.numeral.value
        negative = isinstance(node, Unary) and node.op == "-"
        return replace(bare.numeral, text=printed, value=exact.neg(value) if negative else value)
    form: Form = "fraction" if _is_fraction(node) else "closed"
    return Numeral(printed, fold(node, names), None, None, form)


def parse_exact(text: str, names: Mapping[str, Exact] = NO_NAMES) -> Exact:
    """The value of a closed scalar expression. Errors: NumeralError with the place in the text."""
    return fold(parse_expression(text), names)


def _is_fraction(node: Node) -> bool:
    """One integer over another, the first perhaps with a sign."""
    if not isinstance(node, Binary) or node.op != "/":
        return False
    top = node.left.operand if isinstance(node.left, Unary) else node.left
    return all(isinstance(part, Number) and part.numeral.form == "integer" for part in (top, node.right))

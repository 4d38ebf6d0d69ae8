"""Reading the trees of `expressions`: what a tree is made of."""

from __future__ import annotations

from collections.abc import Iterator

from exactattn.numbers.expressions import Binary, Call, ListNode, Name, Node, Number, Reference, Unary


def parts_below(node: Node) -> Iterator[Node]:
    """A tree and everything in it, from left to right."""
    yield node
    for part in parts_of(node):
        yield from parts_below(part)


def parts_of(node: Node) -> tuple[Node, ...]:
    """What a tree is made of."""
    match node:
        case Binary():
            return node.left, node.right
        case Unary():
            return (node.operand,)
        case Call():
            return node.args
        case ListNode():
            return node.items
        case Number() | Name() | Reference():
            return ()

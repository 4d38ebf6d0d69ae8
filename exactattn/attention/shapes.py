"""The shape of a formula's value, for all sizes at once; and where it does not fit, what would be needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from exactattn.attention.dimensions import ONE, SCALAR, Dim, Shape, spell_shape
from exactattn.attention.formula_tree import (
    FRESH,
    Apply,
    Dot,
    Formula,
    Joined,
    Minus,
    Num,
    Plus,
    Product,
    Quotient,
    Raised,
    Symbol,
    Total,
    Transposed,
    Tree,
    spell,
)
from exactattn.attention.symbols import Notation


@dataclass(frozen=True, slots=True)
class Misfit:
    """Where shapes do not fit.

    kind    product, sum, number (one number is wanted), result (the sides differ)
    left, right   the two parts and their shapes; `whole` is the node they stand in
    position  of the right part among the factors of a product
    """

    kind: str
    whole: Tree
    left: tuple[str, Shape]
    right: tuple[str, Shape]
    needs: str
    position: int = 1

    @property
    def message(self) -> str:
        """What does not fit, and what would make it fit."""
        (left, shape), (right, other) = self.left, self.right
        if self.kind == "number":
            return f"{left} is {spell_shape(shape)} where one number is wanted: that needs {self.needs}"
        if self.kind == "product":
            return f"{left} is {spell_shape(shape)} and {right} is {spell_shape(other)}: the product needs {self.needs}"
        if self.kind == "result":
            return f"the right side {right} is {spell_shape(other)}, the left side {left} is {spell_shape(shape)}"
        return f"{left} is {spell_shape(shape)} and {right} is {spell_shape(other)}: a sum needs equal shapes"


class DoesNotFit(Exception):
    """Carries a `Misfit` up to `fit`."""

    def __init__(self, misfit: Misfit) -> None:
        super().__init__(misfit.message)
        self.misfit = misfit


def fit(formula: Formula, notation: Notation) -> Shape | Misfit:
    """The shape of both sides, or where they do not fit."""
    try:
        left, right = shape_of(formula.left, notation), shape_of(formula.right, notation)
    except DoesNotFit as found:
        return found.misfit
    if left != right:
        sides = (spell(formula.left), left), (spell(formula.right), right)
        return Misfit("result", formula.right, *sides, _needs(left, right))
    return left


def shape_of(tree: Tree, notation: Notation) -> Shape:
    """The shape of a tree. Errors: DoesNotFit."""

    def of(part: Tree) -> Shape:
        return shape_of(part, notation)

    match tree:
        case Num():
            return SCALAR
        case Symbol():
            return notation.slot(tree).shape
        case Product():
            return _product(tree, of)
        case Dot():
            left, right = of(tree.left), of(tree.right)
            return SCALAR if left == right and ONE in left else _times(tree, (tree.left, left), (tree.right, right))
        case Quotient():
            _number(tree, tree.bottom, of)
            return of(tree.top)
        case Plus():
            return _same(tree, of)
        case Minus() | Total():
            return of(tree.of)
        case Transposed():
            return of(tree.of)[::-1]
        case Raised():
            return _number(tree, tree.of, of)
        case Apply():
            whole = tree.function in ("exp", "log") or (tree.function == "softmax" and tree.index is None)
            return of(tree.of) if whole else _number(tree, tree.of, of)
        case Joined():
            return _joined(tree, of, notation)


def _product(tree: Product, of: Callable[[Tree], Shape]) -> Shape:
    parts = [(factor, of(factor)) for factor in tree.factors]
    done, shape = parts[0]
    for position, (factor, right) in enumerate(parts[1:], start=1):
        shape = _times(tree, (done, shape), (factor, right), position)
        done = Product((*done.factors, factor)) if isinstance(done, Product) else Product((done, factor))
    return shape


def _times(whole: Tree, left: tuple[Tree, Shape], right: tuple[Tree, Shape], position: int = 1) -> Shape:
    """The shape of a product; a 1 x 1 matrix is a number, which goes with every shape."""
    (a, (rows, inner)), (b, (height, columns)) = left, right
    if (rows, inner) == SCALAR:
        return right[1]
    if (height, columns) == SCALAR:
        return left[1]
    if inner != height:
        needs = _equation(inner, height)
        raise DoesNotFit(Misfit("product", whole, (spell(a), left[1]), (spell(b), right[1]), needs, position))
    return rows, columns


def _number(whole: Tree, part: Tree, of: Callable[[Tree], Shape]) -> Shape:
    shape = of(part)
    if shape != SCALAR:
        here = (spell(part), shape)
        raise DoesNotFit(Misfit("number", whole, here, here, _needs(SCALAR, shape)))
    return SCALAR


def _same(tree: Plus, of: Callable[[Tree], Shape]) -> Shape:
    parts = [(spell(term), of(term)) for term in tree.terms]
    for part in parts[1:]:
        if part[1] != parts[0][1]:
            raise DoesNotFit(Misfit("sum", tree, parts[0], part, _needs(parts[0][1], part[1])))
    return parts[0][1]


def _joined(tree: Joined, of: Callable[[Tree], Shape], notation: Notation) -> Shape:
    """Side by side, in the orientation of the formula: rows joined to a longer row, columns to a longer column."""
    down = notation.orientation == "columns"
    shapes = [of(item) for item in tree.items]
    if tree.index is not None:
        many = notation.sized((Dim.named("H" if tree.index == FRESH else "n"), ONE))[0]
        height, width = shapes[0]
        return (many * height, width) if down else (height, many * width)
    for item, shape in zip(tree.items, shapes, strict=True):
        if shape[down] != shapes[0][down]:
            first = (spell(tree.items[0]), shapes[0])
            raise DoesNotFit(Misfit("sum", tree, first, (spell(item), shape), _equation(shape[down], shapes[0][down])))
    total = reduce(lambda a, b: a + b, (shape[not down] for shape in shapes))
    return (total, shapes[0][1]) if down else (shapes[0][0], total)


def _equation(a: Dim, b: Dim) -> str:
    return f"{b} = {a}" if a == ONE else f"{a} = {b}"


def _needs(a: Shape, b: Shape) -> str:
    return " and ".join(_equation(x, y) for x, y in zip(a, b, strict=True) if x != y)

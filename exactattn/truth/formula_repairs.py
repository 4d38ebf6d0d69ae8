"""What a formula whose shapes do not fit may have meant: another order, a transpose, a missing index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from exactattn.attention.dimensions import ONE, Shape, spell_shape
from exactattn.attention.formula_tree import (
    Dot,
    Formula,
    Product,
    Symbol,
    Transposed,
    Tree,
    indices_in,
    nodes,
    spell,
    substituted,
)
from exactattn.attention.shapes import DoesNotFit, Misfit, fit, shape_of
from exactattn.attention.spec import AttentionSpec
from exactattn.attention.symbols import Notation
from exactattn.errors import NumeralError
from exactattn.findings import Verdict
from exactattn.truth.formulas import Outcome, compare

MOST_REPAIRS = 12


@dataclass(frozen=True, slots=True)
class Repair:
    """A formula near the written one that fits: what was done, and whether it computes what it should."""

    what: str
    formula: Formula
    outcome: Outcome
    notation: Notation

    @property
    def right(self) -> bool:
        """Does it compute what it should?"""
        return self.outcome.verdict is Verdict.HOLDS


def missing_indices(formula: Formula, notation: Notation) -> list[str]:
    """Token indices of the left side that do not occur on the right."""
    return sorted(indices_in(formula.left) - indices_in(formula.right) - {notation.head})


def repairs(formula: Formula, misfit: Misfit, notation: Notation, spec: AttentionSpec) -> list[Repair]:
    """Near formulas whose shapes fit, those that compute the right thing first."""
    found: dict[str, Repair] = {}
    for steps in (1, 2):
        for what, other in _near(formula, misfit, notation, steps):
            text = spell(other.right)
            if text in found or len(found) == MOST_REPAIRS:
                continue
            try:
                outcome, meant = compare(other, notation, spec)
            except NumeralError:
                continue
            found[text] = Repair(what, replace(other, text=other.plain), outcome, meant)
        if any(repair.right for repair in found.values()):
            break
    return sorted(found.values(), key=lambda repair: not repair.right)


def _near(formula: Formula, misfit: Misfit, notation: Notation, steps: int) -> Iterator[tuple[str, Formula]]:
    """Formulas whose shapes fit, so many changes away."""
    for what, tree in _changes(formula, misfit, notation):
        other = replace(formula, right=tree)
        try:
            again = fit(other, notation)
        except NumeralError:
            continue
        if not isinstance(again, Misfit):
            if steps == 1:
                yield what, other
        elif steps > 1:
            for more, nearer in _near(other, again, notation, steps - 1):
                yield f"{what}, {more}", nearer


def _changes(formula: Formula, misfit: Misfit, notation: Notation) -> Iterator[tuple[str, Tree]]:
    for index in missing_indices(formula, notation):
        for node in nodes(formula.right):
            if isinstance(node, Symbol) and _takes_row(node, notation):
                indexed = replace(node, subs=(*node.subs, index))
                yield f"{spell(indexed)} in place of {spell(node)}", substituted(formula.right, node, indexed)
    if misfit.kind == "product":
        for what, new in orders(misfit):
            yield what, substituted(formula.right, misfit.whole, new)
    if misfit.kind == "result":
        yield "transposed", Transposed(formula.right)


def _takes_row(symbol: Symbol, notation: Notation) -> bool:
    slot = notation.slot(symbol)
    return slot.source is not None and not slot.is_size and slot.rows is None and slot.source[0] != "W"


def orders(misfit: Misfit) -> Iterator[tuple[str, Tree]]:
    """The two factors that do not fit in other orders and transposes, in place of the product they stand in."""
    whole = misfit.whole
    factors = list(whole.factors) if isinstance(whole, Product) else []
    if isinstance(whole, Dot):
        factors = [whole.left, whole.right]
    if not factors:
        return
    before, right, after = factors[: misfit.position], factors[misfit.position], factors[misfit.position + 1 :]
    left = before[0] if len(before) == 1 else Product(tuple(before))
    for what, pair in (
        ("in the other order", (right, left)),
        (f"{spell(right)} transposed", (left, _transposed(right))),
        (f"{spell(left)} transposed", (_transposed(left), right)),
        ("both transposed", (_transposed(left), _transposed(right))),
    ):
        yield what, Product((*pair, *after))


def other_orders(misfit: Misfit, notation: Notation) -> dict[str, str]:
    """The orders and transposes that are defined at all, with their shapes."""
    found = {}
    for _, tree in orders(misfit):
        try:
            found[spell(tree)] = spell_shape(shape_of(tree, notation))
        except DoesNotFit:
            continue
    return found


def forced(misfit: Misfit) -> str | None:
    """What a product a x b times c x d, which needs b = c, is when that is forced and one of the two is 1."""
    (_, (rows, inner)), (_, (height, columns)) = misfit.left, misfit.right
    if misfit.kind != "product" or ONE not in (inner, height):
        return None
    return spell_shape((rows, columns))


def numbers(misfit: Misfit) -> dict[str, Any] | None:
    """A matrix times a row that stands on its wrong side, in small integers: row W against W row^T.

    The smallest square W, one entry of 1, for which the two differ.
    """
    left, right = misfit.left, misfit.right
    if misfit.kind != "product" or not _is_row_of(right[1], left[1]):
        return None
    row = (1, 2)
    for place in range(4):
        matrix = [[int(place == 2 * i + j) for j in range(2)] for i in range(2)]
        after = [sum(row[i] * matrix[i][j] for i in range(2)) for j in range(2)]
        before = [sum(matrix[i][j] * row[j] for j in range(2)) for i in range(2)]
        if after != before:
            return {
                right[0]: list(row),
                left[0]: matrix,
                f"{right[0]} {left[0]}": after,
                f"{left[0]} {right[0]}^T": before,
            }
    return None


def _is_row_of(row: Shape, matrix: Shape) -> bool:
    return row[0] == ONE and row[1] == matrix[0] and matrix[1] != ONE


def _transposed(tree: Tree) -> Tree:
    return tree.of if isinstance(tree, Transposed) else Transposed(tree)

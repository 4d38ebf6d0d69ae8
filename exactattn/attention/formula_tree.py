"""A formula as people write attention, as a tree: `C_i = sum_j a_ij V_j`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

FRESH = "#"  # the index of a family over heads, [C_{i,1}, ..., C_{i,H}]
FRESH_ROW = "%"  # and of one over tokens, [a_{i,1}, ..., a_{i,n}]


@dataclass(frozen=True, slots=True)
class Num:
    """A number."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Symbol:
    """A letter or word with its indices: Q_{h,i} is ("Q", ("h", "i")); W_h^Q is ("W_Q", ("h",)); d_k is ("d_k", ())."""

    base: str
    subs: tuple[str, ...] = ()
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Product:
    """Factors beside each other: the matrix product, or a number times a matrix."""

    factors: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Dot:
    """Two factors with a dot between them: the inner product of two vectors of one shape, else a product."""

    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Quotient:
    """Everything on top divided by one number."""

    top: Tree
    bottom: Tree


@dataclass(frozen=True, slots=True)
class Plus:
    """A sum of terms."""

    terms: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    """The negative."""

    of: Tree


@dataclass(frozen=True, slots=True)
class Transposed:
    """The transpose."""

    of: Tree


@dataclass(frozen=True, slots=True)
class Raised:
    """A number to a rational power."""

    of: Tree
    exponent: Fraction


@dataclass(frozen=True, slots=True)
class Apply:
    """exp or log of each element, sqrt of a number, softmax; `index` is that of softmax_j."""

    function: str
    of: Tree
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Total:
    """The sum over an index, perhaps only where it stands in a relation (!=, <=, <) to another one."""

    index: str
    of: Tree
    relation: str | None = None
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """Matrices side by side. With `index` (`#` or `%`) the one item stands for a family over it."""

    items: tuple[Tree, ...]
    index: str | None = None


Tree: TypeAlias = Num | Symbol | Product | Dot | Quotient | Plus | Minus | Transposed | Raised | Apply | Total | Joined


@dataclass(frozen=True, slots=True)
class Formula:
    """left = right, as written."""

    text: str
    left: Tree
    right: Tree

    @property
    def plain(self) -> str:
        """In plain spelling; `text` may be LaTeX."""
        return f"{spell(self.left)} = {spell(self.right)}"


def children(tree: Tree) -> tuple[Tree, ...]:
    """What a node is made of."""
    match tree:
        case Num() | Symbol():
            return ()
        case Product(factors=parts) | Plus(terms=parts) | Joined(items=parts):
            return parts
        case Dot():
            return (tree.left, tree.right)
        case Quotient():
            return (tree.top, tree.bottom)
    return (tree.of,)


def rebuilt(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The same node with every child changed."""
    match tree:
        case Num() | Symbol():
            return tree
        case Product():
            return Product(tuple(change(part) for part in tree.factors))
        case Plus():
            return Plus(tuple(change(part) for part in tree.terms))
        case Joined():
            return replace(tree, items=tuple(change(part) for part in tree.items))
        case Dot():
            return Dot(change(tree.left), change(tree.right))
        case Quotient():
            return Quotient(change(tree.top), change(tree.bottom))
    return replace(tree, of=change(tree.of))


def substituted(tree: Tree, old: Tree, new: Tree) -> Tree:
    """The tree with one node, by identity, replaced."""
    return new if tree is old else rebuilt(tree, lambda part: substituted(part, old, new))


def symbols(tree: Tree) -> Iterator[Symbol]:
    """Every symbol, from left to right."""
    if isinstance(tree, Symbol):
        yield tree
    for part in children(tree):
        yield from symbols(part)


def nodes(tree: Tree) -> Iterator[Tree]:
    """Every node, a parent before its children."""
    yield tree
    for part in children(tree):
        yield from nodes(part)


def indices_in(tree: Tree) -> frozenset[str]:
    """The indices that occur free: letters below symbols that no sum and no softmax binds."""
    if isinstance(tree, Symbol):
        return frozenset(sub for sub in tree.subs if not sub.isdigit())
    found = frozenset[str]().union(*(indices_in(part) for part in children(tree)))
    match tree:
        case Total():
            return (found | ({tree.other} if tree.other else frozenset())) - {tree.index}
        case Joined():
            return found - {tree.index or ""}
    return found


def degree(tree: Tree) -> Fraction:
    """How many symbols are multiplied at most, inside an exponential or outside: what expanding it may cost."""
    parts = [degree(part) for part in children(tree)]
    match tree:
        case Num():
            return Fraction(0)
        case Symbol():
            return Fraction(1)
        case Product() | Dot() | Quotient():
            return sum(parts, Fraction(0))
        case Raised():
            return parts[0] * max(1, abs(tree.exponent.numerator))
        case Apply():
            return max(parts[0], Fraction(2))
    return max(parts)


def spell(tree: Tree) -> str:
    """The tree as text in the same language."""
    match tree:
        case Num():
            return str(tree.value)
        case Symbol():
            return _spell_symbol(tree)
        case Product():
            return " ".join(_factor(tree, place) for place in range(len(tree.factors)))
        case Dot():
            return f"{_factor(Product((tree.left, tree.right)), 0, True)} · {_tight(tree.right)}"
        case Quotient():
            return f"{_factor(Product((tree.top, tree.bottom)), 0, True)} / {_tight(tree.bottom)}"
        case Plus():
            return " + ".join(spell(part) for part in tree.terms).replace("+ -", "- ")
        case Minus():
            return f"-{_in_product(tree.of)}"
        case Transposed():
            return f"{_tight(tree.of)}^T"
        case Raised():
            return f"{_tight(tree.of)}^{{{tree.exponent}}}"
        case Apply():
            return f"{tree.function}{'' if tree.index is None else '_' + tree.index}({spell(tree.of)})"
        case Total():
            where = f"{tree.index} {tree.relation} {tree.other}" if tree.relation else tree.index
            return f"sum_{where if len(where) == 1 else '{' + where + '}'} {_in_product(tree.of)}"
        case Joined():
            items = ", ".join(spell(item) for item in tree.items)
            if tree.index is None:
                return f"[{items}]"
            last = "H" if tree.index == FRESH else "n"
            return f"[{items.replace(tree.index, '1')}, ..., {items.replace(tree.index, last)}]"


def _spell_symbol(symbol: Symbol) -> str:
    if not symbol.subs:
        return symbol.base
    subs = ",".join(symbol.subs)
    plain = len(symbol.subs) == 1 and len(subs) == 1
    if "_" in symbol.base:  # W_Q with an index
        name, label = symbol.base.split("_", 1)
        return f"{name}_{subs if plain else '{' + subs + '}'}^{label}"
    pair = all(len(sub) == 1 for sub in symbol.subs) and not {"h", FRESH, FRESH_ROW} & {*symbol.subs}
    return f"{symbol.base}_{subs if plain else ''.join(symbol.subs) if pair else '{' + subs + '}'}"


def _factor(product: Product, place: int, chain: bool = False) -> str:
    """One factor, in brackets where it would otherwise be read differently; a chain may begin with a product."""
    tree, last = product.factors[place], place == len(product.factors) - 1
    apart = isinstance(tree, Plus | Minus) or (isinstance(tree, Total) and not last)
    if place > 0 or not chain:
        apart = apart or isinstance(tree, Product) or (place > 0 and isinstance(tree, Quotient | Dot))
    return f"({spell(tree)})" if apart else spell(tree)


def _in_product(tree: Tree) -> str:
    return f"({spell(tree)})" if isinstance(tree, Plus | Minus) else spell(tree)


def _tight(tree: Tree) -> str:
    single = isinstance(tree, Symbol | Num | Apply | Joined) or (
        isinstance(tree, Total) and isinstance(tree.of, Apply | Symbol)
    )
    return spell(tree) if single else f"({spell(tree)})"

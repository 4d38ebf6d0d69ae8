"""Sizes as polynomials in their names, so that (n x d_k)(d_k x n) fits for all sizes or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from exactattn.attention.formula_tree import Num, Plus, Product, Quotient, Symbol, Tree
from exactattn.errors import NumeralError

Monomial = tuple[tuple[str, int], ...]  # names in order, with exponents other than 0


@dataclass(frozen=True, slots=True)
class Dim:
    """A size: monomials in order, each with its coefficient (none of them 0)."""

    terms: tuple[tuple[Monomial, Fraction], ...]

    @staticmethod
    def number(value: Fraction | int) -> Dim:
        """A plain number."""
        return _dim({(): Fraction(value)})

    @staticmethod
    def named(name: str) -> Dim:
        """A size by its name."""
        return _dim({((name, 1),): Fraction(1)})

    def __add__(self, other: Dim) -> Dim:
        found = dict(self.terms)
        for monomial, c in other.terms:
            found[monomial] = found.get(monomial, Fraction(0)) + c
        return _dim(found)

    def __mul__(self, other: Dim) -> Dim:
        found: dict[Monomial, Fraction] = {}
        for a, x in self.terms:
            for b, y in other.terms:
                key = _times(a, b)
                found[key] = found.get(key, Fraction(0)) + x * y
        return _dim(found)

    def inverse(self) -> Dim:
        """1 over a size of one term. Errors: NumeralError for a sum."""
        if len(self.terms) != 1:
            raise NumeralError(f"found a size divided by {self}, wanted one product below")
        monomial, c = self.terms[0]
        return _dim({tuple((name, -power) for name, power in monomial): 1 / c})

    def substituted(self, values: Mapping[str, Dim]) -> Dim:
        """With names replaced by sizes."""
        total = Dim(())
        for monomial, c in self.terms:
            product = Dim.number(c)
            for name, power in monomial:
                factor = values.get(name, Dim.named(name))
                for _ in range(abs(power)):
                    product = product * (factor if power > 0 else factor.inverse())
            total = total + product
        return total

    def value(self, sizes: Mapping[str, int]) -> Fraction:
        """The number that it is at given sizes."""
        total = Fraction(0)
        for monomial, c in self.terms:
            for name, power in monomial:
                c *= Fraction(sizes[name]) ** power  # noqa: PLW2901 - the running product
            total += c
        return total

    @property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return frozenset(name for monomial, _ in self.terms for name, _ in monomial)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        return " + ".join(_spell(monomial, c) for monomial, c in self.terms)


Shape = tuple[Dim, Dim]


def spell_shape(shape: Shape) -> str:
    """rows x columns."""
    return f"{shape[0]} x {shape[1]}"


def read_dim(tree: Tree) -> Dim:
    """The size that an expression such as H*d_v or d_model/H says. Errors: NumeralError."""
    match tree:
        case Num():
            return Dim.number(tree.value)
        case Symbol(subs=()):
            return Dim.named(tree.base)
        case Product():
            product = ONE
            for factor in tree.factors:
                product = product * read_dim(factor)
            return product
        case Quotient():
            return read_dim(tree.top) * read_dim(tree.bottom).inverse()
        case Plus():
            total = Dim(())
            for term in tree.terms:
                total = total + read_dim(term)
            return total
    raise NumeralError("found a size that is not made of names and numbers with + * /; write for example H*d_v")


def _dim(terms: Mapping[Monomial, Fraction]) -> Dim:
    return Dim(tuple(sorted((m, c) for m, c in terms.items() if c)))


def _times(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for name, power in b:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _spell(monomial: Monomial, c: Fraction) -> str:
    above = [name if power == 1 else f"{name}^{power}" for name, power in monomial if power > 0]
    below = [name if power == -1 else f"{name}^{-power}" for name, power in monomial if power < 0]
    parts = ([str(c)] if c != 1 or not above else []) + above
    return "*".join(parts) + "".join(f"/{name}" for name in below)


ONE = Dim.number(1)
SCALAR: Shape = (ONE, ONE)

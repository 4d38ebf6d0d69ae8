"""Is a SymPy expression zero? Decided in SymPy's sparse polynomials, without its simplifier, within a stated budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from math import comb
from typing import Any

MOST_PRODUCTS = 200_000  # of two terms, for one question; the laws and the cases of this project need some 1000
MOST_TERMS = 20_000  # of an expression that is expanded
ATOM_PRODUCTS = 500  # what SymPy takes for one term with atoms, in products of two terms
MOST_RADICAL_DEGREE = 8  # of the root of a sum, where roots are multiplied out


class TooLarge(ArithmeticError):
    """The question would take more work than its budget."""


@dataclass
class Budget:
    """How many products of two terms may still be computed."""

    left: int = MOST_PRODUCTS

    def take(self, products: int) -> None:
        """Spends some. Errors: TooLarge when there are not so many; the rest stays."""
        if products > self.left:
            raise TooLarge
        self.left -= products


def is_zero(x: Any, budget: Budget | None = None) -> bool | None:
    """Does x vanish identically? None when that is not decided: by what it is made of, or within the budget.

    Proof: `_Reader` maps x homomorphically to a pair (n, d) of polynomials over the rationals with x = n/d, where no
    denominator is the zero polynomial; their generators are symbols and, as atoms, roots and numbers such as pi.
    When n has no terms, x = 0. Without atoms x = 0 only then. With atoms SymPy multiplies out n, which keeps its
    value; what it cannot take to 0 is not decided.
    """
    import sympy as sp

    atoms = sorted(set(_atoms(x, {})), key=sp.default_sort_key)
    generators = [*sorted(x.free_symbols, key=sp.default_sort_key), *atoms]
    if not generators:
        return bool(x == 0) if x.is_Rational else None
    reader = _reader(generators, budget)
    try:
        numerator, _ = reader.pair(x)
        if numerator and atoms:
            return _vanishes(sp, numerator, generators, reader.budget)
    except (TooLarge, ZeroDivisionError):
        return None
    return not numerator


def as_fraction(x: Any, budget: Budget | None = None) -> tuple[Any, Any] | None:
    """x as a quotient of two polynomials in its symbols; None when it is not one, or too large.

    Exact value: x, wherever it is defined. Proof: as for `is_zero`.
    """
    import sympy as sp

    symbols = sorted(x.free_symbols, key=sp.default_sort_key)
    if not symbols or any(True for _ in _atoms(x, {})):
        return None
    try:
        return _reader(symbols, budget).pair(x)
    except (TooLarge, ZeroDivisionError):
        return None


def _reader(generators: list[Any], budget: Budget | None) -> _Reader:
    import sympy as sp

    reader = _Reader(sp.polys.rings.PolyRing(generators, sp.QQ), budget or Budget())
    reader.generators.update(zip(generators, reader.ring.gens, strict=True))
    return reader


def terms(x: Any) -> int:
    """At most how many terms x has when it is multiplied out; any number above MOST_TERMS stands for more."""
    if x.is_Add:
        return min(sum(map(terms, x.args)), MOST_TERMS + 1)
    if x.is_Mul:
        return reduce(lambda a, b: min(a * b, MOST_TERMS + 1), map(terms, x.args), 1)
    if x.is_Pow and x.exp.is_Rational and abs(x.exp) > 1:
        base, power = terms(x.base), int(abs(x.exp))
        return 1 if base == 1 else MOST_TERMS + 1 if power > MOST_TERMS else min(
            comb(base + power - 1, power), MOST_TERMS + 1
        )  # fmt: skip
    return 1


def operations(x: Any, known: dict[Any, int] | None = None) -> int:
    """How many operations x is written with, each part computed once (SymPy's own count takes seconds)."""
    known = {} if known is None else known
    if x not in known:
        known[x] = max(len(x.args) - 1, 0) + sum(operations(part, known) for part in x.args)
    return known[x]


def _split(x: Any) -> tuple[int, Any]:
    """A power with a rational exponent as base^k * root: the integer k and the root."""
    whole = int(x.exp.floor())
    return whole, x.base ** (x.exp - whole)


def _is_root(x: Any) -> bool:
    return bool(x.is_Pow and x.exp.is_Rational and not x.exp.is_Integer)


def _atoms(x: Any, known: dict[Any, None]) -> Iterable[Any]:
    """The parts of x that are neither symbols nor made of others by + * / and integer powers."""
    if x in known or x.is_Symbol or x.is_Rational:
        return
    known[x] = None
    if x.is_Add or x.is_Mul:
        for part in x.args:
            yield from _atoms(part, known)
    elif x.is_Pow and x.exp.is_Integer:
        yield from _atoms(x.base, known)
    elif _is_root(x):
        whole, root = _split(x)
        if whole:
            yield from _atoms(x.base, known)
        if _is_root(root) and 0 < root.exp < 1:
            yield root
        else:
            yield from _atoms(root, known)
    else:
        yield x


def _vanishes(sp: Any, numerator: Any, generators: list[Any], budget: Budget) -> bool | None:
    """Does a polynomial vanish once SymPy multiplies its roots out? True or None."""
    budget.take(ATOM_PRODUCTS * len(numerator))
    for generator, degree in zip(generators, numerator.degrees(), strict=True):
        if _is_root(generator) and not generator.base.is_Rational and degree * generator.exp > MOST_RADICAL_DEGREE:
            return None
    return True if sp.expand(numerator.as_expr(*generators)) == 0 else None


Pair = tuple[Any, Any]


@dataclass
class _Reader:
    """Expressions -> pairs of polynomials, each part once, counting the work before it is done."""

    ring: Any
    budget: Budget
    generators: dict[Any, Any] = field(default_factory=dict)
    known: dict[Any, Pair] = field(default_factory=dict)

    def pair(self, x: Any) -> Pair:
        if x not in self.known:
            self.known[x] = self._reduced(*self._compute(x))
        return self.known[x]

    def _reduced(self, top: Any, bottom: Any) -> Pair:
        """Without common powers of generators, and with leading coefficient 1 below: rows then share denominators."""
        if bottom == 1 or not top:
            return top, self.ring.one if not top else bottom
        common = tuple(-min(pair) for pair in zip(top.tail_degrees(), bottom.tail_degrees(), strict=True))
        unit = 1 / bottom.LC
        return top.mul_monom(common).mul_ground(unit), bottom.mul_monom(common).mul_ground(unit)

    def _compute(self, x: Any) -> Pair:
        if x in self.generators:
            return self.generators[x], self.ring.one
        if x.is_Rational:
            return self.ring.domain_new(self.ring.domain(x.p, x.q)) * self.ring.one, self.ring.one
        if _is_root(x):
            whole, root = _split(x)
            return self._product([self._power(self.pair(x.base), whole), self.pair(root)])
        if x.is_Pow:
            return self._power(self.pair(x.base), int(x.exp))
        parts = [self.pair(part) for part in x.args]
        return self._product(parts) if x.is_Mul else self._sum(parts)

    def _times(self, a: Any, b: Any) -> Any:
        self.budget.take(len(a) * len(b))
        return a * b

    def _power(self, pair: Pair, power: int) -> Pair:
        top, bottom = pair
        if power < 0:
            if not top:
                raise ZeroDivisionError
            top, bottom = bottom, top
        return self._raised(top, abs(power)), self._raised(bottom, abs(power))

    def _raised(self, x: Any, power: int) -> Any:
        if len(x) < 2:
            return x**power
        out = self.ring.one
        for digit in bin(power)[2:]:
            out = self._times(out, out)
            out = self._times(out, x) if digit == "1" else out
        return out

    def _product(self, parts: list[Pair]) -> Pair:
        one: Callable[[Any, Any], Any] = lambda a, b: a if b == 1 else self._times(a, b)  # noqa: E731
        return reduce(one, (top for top, _ in parts), self.ring.one), reduce(one, (b for _, b in parts), self.ring.one)

    def _sum(self, parts: list[Pair]) -> Pair:
        """The sum, with the terms of one denominator added first: softmax rows share theirs."""
        by_denominator: dict[Any, Any] = {}
        for numerator, denominator in parts:
            by_denominator[denominator] = by_denominator.get(denominator, self.ring.zero) + numerator
        top, bottom = self.ring.zero, self.ring.one
        for denominator, numerator in by_denominator.items():
            if denominator == 1:
                top = top + self._times(numerator, bottom)
            else:
                top = self._times(top, denominator) + self._times(numerator, bottom)
                bottom = self._times(bottom, denominator)
        return top, bottom

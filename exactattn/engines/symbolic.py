"""Engine `symbolic`: closed forms and statements about all inputs, by exact algebra in SymPy.

Every exp(x) becomes a symbol at once, and a logarithm too; what is left is a rational function, for which
cancelling decides equality quickly (8 ms where `simplify` takes 0.66 s). The symbols are put in terms of
independent exponentials only when something is to be decided or shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from exactattn.errors import Unavailable
from exactattn.numbers.elementwise import Array, Elementwise
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import LONG_BITS, Exact, evaluate
from exactattn.numbers.rational_functions import MOST_PRODUCTS, MOST_TERMS, Budget, is_zero, operations, terms

MOST_OPERATIONS = 4000
MOST_SHOWN = 600  # operations of a closed form, which is for reading
MOST_POWER_BITS = 4096  # of a rational number raised to a power; scores of 1000 and base 10 stay below
MOST_DEGREE = 64  # of one exponential; above it a closed form is not brought to lowest terms
MOST_TOGETHER = 120  # operations of what is brought to one fraction without that
MOST_RADICAL = 60  # operations of a number with square roots whose denominator is rationalised
MOST_GENERATORS = 12  # exponentials and roots; above it a closed form is shown as it came


class SymbolicField:
    """The `Field` of SymPy expressions; exponentials and logarithms are symbols of its tables."""

    def __init__(self) -> None:
        import sympy

        self.sp = sympy
        self.exponentials: dict[Any, Any] = {}  # symbol -> its argument, free of logarithms of the table
        self.logarithms: dict[Any, Any] = {}  # symbol -> its argument
        self._symbol_of: dict[tuple[str, Any], Any] = {}
        self._circular: dict[Any, Any] = {}
        self._kinds: dict[Any, str] = {}

    def rational(self, x: Fraction) -> Any:
        """x as a SymPy number."""
        return self.sp.Rational(x.numerator, x.denominator)

    def add(self, a: Any, b: Any) -> Any:
        """The sum."""
        return a + b

    def mul(self, a: Any, b: Any) -> Any:
        """The product."""
        return a * b

    def div(self, a: Any, b: Any) -> Any:
        """The quotient."""
        return a / b

    def power(self, a: Any, exponent: Fraction) -> Any:
        """A rational power."""
        return a ** self.rational(exponent)

    def pi(self) -> Any:
        """The number pi."""
        return self.sp.pi

    def name(self, label: str) -> Any:
        """A real variable."""
        return self.sp.Symbol(label, real=True)

    def exp(self, a: Any) -> Any:
        """e^a. Errors: Unavailable for powers of rationals that would fill the memory, such as 10^(10^9).

        Proof: e^(x + c log t) = e^x t^c for t > 0, and logarithms here are of positive numbers only.
        """
        a = self.expanded(a)
        factor = self.sp.S.One
        for symbol, argument in self.logarithms.items():
            coefficient = a.coeff(symbol, 1)
            if coefficient != 0 and coefficient.is_Rational:
                self._bound_power(argument, coefficient)
                factor *= argument**coefficient
                a -= coefficient * symbol
        return factor if a == 0 else factor * self._symbol("E", a, self.exponentials)

    @staticmethod
    def _bound_power(t: Any, exponent: Any) -> None:
        size = max(int(t.p).bit_length(), int(t.q).bit_length()) if t.is_Rational else 0
        if size * abs(exponent) > MOST_POWER_BITS:
            raise Unavailable(f"({t})**({exponent}) has more than {MOST_POWER_BITS} bits")

    def expanded(self, a: Any) -> Any:
        """a, multiplied out. Errors: Unavailable when it could have very many terms."""
        if terms(a) > MOST_TERMS:
            raise Unavailable(f"SymPy cannot multiply out more than {MOST_TERMS} terms here")
        return self.sp.expand(a)

    def log(self, a: Any) -> Any:
        """The natural logarithm of a > 0."""
        return self.sp.S.Zero if a == 1 else self._symbol("L", a, self.logarithms)

    def sin(self, a: Any) -> Any:
        """The sine, a real symbol of its own for each argument: what holds for every number there holds for it."""
        return self._symbol("S", a, self._circular)

    def cos(self, a: Any) -> Any:
        """The cosine, likewise."""
        return self._symbol("C", a, self._circular)

    def spelt(self, x: Any, deepest: int = 12) -> Any | None:
        """x with what each symbol of the tables stands for, those inside others too; None where that goes too deep."""
        made = {"E": self.sp.exp, "L": self.sp.log, "S": self.sp.sin, "C": self.sp.cos}
        tables = self.exponentials | self.logarithms | self._circular
        for _ in range(deepest):
            used = x.free_symbols & tables.keys()
            if not used:
                return x
            if operations(x) > 4 * MOST_SHOWN:
                return None
            x = x.xreplace({symbol: made[self._kinds[symbol]](tables[symbol]) for symbol in used})
        return None

    def _symbol(self, kind: str, argument: Any, table: dict[Any, Any]) -> Any:
        key = (kind, argument)
        if key not in self._symbol_of:
            symbol = (
                self.sp.Dummy(f"{kind}{len(table)}", positive=True)
                if kind == "E"
                else self.sp.Dummy(f"{kind}{len(table)}", real=True)
            )
            self._symbol_of[key] = symbol
            self._kinds[symbol] = kind
            table[symbol] = argument
        return self._symbol_of[key]


class SymbolicArithmetic(Elementwise[Any]):
    """SymPy expressions as an `Arithmetic`, and the decisions about them.

    With `free_shifts` the shift of a row is a fresh real symbol: whatever then cancels holds for every shift, the
    row maximum among them. Without, it is 0.
    """

    def __init__(self, free_shifts: bool = False, most_operations: int = MOST_OPERATIONS) -> None:
        self.algebra = SymbolicField()
        super().__init__("symbolic", self.algebra)
        self.free_shifts = free_shifts
        self.most_operations = most_operations
        self.shifts: list[Any] = []
        self.budget = Budget(10 * MOST_PRODUCTS)  # for all questions together
        self._closed: dict[Any, Any] = {}

    def pick(self, row: Sequence[Any]) -> Any:  # noqa: ARG002 - no order among symbols
        """A fresh symbol, or 0."""
        sp = self.algebra.sp
        if not self.free_shifts:
            return sp.S.Zero
        self.shifts.append(sp.Dummy(f"m{len(self.shifts)}", real=True))
        return self.shifts[-1]

    def symbols(self, label: str, rows: int, columns: int) -> Array:
        """A matrix of real variables label_ij."""
        out = np.empty((rows, columns), object)
        for i, j in np.ndindex(rows, columns):
            out[i, j] = self.algebra.sp.Symbol(f"{label}{i}{j}", real=True)
        return out

    def scalar(self, x: Exact) -> Any:
        """An exact number as a SymPy expression of this arithmetic."""
        return evaluate(x, self.field)

    def equal(self, a: Any, b: Any) -> Answer:
        """Is a = b for all values of the variables? YES is proven; NO is never claimed, only CANNOT_TELL.

        What would take too much work cannot be told, and neither can anything more once that has happened often.
        Proof: both are rational functions of independent exponentials and variables (after `independent`); when the
        numerator of their difference expands to 0 they are equal wherever both are defined. Logarithms are first
        taken away by comparing e^a with e^b, which is the same question for reals.
        """
        sp, budget = self.algebra.sp, Budget(min(MOST_PRODUCTS, self.budget.left))
        before = budget.left
        try:
            difference = a - b
            if difference.has(*self.algebra.logarithms):
                difference = self.algebra.expanded(self._numerator(difference))
            if self.algebra.logarithms and difference.has(*self.algebra.logarithms):
                return self.equal(self.algebra.exp(difference), sp.S.One)
        except Unavailable:
            return Answer.CANNOT_TELL
        difference = self.independent(difference)
        if operations(difference) > self.most_operations:
            return Answer.CANNOT_TELL
        zero = is_zero(difference, budget)
        self.budget.take(before - budget.left)
        return Answer.YES if zero else Answer.CANNOT_TELL

    def _numerator(self, x: Any) -> Any:
        """x, or its numerator where it has logarithms below, such as log(4)/log(2) - 2: 0 where x is 0."""
        sp, logarithms = self.algebra.sp, self.algebra.logarithms
        below = any(p.exp.is_negative and p.base.has(*logarithms) for p in x.atoms(sp.Pow))
        return sp.numer(sp.together(x)) if below and operations(x) <= MOST_SHOWN else x

    def independent(self, x: Any) -> Any:
        """x with its exponentials written as powers of one symbol for each monomial of their arguments.

        Exact value: the same. Proof: an argument is a sum of c_i m_i with rational c_i and monomials m_i free of
        rational factors; with D_i the common denominator of all c_i, e^(c_i m_i) = (e^(m_i / D_i))^(c_i D_i).
        """
        return x.xreplace(self._replacements(x)[0])

    def _replacements(self, x: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Exponential symbols -> products of base symbols; base symbols -> the exponentials they stand for."""
        sp = self.algebra.sp
        terms = {
            symbol: dict(sp.expand(self.algebra.exponentials[symbol]).as_coefficients_dict())
            for symbol in x.free_symbols & self.algebra.exponentials.keys()
        }
        denominators: dict[Any, int] = {}
        for parts in terms.values():
            for monomial, c in parts.items():
                denominators[monomial] = sp.ilcm(denominators.get(monomial, 1), c.q)
        monomials = sorted(denominators, key=sp.default_sort_key)
        bases = {m: sp.Dummy(f"g{i}", positive=True) for i, m in enumerate(monomials)}
        swaps = {
            symbol: sp.Mul(*(bases[m] ** (c * denominators[m]) for m, c in parts.items()))
            for symbol, parts in terms.items()
        }
        return swaps, {base: sp.exp(m / denominators[m]) for m, base in bases.items()}

    def closed(self, x: Any) -> Any | None:
        """x as a plain SymPy expression, in lowest terms while small, or None when it is too large to show.

        Exact value: x. Proof: each symbol is replaced by what it stands for; `cancel` and `together` keep the value.
        """
        if x not in self._closed:
            self._closed[x] = self._close(x)
        return self._closed[x]

    def _close(self, x: Any) -> Any | None:
        sp, logarithms = self.algebra.sp, self.algebra.logarithms
        swaps, back = self._replacements(x)
        short = x.xreplace(swaps)
        if operations(short) > MOST_SHOWN:
            return None
        if any(max(abs(q.p), q.q).bit_length() > LONG_BITS for q in short.atoms(sp.Rational)):
            return None
        short = self._in_lowest_terms(short, back)
        shown = short.xreplace(back)
        used = shown.free_symbols & logarithms.keys()
        arguments = {symbol: self.closed(logarithms[symbol]) for symbol in used}
        if None in arguments.values():
            return None
        return self.algebra.spelt(shown.xreplace({symbol: sp.log(argument) for symbol, argument in arguments.items()}))

    def _in_lowest_terms(self, x: Any, bases: dict[Any, Any]) -> Any:
        """x as one fraction, cancelled where that is quick, or as it is."""
        sp = self.algebra.sp
        roots = {p.base for p in x.atoms(sp.Pow) if p.exp.is_Rational and not p.exp.is_Integer}
        powers = [int(abs(p.exp)) for p in x.atoms(sp.Pow) if p.base in bases]
        if len(x.free_symbols | roots) > MOST_GENERATORS:
            return x
        if not x.free_symbols:
            return sp.radsimp(x) if operations(x) <= MOST_RADICAL and _only_square_roots(sp, x) else x
        if max(powers, default=0) <= MOST_DEGREE:
            return sp.cancel(x)
        return sp.together(x) if operations(x) <= MOST_TOGETHER else x


def _only_square_roots(sp: Any, x: Any) -> bool:
    """Are all the roots in x square roots? SymPy rationalises no others, and takes long to find that out."""
    return all(p.exp.q <= 2 for p in x.atoms(sp.Pow) if p.exp.is_Rational)


class SymbolicEngine:
    """Runs anything written over an `Arithmetic` in SymPy."""

    name = "symbolic"
    guarantee = "exact algebra; cannot tell past a stated operation count"

    def arithmetic(self, free_shifts: bool = False) -> SymbolicArithmetic:
        """SymPy expressions; see `SymbolicArithmetic`."""
        return SymbolicArithmetic(free_shifts)


ENGINE = SymbolicEngine()

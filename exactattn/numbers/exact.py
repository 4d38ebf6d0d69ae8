"""Exact real numbers: a `Fraction`, or a closed expression over fractions.

An `Expr` is never computed when it is made; `evaluate` folds it into whatever number system a `Field`
stands for (SymPy, mpmath, Arb balls), so one expression has one meaning everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Expr:
    """A closed expression that is not known to be rational.

    `op` is one of `add mul div pow exp log sin cos pi name`; `args` are its operands (for `pow` the base and a rational
    exponent), `label` is the name of a `name`. Make them with the functions below, which fold rationals.
    """

    op: str
    args: tuple[Exact, ...] = ()
    label: str = ""

    def __str__(self) -> str:
        """The expression in the language of case files."""
        return spell(self)


Exact = Fraction | Expr
Matrix = tuple[tuple[Exact, ...], ...]

LONG_BITS = 1000  # of a numerator or denominator; longer ones are not spelt out
LONG_DIGITS = 40

PI = Expr("pi")
ZERO = Fraction(0)
ONE = Fraction(1)


def name(label: str) -> Expr:
    """A free real variable, for statements about all inputs."""
    return Expr("name", (), label)


def add(a: Exact, b: Exact) -> Exact:
    """Exact value: a + b."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    if a == ZERO:
        return b
    return a if b == ZERO else Expr("add", (a, b))


def mul(a: Exact, b: Exact) -> Exact:
    """Exact value: a * b."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    if ZERO in (a, b):
        return ZERO
    if a == ONE:
        return b
    return a if b == ONE else Expr("mul", (a, b))


def neg(a: Exact) -> Exact:
    """Exact value: -a."""
    return mul(Fraction(-1), a)


def sub(a: Exact, b: Exact) -> Exact:
    """Exact value: a - b."""
    return add(a, neg(b))


def div(a: Exact, b: Exact) -> Exact:
    """Exact value: a / b. Errors: ZeroDivisionError when b is the rational 0."""
    if isinstance(b, Fraction):
        return mul(a, 1 / b)
    return Expr("div", (a, b))


def power(a: Exact, exponent: Fraction) -> Exact:
    """Exact value: a ** exponent, for a rational exponent; perfect powers of rationals become rationals."""
    if exponent == 1:
        return a
    if exponent == 0:
        return ONE
    if isinstance(a, Fraction):
        root = _rational_root(a, exponent.denominator)
        if root is not None:
            return root**exponent.numerator
    return Expr("pow", (a, exponent))


def sqrt(a: Exact) -> Exact:
    """Exact value: the square root of a, a >= 0."""
    return power(a, Fraction(1, 2))


def exp(a: Exact) -> Exact:
    """Exact value: e ** a."""
    return ONE if a == ZERO else Expr("exp", (a,))


def log(a: Exact) -> Exact:
    """Exact value: the natural logarithm of a, a > 0."""
    return ZERO if a == ONE else Expr("log", (a,))


def sin(a: Exact) -> Exact:
    """Exact value: the sine of a, in radians."""
    return ZERO if a == ZERO else Expr("sin", (a,))


def cos(a: Exact) -> Exact:
    """Exact value: the cosine of a, in radians."""
    return ONE if a == ZERO else Expr("cos", (a,))


class Field(Protocol[T]):
    """A number system that can hold the value of an `Expr`."""

    def rational(self, x: Fraction) -> T:
        """The number x."""

    def add(self, a: T, b: T) -> T:
        """The sum."""

    def mul(self, a: T, b: T) -> T:
        """The product."""

    def div(self, a: T, b: T) -> T:
        """The quotient."""

    def power(self, a: T, exponent: Fraction) -> T:
        """A rational power."""

    def exp(self, a: T) -> T:
        """The exponential."""

    def log(self, a: T) -> T:
        """The natural logarithm."""

    def sin(self, a: T) -> T:
        """The sine."""

    def cos(self, a: T) -> T:
        """The cosine."""

    def pi(self) -> T:
        """The number pi."""

    def name(self, label: str) -> T:
        """A free variable; a field without variables raises `NumeralError`."""


def evaluate(x: Exact, field: Field[T]) -> T:
    """The value of x in a number system.

    Rounding: that of the field; each operation of the expression is done once, in the order written.
    """
    if isinstance(x, Fraction):
        return field.rational(x)
    if x.op == "pow":
        exponent = x.args[1]
        assert isinstance(exponent, Fraction)
        return field.power(evaluate(x.args[0], field), exponent)
    if x.op == "name":
        return field.name(x.label)
    operation: Callable[..., T] = getattr(field, x.op)
    return operation(*(evaluate(arg, field) for arg in x.args))


def evaluate_shared(x: Exact, field: Field[T], known: dict[int, tuple[Exact, T]]) -> T:
    """The same, each shared part once: `known` keeps, by id, what was evaluated, beside its expression.

    Keeping the expression keeps its id from being used again. One `known` belongs to one field at one precision.
    """
    if isinstance(x, Fraction):
        return field.rational(x)
    if id(x) not in known:
        if x.op == "pow":
            assert isinstance(x.args[1], Fraction)
            value = field.power(evaluate_shared(x.args[0], field, known), x.args[1])
        elif x.op == "name":
            value = field.name(x.label)
        else:
            operation: Callable[..., T] = getattr(field, x.op)
            value = operation(*(evaluate_shared(arg, field, known) for arg in x.args))
        known[id(x)] = x, value
    return known[id(x)][1]


def size_of(x: Exact, most: int) -> int:
    """How many operations and numbers x is written with, at most `most`."""
    if isinstance(x, Fraction) or most <= 1:
        return 1
    count = 1
    for arg in x.args:
        count += size_of(arg, most - count)
        if count >= most:
            return most
    return count


def depth_of(x: Exact, known: dict[int, tuple[Exact, int]]) -> int:
    """How many operations stand one inside another; `known` as in `evaluate_shared`."""
    if isinstance(x, Fraction):
        return 0
    if id(x) not in known:
        known[id(x)] = x, 1 + max((depth_of(arg, known) for arg in x.args), default=0)
    return known[id(x)][1]


def substitute(x: Exact, values: Mapping[str, Exact]) -> Exact:
    """x with names replaced by values; unknown names stay."""
    if isinstance(x, Fraction):
        return x
    if x.op == "name":
        return values.get(x.label, x)
    args = tuple(substitute(arg, values) for arg in x.args)
    if x.op == "pow":
        assert isinstance(args[1], Fraction)
        return power(args[0], args[1])
    makers: dict[str, Callable[..., Exact]] = {"add": add, "mul": mul, "div": div, "exp": exp, "log": log}
    makers |= {"sin": sin, "cos": cos}
    return makers[x.op](*args) if x.op in makers else x


def names_in(x: Exact) -> frozenset[str]:
    """The free names of x."""
    if isinstance(x, Fraction):
        return frozenset()
    if x.op == "name":
        return frozenset({x.label})
    return frozenset().union(*(names_in(arg) for arg in x.args))


def is_long(x: Fraction) -> bool:
    """Has x so many digits that nobody reads them? (Python refuses to write more than 4300.)"""
    return max(x.numerator.bit_length(), x.denominator.bit_length()) > LONG_BITS


def _about(x: Fraction) -> str:
    from exactattn.numbers.enclosure import significant

    return f"about {significant(x, LONG_DIGITS)}"


def spell(x: Exact, tight: bool = False) -> str:
    """x in the language of case files, but for rationals of more than 1000 bits, of which 40 digits are told.

    `tight` puts brackets round everything but a single token.
    """
    text, single = _spell(x)
    return f"({text})" if tight and not single else text


def _spell(x: Exact) -> tuple[str, bool]:
    if isinstance(x, Fraction):
        return (_about(x), False) if is_long(x) else (str(x), x.denominator == 1 and x >= 0)
    if x.op in ("name", "pi"):
        return x.label or x.op, True
    if x.op == "pow":
        base, exponent = x.args
        if exponent == Fraction(1, 2):
            return f"sqrt({spell(base)})", True
        return f"{spell(base, True)}**{spell(exponent, True)}", False
    if x.op in ("exp", "log", "sin", "cos"):
        return f"{x.op}({spell(x.args[0])})", True
    sign = {"add": " + ", "mul": "*", "div": "/"}[x.op]
    return sign.join(spell(arg, x.op != "add" or i > 0) for i, arg in enumerate(x.args)), False


def _rational_root(x: Fraction, degree: int) -> Fraction | None:
    """The exact root of x when it is rational, else None (a negative x has none here but for degree 1)."""
    if degree == 1:
        return x
    if x < 0 or degree > 64:
        return None
    top, bottom = _integer_root(x.numerator, degree), _integer_root(x.denominator, degree)
    return None if top is None or bottom is None else Fraction(top, bottom)


def _integer_root(n: int, degree: int) -> int | None:
    """The exact integer root by Newton's iteration from above, or None."""
    if n < 2:
        return n
    root = 1 << -(-n.bit_length() // degree)
    while (step := ((degree - 1) * root + n // root ** (degree - 1)) // degree) < root:
        root = step
    return root if root**degree == n else None

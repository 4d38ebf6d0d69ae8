"""Zero tests of rational functions, against SymPy's own simplifier and against values."""

import random
from fractions import Fraction as F

import pytest
import sympy as sp
from samples import no_hang

from exactattn.numbers.rational_functions import (
    MOST_PRODUCTS,
    MOST_TERMS,
    Budget,
    as_fraction,
    is_zero,
    operations,
    terms,
)

x, y, z = sp.symbols("x y z")


@pytest.mark.parametrize(
    "identity",
    [
        (x + y) ** 3 - x**3 - 3 * x**2 * y - 3 * x * y**2 - y**3,
        x / (x + y) + y / (x + y) - 1,
        1 / (x * y) - 1 / x / y,
        (x**2 - y**2) / (x - y) - x - y,
        sp.Rational(1, 3) * x - x / 3,
        x / (x / y) - y,
    ],
)
def test_identities_vanish_and_what_is_near_them_does_not(identity):
    assert is_zero(identity) is True
    assert is_zero(identity + sp.Rational(1, 10**40)) is False
    assert is_zero(identity + x * sp.Rational(1, 10**40)) is False


@pytest.mark.parametrize("other", [sp.sqrt(2) * x - x * sp.sqrt(2) * 2, sp.exp(x) - 1, x**y, sp.sqrt(x) * x, sp.pi * x])
def test_what_is_not_rational_is_left_to_others(other):
    assert is_zero(other) is None


def test_division_by_an_expression_that_vanishes_is_not_an_identity():
    hidden = (x + y) ** 2 - x**2 - 2 * x * y - y**2
    assert is_zero(z / hidden - z / hidden * 2) is None


@pytest.mark.parametrize("seed", range(30))
def test_random_expressions_agree_with_exact_values(seed):
    rng = random.Random(seed)

    def build(depth):
        if depth == 0:
            return rng.choice([x, y, z, sp.Integer(rng.randint(1, 4))])
        left, right = build(depth - 1), build(depth - 1)
        return rng.choice(
            [lambda: left + right, lambda: left * right, lambda: left / (right + 5), lambda: left - right]
        )()

    expression = build(4)
    point = {s: sp.Rational(rng.randint(1, 10**9), rng.randint(1, 10**9)) for s in (x, y, z)}
    value = expression.subs(point)
    # a nonzero value at one point proves that it is not zero; a random point is a zero of a nonzero one hardly ever
    assert is_zero(expression) is (F(int(value.p), int(value.q)) == 0)


g = sp.symbols("g0:24", positive=True)
ROOTS = [sp.sqrt(p) for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)]


@pytest.mark.parametrize(
    "identity",
    [
        1 / (1 + sp.sqrt(2)) - sp.sqrt(2) + 1,
        (sp.sqrt(3) * x + 1) ** 2 / (1 + y) - (3 * x**2 + 2 * sp.sqrt(3) * x + 1) / (1 + y),
        (x + 1) ** sp.Rational(3, 2) - x * sp.sqrt(x + 1) - sp.sqrt(x + 1),
        sp.pi / (sp.pi + 1) + 1 / (sp.pi + 1) - 1,
        sp.cbrt(2) * x / (sp.cbrt(2) * x + sp.sqrt(2)) + sp.sqrt(2) / (sp.cbrt(2) * x + sp.sqrt(2)) - 1,
    ],
)
def test_roots_and_pi_are_atoms_that_sympy_multiplies_out(identity):
    assert is_zero(identity) is True
    assert is_zero(identity + sp.Rational(1, 10**40)) is None


def test_a_long_row_of_weights_sums_to_one():
    powers = [x ** (n * n - 100) for n in range(24)]
    assert is_zero(sum(p / sum(powers) for p in powers) - 1) is True
    assert is_zero(sum(p / (3 * x**5 * sum(powers)) for p in powers) - 1 / (3 * x**5)) is True


@pytest.mark.parametrize(
    "endless",
    [
        sum(1 / (sum(g) + i) for i in range(1, 20)),
        sum(g) ** 50 - (sum(g) + 1) ** 50 + 1,
        (x + y) ** 9999 - x,
        sum(ROOTS) ** 9 / x - sum(ROOTS) ** 9 / (x + y),
        sum(r * s for r, s in zip(ROOTS, g, strict=False)) ** 2 * sum(ROOTS) ** 5 - x,
    ],
)
def test_what_takes_too_much_work_is_not_decided(endless):
    budget = Budget()
    with no_hang():  # without a budget: minutes and gigabytes
        assert is_zero(endless, budget) is None
    assert 0 <= budget.left <= MOST_PRODUCTS


def test_a_spent_budget_decides_nothing_more():
    assert is_zero(x / (x + y) + y / (x + y) - 1, Budget(1)) is None
    assert is_zero(x / (x + y) + y / (x + y) - 1, Budget(1000)) is True


@pytest.mark.parametrize(
    "expression", [x, (x + y) ** 3, (x + y + 1) ** 5 * (x - y), x * y * (x + 1), (x + y) ** sp.Rational(7, 2)]
)
def test_terms_are_never_more_than_told(expression):
    assert len(sp.Add.make_args(sp.expand(expression))) <= terms(expression) <= MOST_TERMS


def test_very_many_terms_are_told_without_counting_them():
    assert terms((x + y + z) ** 9999) > MOST_TERMS
    assert terms(sum(g) ** 30 * sum(ROOTS)) > MOST_TERMS


def test_operations_are_counted_like_by_sympy():
    assert operations((x + y + z) ** 2 * x) == ((x + y + z) ** 2 * x).count_ops()
    assert operations(x) == 0


def test_a_quotient_of_polynomials_is_read_as_one():
    top, bottom = as_fraction(x / (x + y) + 1 / (z * y))
    value = (x / (x + y) + 1 / (z * y)).subs({x: 2, y: 3, z: 5})
    at = {str(symbol): number for symbol, number in ((x, 2), (y, 3), (z, 5))}
    found = [polynomial.as_expr().subs({x: at["x"], y: at["y"], z: at["z"]}) for polynomial in (top, bottom)]
    assert found[0] / found[1] == value
    assert as_fraction(sp.exp(x) + y) is None
    assert as_fraction(sp.Integer(3)) is None
    hidden = (x + y) ** 2 - x**2 - 2 * x * y - y**2
    assert as_fraction(z / hidden) is None

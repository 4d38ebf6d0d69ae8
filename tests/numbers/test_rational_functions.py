"""Zero tests of rational functions, against SymPy's own simplifier and against values."""

import random
from fractions import Fraction as F

import pytest
import sympy as sp

from exactattn.numbers.rational_functions import is_zero

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

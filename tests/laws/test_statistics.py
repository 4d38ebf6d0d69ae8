"""Sample variances and tails against other systems: mpmath, tables, enumeration, seeded simulation."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactattn.engines.symbolic import ENGINE
from exactattn.laws.chi_square import below, product_below, quantile
from exactattn.laws.moments import expectation, normal_moments
from exactattn.laws.normal_tail import tail
from exactattn.laws.sample_variance import _product_variance, _sample_variance
from exactattn.laws.scaled_variance import variance_of


@settings(max_examples=60, deadline=None)
@given(st.fractions(0, 400, max_denominator=50), st.integers(1, 300))
def test_the_chi_square_law_is_that_of_mpmath(x: Fraction, degrees: int) -> None:
    """Oracle: mpmath's regularised incomplete gamma function at 60 digits."""
    found = below(x, degrees)
    with mpmath.workdps(60):
        true = mpmath.gammainc(
            mpmath.mpf(degrees) / 2, 0, mpmath.mpf(x.numerator) / (2 * x.denominator), regularized=True
        )
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in (found.lower, found.upper))
        assert low - mpmath.mpf(10) ** -50 <= true <= high + mpmath.mpf(10) ** -50
    assert found.upper - found.lower < Fraction(1, 10**20)


@pytest.mark.parametrize(
    ("probability", "degrees", "table"),
    [("0.025", 3, 0.216), ("0.975", 3, 9.348), ("0.95", 1, 3.841), ("0.95", 10, 18.307), ("0.025", 100, 74.222)],
)
def test_quantiles_are_those_of_tables(probability: str, degrees: int, table: float) -> None:
    """Source: chi-square tables, three decimals (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.4)."""
    found = quantile(Fraction(probability), degrees)
    assert float(found.upper - found.lower) < 1e-8
    assert float(found.midpoint) == pytest.approx(table, abs=0.51e-3)


@pytest.mark.parametrize(("n", "m", "d"), [(1, 2, 1), (2, 2, 1), (2, 2, 2), (3, 2, 1), (1, 3, 2)])
def test_the_spread_of_products_by_moments(n: int, m: int, d: int) -> None:
    """Oracle: the expectation of every term of s^2 and s^4, against the closed formula."""
    ar = ENGINE.arithmetic()
    q, k = ar.symbols("q", n, d), ar.symbols("k", m, d)
    moments = dict.fromkeys([*q.flat, *k.flat], normal_moments(ar.algebra.sp, 4))
    found = _sample_variance(ar, ar.matmul_transposed(q, k).reshape(1, n * m))
    assert expectation(ar, found, moments) == d
    spread = _product_variance(n, m, d)
    assert expectation(ar, found**2, moments) - d**2 == ar.algebra.rational(spread)


def test_products_by_simulation() -> None:
    """Oracle: 200,000 seeded products of 3 x 4 and 4 x 2 normal matrices; five standard errors."""
    random = np.random.default_rng(7)
    n, m, d, draws = 3, 2, 4, 200_000
    entries = random.standard_normal((draws, n, d)) @ random.standard_normal((draws, m, d)).transpose(0, 2, 1)
    s2 = entries.reshape(draws, -1).var(axis=1, ddof=1)
    error = 5 / np.sqrt(draws)
    assert s2.mean() == pytest.approx(d, abs=error * s2.std())
    assert s2.var() == pytest.approx(float(_product_variance(n, m, d)), abs=error * ((s2 - d) ** 2).std())


@pytest.mark.parametrize(("limit", "degrees", "others"), [(4.8, 4, 4), (10.0, 3, 6), (0.5, 2, 2)])
def test_the_bound_of_a_product_lies_below_its_probability(limit: float, degrees: int, others: int) -> None:
    """Oracle: mpmath's integral of the density of one times the distribution of the other."""
    bound = product_below(Fraction(limit), degrees, others)
    with mpmath.workdps(20):
        half = mpmath.mpf(degrees) / 2
        density = lambda x: x ** (half - 1) * mpmath.exp(-x / 2) / (2**half * mpmath.gamma(half))  # noqa: E731
        share = lambda x: mpmath.gammainc(mpmath.mpf(others) / 2, 0, limit / (2 * x), regularized=True)  # noqa: E731
        true = mpmath.quad(lambda x: density(x) * share(x), [0, 0.01, 0.1, 1, 4, 10, 30, 100])
    assert 0.8 * true < float(bound) < true


@pytest.mark.parametrize(("deviations", "share"), [("2.5", 0.0124193), ("1.96", 0.0499958), ("1", 0.3173105)])
def test_the_tail_of_the_normal_law(deviations: str, share: float) -> None:
    """Source: tables of the normal law, two-sided, seven decimals; 0.01242 is K12 of the collection."""
    found = tail(Fraction(deviations), Fraction(1))(128)
    assert float(found.midpoint) == pytest.approx(share, abs=0.51e-7)
    scaled = tail(8 * Fraction(deviations), Fraction(64))(128)
    assert scaled.meets(found)


@pytest.mark.parametrize("seed", range(5))
def test_the_variance_of_given_numbers(seed: int) -> None:
    """Oracle: NumPy's variance, both kinds."""
    random = Random(seed)
    numbers = [Fraction(random.randint(-50, 50), random.randint(1, 9)) for _ in range(random.randint(2, 12))]
    for kind, ddof in (("population", 0), ("sample", 1)):
        found = variance_of(list(numbers), kind)
        assert isinstance(found, Fraction)
        assert float(found) == pytest.approx(np.var([float(x) for x in numbers], ddof=ddof), rel=1e-12)

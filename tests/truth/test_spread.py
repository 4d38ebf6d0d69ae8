"""Variance, entropy and saturation against closed forms, source-claims.md, mpmath and NumPy."""

from __future__ import annotations

from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

from exactattn.attention.spec import AttentionSpec, Head, Problem
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import ONE, Expr, div, log, sqrt
from exactattn.truth.rows import shown
from exactattn.truth.spread import is_saturated, mass, saturation, scaled_variance, square, variance


def scores(rows, **spec):
    matrix = tuple(tuple(F(x) for x in row) for row in rows)
    values = tuple((F(j),) for j in range(len(rows[0])))
    return Problem((Head(scores=matrix, v=values),), spec=AttentionSpec(**{"scale": ONE} | spec))


def middle(interval):
    return float(interval.midpoint)


def test_two_equal_scores_have_entropy_ln_2():
    (row,) = saturation(scores([[3, 3]]))
    with mpmath.workdps(40):
        assert shown(row.entropy, 30) == mpmath.nstr(mpmath.log(2), 30)
    assert shown(row.largest, 6) == "0.5"
    assert shown(row.trace, 6) == "0.5"


def test_source_claims_s23_s39(document_n):
    """S23: entropy 1.0534 with 1/sqrt(d_k), 1.0744 with 1/d_k; S39: the diagonal of the Jacobian of row 1."""
    assert shown(saturation(document_n)[0].entropy, 5) == "1.0534"
    assert shown(saturation(document_n.with_spec(scale=F(1, 2)))[0].entropy, 5) == "1.0744"
    assert middle(saturation(document_n)[0].trace) == pytest.approx(0.24022118 + 0.15866054 + 0.24022118, abs=2e-8)


def test_variance_of_document_n_by_hand(document_n):
    """Nine scores 1 0 1 0 1 1 1 1 2: sum 8, squares 10, so 10/9 - 64/81 = 26/81; half of it after 1/sqrt(2)."""
    before = variance(document_n)
    assert before.lower == before.upper == F(26, 81)
    after = scaled_variance(document_n, before)
    assert after.lower == after.upper == F(13, 81)


def test_the_scale_as_a_case_spells_it(document_n):
    """1/sqrt(d_k) in a case file is a quotient of expressions; its square is rational all the same."""
    spelt = div(ONE, sqrt(F(2)))
    assert isinstance(spelt, Expr)
    assert square(spelt) == F(1, 2)


def test_variance_over_allowed_scores_only():
    problem = scores([[1, 100], [5, 3]])
    causal = problem.with_spec(causal="top-left")
    assert variance(causal).lower == F(8, 3)  # 1, 5, 3


def test_irrational_scores_have_a_variance_too():
    problem = Problem((Head(scores=((sqrt(F(2)), F(0)),), v=((F(1),), (F(2),))),), spec=AttentionSpec(scale=ONE))
    assert shown(variance(problem), 12) == "0.500000000000"


def test_base_2_is_base_e_with_ln_2_in_the_scale(document_n):
    two = saturation(document_n.with_spec(base=F(2)))
    scaled = saturation(document_n.with_spec(scale=div(log(F(2)), sqrt(F(2)))))
    for a, b in zip(two, scaled, strict=True):
        assert shown(a.entropy, 25) == shown(b.entropy, 25)
        assert shown(a.trace, 25) == shown(b.trace, 25)


@pytest.mark.parametrize("seed", range(5))
def test_against_mpmath_on_random_rows(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-300, 300, (3, 5))
    problem = scores(rows.tolist(), scale=F(1, 7))
    found = saturation(problem)
    assert float(variance(problem).lower) == pytest.approx(float(np.var(rows)), rel=1e-12)
    with mpmath.workdps(60):
        for row, data in zip(found, rows, strict=True):
            powers = [mpmath.exp(mpmath.mpf(int(x)) / 7) for x in data]
            p = [x / sum(powers) for x in powers]
            for got, want in (
                (row.entropy, -sum(x * mpmath.log(x) for x in p)),
                (row.trace, 1 - sum(x * x for x in p)),
                (row.largest, max(p)),
            ):
                low, high = (mpmath.mpf(e.numerator) / e.denominator for e in (got.lower, got.upper))
                assert low - mpmath.mpf(10) ** -50 <= want <= high + mpmath.mpf(10) ** -50


def test_criterion_on_both_sides():
    assert is_saturated(saturation(scores([[0, 0, 0]]))) is Answer.NO
    assert is_saturated(saturation(scores([[10, 0, 0]]))) is Answer.YES
    # trace is exactly the uniform half at n = 2 for p(1-p) = 1/8, p = 0.853...: ln(p/(1-p)) = 1.7627
    assert is_saturated(saturation(scores([[F("1.76"), 0]]))) is Answer.NO
    assert is_saturated(saturation(scores([[F("1.77"), 0]]))) is Answer.YES


def test_a_row_with_one_key_is_not_saturated():
    assert saturation(scores([[7]])) == []
    assert is_saturated([]) is Answer.NO


def test_mass_of_keys():
    """Scores ln 1 and ln 3 have weights 1/4 and 3/4."""
    problem = Problem((Head(scores=((F(0), log(F(3))),), v=((F(1),), (F(2),))),), spec=AttentionSpec(scale=ONE))
    assert shown(mass(problem, {(0, 0): [0]})[0, 0], 10) == "0.2500000000"

"""Each operation of `midradius` by itself: the ends of its operands' radii, computed exactly, lie in what it gives.

Radii are so large that every term of a bound is needed, or 0 so that only rounding is left.
"""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from mpmath import mp

from exactattn import plugins
from exactattn.numbers.near import Near

ENGINE = plugins.get("engines", "midradius")
CHEAP, SHARP = ENGINE.arithmetic(), ENGINE.arithmetic(sharp=True)
RADII = [(0.0, 0.0), (2.0**-10, 0.0), (0.0, 2.0**-10), (2.0**-7, 2.0**-9)]
SIGNS = (-1, 1)


def near(mid, rel, abs_, nonneg=False):
    return Near(np.array(mid, dtype=float), np.full((1, 1), rel), np.full((1, 1), abs_), nonneg)


def ends(value, sign):
    """Every element at one end of its radius, exactly."""
    rel, abs_ = (np.broadcast_to(part, value.shape).tolist() for part in (value.rel, value.abs))
    return [
        [F(x) + sign * (F(r) * abs(F(x)) + F(d)) for x, r, d in zip(*rows, strict=True)]
        for rows in zip(value.mid.tolist(), rel, abs_, strict=True)
    ]


def assert_in(made, exact):
    found = ENGINE.floats(made)
    for i, row in enumerate(exact):
        for j, x in enumerate(row):
            assert np.isfinite(found.rad[i, j])
            assert abs(x - F(float(found.mid[i, j]))) <= F(float(found.rad[i, j])), (i, j)


def draws(seed, rows, columns):
    """Of all signs and sizes, or all positive."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns)) * 10.0 ** rng.integers(-2, 3, (rows, columns))
    return np.abs(x) if seed % 2 else x


def both(first, second):
    """Two values with every choice of radii, and of ends."""
    for (ra, da), (rb, db) in product(RADII, RADII):
        a, b = near(first, ra, da, bool((first >= 0).all())), near(second, rb, db, bool((second >= 0).all()))
        for s, t in product(SIGNS, SIGNS):
            yield a, b, ends(a, s), ends(b, t)


@pytest.mark.parametrize("arithmetic", [CHEAP, SHARP], ids=["cheap", "sharp"])
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_products(seed, width, arithmetic):
    for a, b, x, y in both(draws(seed, 2, width), draws(seed + 2, width, 2)):
        exact = [[sum(p * q for p, q in zip(row, column, strict=True)) for column in zip(*y, strict=True)] for row in x]
        assert_in(arithmetic.matmul(a, b), exact)
        turned = Near(b.mid.T, b.rel, b.abs, b.nonneg)
        assert_in(arithmetic.matmul_transposed(a, turned), exact)


@pytest.mark.parametrize("seed", range(6))
def test_columns_and_sums(seed):
    for a, c, x, y in both(draws(seed, 3, 2), np.abs(draws(seed + 1, 3, 1)) + 0.5):
        pairs = list(zip(x, y, strict=True))
        assert_in(CHEAP.sub_column(a, c), [[p - q for p in row] for row, (q,) in pairs])
        assert_in(CHEAP.mul_column(a, c), [[p * q for p in row] for row, (q,) in pairs])
        assert_in(CHEAP.div_column(a, c), [[p / q for p in row] for row, (q,) in pairs])
        assert_in(CHEAP.row_sum(a), [[sum(row)] for row in x])
        quotient = CHEAP.matmul(CHEAP.div_column(a, c), CHEAP.lift(np.array([[1.0], [3.0]])))
        assert_in(quotient, [[(row[0] + 3 * row[1]) / q] for row, (q,) in pairs])
    for a, b, x, y in both(draws(seed, 2, 3), draws(seed + 5, 2, 3)):
        sums = [[p + q for p, q in zip(r, s, strict=True)] for r, s in zip(x, y, strict=True)]
        assert_in(CHEAP.add(a, b), sums)
        joined = CHEAP.join([a, b])
        assert_in(joined, [r + s for r, s in zip(x, y, strict=True)])
        assert_in(CHEAP.columns(CHEAP.rows(joined, 1, 2), 2, 5), [(x[1] + y[1])[2:5]])
        assert_in(CHEAP.override(a, {(1, 2): F(1, 3)}), [x[0], [*x[1][:2], F(1, 3)]])


@pytest.mark.parametrize("seed", range(6))
def test_elements_and_transposes(seed):
    for a, b, x, y in both(draws(seed, 3, 2), draws(seed + 5, 3, 2)):
        pairs = [list(zip(r, s, strict=True)) for r, s in zip(x, y, strict=True)]
        assert_in(CHEAP.sub(a, b), [[p - q for p, q in row] for row in pairs])
        assert_in(CHEAP.mul(a, b), [[p * q for p, q in row] for row in pairs])
        assert_in(CHEAP.take(a, [1, 0, 1]), [[row[1], row[0], row[1]] for row in x])
        turned = [[sum(r[i] * s[j] for r, s in zip(x, y, strict=True)) for j in range(2)] for i in range(2)]
        for arithmetic in (CHEAP, SHARP):
            assert_in(arithmetic.transposed_matmul(a, b), turned)
        where = np.array([[True, False], [False, False], [False, True]])
        for fixed in (F(0), F(1, 3), F(-(10**6), 7)):
            rows = [[fixed if w else p for w, p in zip(ws, row, strict=True)] for ws, row in zip(where, x, strict=True)]
            assert_in(CHEAP.fill(a, where, fixed), rows)


def test_a_column_of_radii_turned_on_its_side():
    a = Near(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0], [2.0**-3]]), np.zeros((1, 1)))
    b = Near(np.array([[1.0], [-1.0]]), np.zeros((1, 1)), np.array([[0.0], [2.0**-4]]))
    for s, t in product(SIGNS, SIGNS):
        x, y = ends(a, s), ends(b, t)
        exact = [[sum(r[i] * q[0] for r, q in zip(x, y, strict=True))] for i in range(2)]
        for arithmetic in (CHEAP, SHARP):
            assert_in(arithmetic.transposed_matmul(a, b), exact)


@pytest.mark.parametrize(("rel", "abs_"), [(0.0, 0.0), (2.0**-10, 0.0), (2.0**-20, 2.0**-9), (0.0, 0.25)])
def test_tangents_and_roots(rel, abs_):
    rng = np.random.default_rng(3)
    edges = [0.0, 1e-310, 5e-324, -40.0, 1e300]
    xs = np.concatenate([rng.standard_normal(60) * 10.0 ** rng.integers(-12, 3, 60), edges])
    with mp.workdps(400):
        a = near(xs[:, np.newaxis], rel, abs_)
        found = ENGINE.floats(CHEAP.tanh(a))
        for sign in SIGNS:
            for i, (x,) in enumerate(ends(a, sign)):
                true = mp.tanh(real(x)) if abs(x) < 10**4 else mp.sign(real(x))
                assert abs(true - mp.mpf(found.mid[i, 0])) <= mp.mpf(found.rad[i, 0]), (x, sign)
        b = near(np.abs(xs[:, np.newaxis]) + 2 * abs_, rel, abs_)
        found = ENGINE.floats(CHEAP.sqrt(b))
        for sign in SIGNS:
            for i, (x,) in enumerate(ends(b, sign)):
                assert abs(mp.sqrt(real(x)) - mp.mpf(found.mid[i, 0])) <= mp.mpf(found.rad[i, 0]), (x, sign)


@pytest.mark.parametrize("factor", [F(3), F(1, 3), F(-7, 11), F(1, 8), F(-4), F(2**60 + 1), F(3, 2**1030)])
def test_scales(factor):
    for seed, (rel, abs_), sign in product(range(30), RADII, SIGNS):
        a = near(draws(seed, 1, 4), rel, abs_)
        made = CHEAP.scale(a, factor)
        assert_in(made, [[factor * x for x in row] for row in ends(a, sign)])
        assert_in(CHEAP.sub_column(made, CHEAP.lift(np.ones((1, 1)))), [[factor * x - 1 for x in ends(a, sign)[0]]])


def real(x):
    return mp.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize(("rel", "abs_"), [(0.0, 0.0), (2.0**-21, 0.0), (2.0**-19, 0.0), (2.0**-21, 0.5), (0.0, 2.0)])
def test_exponentials_and_logarithms(rel, abs_):
    rng = np.random.default_rng(1)
    xs = np.concatenate([rng.uniform(-740, -600, 60), rng.uniform(-5, 0, 60), [0.0, -745.0, -746.5, -2000.0, -1e300]])
    with mp.workdps(400):
        for shift in (0.0, 30.0):
            # one element a row, so that no other element hides a radius that is too small
            a = near(xs[:, np.newaxis] + shift, rel, abs_)
            found = ENGINE.floats(CHEAP.exp(a, np.ones(a.shape, bool)))
            for sign in SIGNS:
                for i, (x,) in enumerate(ends(a, sign)):
                    true = mp.exp(real(x)) if x > -(10**5) else mp.mpf(0)
                    assert abs(true - mp.mpf(found.mid[i, 0])) <= mp.mpf(found.rad[i, 0]), (x, sign)
        for ys in (np.exp(rng.uniform(-300, 300, (60, 1))), 1 + rng.uniform(0, 1, (60, 1)) * 2.0**-20):
            b = near(ys, min(rel, 0.25), 0.0)
            found = ENGINE.floats(CHEAP.log(b))
            for sign in SIGNS:
                for i, (y,) in enumerate(ends(b, sign)):
                    assert abs(mp.log(real(y)) - mp.mpf(found.mid[i, 0])) <= mp.mpf(found.rad[i, 0])


def test_products_that_underflow():
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((3, 5)) * 2.0**-540, rng.standard_normal((5, 3)) * 2.0**-530
    x, y = a.tolist(), b.T.tolist()
    exact = [[sum(F(p) * F(q) for p, q in zip(r, c, strict=True)) for c in y] for r in x]
    for arithmetic in (CHEAP, SHARP):
        assert_in(arithmetic.matmul(CHEAP.lift(a), CHEAP.lift(b)), exact)

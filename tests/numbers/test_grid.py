"""The grid certificate: what it calls exact is exact, and it calls the scores of short formats exact."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.numbers.grid import certified, certified_rows, grid_exponents, lowest_bits
from exactattn.numbers.near import exactly
from exactattn.numbers.products import product


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_lowest_bit_is_that_of_the_exact_fraction(x):
    found = lowest_bits(np.array([x]))[0]
    if x == 0:
        assert found == np.inf
        return
    # the largest power of two that divides x, from the integers of the fraction
    top, bottom = abs(F(x)).as_integer_ratio()
    assert F(float(found)) == F(top & -top, bottom)


def test_grid_of_rows():
    a = exactly(np.array([[0.75, 2.0], [0.0, 0.0], [-8.0, 24.0], [5e-324, 1.0]]))
    assert grid_exponents(a, 1)[:, 0].tolist() == [-2, 0, 3, -1074]


def sums(a, b):
    return [[sum(F(x) * F(y) for x, y in zip(p, q, strict=True)) for q in b.tolist()] for p in a.tolist()]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_certified_is_exact(seed):
    """Rows of mixed length of mantissa and mixed size, near the limit of 53 bits and both ends of the range."""
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 20))

    def draw(n):
        bits = rng.integers(1, 30, (n, 1))
        whole = np.floor(rng.uniform(-1, 1, (n, width)) * 2.0**bits) * (rng.random((n, width)) < 0.9)
        return np.ldexp(whole, rng.choice([-560, -520, -40, 0, 0, 0, 30, 460], (n, 1)))

    a, b = draw(12), draw(10)
    left, right = exactly(a), exactly(b)
    found, exact, made = certified(left, right), sums(a, b), product(left, right, transposed=True)
    assert found.any()
    for i, j in np.argwhere(found):
        assert F(float((a @ b.T)[i, j])) == exact[i][j]
    for i in np.nonzero(certified_rows(left, right)[:, 0])[0]:
        assert found[i].all()
        assert [F(x) for x in made.mid[i].tolist()] == exact[i]
        assert not np.broadcast_to(made.abs, made.shape)[i].any()


def test_one_bit_too_many_is_not_certified():
    # 2^53 + 1 needs 54 bits: 2^52 + 2^52 + 1; float64 loses the 1
    a, b = exactly(np.array([[2.0**52, 2.0**52, 1.0]])), exactly(np.ones((1, 3)))
    assert not certified(a, b).any()
    assert not certified_rows(a, b).any()
    # finer than any float64: 2^-600 times 2^-600
    tiny = exactly(np.array([[2.0**-600]]))
    assert not certified(tiny, tiny).any()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_scores_of_normal_numbers_in_short_formats(name):
    import ml_dtypes

    dtype = np.float16 if name == "float16" else ml_dtypes.bfloat16
    rng = np.random.default_rng(0)
    a, b = (exactly(rng.standard_normal((1024, 64)).astype(dtype).astype(np.float64)) for _ in range(2))
    assert certified(a, b).mean() >= 0.999


def test_enclosed_inputs_are_never_certified():
    from exactattn.numbers.near import Near

    a = exactly(np.ones((2, 2)))
    b = Near(np.ones((2, 2)), np.full((1, 1), 1e-16), np.zeros((1, 1)))
    assert not certified(a, b).any()
    assert not certified_rows(b, a).any()

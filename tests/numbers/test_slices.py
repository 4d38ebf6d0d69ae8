"""Products by slices hold the exact product, and their radius is about one rounding; slices add up to the number."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from exactattn.numbers.near import exactly
from exactattn.numbers.slices import Slices, sliced_product

numbers = st.one_of(st.floats(-1e30, 1e30, allow_subnormal=True), st.floats(-1, 1), st.integers(-(2**40), 2**40))


@given(arrays(np.float64, (2, 3), elements=numbers.map(float)), st.integers(5, 26))
def test_slices_add_up_and_keep_their_grid(x, bits):
    found = Slices.of(x, bits)
    if found is None:
        return
    for row, high, low in zip(x.tolist(), found.high.tolist(), found.low.tolist(), strict=True):
        top = max(map(abs, row))
        grid = F(2) ** (int(np.frexp(top)[1]) - bits)
        for a, b, c in zip(row, high, low, strict=True):
            assert F(b) + F(c) == F(a)
            assert F(b) % grid == 0
            assert abs(F(c)) <= grid / 2


@given(arrays(np.float64, (2, 5), elements=numbers.map(float)), arrays(np.float64, (3, 5), elements=numbers.map(float)))
def test_sliced_products_hold_the_exact_ones(a, b):
    found = sliced_product(exactly(a), exactly(b))
    if found is None:
        return
    mid, rad = found.mid, found.radius()
    for i, j in np.ndindex(2, 3):
        exact = sum(F(x) * F(y) for x, y in zip(a[i].tolist(), b[j].tolist(), strict=True))
        assert abs(exact - F(float(mid[i, j]))) <= F(float(rad[i, j]))


@pytest.mark.parametrize("spread", [0, 6])
def test_the_radius_is_about_one_rounding(spread):
    rng = np.random.default_rng(0)
    a, b = (
        rng.standard_normal((20, 64)).astype(np.float32) * 2.0 ** rng.integers(-spread, spread + 1, (20, 64))
        for _ in "ab"
    )
    a, b = a.astype(np.float64), b.astype(np.float64)
    found = sliced_product(exactly(a), exactly(b))
    sizes = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)
    assert (found.radius() <= 2.0**-52 * np.abs(found.mid) + 2.0**-60 * sizes.max()).all()
    for i, j in np.ndindex(20, 20):
        exact = sum(F(x) * F(y) for x, y in zip(a[i].tolist(), b[j].tolist(), strict=True))
        assert abs(exact - F(float(found.mid[i, j]))) <= F(float(found.radius()[i, j]))


def test_what_cannot_be_cut_is_left_alone():
    assert Slices.of(np.array([[1e-300, 0.0]]), 20) is None
    assert Slices.of(np.array([[np.inf, 0.0]]), 20) is None
    zero = Slices.of(np.zeros((1, 2)), 20)
    assert not zero.high.any()
    assert not zero.low.any()

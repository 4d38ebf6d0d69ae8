"""Float enclosures ask and answer as rational ones do; sizes of `Near` are never too small."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.numbers.balls import TooCoarse
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import FORMATS
from exactattn.numbers.near import CHUNK, U, chunked_sum, exactly, gamma, roundings, summed_up, up
from exactattn.numbers.spacing import spacing

ANY = st.floats(allow_nan=False, allow_infinity=False, width=64)
SIZE = st.floats(0, 1e300)


@given(ANY, SIZE, ANY)
def test_error_holds_the_exact_error(mid, rad, data):
    box = FloatEnclosure(np.array([[mid]]), np.array([[rad]]))
    m, r = (float(x[0, 0]) for x in box.error_of(np.array([[data]])))
    if np.isnan(m):
        assert not np.isfinite(data - mid)
        return
    for end in (F(mid) - F(rad), F(mid) + F(rad)):
        assert abs(F(data) - end - F(m)) <= F(r)


def test_the_face_of_an_enclosure():
    box = FloatEnclosure(np.array([[1.5, np.nan, 2.0]]), np.array([[0.25, np.nan, np.inf]]))
    assert box.shape == (1, 3)
    assert (box[0, 0].lower, box[0, 0].upper) == (F(5, 4), F(7, 4))
    assert box[0, 1] is None
    with pytest.raises(TooCoarse):
        _ = box[0, 2]
    assert box.part((slice(None), slice(0, 2))).exact()[0, 0].contains(F(3, 2))
    assert box.transposed().shape == (3, 1)
    assert box.defined.tolist() == [[True, False, True]]
    assert np.isnan(box.error_of(np.array([[1.0, 1.0, 1.0]]))[1]).tolist() == [[False, True, True]]
    assert [x.tolist() for x in FloatEnclosure(np.ones((1, 1)), np.zeros((1, 1))).error_of(np.ones((1, 1)))] == [
        [[0.0]],
        [[0.0]],
    ]
    with pytest.raises(TypeError, match="=="):
        _ = box == box


@given(st.lists(ANY, min_size=1, max_size=9))
def test_sizes_are_upper_bounds(xs):
    near = exactly(np.array([xs]))
    exact = [abs(F(x)) for x in xs]

    def bound(found):
        return F(float(found[0, 0])) if np.isfinite(found[0, 0]) else F(10) ** 400

    assert bound(near.one(1)) >= sum(exact)
    assert bound(near.two(1)) ** 2 >= sum(x * x for x in exact)
    assert bound(near.most(1)) == max(exact)
    assert bound(exactly(np.array([xs]).T).two(0)) ** 2 >= sum(x * x for x in exact)


def test_gamma_and_inflation_are_upper_bounds():
    u = F(1, 2**53)
    for n in (1, 2, 100, 10**6, 2**31):
        assert F(gamma(n)) >= n * u / (1 - n * u)
    assert F(up(1.0)) * (1 - u) ** 4096 >= 1
    for n in (1, 1000, 2**20):
        # (1 - u)^(n + 1) >= 1 - (n + 1) u
        assert F(float(summed_up(1.0, n))) * (1 - (n + 1) * u) >= 1


@pytest.mark.parametrize("length", [1, CHUNK, 2 * CHUNK, 2 * CHUNK + 1, 5 * CHUNK, 5 * CHUNK + 7, 40 * CHUNK + 9])
def test_sums_in_pieces(length):
    xs = np.random.default_rng(length).uniform(0, 1, (3, length))
    for made, row in zip(chunked_sum(xs)[:, 0].tolist(), xs.tolist(), strict=True):
        exact = sum(map(F, row))
        assert abs(F(made) - exact) <= exact * F(gamma(roundings(length)))
    assert gamma(roundings(length)) <= (length + 4) * U * 1.01


@pytest.mark.parametrize("name", FORMATS)
def test_spacing_is_the_ulp_of_the_format(name):
    fmt = FORMATS[name]
    sizes = [0.0, 5e-324, 1e-310, 2.0**-1022, 1e-45, 1e-8, 0.1, 1.0, 1.5, 2.0, 447.0, 448.0, 65504.0, 1e30, 1e300]
    assert [F(x) for x in spacing(np.array(sizes), fmt).tolist()] == [max(fmt.ulp(x), F(5e-324)) for x in sizes]

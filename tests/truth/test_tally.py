"""Counting of errors: enclosures in ulps hold the exact error, the ladder takes what is open, rows are drawn once."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.attention.spec import Stage
from exactattn.errors import ProblemError
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import FORMATS
from exactattn.truth.blocks import enclose_heads
from exactattn.truth.outputs import per_head, sampled
from exactattn.truth.tally import Tally, climbed, in_ulps, measured
from exactattn.truth.tensors import Tensors

FLOATS = st.floats(-1e30, 1e30, allow_subnormal=True)


@given(st.sampled_from(list(FORMATS.values())), FLOATS, st.floats(0, 1e-3), st.floats(-1, 1), FLOATS, st.booleans())
def test_the_error_in_ulps_lies_in_its_enclosure(fmt, mid, relative, place, data, near):
    rad = abs(mid) * relative
    t = F(mid) + F(rad) * F(place)
    data = mid * (1 + relative) if near else data
    found = FloatEnclosure(np.array([mid]), np.array([rad]))
    least, most = in_ulps(measured(found, np.array([data])), fmt)
    exact = abs(F(data) - t) / fmt.ulp(t)
    assert np.isnan(least[0]) or F(least[0]) <= exact
    assert not np.isfinite(most[0]) or exact <= F(most[0])


@pytest.mark.parametrize("bound", [0.5, 1.0, 3.0])
def test_a_tally_counts_what_exact_arithmetic_counts(bound):
    rng = np.random.default_rng(2)
    fmt, t = FORMATS["float16"], rng.standard_normal((50, 3))
    data = t.astype(np.float16).astype(float) + rng.integers(-4, 5, t.shape) * 2.0**-11
    tally = Tally(fmt, (bound,))
    found = FloatEnclosure(t, np.full(t.shape, 1e-15))
    tally.add(data, measured(found, data), np.ones(t.shape, bool), lambda place: place)
    exact = [abs(F(x) - F(y)) / fmt.ulp(F(y)) for x, y in zip(data.flat, t.flat, strict=True)]
    assert tally.within[bound] == [sum(x <= bound for x in exact), sum(x > bound for x in exact), 0]
    assert F(tally.least) <= max(exact) <= F(tally.most)
    assert tally.at == tuple(int(i) for i in np.unravel_index(exact.index(max(exact)), t.shape))


def test_counts_of_parts_add_up():
    rng = np.random.default_rng(2)
    t = rng.standard_normal((40, 3))
    data = t.astype(np.float32).astype(float)
    data[3, 1], data[30, 0] = np.nan, 7.0
    found, defined = FloatEnclosure(t, np.full(t.shape, 1e-12)), np.arange(40)[:, None] % 9 + np.zeros((1, 3)) > 0
    whole, parts = Tally(FORMATS["float32"], (0.5, 1.0)), Tally(FORMATS["float32"], (0.5, 1.0))
    whole.add(data, measured(found, data), defined, lambda place: place)
    for start in range(0, 40, 7):
        some = slice(start, start + 7)
        one = Tally(whole.fmt, whole.bounds)
        place = lambda index, start=start: (index[0] + start, index[1])  # noqa: E731
        one.add(data[some], measured(found.part(some), data[some]), defined[some], place)
        parts.join(one)
    assert parts == whole
    assert (whole.unfounded, whole.unfounded_at, whole.at) == (1, (3, 1), (30, 0))


def test_only_rows_that_are_open_climb_and_come_back_decided():
    """Floats of float64 half an ulp from the truth are beyond midradius; a whole ulp off is not, for most."""
    rng = np.random.default_rng(0)
    tensors = Tensors.of(*(rng.standard_normal((12, 4)) for _ in range(3)))
    rows = np.array([1, 4, 7])
    (found,) = enclose_heads([(tensors.heads[0], rows)])
    data = found.mid + 0.25
    data[1] = found.mid[1]
    tally = Tally(FORMATS["float64"], (0.5, 1.0))
    error = climbed(tensors, 0, rows, data, measured(found, data), ~np.isnan(found.mid), tally, Stage.CONTEXT)
    assert tally.rows == {"midradius": 3, "midradius, sharp": 1, "ball": 1}
    assert (error.rad[1] < 1e-20).all()
    assert (error.rad[[0, 2]] == measured(found, data).rad[[0, 2]]).all()


@given(st.integers(1, 60), st.integers(0, 5))
def test_drawn_rows_are_distinct_and_as_many_as_asked(count, seed):
    starts = np.array([0, 7, 7, 30])
    x = np.ones((30, 2, 1))
    tensors = Tensors.of(x, x, x, layout="THD", query_starts=starts, key_starts=starts)
    rows = sampled(tensors, count, seed)
    assert sum(map(len, rows)) == min(count, 60)
    for head, some in zip(tensors.heads, rows, strict=True):
        assert list(some) == sorted(set(some))
        assert all(0 <= i < head.lengths[0] for i in some)


def test_every_row_is_drawn_about_equally_often():
    tensors = Tensors.of(*(np.ones((3, 10, 1)) for _ in range(3)))
    counts = np.zeros((3, 10))
    for seed in range(600):
        for head, some in enumerate(sampled(tensors, 5, seed)):
            counts[head, some] += 1
    assert counts.min() > 50  # 100 each are expected, with a deviation of 9
    assert counts.max() < 150


def test_weights_of_packed_sequences_have_no_layout():
    x = np.ones((4, 2, 1))
    tensors = Tensors.of(x, x, x, layout="THD", query_starts=np.array([0, 4]))
    with pytest.raises(ProblemError, match="packed"):
        per_head(tensors, np.ones((2, 4, 4)), Stage.WEIGHTS, "weights")

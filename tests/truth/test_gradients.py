"""Gradients of tensors with every option, against differences of the second text in mpmath; and what must be 0."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from loops import drawn, oracle, tensors_of
from mpmath import mp

from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.errors import ProblemError
from exactattn.truth.gradients import enclose_gradients, enclose_gradients_by_balls
from exactattn.truth.tensors import Tensors

DIGITS = 70
STEP = F(1, 10**30)  # a central difference of 70 digits errs by about 1e-60 / 1e-10


def loss(arrays, spec, extra, g, dl):
    """sum g o context + sum dl o lse, over rows that have them."""
    slope = None if spec.alibi is None else spec.alibi.slopes[0]
    rows = oracle(*arrays, spec, slope=slope, **extra)
    total = mp.mpf(0)
    for i, (_, lse, context) in enumerate(rows):
        total += 0 if context is None else mp.fdot(context, [mp.mpf(x) for x in g[i]])
        total += 0 if lse is None or dl is None else lse[0] * mp.mpf(dl[i, 0])
    return total


def exact(x):
    return np.array([[F(t) for t in row] for row in x.tolist()], object).reshape(x.shape)


def slope_at(f, x, place):
    """df / dx[place] by a central difference."""
    ends = []
    for sign in (1, -1):
        moved = x.copy()
        moved[place] = x[place] + sign * STEP
        ends.append(f(moved))
    return (ends[0] - ends[1]) / (2 * mp.mpf(STEP.numerator) / STEP.denominator)


def assert_holds(found, truth, most=1e-7):
    for place in np.ndindex(*truth.shape):
        mid, rad = found.mid[place], found.rad[place]
        assert abs(mp.mpf(mid) - truth[place]) <= mp.mpf(rad) + mp.mpf(10) ** -35, place
        assert rad <= most


@pytest.mark.parametrize("seed", range(40))
def test_gradients_with_every_option(seed):
    (q, k, v), spec, extra = drawn(1000 + seed)
    if extra["sink"] is None and spec.masked_row == "undefined":
        spec = AttentionSpec(**{name: getattr(spec, name) for name in spec.__slots__} | {"masked_row": "zero"})
    rng = np.random.default_rng(seed)
    tensors = tensors_of((q, k, v), spec, extra)
    head = tensors.heads[0]
    some = np.arange(len(q))
    g = rng.standard_normal((len(q), v.shape[1]))
    dl = rng.standard_normal((len(q), 1)) if seed % 3 == 0 else None
    g[head.undefined(some)] = 0
    if dl is not None:
        dl[head.undefined(some, Stage.LSE)] = 0
    made = [
        enclose_gradients(tensors, g, dl, bias=True, block=[None, 2][seed % 2], sharp=seed % 4 == 1),
        enclose_gradients_by_balls(tensors, g, dl, bias=True, bits=200, block=3),
    ]
    with mp.workdps(DIGITS):
        inputs = {"q": exact(q), "k": exact(k), "v": exact(v)}
        for name, x in inputs.items():

            def f(moved, name=name):
                return loss([{**inputs, name: moved}[part] for part in "qkv"], spec, extra, g, dl)

            truth = np.array([slope_at(f, x, place) for place in np.ndindex(*x.shape)], object).reshape(x.shape)
            for one in made:
                assert_holds(getattr(one, name), truth)
        if extra["bias"] is not None:
            bias = exact(extra["bias"])
            f = lambda moved: loss(list(inputs.values()), spec, {**extra, "bias": moved}, g, dl)  # noqa: E731
            truth = np.array([slope_at(f, bias, place) for place in np.ndindex(*bias.shape)], object)
            for one in made:
                assert_holds(one.bias, truth.reshape(1, 1, *bias.shape))
        if extra["sink"] is not None:
            f = lambda moved: loss(list(inputs.values()), spec, {**extra, "sink": moved[0]}, g, dl)  # noqa: E731
            truth = slope_at(f, np.array([extra["sink"]], object), 0)
            for one in made:
                assert_holds(one.sinks, np.array([truth]))


def grouped(seed, **options):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, 4, 5, 4), (2, 2, 6, 4), (2, 2, 6, 3)))
    return Tensors.of(q, k, v, AttentionSpec(causal="bottom-right"), **options), (q, k, v)


def test_heads_that_share_keys_add_up():
    """dk and dv of a group are the sums of those of each query head with keys of its own."""
    g = np.random.default_rng(9).standard_normal((2, 4, 5, 3))
    tensors, (q, k, v) = grouped(1)
    shared = enclose_gradients(tensors, g, workers=2)
    own = enclose_gradients(Tensors.of(q, *(np.repeat(x, 2, axis=1) for x in (k, v)), tensors.spec), g)
    assert (shared.q.mid == own.q.mid).all()
    for name in "kv":
        parts = getattr(own, name).mid.reshape(2, 2, 2, 6, -1).sum(axis=2)
        found = getattr(shared, name)
        assert (np.abs(found.mid - parts) <= found.rad).all()
    balls = enclose_gradients_by_balls(tensors, g)
    for name in "qkv":
        near, sharp = getattr(shared, name), getattr(balls, name)
        assert (np.abs(near.mid - sharp.mid) <= near.rad + sharp.rad).all()
        assert near.rad.max() < 1e-11


def test_biases_and_sinks_that_are_shared_add_up():
    rng = np.random.default_rng(4)
    g = rng.standard_normal((2, 4, 5, 3))
    bias = rng.standard_normal((4, 1, 6))
    tensors, (q, k, v) = grouped(2, bias=bias, sinks=[0.0, 0.5, -1.0, 2.0])
    shared = enclose_gradients(tensors, g, bias=True)
    assert shared.bias.shape == (1, 4, 1, 6)
    full = np.broadcast_to(bias, (2, 4, 5, 6))
    each = enclose_gradients(Tensors.of(q, k, v, tensors.spec, bias=full, sinks=[0.0, 0.5, -1.0, 2.0]), g, bias=True)
    want = each.bias.mid.sum(axis=(0, 2), keepdims=True)
    assert (np.abs(shared.bias.mid - want) <= shared.bias.rad + 1e-12).all()
    assert (shared.sinks.mid == each.sinks.mid).all()


def test_layouts_of_gradients():
    g = np.random.default_rng(9).standard_normal((2, 4, 5, 3))
    tensors, (q, k, v) = grouped(1)
    want = enclose_gradients(tensors, g)
    turned = Tensors.of(*(x.transpose(0, 2, 1, 3) for x in (q, k, v)), tensors.spec, layout="BLHD")
    found = enclose_gradients(turned, g.transpose(0, 2, 1, 3))
    for name in "qkv":
        assert (getattr(found, name).mid.transpose(0, 2, 1, 3) == getattr(want, name).mid).all()


def test_rows_of_one_key_have_exactly_no_gradient_of_scores():
    rng = np.random.default_rng(5)
    q, v, g = (rng.standard_normal((4, 3)) for _ in range(3))
    k = rng.standard_normal((4, 3))
    tensors = Tensors.of(q, k, v, mask=np.eye(4, dtype=bool))
    for found in (enclose_gradients(tensors, g), enclose_gradients_by_balls(tensors, g)):
        for part in (found.q, found.k):
            assert not part.mid.any()
            assert not part.rad.any()
        assert np.allclose(found.v.mid, g)
    sunk = enclose_gradients(Tensors.of(q, k, v, mask=np.eye(4, dtype=bool), sinks=[0.0]), g)
    assert (np.abs(sunk.q.mid) > sunk.q.rad).any()


def test_rows_without_a_key_and_keys_that_nobody_sees():
    """The gradients of an empty row are 0; only the other row reaches dk and dv, and none the last key."""
    q, k = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    v = k * [[1], [1], [2]]
    mask = np.array([[True, True, False], [False, False, False]])
    tensors = Tensors.of(q, k, v, mask=mask)
    found = enclose_gradients(tensors, np.array([[1.0, 1.0], [0.0, 0.0]]))
    w = 0.66976155  # softmax of [1, 0] / sqrt 2
    assert np.allclose(found.v.mid, [[w, w], [1 - w, 1 - w], [0, 0]], atol=1e-8)
    for part in (found.q.mid[1], found.q.rad[1], found.k.mid[2], found.k.rad[2], found.v.mid[2], found.v.rad[2]):
        assert not part.any()
    lost = enclose_gradients(tensors, np.ones((2, 2)))
    assert np.isnan(lost.q.mid[1]).all()
    assert np.isfinite(lost.q.mid[0]).all()
    assert np.isnan(lost.k.mid).all()
    zero = enclose_gradients(Tensors.of(q, k, v, AttentionSpec(masked_row="zero"), mask), np.ones((2, 2)))
    assert not zero.q.mid[1].any()
    assert np.allclose(zero.v.mid, found.v.mid)
    mean = enclose_gradients(Tensors.of(q, k, v, AttentionSpec(masked_row="uniform"), mask), np.ones((2, 2)))
    assert np.allclose(mean.v.mid, found.v.mid + 1 / 3)


def test_no_queries_and_no_keys():
    x, none = np.ones((3, 2)), np.zeros((0, 2))
    found = enclose_gradients(Tensors.of(none, x, x), none)
    assert found.q.shape == (0, 2)
    assert not found.k.mid.any()
    found = enclose_gradients(Tensors.of(x, none, none, AttentionSpec(masked_row="zero")), x)
    assert found.k.shape == (0, 2)
    assert not found.q.mid.any()


@pytest.mark.parametrize(
    ("g", "text"),
    [
        (np.ones((2, 2)), "is not that of the outputs|wanted"),
        (np.ones((3, 3)), "wanted"),
        (np.full((3, 2), np.nan), "NaN or an infinity"),
        (np.ones((3, 2), int), "type int64"),
        (np.ones((1, 3, 2)), "layout LD"),
    ],
)
def test_gradients_of_outputs_that_do_not_fit(g, text):
    x = np.ones((3, 2))
    with pytest.raises(ProblemError, match=text):
        enclose_gradients(Tensors.of(x, x, x), g)

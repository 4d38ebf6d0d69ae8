"""Every option of the spec on tensors, against a second text of attention: plain loops in mpmath, written by itself."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from loops import drawn, expected, tensors_of
from mpmath import mp

from exactattn import plugins
from exactattn.attention.definition import stages
from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.attention.positions import tables
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.errors import ProblemError
from exactattn.numbers.balls import enclose as enclose_number
from exactattn.numbers.exact import log
from exactattn.truth.ball_blocks import enclose_by_balls
from exactattn.truth.blocks import enclose, enclose_heads
from exactattn.truth.tensors import Tensors

BALL = plugins.get("engines", "ball")


def assert_is(found, rows, which):
    """Enclosures hold the truth and are small; undefined rows are undefined."""
    with mp.workdps(50):
        for i, row in enumerate(rows):
            if row[which] is None:
                assert np.isnan(found.mid[i]).all()
                continue
            for j, x in enumerate(row[which]):
                assert abs(mp.mpf(found.mid[i, j]) - x) <= mp.mpf(found.rad[i, j]) <= 1e-8, (i, j)


@pytest.mark.parametrize("seed", range(150))
def test_midradius_with_every_option(seed):
    arrays, spec, extra = drawn(seed)
    tensors, rows = tensors_of(arrays, spec, extra), expected(arrays, spec, extra)
    for which, stage in enumerate((Stage.WEIGHTS, Stage.LSE, Stage.CONTEXT)):
        for sharp, block in ((False, None), (True, 2)):
            (found,) = enclose_heads([(tensors.heads[0], None)], stage, sharp=sharp, block=block)
            assert_is(found, rows, which)


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.parametrize("engine", ["ball", "multiprecision"])
def test_other_engines_with_every_option(seed, engine):
    arrays, spec, extra = drawn(seed)
    head, rows = tensors_of(arrays, spec, extra).heads[0], expected(arrays, spec, extra)
    some = np.arange(len(arrays[0]))
    with BALL.precision(200), mp.workdps(50):
        found = stages(head.problem(some), plugins.get("engines", engine).arithmetic(), until=Stage.CONTEXT)
        for which, stage in enumerate((Stage.WEIGHTS, Stage.LSE, Stage.CONTEXT)):
            undefined = head.undefined(some, stage)
            for i, row in enumerate(rows):
                assert (row[which] is None) == undefined[i], (stage, i)
                for x, y in zip(row[which] or (), found[stage, 0][i], strict=row[which] is not None):
                    value = mp.mpf(y.str(45, radius=False)) if engine == "ball" else mp.mpf(y)
                    assert abs(x - value) <= mp.mpf(10) ** -35 * (1 + abs(x))


def test_layouts_give_the_same_numbers():
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal(s).astype(np.float32) for s in ((2, 6, 5, 4), (2, 3, 7, 4), (2, 3, 7, 2)))
    want = enclose(Tensors.of(q, k, v)).mid
    assert want.shape == (2, 6, 5, 2)
    turned = [x.transpose(0, 2, 1, 3) for x in (q, k, v)]
    assert (enclose(Tensors.of(*turned, layout="BLHD")).mid == want.transpose(0, 2, 1, 3)).all()
    flat = [x.reshape(*x.shape[:2], -1) for x in turned]
    found = enclose(Tensors.of(*flat, layout="BLD", query_heads=6, key_heads=3)).mid
    assert (found == want.transpose(0, 2, 1, 3).reshape(2, 5, 12)).all()
    assert (enclose(Tensors.of(q[0], k[0], v[0])).mid == want[0]).all()
    thd = [np.concatenate(list(x)) for x in turned]
    found = enclose(Tensors.of(*thd, layout="THD", query_starts=[0, 5, 10], key_starts=[0, 7, 14])).mid
    assert (found == np.concatenate(list(want.transpose(0, 2, 1, 3)))).all()
    past = enclose(Tensors.of(q, k[:, :, 3:], v[:, :, 3:], past_key=k[:, :, :3], past_value=v[:, :, :3])).mid
    assert (past == want).all()


def test_head_maps():
    """With one key the output is its value; grouped is what onnx, torch and jax give."""
    q, k = np.ones((1, 4, 1, 2)), np.ones((1, 2, 1, 2))
    v = np.array([10.0, 20.0]).reshape(1, 2, 1, 1)
    assert enclose(Tensors.of(q, k, v)).mid.ravel().tolist() == [10, 10, 20, 20]
    assert enclose(Tensors.of(q, k, v, AttentionSpec(head_map="tiled"))).mid.ravel().tolist() == [10, 20, 10, 20]


def test_a_nan_where_nobody_looks_changes_nothing():
    rng = np.random.default_rng(2)
    q, k, v = (rng.standard_normal((4, 2)) for _ in range(3))
    spec = AttentionSpec(causal="top-left", masked_row="zero")
    want = enclose(Tensors.of(q, k, v, spec)).mid
    k[3], v[2] = np.nan, np.inf
    found = enclose(Tensors.of(q, k, v, spec)).mid
    assert (found[:2] == want[:2]).all()
    assert np.isnan(found[2:]).all()


def test_no_tokens_at_all():
    rng = np.random.default_rng(3)
    q, none = rng.standard_normal((3, 2)), np.zeros((0, 2))
    assert np.isnan(enclose(Tensors.of(q, none, none)).mid).all()
    assert (enclose(Tensors.of(q, none, none, AttentionSpec(masked_row="zero"))).mid == 0).all()
    assert np.isnan(enclose(Tensors.of(q, none, none, AttentionSpec(masked_row="uniform"))).mid).all()
    capped = AttentionSpec(softcap=F(3), softcap_order="after-mask")
    for stage in (Stage.LSE, Stage.CONTEXT):
        assert np.isnan(enclose(Tensors.of(q, none, none, capped), stage).mid).all()
    assert enclose(Tensors.of(none, q, q)).mid.shape == (0, 2)
    sunk = Tensors.of(q, none, none, sinks=[F(1, 2)])
    assert (enclose(sunk).mid == 0).all()
    assert np.allclose(enclose(sunk, Stage.LSE).mid, 0.5)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: AttentionSpec(causal="bottomright"), "did you mean 'bottom-right'"),
        (lambda: AttentionSpec(masked_row="nan"), "masked_row 'nan', wanted one of undefined, zero, uniform, mean"),
        (lambda: AttentionSpec(softcap=F(1), softcap_order="after"), "found softcap_order 'after'"),
        (lambda: AttentionSpec(bias_place=None), "found bias_place None"),
        (lambda: AttentionSpec(head_map="interleave"), "wanted one of grouped, tiled"),
        (lambda: AttentionSpec(orientation="row"), "did you mean 'rows'"),
        (lambda: AttentionSpec(alibi=Alibi((F(1),), "symmetric")), "'symmetric', wanted one of"),
        (lambda: AttentionSpec(rotary=Rotary(layout="neox")), "wanted one of halves, interleaved"),
        (lambda: AttentionSpec(qk_norm=QKNorm("layer")), "'layer', wanted one of"),
        (lambda: AttentionSpec(window=(1, 0), offset="start"), "offset has 'start': give an integer"),
        (lambda: AttentionSpec(scale=0.125), "scale is 0.125, of type float: give an exact number"),
        (lambda: AttentionSpec(softcap=30), "softcap is 30, of type int"),
        (lambda: AttentionSpec(lse_base="2"), "lse_base is '2', of type str"),
        (lambda: AttentionSpec(alibi=Alibi((F(1), 0.5))), "alibi slope is 0.5"),
        (lambda: AttentionSpec(rotary=Rotary(base=10000.0)), "rotary base is 10000.0"),
        (lambda: AttentionSpec(rotary=Rotary(factor=1)), "rotary factor is 1, of type int"),
        (lambda: AttentionSpec(qk_norm=QKNorm(eps=1e-6)), "eps of the norm is 1e-06"),
        (lambda: AttentionSpec(qk_norm=QKNorm(k_weight=(1.5,))), "weight of the norm is 1.5"),
        (lambda: AttentionSpec(softcap=F(0)), "softcap 0"),
        (lambda: AttentionSpec(softcap=log(F(1, 2))), "wanted a positive number"),
        (lambda: AttentionSpec(softcap_order="after-mask"), "there is no softcap"),
        (lambda: AttentionSpec(window=(-2, 1)), "holds no key at all"),
        (lambda: AttentionSpec(causal="offset"), "causal: offset needs a number"),
        (lambda: AttentionSpec(causal="top-left", offset=2), "have one already"),
        (lambda: AttentionSpec(offset=2), "no causal rule, window, alibi or rotary asks"),
        (lambda: AttentionSpec(lse_base=F(1)), "lse_base 1"),
        (lambda: AttentionSpec(qk_norm=QKNorm(eps=F(-1))), "eps -1"),
        (lambda: AttentionSpec(rotary=Rotary(base=F(0))), "rotary base 0"),
    ],
)
def test_options_that_make_no_sense_are_refused_with_the_reason(make, text):
    with pytest.raises(ProblemError, match=text):
        make()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"spec": AttentionSpec(bias_place="inside")}, "no bias and no alibi"),
        ({"spec": AttentionSpec(rotary=Rotary(width=3))}, "turn pairs"),
        ({"spec": AttentionSpec(alibi=Alibi((F(1), F(2))))}, "2 alibi slopes for 1 heads"),
        ({"sinks": [0.0, 1.0]}, "found 2 sinks for 1 heads"),
        ({"sinks": [np.inf]}, "not finite"),
        ({"key_lengths": [4]}, "from 0 to 3"),
        ({"key_lengths": [1.5]}, "integers"),
        ({"past_key": np.ones((2, 2))}, "go together"),
        ({"bias": np.array([np.nan, 0, 0])}, "NaN"),
        ({"bias": np.array([0, 0, 2])}, r"the bias has type int\d+: give floats, which are added"),
        ({"mask": np.array([0, 1, 1])}, r"the mask has type int\d+.*0 and 1 could mean either"),
        ({"mask": np.ones((1, 4), bool)}, "does not broadcast"),
        ({"mask": np.full((3, 3), 1e-30), "bias": np.ones((3, 3))}, "do not add up exactly"),
        ({"layout": "BLD"}, "layout BLD"),
        ({"layout": "DL"}, "layout 'DL', wanted one of BHLD"),
        ({"polarity": "keep"}, "polarity 'keep'"),
        ({"layout": "THD"}, "axes|axis|layout THD"),
        ({"spec": AttentionSpec(rotary=Rotary()), "query_positions": [0.0, 1.0, 2.0]}, "wanted integers"),
    ],
)
def test_inputs_that_do_not_fit_are_refused_with_the_reason(options, text):
    x = np.ones((3, 2))
    with pytest.raises(ProblemError, match=text):
        enclose(Tensors.of(x, x, x, **options))


def test_more_refusals():
    x = np.ones((1, 3, 2, 2))
    with pytest.raises(ProblemError, match="3 query heads cannot share 2"):
        Tensors.of(x, np.ones((1, 2, 2, 2)), np.ones((1, 2, 2, 2)))
    with pytest.raises(ProblemError, match="wanted 0 first, 3 last"):
        Tensors.of(x[0], x[0], x[0], layout="THD", query_starts=[0, 2])


@pytest.mark.parametrize("seed", range(60))
def test_tiles_of_keys_give_the_same(seed, monkeypatch):
    monkeypatch.setattr("exactattn.truth.blocks.MOST_KEYS", 2)
    monkeypatch.setattr("exactattn.truth.one_head.MOST_KEYS", 3)
    monkeypatch.setattr("exactattn.truth.blocks.TILE", 1 + seed % 4)
    arrays, spec, extra = drawn(seed)
    tensors, rows = tensors_of(arrays, spec, extra), expected(arrays, spec, extra)
    for which, stage in ((1, Stage.LSE), (2, Stage.CONTEXT)):
        (found,) = enclose_heads([(tensors.heads[0], None)], stage, block=2)
        assert_is(found, rows, which)


@pytest.mark.parametrize("layout", ["halves", "interleaved"])
@pytest.mark.parametrize("kind", ["floats", "exact"])
def test_caches_of_cosines_and_sines(layout, kind):
    """The caches are the numbers that are used, whatever they are near: turned by hand, with positions of our own."""
    rng = np.random.default_rng(6)
    q, k, v = (rng.standard_normal((3, 6)) for _ in range(3))
    angles = np.arange(20)[:, np.newaxis] * np.array([1.0, 0.25])
    c, s = np.cos(angles), np.sin(angles) + 0.01
    cache = (c, s) if kind == "floats" else tuple(tuple(tuple(map(F, row)) for row in x.tolist()) for x in (c, s))
    where = np.array([4, 9, 17]), np.array([0, 3, 5])
    spec = AttentionSpec(rotary=Rotary(width=4, layout=layout, cache=cache))
    tensors = Tensors.of(q, k, v, spec, query_positions=where[0], key_positions=where[1])
    pairs = [(0, 2), (1, 3)] if layout == "halves" else [(0, 1), (2, 3)]
    turned = []
    for x, places in ((q, where[0]), (k, where[1])):
        out = x.copy()
        for i, p in enumerate(places):
            for j, (a, b) in enumerate(pairs):
                out[i, a], out[i, b] = x[i, a] * c[p, j] - x[i, b] * s[p, j], x[i, b] * c[p, j] + x[i, a] * s[p, j]
        turned.append(out)
    scores = turned[0] @ turned[1].T / np.sqrt(6)
    powers = np.exp(scores)
    want = powers @ v / powers.sum(axis=1, keepdims=True)
    for found in (enclose(tensors), enclose_by_balls(tensors).floats()):
        assert np.abs(found.mid - want).max() < 1e-13
        assert found.rad.max() < 1e-12
    with pytest.raises(ProblemError, match="a row for each of the positions 4 to 20"):
        enclose(Tensors.of(q, k, v, spec, query_positions=np.array([4, 9, 20]), key_positions=where[1]))


def test_tables_of_angles_hold_the_exact_numbers():
    rotary = Rotary(base=F(10000), factor=F(9, 8))
    for table in tables(rotary, 8, [0, 1, 77, 100_000, -3]):
        near = table.near()
        rad = near.radius()
        with mp.workdps(60):
            for i, row in enumerate(table):
                for j, x in enumerate(row):
                    bounds = enclose_number(x, 200)
                    middle = F(float(near.mid[i, j]))
                    assert abs(bounds.midpoint - middle) <= F(float(rad[i, j])) + bounds.radius
                    assert rad[i, j] <= 2.0**-52
        assert not rad[0].any()  # cos 0 and sin 0 times 9/8 are floats

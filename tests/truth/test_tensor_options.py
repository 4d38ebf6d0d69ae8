"""Every option of the spec on tensors, against a second text of attention: plain loops in mpmath, written by itself."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from mpmath import mp

from exactattn import plugins
from exactattn.attention.definition import stages
from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.errors import ProblemError
from exactattn.numbers.exact import log, sqrt
from exactattn.truth.blocks import enclose, enclose_heads
from exactattn.truth.tensors import Tensors

ROOT = sqrt(F(2))
BALL = plugins.get("engines", "ball")


def real(x):
    if x == ROOT:
        return mp.sqrt(2)
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, F) else mp.mpf(x)


def turn(x, position, rotary):
    """Complex multiplication: (a + b i) e^(i t)."""
    width = rotary.width or len(x)
    out = list(x)
    for pair in range(width // 2):
        a, b = (pair, pair + width // 2) if rotary.layout == "halves" else (2 * pair, 2 * pair + 1)
        z = mp.mpc(x[a], x[b]) * mp.expj(position * mp.power(real(rotary.base), -mp.mpf(2 * pair) / width))
        out[a], out[b] = real(rotary.factor) * z.real, real(rotary.factor) * z.imag
    return out


def norm(x, rule, weight):
    size = mp.sqrt(mp.fsum(t * t for t in x) / (len(x) if rule.kind == "rms" else 1) + real(rule.eps))
    return [t / size * (1 if weight is None else real(weight[i])) for i, t in enumerate(x)]


def oracle(q, k, v, spec, *, mask, bias, slope, sink, key_length):
    """One head: rows of (weights, lse, context), None where undefined."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    L, S, d = len(q), len(k), len(q[0])
    kept = S if key_length is None else key_length
    first = spec.offset if isinstance(spec.offset, int) else 0
    if spec.causal == "bottom-right" or spec.offset == "end":
        first = kept - L
    base = mp.e if spec.base is None else real(spec.base)
    scale = 1 / mp.sqrt(d) if spec.scale is None else real(spec.scale)
    rows = []
    for i in range(L):
        p, logits, seen = first + i, [], []
        for j in range(S):
            x, y = [mp.mpf(t) for t in q[i]], [mp.mpf(t) for t in k[j]]
            if spec.qk_norm:
                x, y = norm(x, spec.qk_norm, spec.qk_norm.q_weight), norm(y, spec.qk_norm, spec.qk_norm.k_weight)
            if spec.rotary:
                x, y = turn(x, p, spec.rotary), turn(y, j, spec.rotary)
            added = mp.mpf(0) if bias is None else mp.mpf(bias[i][j])
            if slope is not None:
                added += real(slope) * (j - p if spec.alibi.form == "signed" else -abs(j - p))
            s = mp.fdot(x, y)
            s = (s + added) * scale if spec.bias_place == "inside" else s * scale
            outside = 0 if spec.bias_place == "inside" else added
            cap = spec.softcap and real(spec.softcap)
            if cap and spec.softcap_order == "before-bias":
                s = cap * mp.tanh(s / cap)
            s += outside
            left, right = spec.window
            sees = (mask is None or mask[i][j]) and j < kept and (spec.causal == "none" or j <= p)
            sees = sees and (left is None or j >= p - left) and (right is None or j <= p + right)
            if cap and spec.softcap_order != "before-bias":
                s = cap * mp.tanh(s / cap)
                if spec.softcap_order == "after-mask" and not sees:
                    s, sees = -cap, True
            logits.append(s)
            seen.append(sees)
        extra = 0 if sink is None else base ** real(sink)
        total = mp.fsum(base**s for s, ok in zip(logits, seen, strict=True) if ok) + extra
        lse = None if total == 0 else mp.log(total) / mp.log(base if spec.lse_base is None else real(spec.lse_base))
        if total != 0:
            weights = [base**s / total if ok else mp.mpf(0) for s, ok in zip(logits, seen, strict=True)]
        elif spec.masked_row == "zero":
            weights = [mp.mpf(0)] * S
        elif spec.masked_row == "uniform":
            weights = [mp.mpf(1) / S] * S
        elif spec.masked_row == "mean" and kept:
            weights = [mp.mpf(1) / kept if j < kept else mp.mpf(0) for j in range(S)]
        else:
            weights = None
        context = None if weights is None else [mp.fdot(weights, [mp.mpf(t) for t in column]) for column in v.T]
        rows.append((weights, None if lse is None else [lse], context))
    return rows


def drawn(seed):
    """A spec with a few options at once, and inputs that go with it."""
    rng = np.random.default_rng(seed)
    some = lambda p=0.35: rng.random() < p  # noqa: E731
    L, S, d, d_v = (int(x) for x in rng.integers((1, 1, 2, 1), (7, 9, 5, 4)))
    d *= 2
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((L, d), (S, d), (S, d_v)))
    causal = str(rng.choice(["none", "top-left", "bottom-right", "offset"]))
    window = [(None, None), (1, None), (0, 2), (None, 1), (2, 0)][rng.integers(5)] if some() else (None, None)
    alibi = Alibi((F(int(rng.integers(1, 9)), 8),), str(rng.choice(["distance", "signed"]))) if some() else None
    rotary = None
    if some():
        width = [None, 2, d][rng.integers(3)]
        rotary = Rotary(width, F(100), str(rng.choice(["halves", "interleaved"])), factor=F(1) if some() else F(9, 8))
    rms = None
    if some():
        weight = tuple(F(int(x), 4) for x in rng.integers(1, 9, d))
        rms = QKNorm(
            str(rng.choice(["rms", "l2"])), F(1, 10**6), weight if some() else None, weight if some() else None
        )
    bias = rng.standard_normal((L, S)) if some() else None
    placed = causal == "offset" or ((window != (None, None) or rotary) and some() and causal == "none")
    cap = F(int(rng.integers(1, 60)), 2) if some() else None
    spec = AttentionSpec(
        scale=[None, F(1), F(-3, 7), ROOT, F(1, 8)][rng.integers(5)],
        base=F(2) if some(0.2) else None,
        lse_base=F(2) if some(0.2) else None,
        causal=causal,
        offset=(int(rng.integers(-2, 4)) if causal == "offset" or some() else "end") if placed else None,
        window=window,
        softcap=cap,
        softcap_order=str(rng.choice(["before-bias", "after-bias", "after-mask"])) if cap else "before-bias",
        bias_place="inside" if (bias is not None or alibi) and some() else "outside",
        alibi=alibi,
        rotary=rotary,
        qk_norm=rms,
        masked_row=str(rng.choice(["undefined", "zero", "uniform", "mean"])),
    )
    extra = {
        "mask": rng.random((L, S)) < 0.7 if some() else None,
        "bias": bias,
        "sink": F(int(rng.integers(-20, 20)), 8) if some() else None,
        "key_length": int(rng.integers(0, S + 1)) if some() else None,
    }
    return (q, k, v), spec, extra


def tensors_of(arrays, spec, extra):
    sinks = None if extra["sink"] is None else (extra["sink"],)
    lengths = None if extra["key_length"] is None else [extra["key_length"]]
    return Tensors.of(*arrays, spec, extra["mask"], extra["bias"], sinks=sinks, key_lengths=lengths)


def expected(arrays, spec, extra):
    slope = None if spec.alibi is None else spec.alibi.slopes[0]
    with mp.workdps(50):
        return oracle(*arrays, spec, slope=slope, **extra)


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
        (lambda: AttentionSpec(masked_row="nan"), "found masked_row nan: .*known: mean, undefined, uniform, zero"),
        (lambda: AttentionSpec(softcap=F(1), softcap_order="after"), "found softcap_order after"),
        (lambda: AttentionSpec(bias_place=None), "found bias_place None"),
        (lambda: AttentionSpec(head_map="interleave"), "known: grouped, tiled"),
        (lambda: AttentionSpec(orientation="row"), "did you mean 'rows'"),
        (lambda: AttentionSpec(alibi=Alibi((F(1),), "symmetric")), "found form of alibi symmetric"),
        (lambda: AttentionSpec(rotary=Rotary(layout="neox")), "known: halves, interleaved"),
        (lambda: AttentionSpec(qk_norm=QKNorm("layer")), "found kind of norm layer"),
        (lambda: AttentionSpec(causal="offset", offset=np.int64(2)), "wanted an integer, or end"),
        (lambda: AttentionSpec(window=(1, 0), offset="start"), "found offset start"),
        (lambda: AttentionSpec(scale=0.125), "found scale 0.125 of type float, wanted an exact number"),
        (lambda: AttentionSpec(softcap=30), "found softcap 30 of type int"),
        (lambda: AttentionSpec(lse_base="2"), "found lse_base 2 of type str"),
        (lambda: AttentionSpec(alibi=Alibi((F(1), 0.5))), "found alibi slope 0.5"),
        (lambda: AttentionSpec(rotary=Rotary(base=10000.0)), "found rotary base 10000.0"),
        (lambda: AttentionSpec(rotary=Rotary(factor=1)), "found rotary factor 1"),
        (lambda: AttentionSpec(qk_norm=QKNorm(eps=1e-6)), "found eps 1e-06"),
        (lambda: AttentionSpec(qk_norm=QKNorm(k_weight=(1.5,))), "found weight of the norm 1.5"),
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
        ({"layout": "DL"}, "found layout DL: known: BHLD, BLD"),
        ({"polarity": "keep"}, "found polarity keep"),
        ({"layout": "THD"}, "axes|axis|layout THD"),
        ({"query_positions": [0.0, 1.0, 2.0]}, "wanted integers"),
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

"""A second text of attention: plain loops in mpmath, written by itself; and drawn problems with a few options each."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
from mpmath import mp

from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.attention.spec import AttentionSpec
from exactattn.numbers.exact import sqrt
from exactattn.truth.tensors import Tensors

ROOT = sqrt(F(2))


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
    q, k, v = (np.array([[real(x) for x in row] for row in m.tolist()], object).reshape(m.shape) for m in (q, k, v))
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
            added = mp.mpf(0) if bias is None else real(bias[i][j])
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

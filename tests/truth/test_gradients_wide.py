"""Gradients over more keys than `WIDE` and than a piece of a sum, against balls of 256 bits."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from exactattn.attention.options import Alibi, QKNorm
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.truth.gradients import enclose_gradients, enclose_gradients_by_balls
from exactattn.truth.tensors import Tensors

BITS = 256
SPECS = {
    "plain": AttentionSpec(),
    "causal": AttentionSpec(causal="bottom-right", masked_row="zero"),
    "capped": AttentionSpec(softcap=F(3), base=F(2)),
    "capped after the mask": AttentionSpec(softcap=F(1, 2), softcap_order="after-mask", causal="top-left"),
    "alibi": AttentionSpec(alibi=Alibi((F(1, 8), F(1, 2))), bias_place="inside", scale=F(-3, 7)),
    "tiled": AttentionSpec(lse_base=F(2), head_map="tiled", masked_row="uniform", qk_norm=QKNorm(eps=F(1, 10))),
}


def inputs(rng, keys, width, kind):
    """Two query heads of one or two rows over one key head; kinds that are hard for bounds."""
    rows = 1 + keys % 2
    q, k = rng.standard_normal((1, 2, rows, 2)), rng.standard_normal((1, 1, keys, 2))
    v = rng.standard_normal((1, 1, keys, width))
    if kind == "positive":
        return np.abs(q), np.abs(k), np.abs(v)
    if kind == "near duplicates":
        return q * 100, k[:, :, :1] + 1e-9 * k, v
    if kind == "one key has all":
        k[:, :, 7] *= 60
        return q * 20, k, v * 10.0 ** rng.integers(-8, 8, v.shape)
    if kind == "rows of zeros":
        q[:, :, 0], v[:, :, ::2] = 0, 0
    return q, k, v


def assert_holds(found, truth):
    """Every element lies in both enclosures, and the radius of a large one is small."""
    error = np.abs(found.mid - truth.mid)
    assert np.isfinite(found.rad).all()
    assert (error <= found.rad + truth.rad + error * 2.0**-50).all()


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(
    ("keys", "width", "kind"),
    [
        (257, 3, "positive"),
        (256, 1, "near duplicates"),
        (300, 257, "one key has all"),
        (1025, 2, "rows of zeros"),
        (1537, 1, "plain"),
    ],
)
def test_gradients_of_long_rows(name, keys, width, kind):
    rng = np.random.default_rng(keys)
    q, k, v = inputs(rng, keys, width, kind)
    spec, rows = SPECS[name], q.shape[2]
    more = name in ("plain", "alibi")
    bias = rng.standard_normal((1, 2, 1, keys)) if more else None
    tensors = Tensors.of(q, k, v, spec, bias=bias, sinks=[0.5, -3.0] if more else None)
    g, dl = rng.standard_normal((1, 2, rows, width)), rng.standard_normal((1, 2, rows, 1))
    for head, part in zip(tensors.heads, dl[0], strict=True):
        part[head.undefined(np.arange(rows), Stage.LSE)] = 0
    for given in (None, dl):
        found = enclose_gradients(tensors, g, given, bias=True, sharp=keys == 256, workers=1 + keys % 2)
        truth = enclose_gradients_by_balls(tensors, g, given, bits=BITS, bias=True)
        for part in ("q", "k", "v", *(("bias", "sinks") if more else ())):
            assert_holds(getattr(found, part), getattr(truth, part))

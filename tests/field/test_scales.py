"""Field cases about the scale of the scores (SC) and about overflow (OV)."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from field.answers import Attended, attend, exact, numbers, scored
from field.printing import assert_prints

from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.numbers.exact import add, div, log, mul, power, sqrt
from exactattn.numbers.formats import FORMATS

FLOAT16, FLOAT32 = FORMATS["float16"], FORMATS["float32"]


def keys(width, *scores, **options):
    """One query of so many elements with these products q k."""
    q, k = np.zeros((1, width)), np.zeros((len(scores), width))
    q[0, 0], k[:, 0] = 1, scores
    return attend((q, k, np.eye(len(scores))), **options)


def first_weight(*args, **options):
    return keys(*args, **options).weights[0, 0]


def test_b63_root_of_the_embedding_size():
    """Products 8 and 0 of width 16: by the root of 16, and of 64."""
    assert_prints(first_weight(16, 8, 0), "0.88079708")
    assert_prints(first_weight(16, 8, 0, scale=F(1, 8)), "0.73105858")


def test_b64_scale_missing():
    """The same; with scale 1, and by 16 itself."""
    assert_prints(first_weight(16, 8, 0), "0.88079708")
    assert_prints(first_weight(16, 8, 0, scale=F(1)), "0.99966465")
    assert_prints(first_weight(16, 8, 0, scale=F(1, 16)), "0.62245933")


def test_b65_scale_inverted():
    """The same; times the root of 16, where the other key keeps 1.3e-14."""
    assert_prints(first_weight(16, 8, 0), "0.88079708")
    found = keys(16, 8, 0, scale=F(4)).weights
    assert_prints(found[0, 0], "1.0")
    assert_prints(found[0, 1], "1.3e-14", digits=None)


@pytest.mark.parametrize(
    ("scale", "text"),
    [(None, "0.73105858"), ("0.125", "0.73105858"), ("0.25", "0.88079708"), ("0.5", "0.98201379")],
)
def test_b67_scale_ignored(scale, text):
    """Products 8 and 0 of width 64 under the scale by default and three others."""
    assert_prints(first_weight(64, 8, 0, scale=scale and F(scale)), text)


def test_b68_scale_replaced_by_the_default():
    """Products 1 and 0 of width 64 divided by the root of 1/8; by 0.35355 itself the sixth digit is another."""
    assert_prints(first_weight(64, 1, 0, scale=sqrt(F(8))), "0.94419278")
    assert_prints(first_weight(64, 1, 0), "0.53120937")
    found = first_weight(64, 1, 0, scale=1 / F("0.35355"))
    assert_prints(found, "0.94419421")
    with pytest.raises(AssertionError, match=r"is printed 0\.94419278: Answer\.NO"):
        assert_prints(found, "0.94419278")


def test_b69_second_factor_of_yarn():
    """mscale = 1 + ln(40) / 10; its square over the root of 192 is the scale; and the square with the factor 0.707."""

    def mscale(factor):
        return add(F(1), mul(F(factor) / 10, log(F(40))))

    square = power(mscale(1), F(2))
    assert_prints(numbers(mscale(1)), "1.3688879")
    assert_prints(numbers(square), "1.87385", digits=None)
    assert_prints(keys(192, 1, scale=div(square, sqrt(F(192)))).lse, "0.13523378")
    assert_prints(numbers(power(mscale("0.707"), F(2))), "1.5896262")


def test_b70_padded_head_size():
    """Products 2 and 0 of width 2; of width 8 after zeros are added, with the old scale and with that of 8."""
    assert_prints(first_weight(2, 2, 0), "0.80442968")
    assert_prints(first_weight(8, 2, 0, scale=sqrt(F(1, 2))), "0.80442968")
    assert_prints(first_weight(8, 2, 0), "0.66976155")


def test_b71_bias_scaled_too():
    """Products 8 and 6 of width 16, bias -1/2 and 0: added after the scale, and before it."""
    bias = np.array([[-0.5, 0.0]])
    assert_prints(keys(16, 8, 6, bias=bias).weights, "[0.5, 0.5]")
    assert_prints(keys(16, 8, 6, bias=bias, bias_place="inside").weights, "[0.5926666, 0.4073334]")


def test_b72_scale_by_default():
    """The scaled score of a product of 1 at width 2: the root of 1/2."""
    assert_prints(keys(2, 1).stage(Stage.SCALED), "0.70710678")
    assert_prints(numbers(sqrt(F(1, 2))), "0.70710678")


def test_b73_products_beyond_float16():
    """Products of 64 elements 40 with 40 and 39, scale 1/8; unscaled they are inf in float16."""
    q, k = np.full((1, 64), 40.0), np.array([[40.0] * 64, [39.0] * 64])
    found = attend((q, k, np.eye(2)))
    assert_prints(found.stage(Stage.SCORES)[0, 0], "102400")
    assert_prints(found.stage(Stage.SCALED), "[12800, 12480]")
    assert_prints(found.weights, "[1, 1e-139]", digits=None)
    assert FLOAT16.round(F(102400)) == FLOAT16.round(F(39 * 40 * 64)) == np.inf
    with np.errstate(all="ignore"):
        scores = np.full(2, np.inf, np.float16)
        assert np.isnan(scores - scores.max()).all()


def test_b74_products_of_a_model_family():
    """The product of 128 elements 24 with 24, beyond float16, and scaled by the root of 128."""
    x = np.full((1, 128), 24.0)
    found = attend((x, x, [[1]]))
    assert_prints(found.stage(Stage.SCORES), "73728")
    assert FLOAT16.max == 65504
    assert_prints(found.stage(Stage.SCALED), "6516.7", digits=None)
    with pytest.raises(AssertionError, match=r"6516\.69609\d* is printed 6516\.6: Answer\.NO"):
        assert_prints(found.stage(Stage.SCALED), "6516.6", digits=None)  # cut, not rounded
    wide = np.full((1, 512), 12.0)
    assert_prints(attend((wide, wide, [[1]]), scale=F(1)).stage(Stage.SCORES), "73728")


def test_b76_exponential_without_a_maximum():
    """Logits 151.29 and 100; the exponential of either is beyond float32."""
    assert_prints(scored([["151.29", "100"]]).weights, "[1.0, 5.3092848e-23]")
    with np.errstate(all="ignore"):
        powers = np.exp(np.array([151.29, 100], np.float32))
        assert np.isnan(powers / powers.sum()).all()


def test_b77_keys_that_hide_a_slot():
    """-1e5 y / (y y) for y = [1/2, 0]: beyond float16, and there a score with a 0 of the query is NaN."""
    assert_prints(numbers(exact("-1e5*0.5/0.25")), "-200000")
    assert FLOAT16.round(F(-200000)) == -np.inf
    with np.errstate(all="ignore"):
        assert np.isnan(np.float16(0) * np.float16(-np.inf))


def test_b78_scales_folded_together():
    """The score of a query 0.25 times 2 and a key 1 times 3.4028235e38; both scales together are beyond float32."""
    one = ((F(1),),)
    head = Head(q=((exact("2*0.25"),),), k=((exact("3.4028235e38*1"),),), v=one)
    found = Attended(None, Problem((head,), spec=AttentionSpec(scale=F(1))))
    assert_prints(found.stage(Stage.SCORES), "1.70141175e38")
    assert FLOAT32.round(2 * F("3.4028235e38")) == np.inf


@pytest.mark.parametrize(("score", "text"), [(4400, "50"), (5000, "50"), (10000, "50"), (-10000, "-50")])
def test_b79_softcap_by_exponentials(score, text):
    """Scores far beyond a cap of 50: all but the cap; by exponentials it is inf over inf in float32."""
    found = scored([[score]], softcap=F(50)).stage(Stage.CAPPED)
    assert_prints(found, text)
    near = found.arrays[-1][0, 0].minus(F(text)).magnitude()
    assert near.lower > 0 or score > 4400
    assert near.upper < F(1, 10**74)
    with np.errstate(all="ignore"):
        assert np.isinf(np.exp(np.float32(abs(score) / 50 + 1)))

"""Field cases about the inside of a softmax: running maxima, tiles, exponentials, sinks (OS)."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from field.answers import attend, by_algorithm, numbers, scored
from field.fixtures import A23
from field.printing import assert_prints, assert_zero

from exactattn.attention.spec import Stage
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import exp
from exactattn.numbers.formats import FORMATS
from exactattn.truth.blocks import within_ulps

FLOAT32 = FORMATS["float32"]


def test_b80_logits_below_the_first_maximum():
    """One key of score -524288 / sqrt(128): all the weight, and the lse in both bases."""
    qkv = np.full((1, 128), 64.0), np.full((1, 128), -64.0), [[1]]
    found = attend(qkv)
    assert_prints(found.stage(Stage.SCORES), "-524288")
    assert_prints(found.context, "1")
    assert_prints(found.lse, "-46340.95")
    assert_prints(attend(qkv, lse_base=F(2)).lse, "-66855.859")


def test_b82_fused_product_and_rounded_maximum():
    """One key has weight 1; in float32 the scaled score less its own rounding is 247.375, whose power of 2 is inf."""
    found = attend(([[133120]], [[133120]], [[7]]), scale=F(1, 4))
    assert_prints(found.weights, "1")
    assert_prints(found.context, "7")
    assert_prints(found.stage(Stage.SCORES), "17720934400")
    score, scale = np.float32(133120) * np.float32(133120), np.float32(0.25 * np.log2(np.e))
    assert int(score) == 17720934400
    fused = F(float(score)) * F(float(scale)) - F(float(score * scale))
    assert fused == F("247.375")
    assert FLOAT32.round(2**247 * F(1)) == np.inf


def test_b83_first_tile_without_keys():
    """A blocked tile of two keys before one with scores 1 and 2: as a whole, and tile by tile."""
    mask = ((False, False, True, True),)
    found = scored([[0, 0, 1, 2]], [[9], [9], [1], [3]], mask=mask)
    assert_prints(found.weights[0, 2:], "[0.26894142, 0.73105858]")
    assert_zero(found.weights[0, :2])
    assert_prints(found.context, "2.4621172")
    for name in ("online", "split"):
        assert_prints(by_algorithm(name, found.problem), "2.4621172")


@pytest.mark.parametrize("length", [1, 63, 64, 65, 127, 128, 129])
def test_b84_equal_logits_of_minus_120(length):
    """Equal logits of -120 give equal weights at any length; e**120, of a padded score of 0, is beyond float32."""
    q, k = np.zeros((1, 64)), np.zeros((length, 64))
    q[:, 0], k[:, 0] = -960, 1
    found = attend((q, k, np.ones((length, 1))))
    assert_prints(found.stage(Stage.SCALED)[0, 0], "-120")
    assert_prints(found.weights, f"[{', '.join([f'1/{length}'] * length)}]")
    assert_prints(found.context, "1")
    dq, dk, _ = found.gradients([[1]])  # finite; and 0, as all values are equal
    for part in (dq, dk):
        for array in part.arrays:
            assert all(t.within(F(0), F(1, 10**9)) is Answer.YES for t in array.ravel())
    assert_prints(numbers(exp(F(120))), "1.30418e+52", digits=None)
    assert numbers(exp(F(120))).arrays[0][0].lower > FLOAT32.overflow_threshold


def test_b85_exponential_that_is_clamped():
    """Scores 0 and -1e30: nothing is left of a value of 1e38; the smallest normal float32 times it would be 1.18."""
    found = scored([[0, "-1e30"]], [[0], ["1e38"]])
    assert_prints(found.weights, "[1, 0]")
    assert_prints(found.context, "0")
    assert_prints(numbers(FLOAT32.min_normal * 10**38), "1.18", digits=None)


def test_b86_one_in_the_sum():
    """Softmax with 1 added to the sum, a sink of 0; without shifting that 1 both rows become 0, -1 beside a 0."""
    found = scored([[-10, -11]], sinks=(F(0),)).weights
    assert_prints(found, "[4.5397111e-5, 1.6700664e-5]")
    assert_prints(scored([[1000, 999]], sinks=(F(0),)).weights, "[0.73105858, 0.26894142]")
    assert_prints(scored([[0, -1]], sinks=(F(0),)).weights, "[0.4223188, 0.1553624]")


def test_b87_sink_in_the_maximum():
    """No key beside a sink of 1/2; and two equal scores beside a sink of 100."""
    found = scored([[0]], [[5]], mask=((False,),), sinks=(F(1, 2),))
    assert_zero(found.context)
    assert_prints(found.lse, "0.5")
    found = scored([[0, 0]], sinks=(F(100),))
    assert_prints(numbers(exp(F(-100))), "3.7200760e-44")
    assert_prints(found.weights, "[3.7200760e-44, 3.7200760e-44]")
    assert_prints(found.lse, "100")
    for name in ("online", "split", "naive"):
        assert_prints(by_algorithm(name, found.problem, Stage.LSE), "100")


def test_b88_another_exponential_in_bfloat16():
    """Two queries, three keys in float32, the output rounded to bfloat16: within an ulp of the truth, so no fault."""
    q, k, v = (np.array(x, np.float32) for x in A23)
    powers = np.exp(q @ k.T * np.float32(np.sqrt(0.5)))
    context = powers / powers.sum(axis=1, keepdims=True) @ v
    bfloat16 = FORMATS["bfloat16"]
    rounded = np.array([[bfloat16.round(float(x)) for x in row] for row in context])
    decided = within_ulps(attend(A23).tensors, rounded[np.newaxis], bfloat16, 1)
    assert decided.count(Answer.YES) == 4

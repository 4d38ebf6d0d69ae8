"""Field cases about ALiBi and other biases (AB), softcaps (CP) and sinks (SK)."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from field.answers import attend, numbers, scored
from field.fixtures import A23, FIRST_TWO, PLAIN
from field.printing import assert_prints

from exactattn.attention.options import Alibi
from exactattn.attention.positions import authors_slopes, falling_slopes
from exactattn.attention.spec import Stage
from exactattn.numbers.exact import log

KEPT = np.array(FIRST_TWO)
CAPPED = "[[0.64768056, 0.35231944], [0.2914431, 0.7085569]]"  # A23, cap 1, two keys
LEAKED = "[[0.8028451, 0.54137358], [0.45688916, 0.83361224]]"  # the same with the cap after the mask


def test_b118_slopes_of_six_heads():
    """The slopes of six heads: of the authors' code, and of the geometric sequence in the text."""
    assert_prints(numbers(*authors_slopes(6)), "[0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]")
    text = "[0.39685026, 0.15749013, 0.0625, 0.024803141, 0.0098431332, 0.00390625]"
    assert_prints(numbers(*falling_slopes(6)), text)
    assert authors_slopes(8) == falling_slopes(8)


def test_b119_slopes_of_eight_heads():
    """The slopes of eight heads, which begin with a half; from exponent 0 all are twice as large."""
    slopes = falling_slopes(8)
    text = "[0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625]"
    assert_prints(numbers(*slopes), text)
    assert_prints(numbers(*slopes).times(F(2)), "[1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125]")


@pytest.mark.parametrize("offset", [2, 3])
def test_b121_constant_in_alibi(offset):
    """Scores 1, 0, 2 with slope 1/2 times j - n or j - n + 1: the same weights."""
    found = scored([[1, 0, 2]], alibi=Alibi((F(1, 2),), "signed"), offset=offset)
    assert_prints(found.weights, "[0.11116562, 0.067425358, 0.82140902]")


def test_b122_alibi_before_or_after_the_scale():
    """Scores 8 and 6 of width 16, ALiBi -1/2 and 0: inside the scale, and outside."""
    q, k = np.zeros((1, 16)), np.zeros((2, 16))
    q[0, 0], k[:, 0] = 1, [8, 6]
    alibi = Alibi((F(1, 2),))
    for place, text in (("inside", "[0.5926666, 0.4073334]"), ("outside", "[0.5, 0.5]")):
        assert_prints(attend((q, k, np.eye(2)), alibi=alibi, offset="end", bias_place=place).weights, text)


def test_b123_slopes_without_effect():
    """Three equal scores, slope 1, the query at the last key; and without slopes."""
    alibi = Alibi((F(1),))
    found = scored([[0, 0, 0]], alibi=alibi, offset="end").weights
    assert_prints(found, "[0.090030573, 0.24472847, 0.66524096]")
    assert_prints(scored([[0, 0, 0]]).weights, "[1/3, 1/3, 1/3]")


def test_b124_bias_in_cross_attention():
    """Two queries and four keys with equal scores share alike; a bias would be seen."""
    assert_prints(scored([[0] * 4] * 2).weights, "[[1/4, 1/4, 1/4, 1/4], [1/4, 1/4, 1/4, 1/4]]")
    found = scored([[0] * 4], bias=((1, 0, 0, 0),)).weights
    for array in found.arrays:
        assert array[0, 0].lower > F(1, 4)


def test_b113_softcap_after_the_mask():
    """Two queries, three keys, cap 1, the third blocked: capped first, and after the mask, where its score is -1."""
    assert_prints(attend(A23, softcap=F(1), mask=KEPT).context, CAPPED)
    found = attend(A23, softcap=F(1), softcap_order="after-mask", mask=KEPT)
    assert_prints(found.context, LEAKED)
    assert_prints(found.weights[0, 2], "0.11474", digits=None)


@pytest.mark.parametrize(("cap", "text"), [(5, "0.003358"), (50, "9.64e-23")])
def test_b113_what_leaks_for_equal_scores(cap, text):
    """Three equal scores, one blocked before the softcap: its weight."""
    mask = ((True, True, False),)
    found = scored([[0, 0, 0]], mask=mask, softcap=F(cap), softcap_order="after-mask").weights
    assert_prints(found[0, 2], text, digits=None)


def test_b114_order_of_cap_and_bias():
    """Two queries, three keys, cap 1, a bias of 2 on the third key: after the cap, and before it."""
    bias = np.array([[0, 0, 2.0]] * 2)
    found = attend(A23, softcap=F(1), bias=bias).context
    assert_prints(found, "[[1.7662671, 1.7152174], [1.7259981, 1.7928908]]")
    found = attend(A23, softcap=F(1), softcap_order="after-bias", bias=bias).context
    assert_prints(found, "[[1.306236, 1.1547104], [1.0457724, 1.2787301]]")


def test_b115_decode_masks_first():
    """The numbers of B113 with the mask as -inf added."""
    mask = np.where(KEPT, 0.0, -np.inf)
    assert_prints(attend(A23, softcap=F(1), mask=mask).context, CAPPED)
    assert_prints(attend(A23, softcap=F(1), softcap_order="after-mask", mask=mask).context, LEAKED)


def test_b116_cap_times_the_logit():
    """124 under a cap of 30; and 124 tanh(124 / 30)."""
    capped = scored([[124]], softcap=F(30)).stage(Stage.CAPPED)
    assert_prints(capped, "29.984588")
    assert_prints(capped.times(F(124, 30)), "123.9363")


def test_b117_cap_dropped():
    """Scores 20 and 10 under a cap of 5, and their weights; and without the cap."""
    found = scored([[20, 10]], softcap=F(5))
    assert_prints(found.stage(Stage.CAPPED), "[4.9966465, 4.8201379]")
    assert_prints(found.weights, "[0.54401294, 0.45598706]")
    assert_prints(scored([[20, 10]]).weights, "[0.9999546, 4.5397869e-5]")


def test_b134_sinks_dropped():
    """Two equal scores beside a sink of ln 2: a quarter each; without it a half each."""
    sunk = scored([[0, 0]], [[1], [3]], sinks=(log(F(2)),))
    assert_prints(sunk.weights, "[1/4, 1/4]")
    assert_prints(sunk.context, "1.0")
    assert_prints(scored([[0, 0]], [[1], [3]]).context, "2.0")


def test_b136_a_sink_has_no_value():
    """The same: the sink is in the sum that is divided by, and nowhere else."""
    found = attend(([[0]], [[0], [0]], [[1], [3]]), scale=F(1), sinks=[log(F(2))])
    assert_prints(found.context, "1.0")
    assert_prints(found.lse, "1.3862944")  # ln 4


def test_plain_without_biases():
    """A cap far above the scores, no bias and a far sink leave the plain numbers."""
    found = attend(A23, softcap=F(10**9), sinks=[F(-1000)]).context
    assert_prints(found, PLAIN)

"""Options that are not what they should be are refused with the reason, and never read as something else."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.attention.spec import AttentionSpec
from exactattn.errors import ProblemError

TABLE = np.ones((3, 2))
REFUSED = [
    (lambda: AttentionSpec(causal="yes"), "causal 'yes', wanted one of none, top-left"),
    (lambda: AttentionSpec(masked_row="nan"), "masked_row 'nan', wanted"),
    (lambda: AttentionSpec(head_map="interleaved"), "wanted one of grouped, tiled"),
    (lambda: AttentionSpec(softcap=F(3), softcap_order="last"), "softcap_order 'last'"),
    (lambda: AttentionSpec(bias_place="after"), "bias_place 'after'"),
    (lambda: AttentionSpec(orientation="cols"), "orientation 'cols'"),
    (lambda: AttentionSpec(scale=0.125), "scale is 0.125, of type float: give an exact number"),
    (lambda: AttentionSpec(scale=1), "of type int"),
    (lambda: AttentionSpec(softcap=30.0), "softcap is 30.0"),
    (lambda: AttentionSpec(base=2), "base is 2"),
    (lambda: AttentionSpec(alibi=Alibi((0.5,))), "an alibi slope is 0.5"),
    (lambda: AttentionSpec(rotary=Rotary(base=1e4)), "the rotary base is 10000.0"),
    (lambda: AttentionSpec(qk_norm=QKNorm(eps=1e-6)), "eps of the norm is 1e-06"),
    (lambda: AttentionSpec(qk_norm=QKNorm(k_weight=(1.0,))), "a weight of the norm is 1.0"),
    (lambda: AttentionSpec(window=(1.5, None)), "the window has 1.5"),
    (lambda: AttentionSpec(window=(1,)), "wanted two numbers"),
    (lambda: AttentionSpec(window=(2**63, None)), "at most 2..52"),
    (lambda: AttentionSpec(causal="offset", offset=2**63 - 1), "the offset has 9223372036854775807"),
    (lambda: AttentionSpec(causal="offset", offset="start"), "the offset has 'start'"),
    (lambda: Alibi((F(1),), "absolute"), "form of alibi 'absolute'"),
    (lambda: QKNorm("layer"), "kind of norm 'layer'"),
    (lambda: Rotary(layout="pairs"), "layout of rotary positions 'pairs'"),
    (lambda: Rotary(cache=(TABLE,)), "two tables"),
    (lambda: Rotary(cache=(TABLE, TABLE[:2])), "of one size"),
    (lambda: Rotary(cache=(TABLE[:0], TABLE[:0])), "not empty"),
    (lambda: Rotary(cache=([], [])), "not empty"),
    (lambda: Rotary(cache=(TABLE * np.nan, TABLE)), "finite floats"),
    (lambda: Rotary(cache=(TABLE[:, :, np.newaxis],) * 2), "two tables"),
    (lambda: Rotary(cache=(TABLE.astype(int),) * 2), "finite floats"),
    (lambda: Rotary(cache=([[0.5]], [[0.5]])), "exact numbers"),
]


@pytest.mark.parametrize(("make", "text"), REFUSED)
def test_what_is_no_option_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()


@pytest.mark.skipif(np.finfo(np.longdouble).nmant == 52, reason="longdouble is float64 here")
def test_a_cache_that_float64_does_not_hold_is_refused():
    third = np.ones((3, 2), np.longdouble) / 3
    with pytest.raises(ProblemError, match="that float64 holds"):
        Rotary(cache=(third, third))


def test_positions_at_the_edge_are_taken():
    assert AttentionSpec(window=(np.int64(1), 2**52)).window == (1, 2**52)
    assert Rotary(cache=(TABLE.astype(np.float16), TABLE)).cache is not None
    assert Rotary(cache=(((F(1),),), ((F(0),),))).cache is not None


def test_an_offset_of_numpy_is_one():
    assert AttentionSpec(causal="offset", offset=np.int64(2)).first_position(1, 3) == 2

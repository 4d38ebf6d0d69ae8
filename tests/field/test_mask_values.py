"""Field cases about numbers that stand for "masked", and about their casts (MV)."""

from __future__ import annotations

from fractions import Fraction as F
from functools import partial

import numpy as np
import pytest
from field.answers import attend, scored
from field.fixtures import A23
from field.printing import assert_empty, assert_prints, assert_undefined

from exactattn.numbers.exact import exp, neg
from exactattn.numbers.formats import FORMATS

FLOAT16 = FORMATS["float16"]
LEAST = np.finfo(np.float32).min
INF = np.inf


def test_b13_fill_beyond_float16():
    """-1e10 is beyond float16, so it is -inf there: no key is left, or one with all the weight."""
    with np.errstate(over="ignore"):
        fill = float(np.float16(-1e10))
    assert fill == FLOAT16.round(F(-(10**10))) == -INF
    assert_undefined(scored_with_bias([0.5, 0.25], [fill, fill]).context)
    assert_prints(scored_with_bias([0.5, 0.25], [0.0, fill]).weights, "[1, 0]")


def test_b14_mask_by_arithmetic():
    """w b - 1e10 (1 - b): exactly, all the weight is on the kept key; in float16 the kept score is inf times 0."""
    assert_prints(scored([["1/2", "-1e10"]]).weights, "[1, 0]")
    w, b = np.array([0.5, 0.25], np.float16), np.array([1, 0], np.float16)
    with np.errstate(all="ignore"):
        found = w * b - np.float16(1e10) * (1 - b)
    assert np.isnan(found[0])


def test_b15_float16_minimum_plus_a_negative_score():
    """One constant on both scores cancels exactly; in float16 -65504 - 16 is a tie that rounds to -inf."""
    assert_prints(scored_with_bias([-16, -20], [-65504.0] * 2).weights, "[0.98201379, 0.01798621]")
    assert_prints(scored_with_bias([-32, -28], [-65504.0] * 2, [[1], [3]]).context, "2.96402758")
    assert FLOAT16.round(F(-65504 - 16)) == -INF
    assert FLOAT16.round(F("-65504") - F("15.99")) == -65504
    with np.errstate(over="ignore"):
        assert np.float16(-65504) + np.float16(-16) == -INF
    assert_undefined(scored_with_bias([-16, -20], [-INF] * 2).context)


def test_b17_adder_at_the_edge_of_float16():
    """The scores -32 and -28 with one constant on both: the larger share is that of -28. In float16 no key is left."""
    found = scored_with_bias([-32, -28], [-65504.0] * 2).weights
    assert_prints(found, "[0.01798621, 0.98201379]")
    with pytest.raises(AssertionError, match=r"is printed 0\.98201379: Answer\.NO"):
        assert_prints(found, "[0.98201379, 0.01798621]")  # the line has the two exchanged
    with np.errstate(over="ignore"):
        sums = [float(np.float16(x) + np.float16(-65504)) for x in (-32, -28)]
    assert sums == [-INF, -INF]
    assert_undefined(scored_with_bias([-32, -28], sums).context)


def test_b18_score_below_the_fill():
    """A masked key gets nothing; filled with -1e5 it gets everything against a score of -1.2e5."""
    assert_prints(scored([[-120000, 0]], mask=((True, False),)).weights, "[1, 0]")
    assert_prints(scored([[-120000, -100000]]).weights, "[0, 1]")


def test_b19_fill_of_minus_ten_thousand():
    """Scores -30000 and 0, the second masked: the value of the first; filled with -10000 that of the second."""
    qkv = [[-30000]], [[1], [0]], [[2], [50]]
    assert_prints(attend(qkv, scale=F(1), mask=np.array([[True, False]])).context, "2.0")
    assert_prints(scored([[-30000, -10000]], [[2], [50]]).context, "50.0")


def test_b20_fill_with_a_slipped_sign():
    """Scores 2 and 1 beside a masked one; the fills -1e-9 and -e let it keep weight."""
    assert_prints(scored([[2, 1, 0]], mask=((True, True, False),)).weights, "[0.73105858, 0.26894142, 0.0]")
    assert_prints(scored([[2, 1, "-1e-9"]]).weights, "[0.66524096, 0.24472847, 0.090030573]")
    assert_prints(scored([[2, 1, neg(exp(F(1)))]]).weights[0, 2], "0.0064864", digits=None)


def test_b21_cast_of_the_fill():
    """The least float32 is -inf in float16: the row with one masked key stays, the other has no key left."""
    fill = np.array([[0.0, 0.0, LEAST], [LEAST] * 3], np.float32)
    with np.errstate(over="ignore"):
        cast = fill.astype(np.float16)
    assert (np.isinf(cast) == (fill != 0)).all()
    made = partial(attend, A23, bias=cast)
    assert_prints(made().context[0], "[0.66976155, 0.33023845]")
    assert_prints(attend(A23, bias=fill, by_bounds=False).context[0], "[0.66976155, 0.33023845]")
    assert_empty(made, 1, "[1, 1]")


def test_b23_left_padding_in_two_layers():
    """Twelve tokens, four padded on the left, two layers: rows 4 to 11 are those without padding, 0 to 3 undefined."""
    rng = np.random.default_rng(23)
    seen = np.tril(np.ones((12, 12), bool)) & (np.arange(12) >= 4)
    x = [rng.standard_normal((12, 2)) for _ in range(3)]
    for layer in (1, 2):
        found = attend(x, mask=seen).context
        assert_undefined(found[:4])
        alone = attend([part[4:] for part in x], causal="top-left").context
        for array, other in zip(found[4:].arrays, alone.arrays, strict=True):
            assert all(a.meets(b) and a.radius < 1e-7 for a, b in zip(array.ravel(), other.ravel(), strict=True))
        values = [np.nan if t is None else float(t.midpoint) for t in found.arrays[0].ravel()]
        x = [np.array(values).reshape(12, 2)] * 3
        assert np.isnan(x[0][:4]).all(), layer
    with np.errstate(over="ignore"):
        assert np.float32(np.finfo(np.float64).min) == -INF


def test_b24_two_finite_masks_on_one_row():
    """Causality leaves key 0 and padding removes it: no key; -10000 for each gives the softmax of 1 and 3."""
    assert_undefined(scored([[1, 3]], mask=((False, False),)).context)
    found = scored([[1, 3]], bias=((-10000, -10000),)).weights
    assert_prints(found, "[0.11920292, 0.88079708]")


def scored_with_bias(scores, bias, values=None):
    """One row of scores with something added, -inf for a key that is not there; values are the unit vectors."""
    values = np.eye(len(scores)) if values is None else values
    return attend(([scores], np.eye(len(scores)), values), scale=F(1), mask=np.array([bias], dtype=np.float64))

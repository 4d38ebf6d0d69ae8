"""Field cases about what a mask means: keep or drop, a boolean or a number, before or after the softmax (MP)."""

from __future__ import annotations

import numpy as np
from field.answers import attend
from field.fixtures import A23, A33, BOTTOM_RIGHT, FIRST_TWO, PLAIN, SQUARE_CAUSAL, TOP_LEFT, TWO_KEYS
from field.printing import assert_prints

LEAST = np.finfo(np.float32).min
KEPT = np.array(FIRST_TWO)
INF = np.inf


def test_b25_float_mask_cast_to_booleans():
    """An additive mask blocks the third key; cast to booleans it keeps that one only."""
    fill = np.array([[0.0, 0.0, LEAST]] * 2)
    assert_prints(attend(A23, mask=fill).context, TWO_KEYS)
    assert_prints(attend(A23, mask=fill.astype(bool)).context, "[[2.0, 2.0], [2.0, 2.0]]")


def test_b26_two_meanings_of_true():
    """One boolean mask read as keys to drop and as keys to keep."""
    mask = ~KEPT
    assert_prints(attend(A23, mask=mask, polarity="block").context, TWO_KEYS)
    assert_prints(attend(A23, mask=mask, polarity="attend").context, "[[2.0, 2.0], [2.0, 2.0]]")


def test_b27_inverted_on_the_fast_path():
    """True is a key to drop; read the other way round each query sees the third key only."""
    assert_prints(attend(A23, mask=~KEPT, polarity="block").context, TWO_KEYS)
    assert_prints(attend(A23, mask=~KEPT).context, "[[2.0, 2.0], [2.0, 2.0]]")


def test_b28_ones_and_zeros_added():
    """A lower triangle of ones as numbers that are added, and as the causal mask that was meant."""
    ones = np.array([[1.0, 0, 0], [1, 1, 0]])
    found = attend(A23, mask=ones)
    assert_prints(found.context, "[[1.1203726, 0.59198793], [0.60762132, 1.0774444]]")
    assert_prints(found.weights[0, 2], "0.237454", digits=None)
    assert_prints(attend(A23, mask=ones != 0).context, TOP_LEFT)


def test_b29_zero_one_mask_in_a_fused_call():
    """Ones and zeros as keys to keep, and added to the scores."""
    ones = np.array([[1.0, 1, 0]] * 2)
    assert_prints(attend(A23, mask=ones != 0).context, TWO_KEYS)
    assert_prints(attend(A23, mask=ones).context, "[[0.93272824, 0.66032339], [0.60762132, 1.0774444]]")


def test_b31_mask_after_the_softmax():
    """0 and -inf added before the softmax; after it, -inf would be a weight, which no softmax gives."""
    mask = np.array([[0, 0, -INF]] * 2)
    found = attend(A23, mask=mask)
    assert_prints(found.context, TWO_KEYS)
    after = np.array([[float(t.midpoint) for t in row] for row in attend(A23).weights.arrays[0]]) + mask
    assert np.isneginf(after[:, 2]).all()
    assert np.isneginf(after @ np.array(A23[2])).all()


def test_b32_one_on_the_kept_keys():
    """A causal mask of 1 and -inf is that of 0 and -inf."""
    for kept in (0.0, 1.0):
        mask = np.where(np.tril(np.ones((3, 3), bool)), kept, -INF)
        assert_prints(attend(A33, mask=mask).context, SQUARE_CAUSAL)


def test_fixtures():
    """What the list says of its fixtures: no mask, and both alignments."""
    found = attend(A23)
    assert_prints(found.context, PLAIN)
    assert_prints(found.weights, "[[0.40111209, 0.19777581, 0.40111209], [0.10838345, 0.44580827, 0.44580827]]")
    assert_prints(attend(A23, causal="bottom-right").context, BOTTOM_RIGHT)
    assert_prints(attend(A23, causal="top-left").context, TOP_LEFT)

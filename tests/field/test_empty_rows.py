"""Field cases about rows with no allowed key (FM)."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from field.answers import Proven, attend, scored
from field.fixtures import A23, A33, FIRST_TWO, SECOND_ROW_EMPTY, TWO_KEYS
from field.printing import assert_empty, assert_prints, assert_undefined, assert_zero

from exactattn.numbers.balls import TooCoarse

LEAST = np.finfo(np.float32).min
KEPT = np.array(FIRST_TWO)
EMPTY = np.array(SECOND_ROW_EMPTY)


def test_b01_boolean_row_all_false():
    """Two queries, the second without keys: the first over two keys, the second undefined, zero or the mean of V."""
    made = partial(attend, A23, mask=EMPTY)
    assert_prints(made().context[0], "[0.66976155, 0.33023845]")
    assert_empty(made, 1, "[1, 1]")
    dq, dk, dv = made(masked_row="zero").gradients([[0, 0], [1, 1]])  # of the empty row alone
    for part in (dq[1], dk[2], dv[2], Proven(dq.arrays[1:]), Proven(dk.arrays[1:]), Proven(dv.arrays[1:])):
        assert_zero(part)


def test_b02_three_encodings_of_one_mask():
    """A constant on a whole row: it cancels exactly, absorbs the scores in float32, or means that no key is there."""
    fill = [[0.0, 0.0, LEAST], [LEAST] * 3]
    found = attend(A23, bias=np.array(fill), by_bounds=False).context
    assert_prints(found[1], "[1.0, 1.3374248]")
    assert_prints(found[0], "[0.66976155, 0.33023845]")
    scores = (np.array(A23[0]) @ np.array(A23[1]).T / np.sqrt(2)).astype(np.float32)[1]
    absorbed = scores + np.float32(LEAST)
    assert (absorbed == LEAST).all()
    assert_prints(scored([[float(x) for x in absorbed]], A23[2]).context, "[1, 1]")
    assert_zero(attend(A23, mask=EMPTY, masked_row="zero").context[1])


def test_b02_bounds_in_float64_say_that_they_know_nothing():
    """The same constant: where it cancels, float64 has no bound, and says so."""
    with pytest.raises(TooCoarse):
        assert_prints(attend(A23, bias=np.array([[0.0, 0.0, LEAST], [LEAST] * 3])).context[1], "[1.0, 1.3374248]")


def test_b04_band_and_padding():
    """Six tokens, each sees itself and the one before, the last four are padding: rows 3, 4 and 5 have no key."""
    rng = np.random.default_rng(4)
    heads = rng.standard_normal((3, 1, 2, 6, 4))
    made = partial(attend, heads, causal="top-left", window=(1, 0), key_lengths=[2])
    found = made()
    for head in (0, 1):
        for row in range(3):
            assert all(t is not None for array in found.context[0, head, row].arrays for t in array)
            assert all(t is not None for array in found.lse[0, head, row].arrays for t in array)
    assert_undefined(found.context[0, :, 3:])
    assert_undefined(found.lse[0, :, 3:])
    assert_zero(made(masked_row="zero").context[0, :, 3:])


def test_b05_gradient_of_a_row_beside_an_empty_one():
    """Loss: the sum of row 0. dQ of row 1 is 0; dV has the weights of row 0, and nothing reaches the masked key."""
    dq, dk, dv = attend(A23, mask=EMPTY, masked_row="zero").gradients([[1, 1], [0, 0]])
    assert_prints(dv, "[[0.66976155, 0.66976155], [0.33023845, 0.33023845], [0, 0]]")
    assert_zero(dv[2])
    assert_zero(dq[1])
    assert_zero(dk[2])
    for rule in ("undefined", "zero"):  # ones in both rows: the empty one changes nothing, or has no value
        ones = attend(A23, mask=EMPTY, masked_row=rule).gradients(np.ones((2, 2)))
        if rule == "zero":
            assert_prints(ones[2], "[[0.66976155, 0.66976155], [0.33023845, 0.33023845], [0, 0]]")
        else:
            assert_undefined(ones[0][1])


def test_b06_export_keeps_zero():
    """The masked rows of B01 under the rule that an empty row is 0."""
    found = attend(A23, mask=EMPTY, masked_row="zero").context
    assert_prints(found, "[[0.66976155, 0.33023845], [0, 0]]")
    assert_zero(found[1])


def test_b07_finite_value_gives_the_mean():
    """An empty row is 0 by the rule of the operator; scores replaced by one finite number give the mean of V."""
    assert_zero(attend(A23, mask=EMPTY, masked_row="zero").context[1])
    assert_prints(scored([["-1e30"] * 3], A23[2]).context, "[1, 1]")


def test_b08_rows_of_left_padding():
    """Four tokens, two of them padding on the left: rows 2 and 3 are what they are, rows 0 and 1 have no key."""
    q, k, v = np.random.default_rng(8).standard_normal((3, 4, 2))
    seen = np.tril(np.ones((4, 4), bool)) & np.array([False, False, True, True])
    v[:, 0] = [1, 2, 3, 6]
    made = partial(attend, (q, k, v[:, :1]), mask=seen)
    assert_empty(made, slice(0, 2), "[3, 3]")
    alone = attend((q[2:], k[2:], v[2:, :1]), causal="top-left").context
    for masked_row in ("undefined", "uniform"):
        rows = made(masked_row=masked_row).context[2:]
        for array, other in zip(rows.arrays, alone.arrays, strict=True):
            assert all(a.meets(b) and a.radius < 1e-12 for a, b in zip(array.ravel(), other.ravel(), strict=True))


def test_b09_poison_of_an_empty_row_stays_there():
    """Two layers with equal scores: row 3 of the first gives NaN, which rows 0 to 2 of the second do not see."""
    zeros, v = np.zeros((4, 1)), np.array([[1.0], [3.0], [8.0], [5.0]])
    keep = np.ones((4, 4), bool) & (np.arange(4) < 3)
    keep[3] = False
    first = attend((zeros, zeros, v), mask=keep).context
    assert_prints(first[:3], "[4, 4, 4]")
    assert_undefined(first[3])
    second = attend((zeros, zeros, np.array([[4.0], [4.0], [4.0], [np.nan]])), mask=keep).context
    assert_prints(second[:3], "[4, 4, 4]")
    assert_undefined(second[3])


def test_b10_padding_removes_columns_only():
    """Causal, and the last of three keys is padding: the last row shares its weight between the first two."""
    zeros = np.zeros((3, 1))
    found = attend((zeros, zeros, np.eye(3)), causal="top-left", key_lengths=[2])
    assert_prints(found.weights[2], "[0.5, 0.5, 0]")
    assert_zero(found.weights[2, 2])
    masked = np.tril(np.ones((3, 3), bool)) & (np.arange(3) < 2)
    masked[2] = False  # the row of the padded token too
    assert_undefined(attend((zeros, zeros, np.eye(3)), mask=masked).context[2])


def test_b11_sequence_of_length_zero():
    """Two sequences of 3 and 0 keys with equal scores: thirds, and nothing."""
    zeros = np.zeros((2, 1, 3, 1))
    values = np.broadcast_to(np.eye(3), (2, 1, 3, 3))
    made = partial(attend, (zeros[:, :, :1], zeros, values), key_lengths=[3, 0])
    assert_prints(made().context[0], "[1/3, 1/3, 1/3]")
    assert_empty(made, 1, "[1/3, 1/3, 1/3]")


@pytest.mark.parametrize("part", [1, 2])
def test_b12_nan_where_nobody_looks(part):
    """A NaN in the masked key or its value, and in the value of a future key, changes no row that does not see it."""
    arrays = [np.array(x, dtype=float) for x in A23]
    arrays[part][2] = np.nan
    assert_prints(attend(arrays, mask=KEPT).context, TWO_KEYS)
    arrays[0] = np.array(A33[0])
    found = attend(arrays, causal="top-left").context
    assert_prints(found[:2], "[[1.0, 0.0], [0.33023845, 0.66976155]]")
    assert_undefined(found[2])

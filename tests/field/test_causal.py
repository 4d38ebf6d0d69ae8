"""Field cases about the causal diagonal (CA) and sliding windows (SW)."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from field.answers import attend
from field.fixtures import A23, A33, BOTTOM_RIGHT, ONE, PLAIN_ONE, SQUARE_CAUSAL, TOP_LEFT, W5
from field.printing import assert_empty, assert_prints, assert_undefined, assert_zero

LAST_TWO = "[0, 0, 0, 1/2, 1/2]"  # the weights of row 4 of W5


def test_b45_decode_step():
    """One query and three cached keys: the first key only, or all of them."""
    assert_prints(attend(ONE, causal="top-left").context, "[1, 0]")
    assert_prints(attend(ONE, causal="bottom-right").context, PLAIN_ONE)


def test_b46_two_alignments():
    """Two queries, three keys, causal in both alignments."""
    assert_prints(attend(A23, causal="top-left").context, TOP_LEFT)
    assert_prints(attend(A23, causal="bottom-right").context, BOTTOM_RIGHT)


def test_b47_two_devices():
    """One query of two, three keys, no past: position 0 as in the standard, and the last position."""
    assert_prints(attend(ONE, causal="top-left").context, "[1, 0]")
    assert_prints(attend(ONE, causal="offset", offset=2).context, PLAIN_ONE)


def test_b48_cache_without_past():
    """One query at the end of a cache of three tokens: its position is 2; at position 0 it sees one key."""
    assert_prints(attend(ONE, causal="bottom-right", key_lengths=[3]).context, PLAIN_ONE)
    longer = [ONE[0], *([*x, [7, 9], [5, 8]] for x in ONE[1:])]  # with room for two more tokens in the cache
    assert_prints(attend(longer, causal="bottom-right", key_lengths=[3]).context, PLAIN_ONE)
    assert_prints(attend(ONE, causal="offset", offset=0, key_lengths=[3]).context, "[1, 0]")


def test_b49_the_last_of_128_keys():
    """Three queries, 128 keys, equal scores, bottom-right: row i shares its weight among 126 + i keys."""
    zeros = np.zeros((128, 1))
    found = attend((zeros[:3], zeros, np.eye(128)), causal="bottom-right").context
    for i in range(3):
        shares = [f"1/{126 + i}"] * (126 + i) + ["0"] * (2 - i)
        assert_prints(found[i], f"[{', '.join(shares)}]")


def test_b50_square_shapes_hide_the_alignment():
    """Both alignments are one where there are as many queries as keys, and two elsewhere."""
    for causal, text in (("top-left", TOP_LEFT), ("bottom-right", BOTTOM_RIGHT)):
        assert_prints(attend(A33, causal=causal).context, SQUARE_CAUSAL)
        assert_prints(attend(A23, causal=causal).context, text)


def test_b51_more_queries_than_keys():
    """Three queries, two keys, equal scores, bottom-right: row 0 sees nothing."""
    zeros = np.zeros((3, 1))
    made = partial(attend, (zeros, zeros[:2], [[1], [3]]), causal="bottom-right")
    assert_prints(made(masked_row="zero").context, "[[0], [1], [2]]")
    assert_empty(made, 0, "2")


def test_b53_causal_in_blocks_only():
    """Four tokens, equal scores: row i shares its weight among i + 1 keys; by blocks of two it sees its whole block."""
    zeros, block = np.zeros((4, 1)), np.arange(4) // 2
    rows = "[[1, 0, 0, 0], [1/2, 1/2, 0, 0], [1/3, 1/3, 1/3, 0], [1/4, 1/4, 1/4, 1/4]]"
    assert_prints(attend((zeros, zeros, np.eye(4)), causal="top-left").context, rows)
    leaked = attend((zeros, zeros, np.eye(4)), mask=block <= block[:, np.newaxis]).context
    assert_prints(leaked[0], "[1/2, 1/2, 0, 0]")
    assert_prints(leaked[2], "[1/4, 1/4, 1/4, 1/4]")


def test_b54_a_token_sees_itself():
    """-inf above the diagonal is the causal mask; on the diagonal too, each token sees those before it only."""
    above = np.triu(np.ones((3, 3), bool), 1)
    assert_prints(attend(A33, mask=np.where(above, -np.inf, 0)).context, SQUARE_CAUSAL)
    mask = np.where(np.triu(np.ones((3, 3), bool)), -np.inf, 0)
    found = attend(A33, mask=mask, masked_row="zero")
    assert_prints(found.context, "[[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]]")
    assert_undefined(found.lse[0])


def test_b55_one_token_too_many():
    """Three tokens with j <= i, and with j <= i + 1."""
    assert_prints(attend(A33, causal="top-left").context, SQUARE_CAUSAL)
    wrong = "[[0.66976155, 0.33023845], [1.0, 1.2033363], [1.2552348, 1.2552348]]"
    assert_prints(attend(A33, causal="offset", offset=1).context, wrong)


def test_b56_past_keys_are_visible():
    """One query after two past tokens and with one new one; with the triangle over the past too it sees one key."""
    q, k, v = (np.array(x, dtype=float) for x in ONE)
    made = partial(attend, (q, k[2:], v[2:]), past_key=k[:2], past_value=v[:2])
    assert_prints(made(causal="bottom-right").context, PLAIN_ONE)
    assert_prints(made(causal="top-left").context, "[1, 0]")


def test_b57_window_to_both_sides():
    """Five equal scores, causal, two keys in all; with two to the left it is three, and five without causality."""
    assert_prints(attend(W5, causal="top-left", window=(1, 0)).context[4], LAST_TWO)
    assert_prints(attend(W5, causal="top-left", window=(2, 2)).context[4], "[0, 0, 1/3, 1/3, 1/3]")
    assert_prints(attend(W5, window=(2, 2)).context[2], "[0.2, 0.2, 0.2, 0.2, 0.2]")


@pytest.mark.parametrize(("left", "counts"), [(1, [1, 2, 2, 2, 2]), (2, [1, 2, 3, 3, 3])])
def test_b58_what_a_window_of_two_counts(left, counts):
    """Keys that each row sees: the query itself counted, or two to the left of it. The diagonal is 1 over that."""
    found = attend(W5, causal="top-left", window=(left, None))
    for row, count in enumerate(counts):
        assert_prints(found.context[row, row], f"1/{count}")
        assert found.tensors.heads[0].allowed(np.array([row])).sum() == count


def test_b60_left_bound_without_minus_one():
    """A total of two keys is the tuple (1, 0), both ends included; (2, 0) sees one more."""
    assert_prints(attend(W5, window=(1, 0)).context[4], LAST_TWO)
    assert_prints(attend(W5, window=(2, 0)).context[4], "[0, 0, 1/3, 1/3, 1/3]")


def test_b61_window_by_tiles():
    """A window of two within tiles of four: by elements row 4 sees keys 3 and 4; by tiles all five, or key 4."""
    assert_prints(attend(W5, causal="top-left", window=(1, None)).context[4], LAST_TWO)
    assert_prints(attend(W5, causal="top-left").context[4], "[0.2, 0.2, 0.2, 0.2, 0.2]")
    tile = np.arange(5) // 4
    own = attend(W5, causal="top-left", mask=tile == tile[:, np.newaxis]).context
    assert_prints(own[4], "[0, 0, 0, 0, 1]")


def test_b62_wide_window_and_few_keys():
    """Six queries, two keys, one to each side, the last query at the last key: rows 0 to 2 see nothing."""
    zeros = np.zeros((6, 1))
    made = partial(attend, (zeros, zeros[:2], np.eye(2)), window=(1, 1), offset="end")
    assert_prints(made().context[3:], "[[1, 0], [1/2, 1/2], [1/2, 1/2]]")
    assert_zero(made().weights[3, 1])
    assert_empty(made, slice(0, 3), "[[1/2, 1/2], [1/2, 1/2], [1/2, 1/2]]")

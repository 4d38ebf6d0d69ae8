"""Field cases about the log-sum-exp and about merging parts of one attention (LS)."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from field.answers import BALL, BITS, attend, by_algorithm, matrix_of_balls, scored
from field.printing import assert_prints, assert_undefined, assert_zero

from exactattn.attention.algorithms import merge
from exactattn.attention.definition import Attended as Piece
from exactattn.attention.spec import Stage
from exactattn.numbers.exact import div, log


def merged(*pieces):
    """Context and lse of parts (context, lse) of one row, the lse None where a part has no key."""
    with BALL.precision(BITS):
        ar = BALL.arithmetic()
        parts = [Piece(ar.lift(((F(x),),)), ar.lift(((F(0) if lse is None else lse,),))) for x, lse in pieces]
        has_keys = np.array([[lse is not None for _, lse in pieces]])
        found = merge(ar, parts, has_keys)
        return matrix_of_balls(found.context), matrix_of_balls(found.lse)


def test_b89_lse_in_base_two_merged_as_natural():
    """Parts with lse 2 and 1 and contexts 0 and 1; and with the same lse in base 2 read as natural."""
    context, lse = merged((0, F(2)), (1, F(1)))
    assert_prints(context, "0.26894142")
    assert_prints(lse, "2.3132617")
    in_two = [div(F(x), log(F(2))) for x in (2, 1)]
    assert_prints(merged((0, in_two[0]), (1, in_two[1]))[0], "0.19112835")


def test_b91_two_empty_parts():
    """Two parts without keys: context 0 by the rule of zeros, and no lse; merged, 0 again."""
    found = scored([[0, 0]], [[1], [3]], mask=((False, False),), masked_row="zero")
    assert_zero(found.context)
    assert_undefined(found.lse)
    assert_zero(merged((0, None), (0, None))[0])
    assert_zero(by_algorithm("split", found.problem))


def test_b92_part_without_keys():
    """A part with scores 2 and 1 beside a part of length 0: merged, it is what it was."""
    full = scored([[2, 1]], [[0], [1]])
    assert_prints(full.context, "0.26894142")
    empty = attend(([[1.0]], [[1.0]], [[5.0]]), key_lengths=[0], masked_row="zero")
    assert_zero(empty.context)
    assert_undefined(empty.lse)
    both = scored([[2, 1, 0]], [[0], [1], [5]], mask=((True, True, False),))
    assert_prints(by_algorithm("split", both.problem), "0.26894142")  # into the keys 0 and 1, and key 2
    assert_prints(by_algorithm("split", both.problem, Stage.LSE), "2.3132617")


def test_b93_sum_of_two_lse():
    """ln(e**2 + e); the sum 3 would be that of a product."""
    lse = merged((0, F(2)), (0, F(1)))[1]
    assert_prints(lse, "2.3132617")
    with pytest.raises(AssertionError, match=r"is printed 3\.0: Answer\.NO"):
        assert_prints(lse, "3.0")


@pytest.mark.parametrize(("scale", "text"), [(F(1), "2.3132617"), (F(1, 2), "1.474077")])
def test_b94_what_the_lse_is_of(scale, text):
    """Products 2 and 1 at two scales: of the scaled scores, with the maximum in it."""
    assert_prints(attend(([[1]], [[2], [1]], [[0], [0]]), scale=scale).lse, text)

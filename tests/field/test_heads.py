"""Field cases about which key head a query head uses (GQ)."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
from field.answers import Attended, attend
from field.printing import assert_prints

from exactattn.attention.spec import Head, Problem, Stage, identity


def one_token(heads, values, **options):
    """The output of each query head where each key head has one token, of these values."""
    q, k = np.ones((1, heads, 1, 2)), np.ones((1, len(values), 1, 2))
    return attend((q, k, np.array(values, dtype=float).reshape(1, -1, 1, 1)), **options).context


def text(values):
    return f"[{', '.join(map(str, values))}]"


def test_b95_tiled_key_heads():
    """Four query heads and two key heads with one token: a group each, and in turn."""
    assert_prints(one_token(4, [10, 20]), "[10, 10, 20, 20]")
    assert_prints(one_token(4, [10, 20], head_map="tiled"), "[10, 20, 10, 20]")


def test_b97_tile_across_a_group():
    """48 query heads on two key heads: 24 each. In tiles of 16 it is as on three key heads of 10, 10 and 20."""
    assert_prints(one_token(48, [10, 20]), text([10] * 24 + [20] * 24))
    assert_prints(one_token(48, [10, 10, 20]), text([10] * 32 + [20] * 16))


def test_b98_divided_by_the_wrong_count():
    """28 query heads and four key heads: seven in a group. Groups of four would need seven key heads."""
    assert_prints(one_token(28, range(4)), text(h // 7 for h in range(28)))
    assert_prints(one_token(28, range(7)), text(h // 4 for h in range(28)))


def test_b99_output_projection_in_another_order():
    """Four query heads on two key heads, whose outputs 1, 2, 3, 4 go through W_O: the identity, and one permuted."""
    see = np.array([[1, 0], [0, 1]] * 2, dtype=bool).reshape(1, 4, 1, 2)
    q, k = np.zeros((1, 4, 1, 1)), np.zeros((1, 2, 2, 1))
    values = np.array([1.0, 2, 3, 4]).reshape(1, 2, 2, 1)
    assert_prints(attend((q, k, values), mask=see).context, "[1, 2, 3, 4]")
    one = ((F(1),),)
    heads = tuple(Head(q=one, k=one, v=((F(x),),)) for x in (1, 2, 3, 4))
    mixed = tuple(identity(4)[h] for h in (0, 2, 1, 3))  # row g H_kv + h where the heads stand at h G + g
    for W_O, printed in ((identity(4), "[1, 2, 3, 4]"), (mixed, "[1, 3, 2, 4]")):
        found = Attended(None, Problem(heads, W_O=W_O, several_heads=True))
        assert_prints(found.stage(Stage.OUTPUT), printed)

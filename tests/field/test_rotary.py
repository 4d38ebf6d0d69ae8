"""Field cases about rotary positions (RP): width 4, base 10000, q = [1, 2, 3, 4], k = [4, 3, 2, 1], score q k."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from field.answers import Attended, attend
from field.printing import assert_prints

from exactattn.attention.options import Rotary
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.numbers.exact import add, cos, mul, power, sin

Q, K = [1, 2, 3, 4], [4, 3, 2, 1]
SWAPPED = [0, 2, 1, 3]  # interleaved pairs become halves
PLACES = [(1, 0), (2, 1), (11, 10)]  # of query and key
DISTANCE_ONE, DISTANCE_SIX = "6.8878149", "21.778223"


def score(m, n, q=Q, k=K, layout="halves"):
    """The score of a query at m and a key at n; the lse of one key is its score."""
    found = attend(
        ([q], [k], [[1]]),
        scale=F(1),
        rotary=Rotary(layout=layout),
        query_positions=np.array([m]),
        key_positions=np.array([n]),
    )
    return found.stage(Stage.SCORES), found.lse


def assert_scores(found, text):
    """Both of them."""
    for one in found:
        assert_prints(one, text)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("layout", "text"), [("halves", DISTANCE_ONE), ("interleaved", "11.145169")])
def test_b125_angles_of_one_layout_and_pairs_of_another(place, layout, text):
    """The score at three places of distance 1, in both layouts: one number each."""
    assert_scores(score(*place, layout=layout), text)


def test_b125_wrong_pairs():
    """Angles by interleaved pairs on pairs by halves: no rotation, and another score at each place."""
    for place, text in zip(PLACES, ("-4.7527812", "5.3320718", "-1.9069255"), strict=True):
        parts = [mixed(x, position) for x, position in zip((Q, K), place, strict=True)]
        problem = Problem((Head(q=(parts[0],), k=(parts[1],), v=((F(1),),)),), spec=AttentionSpec(scale=F(1)))
        assert_prints(Attended(None, problem).stage(Stage.SCORES), text)


def mixed(x, position):
    """x_i cos t_i + partner_i sin t_i with t as for pairs (0, 1), (2, 3) and partners as for (0, 2), (1, 3)."""
    partners = [-x[2], -x[3], x[0], x[1]]
    angles = [mul(F(position), power(F(10000), F(-2 * (i // 2), 4))) for i in range(4)]
    return tuple(add(mul(F(x[i]), cos(t)), mul(F(partners[i]), sin(t))) for i, t in enumerate(angles))


def test_b126_layouts_are_permutations():
    """The score by halves is that by interleaved pairs of vectors permuted alike."""
    q, k = ([x[SWAPPED.index(i)] for i in range(4)] for x in (Q, K))
    assert_scores(score(1, 0), DISTANCE_ONE)
    assert_scores(score(1, 0, q, k, "interleaved"), DISTANCE_ONE)


def test_b127_shared_counter_of_a_padded_row():
    """The newest key at 24: the query at 25, and at 30 by the counter of the longest row."""
    assert_scores(score(25, 24), DISTANCE_ONE)
    assert_scores(score(30, 24), DISTANCE_SIX)


def test_b128_positions_of_what_was_kept():
    """The newest key at 9: the query at 10, and at 4 by the number of rows kept."""
    assert_scores(score(10, 9), DISTANCE_ONE)
    assert_scores(score(4, 9), "3.7346734")


def test_b129_old_rotations_in_a_merged_cache():
    """Keys turned before the cache was padded by five stand five too far from the query."""
    assert_scores(score(25 + 5, 24 + 5), DISTANCE_ONE)
    assert_scores(score(25 + 5, 24), DISTANCE_SIX)

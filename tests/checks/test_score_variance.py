"""EA401: variance of the scores and saturation, before and after the scale."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from samples import bench, by_id, document_n, matrix, scores

from exactattn.attention.spec import AttentionSpec, Head, Problem
from exactattn.bench import Bench
from exactattn.checks.score_variance import CHECK
from exactattn.findings import Level, Verdict


def test_document_n_is_a_note_with_both_variances():
    """26/81 by hand (tests/truth/test_spread.py); entropy 1.0534 of S23; law d_k = 2 and 1."""
    (note,) = by_id(CHECK, bench(document_n())).values()
    assert (note.id, note.verdict, note.level) == ("hazard:score-variance", Verdict.HOLDS, Level.NOTE)
    variance = note.evidence["variance"]
    assert variance["unscaled"] == "0.32098765432098765432"
    assert variance["scaled"] == "0.16049382716049382716"
    assert (variance["law"], variance["law_unscaled"], variance["law_scaled"]) == ("score-variance", "2", "1")
    assert "independent" in variance["law_assumes"]
    assert note.message.count("sum of squared weights: 0 when one key takes all") == 1
    assert note.evidence["scaled"]["largest_weight"] == {"row": 2, "weight": "0.50348984348455386061"}
    assert note.evidence["scaled"]["entropy"]["uniform"].startswith("1.0986122886681096")  # ln 3
    assert note.evidence["scaled"]["trace"]["uniform"] == "0.66666666666666666667"


def test_d_k_64_reproduces_theory_section_7():
    """N(0,1) q and k, d_k = 64: unscaled clearly saturated, scaled not (THEORY: trace 0.33 and 0.98 at n = 128)."""
    rng = np.random.default_rng(20240731)
    q, k = (matrix([[Fraction(float(x)) for x in row] for row in rng.normal(size=(16, 64)).round(3)]) for _ in range(2))
    (found,) = by_id(CHECK, bench(Problem((Head(q=q, k=k, v=matrix([[1]] * 16)),)))).values()
    assert (found.verdict, found.level, found.code) == (Verdict.FAILS, Level.WARNING, "EA401")
    assert (found.evidence["unscaled"]["saturated"], found.evidence["scaled"]["saturated"]) == ("yes", "no")
    s = np.array(q, float) @ np.array(k, float).T
    assert abs(float(found.evidence["variance"]["unscaled"]) / s.var() - 1) < 1e-12
    assert abs(float(found.evidence["variance"]["scaled"]) * 64 / s.var() - 1) < 1e-12
    assert "criterion" in found.evidence
    assert found.evidence["remedy"] is None  # the scale is 1/sqrt(d_k), and it works


def test_one_peaked_row_is_enough():
    """Weight 1/(1 + e^-5) = 0.9933 is above 0.99; e^-4 gives 0.982."""
    (found,) = by_id(CHECK, bench(scores([5, 0], [0, 0], [0, 0], [0, 0]))).values()
    assert found.verdict is Verdict.FAILS
    assert found.evidence["unscaled"]["above_0.99"] == {"rows": [0], "count": 1}
    (found,) = by_id(CHECK, bench(scores([4, 0], [0, 0], [0, 0], [0, 0]))).values()
    assert found.verdict is Verdict.HOLDS


def test_given_scores_have_no_law():
    (note,) = by_id(CHECK, bench(scores([1, 2]))).values()
    assert "law" not in note.evidence["variance"]


def test_nothing_where_nothing_is_allowed_and_no_problem():
    assert not list(CHECK.run(Bench()))
    assert not list(CHECK.run(bench(replace(scores([1, 2]), mask=((False, False),)))))


def test_a_single_key_cannot_saturate():
    (note,) = by_id(CHECK, bench(scores([3]))).values()
    assert note.verdict is Verdict.HOLDS
    assert "single key" in note.message


def with_keys(factor, scale=None):
    """Two queries and keys of width 4, so that 1/sqrt(d_k) is 1/2."""
    q, k = matrix([[factor, 0, 0, 0], [0, factor, 0, 0]]), matrix([[1, 0, 0, 0], [0, 1, 0, 0]])
    return Problem((Head(q=q, k=k, v=matrix([[1], [2]])),), spec=AttentionSpec(scale=scale))


def test_the_remedy_is_no_scale_that_is_there_already():
    """A score of 3 beside 0 is saturated (trace 0.09 < 1/4), one of 1.5 is not (0.30); 30 is, at 15 too."""

    def remedy(problem):
        (found,) = by_id(CHECK, bench(problem)).values()
        assert found.verdict is Verdict.FAILS
        return found.evidence["remedy"]

    assert "1/sqrt(d_k) before" in remedy(with_keys(3, Fraction(1)))
    assert "1/sqrt(d_k) before" in remedy(with_keys(3, Fraction(1, 4)))
    assert "1/sqrt(d_k) before" in remedy(with_keys(3, Fraction(-1, 2)))
    assert remedy(with_keys(3)) is None
    assert remedy(with_keys(3, Fraction(51, 100))) is None
    assert "already: normalise" in remedy(with_keys(30))
    assert "already: normalise" in remedy(with_keys(30, Fraction(1, 2)))


def biased(*rows):
    """Three equal scores a row with a bias."""
    return replace(scores(*[[1, 1, 1]] * len(rows)), bias=matrix(rows))


@pytest.mark.parametrize("low", [-(10**4), -(10**9), -(2**1024 - 2**971)])
def test_a_key_that_a_bias_masks_saturates_nothing(low):
    """As if the mask were -inf: variance, largest weight, entropy and trace are those of the two keys that are left."""
    (found,) = by_id(CHECK, bench(biased([0, 0, low], [0, 0, 0]))).values()
    (same,) = by_id(
        CHECK, bench(replace(scores([1, 1, 1], [1, 1, 1]), mask=((True, True, False), (True,) * 3)))
    ).values()
    assert found.verdict is Verdict.HOLDS
    assert found.evidence["masked_by_bias"] == {"count": 1, "rule": "bias at most -10000"}
    for key in ("variance", "unscaled", "scaled"):
        assert found.evidence[key] == same.evidence[key]
    assert "1 query-key pair masked by a bias of at most -10000 left out" in found.message
    assert "masked_by_bias" not in same.evidence


def test_a_smaller_bias_is_part_of_the_scores():
    """-9999 is no mask: one key of two takes all; nor is it one where a bias of -10000 stands at another key."""
    (found,) = by_id(CHECK, bench(biased([0, -9999, -9999]))).values()
    assert found.verdict is Verdict.FAILS
    (found,) = by_id(CHECK, bench(biased([0, -9999, -10000]))).values()
    assert (found.verdict, found.evidence["masked_by_bias"]["count"]) == (Verdict.FAILS, 1)


def test_columns_and_causal_masks_are_kept_beside_the_bias():
    """Tokens as columns: the bias is given keys x queries, and query 0 is left with key 0."""
    turned = Problem(
        (Head(scores=matrix([[1, 1], [1, 1]]), v=matrix([[1, 2]])),),
        bias=matrix([[0, 0], [-(10**9), 0]]),
        spec=AttentionSpec(scale=Fraction(1), orientation="columns"),
    )
    (found,) = by_id(CHECK, bench(turned)).values()
    assert (found.verdict, found.evidence["unscaled"]["rows"]) == (Verdict.HOLDS, 1)
    assert found.evidence["unscaled"]["largest_weight"] == {"row": 1, "weight": "0.5"}
    assert found.evidence["variance"]["over"] == "3 allowed scores"
    causal = biased([0, 0, 0], [-(10**4), 0, 0], [0, 0, 0]).with_spec(causal="top-left")
    (found,) = by_id(CHECK, bench(causal)).values()
    assert found.evidence["variance"]["over"] == "5 allowed scores"


def test_nothing_where_the_bias_masks_every_key():
    assert not list(CHECK.run(bench(biased([-(10**4)] * 3))))

"""EA401: variance of the scores and saturation, before and after the scale."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from samples import bench, by_id, document_n, matrix, scores

from exactattn.attention.spec import Head, Problem
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
    law = variance["law"]
    assert (law["name"], law["unscaled"], law["scaled"]) == ("score-variance", "2", "1")
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

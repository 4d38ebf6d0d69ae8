"""EA303: the scores themselves overflow, before or after the scale."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from samples import bench, by_id, document_n, matrix, scores, two_heads

from exactattn.bench import Bench
from exactattn.checks.score_overflow import CHECK
from exactattn.findings import Level, Verdict
from exactattn.numbers.exact import div, mul, sqrt
from exactattn.numbers.formats import FORMATS

TINY = Fraction(1, 10**30)


def test_float16_boundary_against_numpy():
    """65519.99 rounds to 65504, 65520 is a tie that goes to infinity."""
    rows = [["65519.99"], ["65520"], ["-65520"], ["-65504"], ["65504"]]
    with np.errstate(over="ignore"):
        infinite = [i for i, (x,) in enumerate(rows) if np.isinf(np.float16(float(x)))]
    hazard = by_id(CHECK, bench(scores(*rows), "float16"))["hazard:score-overflow/float16"]
    assert hazard.evidence["rows"] == infinite == [1, 2]
    assert (hazard.verdict, hazard.level, hazard.code) == (Verdict.FAILS, Level.WARNING, "EA303")
    assert (hazard.evidence["max"], hazard.evidence["overflow_threshold"]) == ("65504", "65520")
    assert hazard.evidence["unaffected"] == []


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_on_both_sides_of_its_threshold(name):
    """A tie goes to the even significand: it overflows in every format but e4m3fn, where 464 gives 448."""
    limit = FORMATS[name].overflow_threshold
    rows = [[limit - TINY], [limit], [limit + TINY]]
    hazard = by_id(CHECK, bench(scores(*rows), name))[f"hazard:score-overflow/{name}"]
    assert hazard.evidence["rows"] == ([2] if name == "e4m3fn" else [1, 2])
    (note,) = by_id(CHECK, bench(scores([limit - TINY]), name)).values()
    assert (note.id, note.verdict) == ("hazard:score-overflow", Verdict.HOLDS)


def test_before_the_scale_only():
    """Scores 100000 with scale 1/2: scaled they fit in float16."""
    hazard = by_id(CHECK, bench(scores([100000], scale=Fraction(1, 2)), "float16"))["hazard:score-overflow/float16"]
    assert list(hazard.evidence["stages"]) == ["scores"]
    assert "before the product" in hazard.evidence["remedy"]


def test_after_the_scale_only():
    hazard = by_id(CHECK, bench(scores([1000], scale=Fraction(100)), "float16"))["hazard:score-overflow/float16"]
    assert list(hazard.evidence["stages"]) == ["scaled"]


def test_a_bias_can_do_it():
    problem = replace(scores([1]), bias=matrix([[70000]]))
    hazard = by_id(CHECK, bench(problem, "float16"))["hazard:score-overflow/float16"]
    assert list(hazard.evidence["stages"]) == ["masked"]


def test_an_irrational_tie_is_decided_exactly():
    """65520 sqrt(2) times 1/sqrt(2) is 65520: no ball can tell, SymPy can."""
    problem = scores([mul(Fraction(65520), sqrt(Fraction(2)))], scale=div(Fraction(1), sqrt(Fraction(2))))
    stages = by_id(CHECK, bench(problem, "float16"))["hazard:score-overflow/float16"].evidence["stages"]
    assert stages["scaled"]["count"] == 1


def test_document_n_scaled_by_1000_and_itself():
    found = by_id(CHECK, bench(document_n(1000), "float16", "float32"))
    assert list(found) == ["hazard:score-overflow/float16"]
    (note,) = by_id(CHECK, bench(document_n(), "float16", "float32")).values()
    assert note.evidence["formats"]["float16"]["margin"] == "65518.0"
    # max = (2^24 - 1) 2^104, and half an ulp more is (2^25 - 1) 2^103
    assert note.evidence["formats"]["float32"]["max"] == "16777215*2**104"
    assert note.evidence["formats"]["float32"]["overflow_threshold"] == "33554431*2**103"


def test_scores_of_masked_keys_are_computed_too_and_counted_apart():
    hazard = by_id(CHECK, bench(scores([70000, 1], mask=((False, True),)), "float16"))["hazard:score-overflow/float16"]
    stage = hazard.evidence["stages"]["scores"]
    assert (stage["scores"], stage["of_allowed_keys"]) == (1, 0)


def test_several_heads_and_no_problem():
    hazard = by_id(CHECK, bench(two_heads([[1]], [[70000]]), "float16"))["hazard:score-overflow/float16"]
    assert hazard.evidence["rows"] == [[1, 0]]
    assert not list(CHECK.run(Bench()))


def test_columns_are_tokens_too():
    """The same problem transposed names the same query."""
    problem = replace(scores([1, 2], [70000, 3]))
    rows = by_id(CHECK, bench(problem, "float16"))["hazard:score-overflow/float16"].evidence["rows"]
    turned = replace(
        problem,
        heads=(replace(problem.heads[0], scores=matrix([[1, 70000], [2, 3]]), v=matrix([[0, 1], [1, 1]])),),
        spec=replace(problem.spec, orientation="columns"),
    )
    assert by_id(CHECK, bench(turned, "float16"))["hazard:score-overflow/float16"].evidence["rows"] == rows == [1]


def test_a_negative_score_counts_by_its_magnitude():
    hazard = by_id(CHECK, bench(scores([-70000, 5]), "float16"))["hazard:score-overflow/float16"]
    assert hazard.evidence["stages"]["scores"]["largest"] == {"row": 0, "magnitude": "70000"}


def biased(*rows):
    """Scores of 1 with a bias."""
    return replace(scores(*[[1] * len(row) for row in rows]), bias=matrix(rows))


def test_a_key_that_a_bias_masks_may_become_minus_infinity_beside_another():
    """NumPy: 1 - 1e9 is -inf in float16, and the softmax is that of the other key; in a row of such keys it is NaN."""
    low = -(10**9)
    with np.errstate(over="ignore", invalid="ignore"):
        for row, finite in (([0, low], True), ([low, low], False)):
            x = (np.ones(2) + np.array(row, float)).astype(np.float16)
            assert np.isfinite(np.exp(x - x.max())).all() == finite
    (note,) = by_id(CHECK, bench(biased([0, low], [low, 0]), "float16", "float32")).values()
    assert (note.verdict, note.evidence["largest"]["masked"]) == (Verdict.HOLDS, "1")
    hazard = by_id(CHECK, bench(biased([0, low], [low, low]), "float16"))["hazard:score-overflow/float16"]
    assert (hazard.verdict, hazard.evidence["rows"]) == (Verdict.FAILS, [1])


def test_a_masked_key_is_no_exception_in_a_format_without_infinity_or_where_scores_overflow_before_the_bias():
    found = by_id(CHECK, bench(biased([0, -(10**9)]), "float16", "e4m3fn"))
    assert list(found) == ["hazard:score-overflow/e4m3fn"]
    high = replace(scores([1, 70000]), bias=matrix([[0, -(10**9)]]))
    assert list(by_id(CHECK, bench(high, "float16"))["hazard:score-overflow/float16"].evidence["stages"]) == [
        "scores",
        "scaled",
    ]

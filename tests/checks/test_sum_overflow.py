"""EA302: the sum of exponentials overflows though no single one does."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import mpmath
import numpy as np
import pytest
from samples import bench, by_id, document_n, scores

from exactattn.bench import Bench
from exactattn.checks.sum_overflow import CHECK
from exactattn.findings import Level, Verdict
from exactattn.numbers.formats import FORMATS


def test_three_scores_of_88_in_float32():
    """Issue 2: [88, 88, 88] gives [0, 0, 0] silently. NumPy says so too."""
    e = np.exp(np.full(3, 88, np.float32))
    with np.errstate(over="ignore"):
        assert np.isfinite(e).all()
        assert (e / e.sum() == 0).all()
    found = by_id(CHECK, bench(scores([88, 88, 88], [1, 2, 3]), "float32", "float64"))
    assert list(found) == ["hazard:sum-overflow/float32"]
    hazard = found["hazard:sum-overflow/float32"]
    assert (hazard.verdict, hazard.level, hazard.code) == (Verdict.FAILS, Level.WARNING, "EA302")
    assert hazard.evidence["rows"] == [0]
    assert hazard.evidence["run"] == {"row": 0, "weights": [0, 0, 0], "lse": "inf"}
    with mpmath.workdps(30):
        assert hazard.evidence["largest"]["lse"] == mpmath.nstr(88 + mpmath.log(3), 20)
    assert hazard.evidence["affected"] == ["naive"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_on_both_sides(name):
    """Two equal scores s overflow in the sum for s > ln(max + half ulp) - ln 2, with mpmath's threshold."""
    with mpmath.workdps(60):
        threshold = FORMATS[name].overflow_threshold
        limit = mpmath.log(mpmath.mpf(threshold.numerator) / threshold.denominator) - mpmath.log(2)
        safe = Fraction(int(mpmath.floor(limit * 10**20)), 10**20)
    past = safe + Fraction(1, 10**20)
    found = by_id(CHECK, bench(scores([safe, safe], [past, past]), name))
    assert found[f"hazard:sum-overflow/{name}"].evidence["rows"] == [1]
    (note,) = by_id(CHECK, bench(scores([safe, safe]), name)).values()
    assert (note.id, note.verdict) == ("hazard:sum-overflow", Verdict.HOLDS)


def test_overflow_of_exp_itself_is_not_this_hazard():
    (note,) = by_id(CHECK, bench(document_n(1000), "float32")).values()
    assert note.verdict is Verdict.HOLDS
    assert "exp itself overflows" in note.message


def test_a_format_that_cannot_run_says_why():
    hazard = by_id(CHECK, bench(scores([88, 88, 88]), "bfloat16"))["hazard:sum-overflow/bfloat16"]
    assert "bfloat16" in hazard.evidence["run"]["not_run"]


def test_base_2():
    """2^127 + 2^127 = 2^128 overflows in float32, 2^127 + 2^126 does not."""
    found = by_id(CHECK, bench(scores([127, 127], [127, 126], base=Fraction(2)), "float32"))
    assert found["hazard:sum-overflow/float32"].evidence["rows"] == [0]


def test_a_shifted_sum_can_pass_a_small_format():
    """500 equal keys sum to 500 after the shift, more than e4m3fn holds (448): nothing is called unaffected."""
    keys = ceil(FORMATS["e4m3fn"].overflow_threshold) + 36
    hazard = by_id(CHECK, bench(scores([0] * keys), "e4m3fn"))["hazard:sum-overflow/e4m3fn"]
    assert hazard.evidence["unaffected"] == []


def test_nothing_to_say_without_problem():
    assert not list(CHECK.run(Bench()))

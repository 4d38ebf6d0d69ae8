"""EA304: exponentials that vanish, after the shift and without it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from samples import bench, by_id, document_n, matrix, scores, two_heads

from exactattn.attention.spec import Stage
from exactattn.bench import Bench
from exactattn.checks.weight_underflow import CHECK
from exactattn.findings import Level, Verdict
from exactattn.numbers.formats import FORMATS

# Half of the smallest subnormal as a power of two: IEEE 754 table 3.5 and the OCP 8-bit specification.
HALF_TINY = {
    "float64": -1075, "float32": -150, "tf32": -137, "bfloat16": -134, "float16": -25, "e5m2": -17, "e4m3fn": -10,
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_on_both_sides(name):
    """One score 1e-20 above the threshold below its maximum, one below it."""
    with mpmath.workdps(60):
        limit = HALF_TINY[name] * mpmath.log(2)
        low = Fraction(int(mpmath.floor(limit * 10**20)), 10**20)
    kept = low + Fraction(1, 10**20)
    found = by_id(CHECK, bench(scores([5, 5 + low], [5, 5 + kept]), name))
    hazard = found[f"hazard:weight-underflow/{name}"]
    assert (hazard.verdict, hazard.level, hazard.code) == (Verdict.FAILS, Level.WARNING, "EA304")
    assert (hazard.evidence["rows"], hazard.evidence["vanishing"], hazard.evidence["of"]) == ([0], 1, 4)
    assert hazard.evidence["half_min_subnormal"] == f"2**{HALF_TINY[name]}"
    (note,) = by_id(CHECK, bench(scores([5, 5 + kept]), name)).values()
    assert (note.id, note.verdict) == ("hazard:weight-underflow", Verdict.HOLDS)


def test_numpy_agrees_in_float16():
    """The naive, shifted run of NumPy has zeros exactly where we say."""
    rows = [[0, Fraction(-j, 4)] for j in range(60, 80)]
    a_bench = bench(scores(*rows), "float16", algorithms=("shifted",))
    hazard = by_id(CHECK, a_bench)["hazard:weight-underflow/float16"]
    exponentials = np.exp(np.array([float(low) for _, low in rows], np.float16))
    assert hazard.evidence["vanishing"] == int((exponentials == 0).sum()) > 0
    weights = a_bench.run(FORMATS["float16"], "shifted").outputs[Stage.WEIGHTS, 0]
    assert (weights[:, 1] == 0).sum() >= hazard.evidence["vanishing"]


def test_mass_lost_is_the_sum_of_the_true_weights():
    """e4m3fn: 60 keys 7 below the maximum hold 60 e^-7/(1 + 60 e^-7) = 5 % of the weight."""
    hazard = by_id(CHECK, bench(scores([0] + [-7] * 60), "e4m3fn"))["hazard:weight-underflow/e4m3fn"]
    with mpmath.workdps(40):
        part = 60 * mpmath.exp(-7)
        assert hazard.evidence["mass_lost"]["mass"] == mpmath.nstr(part / (1 + part), 20)
    assert hazard.evidence["fraction"] == "0.9836"
    # 0.0519 is less than u = 2^-4
    assert hazard.reason == "underflow"
    more = by_id(CHECK, bench(scores([0] + [-7] * 200), "e4m3fn"))["hazard:weight-underflow/e4m3fn"]
    assert more.reason == "mass-lost"


def test_all_unshifted_exponentials_vanish():
    """Scores of -110: naive float32 gives 0/0, shifted is fine; NumPy's exp(-110) is 0."""
    assert np.exp(np.float32(-110)) == 0
    hazard = by_id(CHECK, bench(scores([-110, -110]), "float32"))["hazard:weight-underflow/float32"]
    assert (hazard.reason, hazard.evidence["affected"]) == ("0/0", ["naive"])
    assert hazard.evidence["zero_sum"]["rows"] == [0]
    assert "row maximum" in hazard.evidence["remedy"]
    assert "hazard:weight-underflow" in by_id(CHECK, bench(scores([-100, -100]), "float32"))


def test_document_n_scaled_by_1000_and_itself():
    """Off the row maximum by 707107 or 1414214... rows 0 and 1 lose one key, row 2 two."""
    found = by_id(CHECK, bench(document_n(1000), "float64", "float32"))
    for name in ("float64", "float32"):
        assert found[f"hazard:weight-underflow/{name}"].evidence["vanishing"] == 4
        assert (
            found[f"hazard:weight-underflow/{name}"]
            .evidence["mass_lost"]["mass"]
            .endswith("(too small for any format here)")
        )
        message = found[f"hazard:weight-underflow/{name}"].message
        assert "the lost mass is too small for any format here (less than 8.3e-1205 of a row)" in message
    (note,) = by_id(CHECK, bench(document_n(), "float64", "float32")).values()
    assert note.evidence["lowest"].startswith("-0.70710678118654752440")


def test_masked_keys_several_heads_no_problem():
    (note,) = by_id(CHECK, bench(scores([0, -1000], mask=((True, False),)), "float32")).values()
    assert note.verdict is Verdict.HOLDS
    hazard = by_id(CHECK, bench(two_heads([[0, 0]], [[0, -200]]), "float32"))["hazard:weight-underflow/float32"]
    assert hazard.evidence["rows"] == [[1, 0]]
    assert not list(CHECK.run(Bench()))


def biased(row, *more):
    """Scores of 0 with a bias."""
    return replace(scores(*[[0] * len(row)] * (1 + len(more))), bias=matrix([row, *more]))


@pytest.mark.parametrize("low", [-(10**4), -(10**9), -(2**1024 - 2**971)])
def test_weights_of_keys_that_a_bias_masks_may_vanish(low):
    found = by_id(CHECK, bench(biased([0, -1, low], [0, low, low]), "float64", "float16"))
    (note,) = found.values()
    assert (note.id, note.verdict) == ("hazard:weight-underflow", Verdict.HOLDS)
    assert (
        "in float64, float16 but for 3 masked by a bias of at most -10000, which is what a mask is for" in note.message
    )
    assert note.evidence["formats"]["float16"]["masked_by_bias"] == {"count": 3, "rule": "bias at most -10000"}
    assert note.evidence["lowest"] == "-1"


def test_other_weights_that_vanish_are_told_apart_from_masked_ones():
    hazard = by_id(CHECK, bench(biased([0, -200, -(10**9)]), "float32"))["hazard:weight-underflow/float32"]
    assert (hazard.verdict, hazard.evidence["vanishing"], hazard.evidence["of"]) == (Verdict.FAILS, 2, 3)
    assert hazard.evidence["masked_by_bias"]["count"] == 1
    assert "1 of these is masked by a bias of at most -10000, which is what a mask is for" in hazard.message
    with mpmath.workdps(40):
        assert hazard.evidence["mass_lost"]["mass"] == mpmath.nstr(1 / (1 + mpmath.exp(200)), 20)


def test_a_bias_of_less_is_no_mask():
    hazard = by_id(CHECK, bench(biased([0, -9999]), "float64"))["hazard:weight-underflow/float64"]
    assert (hazard.verdict, hazard.evidence["vanishing"]) == (Verdict.FAILS, 1)
    assert "masked_by_bias" not in hazard.evidence
    assert "1 of 2 weights becomes 0 in float64: its logit" in hazard.message


def test_a_row_masked_throughout_is_still_0_over_0_unshifted():
    hazard = by_id(CHECK, bench(biased([-(10**9), -(10**9)]), "float32"))["hazard:weight-underflow/float32"]
    assert (hazard.reason, hazard.evidence["vanishing"]) == ("0/0", 0)
    assert "in the only row" in hazard.message

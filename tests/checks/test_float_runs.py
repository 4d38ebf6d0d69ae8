"""EA501 and EA502: float runs with their error against the truth."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from samples import bench, by_id, document_n, matrix, scores, two_heads

from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.bench import Bench
from exactattn.checks.float_runs import CHECK
from exactattn.findings import Level, Verdict, is_unexpected
from exactattn.numbers.formats import FORMATS


def test_document_n_runs_everywhere():
    found = by_id(CHECK, bench(document_n(), "float64", "float32", "float16"))
    assert len(found) == 9
    for finding in found.values():
        assert (finding.code, finding.verdict, finding.level) == ("EA501", Verdict.HOLDS, Level.NOTE)
        assert finding.evidence["inputs"] == "exact"
        assert finding.evidence["written"] == finding.evidence["stored"]
        assert 0 < finding.evidence["written"]["output"]["max_ulps"] < 4
        assert ("weights" in finding.evidence["written"]) is not finding.id.endswith("online")


def test_the_error_is_that_of_the_run_against_mpmath():
    """Document N in float32, naive: weights by mpmath at 50 digits, ulp by NumPy's spacing."""
    a_bench = bench(document_n(), "float32")
    weights = a_bench.run(FORMATS["float32"], "naive").outputs[Stage.WEIGHTS, 0]
    with mpmath.workdps(50):
        ulps = []
        for row, data in zip([[1, 0, 1], [0, 1, 1], [1, 1, 2]], weights, strict=True):
            e = [mpmath.exp(x / mpmath.sqrt(2)) for x in row]
            for x, y in zip(e, data, strict=True):
                true = x / sum(e)
                ulps.append(abs(mpmath.mpf(float(y)) - true) / float(np.spacing(np.float32(float(true)))))
    found = by_id(CHECK, a_bench)["run:float32/naive"].evidence["written"]["weights"]
    assert found["max_ulps"] == pytest.approx(float(max(ulps)), rel=1e-3)


def test_scaled_by_1000_only_naive_breaks():
    """Issue 2: naive is not finite where the truth is; shifted and online are fine."""
    found = by_id(CHECK, bench(document_n(1000), "float32"))
    naive = found["run:float32/naive"]
    assert (naive.code, naive.verdict, naive.level) == ("EA502", Verdict.FAILS, Level.ERROR)
    assert is_unexpected(naive)
    assert naive.evidence["rows"] == [0, 1, 2]
    assert naive.evidence["output"] == ["nan", "nan"]
    assert naive.evidence["remedy"].startswith("Subtract the row maximum")
    for name in ("shifted", "online"):
        assert found[f"run:float32/{name}"].verdict is Verdict.HOLDS


def test_silent_zeros_are_seen():
    naive = by_id(CHECK, bench(scores([88, 88, 88], [1, 2, 3]), "float32"))["run:float32/naive"]
    assert naive.verdict is Verdict.FAILS
    assert (naive.evidence["rows"], naive.evidence["all_zero_weights"]) == ([0], [0])
    assert naive.evidence["first_stage"] == "lse"
    assert "in 1 row where" in naive.message
    assert "in 1 row the weights are all 0" in naive.message


def test_formats_that_cannot_run_say_so():
    found = by_id(CHECK, bench(document_n(), "bfloat16", "tf32", "e4m3fn", "e5m2", algorithms=("naive",)))
    assert len(found) == 4
    for name, finding in found.items():
        assert (finding.verdict, finding.level) == (Verdict.NOT_RUN, Level.NOTE)
        assert name.split(":")[1].split("/")[0] in finding.message


def test_inputs_that_do_not_fit_are_named():
    """70000 does not fit in float16; the scale brings the score back, but the input is infinite by then."""
    found = by_id(CHECK, bench(scores([70000, 1], scale=Fraction(1, 70000)), "float16"))["run:float16/shifted"]
    assert (found.code, found.reason, found.evidence["inputs_fit"]) == ("EA502", "inputs-overflow", False)
    assert "overflow when they are stored" in found.message
    assert found.evidence["remedy"].startswith("The inputs do not fit")


def test_a_true_value_beyond_the_format_is_told_apart():
    """Values of 60000, 60000 through W_O = [[2]] give 120000: infinity is the best that float16 can do."""
    problem = scores([0, 0])
    problem = replace(problem, heads=(replace(problem.heads[0], v=matrix([[60000], [60000]])),), W_O=matrix([[2]]))
    found = by_id(CHECK, bench(problem, "float16", algorithms=("shifted",)))["run:float16/shifted"]
    assert (found.reason, found.evidence["beyond_range"]) == ("out-of-range", ["output"])
    assert found.evidence["remedy"].startswith("The true value itself is beyond the format")


def test_as_written_and_as_stored_are_apart():
    """0.1 and 0.3 are no float16 numbers: representation error is reported by itself, checked by mpmath."""
    problem = scores(["0.1", "0.3"])
    found = by_id(CHECK, bench(problem, "float16", algorithms=("shifted",)))["run:float16/shifted"]
    assert found.evidence["inputs"] == "rounded"
    with mpmath.workdps(40):
        a, b = mpmath.mpf("0.1"), mpmath.mpf("0.3")
        c, d = (mpmath.mpf(float(np.float16(x))) for x in (0.1, 0.3))
        written, stored = 1 / (1 + mpmath.exp(a - b)), 1 / (1 + mpmath.exp(c - d))  # the second weight
        ulp = float(np.spacing(np.float16(0.4)))  # the first weight is in [1/4, 1/2)
        expected = float(abs(written - stored)) / ulp
    assert found.evidence["representation"]["weights"]["max_ulps"] == pytest.approx(expected, rel=1e-3)
    assert found.evidence["written"]["weights"]["max_ulps"] != found.evidence["stored"]["weights"]["max_ulps"]


def test_an_exact_zero_has_an_absolute_error():
    """Values 1 and -1 under equal weights: the true output is 0, which has no useful ulp."""
    problem = scores(["1/3", "1/3"])
    problem = replace(problem, heads=(replace(problem.heads[0], v=matrix([[1], [-1]])),))
    found = by_id(CHECK, bench(problem, "float32", algorithms=("naive",)))["run:float32/naive"]
    assert found.evidence["written"]["output"]["max_ulps"] == 0
    assert found.evidence["written"]["output"]["at_zero"] == 0
    assert 0 < found.evidence["written"]["output"]["bound_abs"] < 1e-30
    assert "largest error of the output none against" in found.message


def test_undefined_rows_are_left_out():
    problem = replace(document_n(), mask=((True,) * 3, (False,) * 3, (True,) * 3))
    for finding in by_id(CHECK, bench(problem, "float32")).values():
        assert finding.verdict is Verdict.HOLDS


def test_heads_and_output_projection_report_the_context():
    found = by_id(CHECK, bench(two_heads([[1, 2]], [[3, 5]]), "float32", algorithms=("naive",)))["run:float32/naive"]
    assert set(found.evidence["written"]) == {"weights", "lse", "context", "output"}
    assert found.evidence["written"]["weights"]["at"].count(",") == 2  # weights[head,row,column]


def test_a_planted_error_of_three_ulps_is_measured():
    """The tester: one output moved by three ulps shows as about three ulps, there."""
    a_bench = bench(document_n(), "float32", algorithms=("shifted",))
    outputs = a_bench.run(FORMATS["float32"], "shifted").outputs
    outputs[Stage.OUTPUT, 0][1, 0] += 3 * float(np.spacing(np.float32(0.598)))
    found = by_id(CHECK, a_bench)["run:float32/shifted"].evidence["written"]["output"]
    assert found["at"] == "output[1,0]"
    assert found["max_ulps"] == pytest.approx(3, abs=0.6)


def test_no_problem():
    assert not list(CHECK.run(Bench()))


def test_representation_error_in_float64_is_below_its_own_ulp():
    """lse of the score 0.1 is 0.1; what float64 stores for it is 0.1 + 5.55e-18, 0.4 ulp (2^-56) away."""
    found = by_id(CHECK, bench(scores(["0.1"]), "float64", algorithms=("shifted",)))["run:float64/shifted"]
    expected = abs(Fraction(0.1) - Fraction(1, 10)) * 2**56
    assert found.evidence["representation"]["lse"]["max_ulps"] == pytest.approx(float(expected), rel=1e-3)


def test_overflow_at_a_masked_key_is_not_where_it_began():
    """Row 0 overflows in a score that it may not see; row 1 breaks in exp (12 > ln 65520 = 11.09)."""
    head = Head(q=matrix([[300], [3]]), k=matrix([[300], [4]]), v=matrix([[1], [2]]))
    mask = ((False, True), (False, True))
    problem = Problem((head,), spec=AttentionSpec(scale=Fraction(1, 300)), mask=mask)
    assert by_id(CHECK, bench(problem, "float16"))["run:float16/naive"].verdict is Verdict.HOLDS
    hot = replace(problem, spec=AttentionSpec(scale=Fraction(1)), mask=((False, True), (False, True)))
    found = by_id(CHECK, bench(hot, "float16"))["run:float16/naive"]
    assert (found.evidence["rows"], found.evidence["first_stage"]) == ([0, 1], "weights")


def test_an_undefined_row_is_never_broken():
    """Values of 70000 are infinite in float16; 0 times infinity in the row without a key is nobody's concern."""
    problem = replace(scores([0], [0]), mask=((True,), (False,)))
    problem = replace(problem, heads=(replace(problem.heads[0], v=matrix([[70000]])),))
    assert by_id(CHECK, bench(problem, "float16"))["run:float16/naive"].evidence["rows"] == [0]


def test_representation_error_needs_both_truths_beyond_float64():
    """The weights of 0.1 and 0.3 as written and as stored in float64 differ by less than half an ulp."""
    found = by_id(CHECK, bench(scores(["0.1", "0.3"]), "float64", algorithms=("shifted",)))["run:float64/shifted"]
    with mpmath.workdps(60):
        written = 1 / (1 + mpmath.exp(mpmath.mpf("0.3") - mpmath.mpf("0.1")))
        stored = 1 / (1 + mpmath.exp(mpmath.mpf(0.3) - mpmath.mpf(0.1)))
        expected = float(abs(written - stored) * 2**54)  # the ulp in [1/4, 1/2), the weight that it is largest for
    assert 0 < expected < 0.5
    assert found.evidence["representation"]["weights"]["max_ulps"] == pytest.approx(expected, rel=1e-3)


def test_the_radius_of_a_ball_is_no_error():
    """Two equal scores have weights of exactly 1/2: only the radius of the ball is left, and it is called a bound."""
    found = by_id(CHECK, bench(scores(["1/3", "1/3"]), "float32", algorithms=("naive",)))["run:float32/naive"]
    weights, output = (found.evidence["written"][stage] for stage in ("weights", "output"))
    assert (weights["max_ulps"], weights["max_abs"], weights["at"]) == (0, 0, None)
    assert 0 < weights["bound"] < 1e-20
    assert 0 < output["bound"] < 1e-20
    assert "largest error of the output none (proven to be at most" in found.message


def test_a_bound_is_above_the_error():
    for finding in by_id(CHECK, bench(document_n(), "float64", "float32", "float16")).values():
        for entry in finding.evidence["written"].values():
            assert entry["max_ulps"] <= entry["bound"] <= entry["max_ulps"] * 1.01 + 1e-10


def broken(problem, fmt, algorithm):
    finding = by_id(CHECK, bench(problem, fmt, algorithms=(algorithm,)))[f"run:{fmt}/{algorithm}"]
    assert finding.code == "EA502"
    return finding.evidence["remedy"]


def keyed(q, k, v=1, scale=None, width=1):
    """One query and one key with all components the same."""
    head = Head(q=matrix([[q] * width]), k=matrix([[k] * width]), v=matrix([[v]]))
    return Problem((head,), spec=AttentionSpec(scale=scale))


@pytest.mark.parametrize("algorithm", ["naive", "shifted", "online", "split"])
def test_scores_that_overflow_need_the_scale_first_or_a_wider_format(algorithm):
    """300 * 300 = 90000 is past float16; a scale of 1/2 brings it back, one of 1 does not. NumPy agrees."""
    assert np.float16(300) * np.float16(150) == 45000
    assert broken(keyed(300, 300, scale=Fraction(1, 2)), "float16", algorithm).startswith(
        "The scores overflow before the scale: multiply q by the scale"
    )
    assert "wider range" in broken(keyed(300, 300, scale=Fraction(1)), "float16", algorithm)
    assert "before the product" not in broken(keyed(300, 300, scale=Fraction(1)), "float16", algorithm)
    assert broken(keyed(200, 200, scale=Fraction(2)), "float16", algorithm).startswith("The scores overflow: ")


def test_the_remedy_for_scores_works():
    """Multiplying q by the scale by hand makes the same shifted run finite."""
    found = by_id(CHECK, bench(keyed(150, 300, scale=Fraction(1)), "float16", algorithms=("shifted",)))
    assert found["run:float16/shifted"].code == "EA501"


def test_only_naive_is_told_to_shift():
    hot = scores([-110, -111], [100, 0])
    assert broken(hot, "float32", "naive").startswith("Subtract the row maximum")
    found = by_id(CHECK, bench(hot, "float32", algorithms=("shifted", "online", "split")))
    assert {finding.code for finding in found.values()} == {"EA501"}


def test_sums_of_values_that_overflow():
    """Four values of 60000 under equal weights: online adds them before it divides; shifted divides first."""
    problem = scores([0, 0, 0, 0])
    problem = replace(problem, heads=(replace(problem.heads[0], v=matrix([[60000]] * 4)),))
    assert broken(problem, "float16", "online").startswith("The weighted sum of the values overflows")
    found = by_id(CHECK, bench(problem, "float16", algorithms=("shifted",)))
    assert found["run:float16/shifted"].code == "EA501"


def test_projections_that_overflow():
    eye = matrix([[1000, 0], [0, 1000]])
    problem = Problem(
        (Head(eye, eye, eye),), matrix([[100, 0], [0, 100]]), spec=AttentionSpec(scale=Fraction(1, 10**9))
    )
    assert broken(problem, "float16", "shifted").startswith("A projection overflows")


def test_each_row_has_its_own_remedy():
    """Row 0 breaks in its scores, row 1 in exp (12 > ln 65520)."""
    head = Head(q=matrix([[300], [3]]), k=matrix([[300], [4]]), v=matrix([[1], [2]]))
    problem = Problem((head,), spec=AttentionSpec(scale=Fraction(1)), mask=((True, True), (False, True)))
    text = broken(problem, "float16", "naive")
    assert text.startswith("The scores overflow: ")
    assert "Subtract the row maximum" in text

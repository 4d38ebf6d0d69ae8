"""What comes of documents that compute by formulas: intervals, constants, what is not given, what an author says."""

import pytest

from exactattn.findings import Verdict
from exactattn.journeys.verify import verify


@pytest.fixture
def findings(tmp_path):
    """The findings of a case by id."""

    def of(text):
        path = tmp_path / "case.yaml"
        path.write_text("version: 1\n" + text, encoding="utf-8")
        (report,) = verify(path).reports
        assert not [f for f in report.findings if f.code in ("EA900", "EA901")], report.findings
        return {finding.id: finding for finding in report.findings}

    return of


def test_inputs_known_to_their_last_digit_give_three_answers(findings):
    # e^x for x in [0.45, 0.55]: from 1.5683 to 1.7333 (mpmath)
    found = findings(
        """problem: {inputs: {x: {values: [0.5], rounded: true}}}
printed:
  coarse: {of: exp(x), values: [2]}
  unclear: {of: exp(x), values: [1.65]}
  wrong: {of: exp(x), values: [1.80]}
"""
    )
    assert (found["coarse[0]"].verdict, found["coarse[0]"].reason) == (Verdict.HOLDS, "rounded")
    assert (found["unclear[0]"].verdict, found["unclear[0]"].reason) == (Verdict.UNDECIDED, "digits")
    assert "cannot tell from these digits" in found["unclear[0]"].message
    assert found["unclear[0]"].evidence["true"] == "1.5683121 to 1.7332531"
    assert (found["wrong[0]"].verdict, found["wrong[0]"].reason) == (Verdict.FAILS, "new")
    assert found["wrong[0]"].evidence["kind"] == "wrong for all inputs that round to those printed"


def test_a_printed_constant_gives_a_second_true_value(findings):
    # 100/sqrt(2) = 70.7107, 100*0.71 = 71
    found = findings(
        """problem: {inputs: {x: [100]}}
printed:
  scale: {of: 1/sqrt(2), values: 0.71}
  scaled: {of: x*scale, values: [71]}
"""
    )
    scaled = found["scaled[0]"]
    assert (scaled.verdict, scaled.reason) == (Verdict.HOLDS, "rounded")
    assert scaled.evidence["true_from_constants"] == "71"
    assert "true_from_constants" not in found["scale"].evidence


def test_a_printed_scale_stands_beside_that_of_a_problem(findings):
    # 100/sqrt(2) = 70.7107, 100*0.71 = 71, 300*0.71 = 213 where 300/sqrt(2) = 212.13
    found = findings(
        """problem: {Q: [[10, 0], [0, 10]], K: [[10, 0], [30, 0]], V: [[1], [2]]}  # d_k = 2
printed:
  scale: 0.71
  scaled: [[70.7, 213], [0, 0]]
"""
    )
    assert found["scale"].reason == "rounded"
    assert found["scaled[0,0]"].reason == "rounded"
    assert float(found["scaled[0,0]"].evidence["true_from_constants"]) == 71
    assert (found["scaled[0,1]"].reason, found["scaled[0,1]"].evidence["origin"]) == ("propagated", "rounding")


def test_numbers_whose_origin_is_not_given_are_judged_for_consistency(findings):
    # 0.3*1 + 0.5*2 + 0.2*3 = 1.9, within 0.05*(1 + 2 + 3) = 0.3 of it whatever the weights were
    found = findings(
        """problem: {inputs: {v: [1, 2, 3]}}
printed:
  weights: {missing: the scores are not shown, values: [0.3, 0.5, 0.2]}
  near: {of: "matmul(weights, v)", values: 1.9}
  far: {of: "matmul(weights, v)", values: 2.3}
"""
    )
    assert {found[f"weights[{i}]"].verdict for i in range(3)} == {Verdict.UNDECIDED}
    assert "what it is made from is not given" in found["weights[0]"].message
    assert found["sum:weights"].verdict is Verdict.HOLDS
    assert (found["near"].verdict, found["near"].reason) == (Verdict.UNDECIDED, "digits")
    assert found["far"].verdict is Verdict.FAILS


def test_prints_that_were_cut_lie_on_one_side(findings):
    # cut: in [0.3, 0.4), so 10 times it in [3, 4); rounded: in [0.25, 0.35], so in [2.5, 3.5]
    found = findings(
        """problem: {inputs: {c: 10}}
printed:
  cut: {missing: nobody says, rounding: truncated, values: [0.3]}
  rounded: {missing: nobody says, values: [0.3]}
  low_of_cut: {of: "c*cut[0]", values: 2.8}
  low_of_rounded: {of: "c*rounded[0]", values: 2.8}
"""
    )
    assert found["low_of_cut"].verdict is Verdict.FAILS
    assert found["low_of_rounded"].verdict is Verdict.UNDECIDED


def test_a_vector_that_an_ellipsis_ends_bounds_its_weights(findings):
    # softmax([8.5, -2.1, 7.9, ...]): at most 0.6456, 0.000016, 0.3543 whatever follows (mpmath)
    found = findings(
        """problem: {inputs: {s: [8.5, -2.1, 7.9, ...]}}
printed: {weights: {of: softmax(s), values: [0.99, 0.00, 0.01]}}
"""
    )
    assert [found[f"weights[{i}]"].verdict for i in range(3)] == [Verdict.FAILS, Verdict.HOLDS, Verdict.UNDECIDED]
    assert found["weights[0]"].evidence["kind"] == "impossible for any rest of the unfinished vector"
    assert "sum:weights" not in found


def test_a_tolerance_hides_and_does_not_excuse(findings):
    # e = 2.71828
    found = findings(
        """problem: {inputs: {x: 1}}
printed:
  wide: {of: exp(x), tolerance: 1e-2, values: 2.7201}
  narrow: {of: exp(x), tolerance: 1e-4, values: 2.7201}
"""
    )
    assert found["wide"].verdict is Verdict.FAILS
    assert found["tolerance:wide"].verdict is Verdict.HOLDS
    assert found["tolerance:wide"].evidence["hidden"] == 1
    assert found["tolerance:narrow"].verdict is Verdict.FAILS


def test_announced_truncation_is_held_to(findings):
    # e = 2.71828, e^2 = 7.38905
    found = findings(
        """problem: {inputs: {x: [1, 2]}}
printed:
  cut: {of: exp(x), rounding: truncated, values: [2.718, 7.389]}
  not_cut: {of: exp(x), rounding: truncated, values: [2.72, 7.38]}
  rounded: {of: exp(x), rounding: rounded, values: [2.72, 7.38]}
  dots: {of: exp(x), values: [2.71..., 7.39...]}
"""
    )
    assert found["announced:cut"].verdict is Verdict.HOLDS
    assert found["announced:not_cut"].evidence["otherwise"] == 1
    assert found["announced:rounded"].evidence["otherwise"] == 1
    assert found["announced:dots"].evidence["otherwise"] == 1


@pytest.mark.parametrize(
    ("said", "verdict", "right"),
    [
        ("just under 58 billion", Verdict.HOLDS, Verdict.HOLDS),
        ("just over 58 billion", Verdict.FAILS, Verdict.HOLDS),
        ("just under 57.98 billion", Verdict.FAILS, Verdict.HOLDS),
    ],
)
def test_just_under_is_an_inequality_too(findings, said, verdict, right):
    # 96 * 96 * 4 * 12288 * 128 = 57,982,058,496
    found = findings(f"problem: {{inputs: {{d: 12288}}}}\nprinted: {{total: {{of: 96*96*4*d*128, values: {said}}}}}\n")
    assert found["said:total"].verdict is verdict
    assert found["total"].verdict is right


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("about 150 million", "rounded"),
        ("150 million", "truncated"),  # 150.99
        ("around 200 million", "rounded"),
        ("151 million", "rounded"),
        ("1.5e8", "rounded"),
        ("150,994,944", "exact"),
        ("144 MiB", "exact"),
        ("144 MB", "convention"),
    ],
)
def test_how_many_digits_words_mean(findings, said, reason):
    # 12,288^2 = 150,994,944 = 144 * 2**20
    found = findings(f"problem: {{inputs: {{d: 12288}}}}\nprinted: {{square: {{of: d*d, values: '{said}'}}}}\n")
    assert found["square"].reason == reason


def test_a_bound_is_no_value(findings):
    # 599 million is less than 600 million, and not nearly that to its last digit
    found = findings(
        """problem: {inputs: {x: 599000000}}
printed:
  under: {of: x, values: less than 600 million}
  over: {of: x, values: more than 600 million}
  nearly: {of: x, values: just under 600 million}
  after: {of: under + 1, values: "599,000,001"}
"""
    )
    assert (found["under"].verdict, found["under"].reason) == (Verdict.HOLDS, "bound")
    assert (found["over"].verdict, found["over"].evidence["kind"]) == (Verdict.FAILS, "a bound that does not hold")
    assert found["nearly"].reason == "rounded"
    assert found["after"].reason == "exact"  # a bound is not carried on


def test_gigabytes_that_are_gibibytes_are_named(findings):
    # 2*80*128000*64*128*2 = 335,544,320,000 bytes = 335.54 GB = 312.50 GiB
    found = findings(
        """problem: {inputs: {tokens: 128000}}
printed:
  wrong: {of: 2*80*tokens*64*128*2, values: 312.50 GB}
  right: {of: 2*80*tokens*64*128*2, values: 312.50 GiB}
  other: {of: 2*80*tokens*64*128*2, values: 335.54 GiB}
"""
    )
    assert (found["wrong"].reason, found["wrong"].readings) == ("convention", ("unit=GiB",))
    assert found["right"].reason == "exact"
    assert (found["other"].reason, found["other"].readings) == ("convention", ("unit=GB",))


def test_noise_of_single_precision_is_a_remark_of_its_own(findings):
    # 1/3 = 0.333333333..., float32 gives 0.33333334
    found = findings(
        """problem: {inputs: {x: [1, 2]}}
printed:
  stated: {of: x/3, dtype: float32, values: [0.33333334, 0.6666667]}
  unstated: {of: x/3, values: [0.33333334, 0.6666667]}
"""
    )
    assert found["stated[0]"].reason == "float-noise"
    assert found["noise:stated/float32"].evidence["numbers"] == 1
    assert found["unstated[0]"].reason == "new"
    assert "state `dtype: float32`" in found["noise:unstated/float32"].message


def test_stages_are_summed_and_the_first_wrong_step_is_named(findings):
    # softmax([1, 2]) = 0.2689, 0.7311
    found = findings(
        """problem: {inputs: {x: [1, 2], v: [10, 20]}}
printed:
  output: {of: "matmul(weights_again, v)", values: 17.31}
""".replace("weights_again", "softmax(x)")
    )
    assert found["stages"].evidence["first_wrong"] is None
    found = findings(
        """problem: {inputs: {x: [1, 2], v: [10, 20]}}
printed:
  weights: {of: softmax(x), values: [0.25, 0.75]}
  output: {of: "matmul(weights, v)", values: 17.5}
"""
    )
    assert found["stages"].evidence["stages"] == {"weights": {"new": 2}, "output": {"propagated": 1}}
    assert found["stages"].evidence["first_wrong"] == "weights"
    assert found["output"].evidence["kind"] == "inherited"


def test_claims_name_inputs_and_steps(findings):
    found = findings(
        """problem: {inputs: {x: [1, 2, 2], u: {values: [0.5], rounded: true}}, steps: {w: softmax(x)}}
claims:
  - {id: tie, order: "w[1] = w[2] > w[0]"}
  - {id: ratio, equation: "w[1]/w[0] = exp(1)"}
  - {id: wrong, equation: "w[0] = 0.16"}
  - {id: sure, order: "u[0] < 1"}
  - {id: open, order: "u[0] < 0.5"}
  - {id: alone, equation: "softmax([1, 2, 2]) = [0.155, 0.422, 0.422]"}
"""
    )
    assert [found[id].verdict.value for id in ("tie", "ratio", "wrong", "sure", "open", "alone")] == [
        *("holds", "holds", "holds", "holds", "undecided", "holds")
    ]

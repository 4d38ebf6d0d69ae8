"""The rules of judging, each at its corners. True values come from closed forms named beside them."""

from fractions import Fraction as F

import pytest
from samples import matrix

from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage, identity
from exactattn.findings import PrintedBlock, PrintedCell, Verdict
from exactattn.numbers.exact import mul
from exactattn.numbers.numerals import parse_exact, parse_numeral
from exactattn.truth.judge import judge
from exactattn.truth.ladder import Truth


def block(stage, rows, name=None, times="1", dtype=None, top=0):
    factor = parse_exact(times)
    cells = []
    for i, row in enumerate(rows):
        for j, text in enumerate(row.split()):
            number = parse_numeral(text)
            unit = None if number.unit is None else mul(factor, number.unit)
            index = (i + top, j)
            cells.append(PrintedCell(index, text, mul(factor, number.value), unit, number.digits, number.form))
    return PrintedBlock(name or str(stage), Stage(stage), tuple(cells), None, dtype)


def outcome(problem, *blocks):
    return {(item.block.name, item.element.index): item for item in judge(Truth(problem), blocks)}


def reasons(problem, *blocks):
    return [item.reason for item in judge(Truth(problem), blocks)]


def scores_problem(rows, v=None, scale="1", **spec):
    v = v or [[int(i == j) for j in range(len(rows[0]))] for i in range(len(rows[0]))]
    return Problem((Head(scores=matrix(rows), v=matrix(v)),), spec=AttentionSpec(parse_exact(scale), **spec))


SCALED = block("scaled", ["1 0 1", "0 1 1", "1 1 2"], times="1/sqrt(2)")
WEIGHTS = block("weights", ["0.4 0.2 0.4", "0.2 0.4 0.4", "0.3 0.3 0.4"])
OUTPUT = block("output", ["0.8 0.6", "0.6 0.8", "0.7 0.7"])


def test_document_n(document_n):
    # Source: the claims of document N, S2 to S9
    found = outcome(document_n, SCALED, WEIGHTS, OUTPUT)
    assert {item.reason for key, item in found.items() if key[0] == "scaled"} == {"exact"}
    assert [found["weights", (i, j)].reason for i in range(3) for j in range(3)] == ["rounded"] * 6 + ["new"] * 3
    assert [found["output", (i, j)].reason for i in range(3) for j in range(2)] == ["rounded"] * 4 + ["propagated"] * 2
    last = found["output", (2, 0)]
    assert (last.origin, last.first_wrong.name, last.first_wrong.index) == ("wrong", "weights", 2)
    assert not any(item.by_accident for item in found.values())
    assert found["weights", (2, 0)].readings == ("base=2",)


def test_the_order_of_blocks_in_the_file_does_not_matter(document_n):
    forward = outcome(document_n, SCALED, WEIGHTS, OUTPUT)
    backward = outcome(document_n, OUTPUT, WEIGHTS, SCALED)
    assert {key: item.reason for key, item in forward.items()} == {key: item.reason for key, item in backward.items()}


def test_without_the_wrong_weights_the_output_is_merely_truncated(document_n):
    # 0.7517 cut to one digit is 0.7: only the author's own weights show that it was not got by cutting
    found = outcome(document_n, OUTPUT)
    assert found["output", (2, 0)].reason == "truncated"


@pytest.mark.parametrize(
    ("text", "reason", "tie"),
    [
        ("0.125", "exact", False),
        ("0.12", "rounded", True),  # 0.125 lies half way: a tie may go either way
        ("0.13", "rounded", True),
        ("0.1", "rounded", False),
        ("0.11", "new", False),
        ("0.14", "new", False),
        ("12.5%", "exact", False),
        ("12%", "rounded", True),
        ("1/8", "exact", False),
        ("1/9", "new", False),
        ("0", "rounded", False),  # an integer is printed in units of 1
        ("0.12500", "exact", False),
        ("0.12501", "new", False),
    ],
)
def test_ties_percent_fractions_and_integers(text, reason, tie):
    problem = Problem((Head(q=matrix([[1]]), k=matrix([[F(1, 8)]]), v=matrix([[1]])),))
    (item,) = judge(Truth(problem), [block("scores", [text])])
    assert (item.reason, item.tie) == (reason, tie)
    assert item.verdict is (Verdict.FAILS if reason == "new" else Verdict.HOLDS)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # sigma(1) = 0.731058578630004879...; Source: 1/(1 + 1/e)
        ("0.731", "rounded"), ("0.73105", "truncated"), ("0.73106", "rounded"), ("0.7310585786", "rounded"),
        ("0.73105857863000487", "truncated"), ("0.731058578630005", "rounded"), ("0.73107", "new"),
        ("0.7310585786300051", "float-noise"), ("0.7310585786300059", "new"), ("0.73104", "new"),
    ],
)  # fmt: skip
def test_rounded_truncated_and_float_noise(text, reason):
    (item,) = judge(Truth(scores_problem([[1, 0]])), [block("weights", [text])])
    assert item.reason == ("float-noise" if text == "0.73105857863000487" else reason)


@pytest.mark.parametrize(("dtype", "reason"), [("float32", "float-noise"), (None, "new")])
def test_single_precision_noise_needs_the_stated_type(dtype, reason):
    # float32 softmax prints 0.7310586; 0.7310588 is 2 units of 1e-7 off and within 4 ulp (2.4e-7) of float32
    (item,) = judge(Truth(scores_problem([[1, 0]])), [block("weights", ["0.7310588"], dtype=dtype)])
    assert item.reason == reason


def test_negative_numbers_are_cut_toward_zero():
    problem = Problem((Head(q=matrix([[1]]), k=matrix([[F(-1, 3)]]), v=matrix([[1]])),))
    kept = [judge(Truth(problem), [block("scores", [text])])[0].reason for text in ("-0.33", "-0.34", "-0.3")]
    assert kept == ["rounded", "new", "rounded"]
    problem = Problem((Head(q=matrix([[1]]), k=matrix([[F(-2, 3)]]), v=matrix([[1]])),))
    kept = [judge(Truth(problem), [block("scores", [text])])[0].reason for text in ("-0.66", "-0.67", "-0.68", "0.66")]
    assert kept == ["truncated", "rounded", "new", "new"]


def test_a_tie_of_an_irrational_value_with_an_irrational_unit_is_decided_exactly():
    # q k^T = 3/2, scale 1/sqrt(2): printed 1 in units of 1/sqrt(2) is half a unit off, exactly
    problem = Problem((Head(q=matrix([["3/2", 0]]), k=matrix([[1, 0]]), v=matrix([[1]])),))
    (item,) = judge(Truth(problem), [block("scaled", ["1"], times="1/sqrt(2)")])
    assert (item.reason, item.tie) == ("rounded", True)


def test_intermediate_rounding_carried_on_is_propagated_from_rounding():
    # W16: 0.4011*10 + 0.4011*5 = 6.0165, the truth is 6.01668
    problem = Problem(
        (Head(q=matrix([[1, 0]]), k=matrix([[1, 0], [0, 1], [1, 1]]), v=matrix([[10, 0], [0, 10], [5, 5]])),)
    )
    found = outcome(problem, block("weights", ["0.4011 0.1978 0.4011"]), block("output", ["6.0165 3.9945"]))
    first, second = found["output", (0, 0)], found["output", (0, 1)]
    assert (first.reason, first.origin, first.verdict) == ("propagated", "rounding", Verdict.FAILS)
    assert (second.reason, second.origin) == ("new", None)
    assert first.rests_on == ()


def test_right_by_accident():
    # V rows are all [1]: the output is 1 whatever the weights are printed as, so it does not rest on them;
    # with V = [1], [1], [2] it does
    scores = [[2, 1, 0]]
    wrong = block("weights", ["0.5 0.4 0.1"])  # true 0.665, 0.245, 0.090
    same = outcome(scores_problem(scores, [[1], [1], [1]]), wrong, block("output", ["1.0"]))
    assert same["output", (0, 0)].reason == "exact"
    other = outcome(scores_problem(scores, [[1], [1], [2]]), wrong, block("output", ["1.1"]))
    item = other["output", (0, 0)]
    assert (item.reason, item.by_accident) == ("rounded", True)
    assert item.rests_on[0].name == "weights"


def test_the_first_wrong_step_is_found_through_a_chain():
    # a wrong dot product, then everything computed rightly from it
    eye = identity(2)
    problem = Problem((Head(eye, eye, eye),), matrix([[1, 0], [0, 1]]), spec=AttentionSpec(scale=F(1)))
    found = outcome(
        problem,
        block("scores", ["1 1", "0 1"]),
        block("weights", ["0.5 0.5", "0.27 0.73"]),
        block("output", ["0.5 0.5", "0.27 0.73"]),
    )
    assert found["scores", (0, 1)].reason == "new"
    assert found["weights", (0, 0)].reason == "propagated"
    assert found["weights", (0, 0)].first_wrong.name == "scores"
    assert found["output", (0, 0)].reason == "propagated"
    assert found["output", (0, 0)].first_wrong.name == "scores"
    assert found["output", (0, 0)].rests_on[0].name == "weights"


def test_another_scale_is_a_convention_on_prints_of_two_digits(document_n):
    # W15: weights of scale 1/d_k although 1/sqrt(d_k) is stated; sigma(1/2) = 0.62245933
    eye = identity(2)
    problem = Problem((Head(eye, eye, eye),), eye)
    rows = ["0.622 0.378", "0.378 0.622"]
    found = outcome(problem, block("weights", rows), block("output", rows))
    assert {item.reason for key, item in found.items() if key[0] == "weights"} == {"convention"}
    assert found["weights", (0, 0)].closest_reading == "scale=1/d_k"
    assert {item.reason for key, item in found.items() if key[0] == "output"} == {"propagated"}
    coarse = outcome(problem, block("weights", ["0.6 0.4", "0.4 0.6"]))
    assert [item.reason for item in coarse.values()] == ["truncated", "new", "new", "truncated"]


def test_invented_weights_stay_new():
    # W07: softmax([1, 2, 3]) printed as 0.10, 0.30, 0.60
    assert reasons(scores_problem([[1, 2, 3]]), block("weights", ["0.10 0.30 0.60"])) == ["new"] * 3


def test_a_query_without_keys_cannot_be_told():
    problem = scores_problem([[1, 2], [3, 4]], causal="none")
    problem = Problem(problem.heads, spec=problem.spec, mask=((True, True), (False, False)))
    found = judge(Truth(problem), [block("weights", ["0.27 0.73", "0.5 0.5"])])
    assert [item.verdict for item in found] == [Verdict.HOLDS] * 2 + [Verdict.UNDECIDED] * 2


def test_the_first_print_of_a_number_is_the_one_carried_on(document_n):
    later = block("weights", ["0.25 0.25 0.50"], name="corrected", top=2)
    found = outcome(document_n, WEIGHTS, later, OUTPUT)
    assert {found["corrected", (2, j)].reason for j in range(3)} == {"rounded"}
    assert found["output", (2, 0)].reason == "propagated"


def five_equal_weights():
    return scores_problem([[0, 0, 0, 0, 0]])


def test_a_value_exactly_one_unit_away_is_no_cut():
    # 0.2 is rational and no ball of it is a point: |t| < |x| + h must be decided exactly, or nothing can be told
    assert reasons(five_equal_weights(), block("weights", ["0.1 0.2 0.3 0.2 0.2"])) == [
        "new", "exact", "new", "exact", "exact",
    ]  # fmt: skip
    tenths = Problem((Head(q=matrix([["1/4"]]), k=matrix([["1/5"]]), v=matrix([[1]])),))
    assert reasons(tenths, block("scores", ["0.04"])) == ["new"]  # t = 0.05
    assert reasons(tenths, block("output", ["0"])) == ["new"]  # t = 1, and 0 in units of 1


def test_mere_rounding_carried_on_is_no_wrong_print():
    # e^0.35 + 1 = 2.41906..., so the second weight is 0.586617; from the scaled 0.3 it is 0.574443
    problem = scores_problem([["0", "0.35"]], v=[[1, 0], [0, 1]])
    found = outcome(
        problem, block("scaled", ["0.0 0.3"]), block("weights", ["0.4256 0.5744"]), block("output", ["0.43 0.574"])
    )
    kinds = {key: (item.reason, item.origin, item.by_accident) for key, item in found.items() if key[0] != "scaled"}
    assert kinds["weights", (0, 0)] == kinds["weights", (0, 1)] == ("propagated", "rounding", False)
    assert kinds["output", (0, 1)] == ("propagated", "rounding", False)  # origin: nothing earlier is itself an error


def test_right_numbers_on_carried_rounding_are_not_right_by_accident():
    # Source: W10, where 0.30 for 0.3055 follows from rounded scaled scores and the outputs agree with the truth
    problem = scores_problem([["0", "0.35"]], v=[[1, 0], [0, 1]])
    found = outcome(
        problem, block("scaled", ["0.0 0.3"]), block("weights", ["0.4256 0.5744"]), block("output", ["0.41 0.59"])
    )
    assert [(found["output", (0, j)].reason, found["output", (0, j)].by_accident) for j in (0, 1)] == [
        ("rounded", False), ("rounded", False),
    ]  # fmt: skip


def test_float_noise_around_what_follows_is_propagated():
    # 0.5000001 in place of 0.5: the softmax of that is 0.62245935..., printed by a float program with its last bits off
    problem = scores_problem([["0.5", "0"]])
    found = outcome(
        problem, block("scaled", ["0.5000001 0"]), block("weights", ["0.6224593547022257 0.3775406452977746"])
    )
    assert [found["weights", (0, j)].reason for j in (0, 1)] == ["propagated", "propagated"]


def test_readings_count_a_number_that_is_both_rounded_and_cut():
    # base 2: 2/3 and 1/3 cut to 0.66 (not rounded) and 0.33 (also rounded); base e: 0.731, 0.269
    found = outcome(scores_problem([[1, 0]]), block("weights", ["0.66 0.33"]))
    assert all("base=2" in item.readings for item in found.values())  # and 1/sqrt(n), so neither is the one reading
    assert {item.reason for item in found.values()} == {"new"}


def test_rounded_and_cut_numbers_together_are_no_other_reading():
    # W34: under scale 1 the row is 0.3157, 0.3780, 0.3064: 0.32 rounded, 0.37 cut, 0.31 rounded
    problem = scores_problem([["0.36", "0.54", "0.33"]], scale="1/sqrt(2)")
    assert reasons(problem, block("weights", ["0.32 0.37 0.31"])) == ["rounded", "new", "rounded"]


def test_a_reading_that_changes_nothing_is_not_listed():
    # the base of the exponential does not touch the scaled scores
    problem = Problem((Head(q=matrix([["0.5"]]), k=matrix([["1.54"]]), v=matrix([[1]])),))
    found = outcome(problem, block("scores", ["0.7"]), block("scaled", ["0.7"]))  # t = 0.77
    assert (found["scaled", (0, 0)].reason, found["scaled", (0, 0)].origin) == ("propagated", "rounding")
    assert found["scaled", (0, 0)].readings == ()


def test_a_scale_spelt_another_way_is_not_another_reading():
    # sqrt(2)/2 = 1/sqrt(d_k)
    problem = Problem(
        (Head(q=matrix([[1, 0]]), k=matrix([[1, 0], [0, 1]]), v=matrix([[1], [0]])),),
        spec=AttentionSpec(parse_exact("sqrt(2)/2")),
    )
    found = outcome(problem, block("weights", ["0.66 0.34"]))  # t = 0.6698, 0.3302
    assert "scale=1/sqrt(d_k)" not in found["weights", (0, 1)].readings


def test_a_row_of_output_is_not_explained_by_weights_that_were_not_printed():
    # W10: 0.43, 0.66 are the output of base 2 cut to two digits, but the author printed other weights
    q, k = [["0.5", "0.5"], ["0.8", "0.2"], ["0.3", "0.9"]], [["0.2", "0.8"], ["0.9", "0.3"], ["0.1", "0.7"]]
    v = [["0.1", "0.9"], ["0.8", "0.5"], ["0.4", "0.6"]]
    problem = Problem((Head(q=matrix(q), k=matrix(k), v=matrix(v)),))
    output = block("output", ["0.43 0.66", "0.46 0.59", "0.41 0.68"])
    weights = block("weights", ["0.31 0.34 0.28", "0.27 0.42 0.24", "0.36 0.30 0.33"])
    assert outcome(problem, weights, output)["output", (0, 0)].reason == "new"
    assert outcome(problem, output)["output", (0, 0)].reason == "convention"


def test_rows_of_columns_are_the_tokens():
    # the first query is the first column; base 2 gives 0.5, 0.25, 0.25 where e gives 0.576, 0.212, 0.212
    problem = Problem(
        (Head(scores=matrix([[1, 0], [0, 0], [0, 0]]), v=matrix([[1, 0, 1]])),),
        spec=AttentionSpec(parse_exact("1"), orientation="columns"),
    )
    found = outcome(problem, block("weights", ["0.500 0.77", "0.250 0.111", "0.250 0.333"]))
    assert [found["weights", (i, 0)].reason for i in (0, 1, 2)] == ["convention"] * 3
    assert found["weights", (0, 1)].reason == "new"


def test_a_tie_is_a_tie_of_the_true_value():
    # t = e/(e + 10) = 0.21; in base 10, which is tried for the sake of the wrong 0.77, it would be 1/2
    problem = scores_problem([[1] + [0] * 10])
    found = outcome(problem, block("weights", ["0 0.77" + " 0.08" * 9]))
    assert (found["weights", (0, 0)].reason, found["weights", (0, 0)].tie) == ("rounded", False)


def test_a_query_without_a_key_does_not_stop_the_readings_of_the_others():
    problem = Problem(
        (Head(scores=matrix([[1, 0], [1, 0]]), v=matrix([[1], [0]])),),
        spec=AttentionSpec(parse_exact("1")),
        mask=((True, True), (False, False)),
    )
    found = outcome(problem, block("weights", ["0.667 0.333", "0.50 0.50"]))
    assert [found["weights", (i, 0)].reason for i in (0, 1)] == ["convention", None]
    assert "base=2" in found["weights", (0, 0)].readings


def test_the_origin_is_that_of_what_the_number_follows_from():
    # the key 2.25 is wrong, but the score 5.0 in its place is right when cut; 0.5*5.0 = 2.5 follows from that score
    # alone, and 0.5*5.06 = 2.53 is the truth
    problem = Problem(
        (Head(q=matrix([["2.3"]]), k=matrix([["2.2"]]), v=matrix([[1]])),), spec=AttentionSpec(parse_exact("1/2"))
    )
    found = outcome(problem, block("k", ["2.25"]), block("scores", ["5.0"]), block("scaled", ["2.50"]))
    assert found["k", (0, 0)].reason == "new"
    assert found["scores", (0, 0)].reason == "truncated"
    item = found["scaled", (0, 0)]
    assert (item.reason, item.origin, item.rests_on, item.first_wrong) == ("propagated", "rounding", (), None)


def test_a_whole_unit_off_is_no_cut_where_balls_are_points():
    problem = Problem((Head(q=matrix([[2]]), k=matrix([[1]]), v=matrix([[1]])),))
    assert [judge(Truth(problem), [block("scores", [text])])[0].reason for text in ("1", "2", "3")] == [
        "new", "exact", "new",
    ]  # fmt: skip


def test_wrong_prints_alone_may_explain_what_all_of_them_do_not():
    # the author's program carried the wrong score 1.5 and full precision elsewhere; the printed 0.33 is right, cut
    problem = scores_problem([["1/3", "1"]], v=[[1, 0], [0, 1]])
    scores = block("scores", ["0.33 1.5"])
    weights = block("weights", ["0.23746 0.76254"])  # 0.237458 from 1/3, 0.236855 from 0.33
    found = outcome(problem, scores, weights)
    assert [(found["weights", (0, j)].reason, found["weights", (0, j)].origin) for j in (0, 1)] == [
        ("propagated", "wrong"), ("propagated", "wrong"),
    ]  # fmt: skip


def test_all_but_one_needs_a_row_of_three_and_is_not_the_number_itself():
    # base 2: 2/3 and 1/3, and 1/2, 1/4, 1/4; no whole block fits, because of the last row
    problem = scores_problem([[1, 0], [0, 0], [0, 0]], v=[[1], [0]])
    found = outcome(problem, block("weights", ["0.667 0.222", "0.123 0.456", "0.500 0.500"]))
    assert [found["weights", (0, j)].reason for j in (0, 1)] == ["new", "new"]
    problem = scores_problem([[1, 0, 0], [0, 0, 0]], v=[[1], [0], [0]])
    found = outcome(problem, block("weights", ["0.500 0.250 0.111", "0.123 0.456 0.333"]))
    assert [found["weights", (0, j)].reason for j in (0, 1, 2)] == ["convention", "convention", "new"]


def test_two_names_of_one_scale_are_one_reading():
    # W15: d_k = 2 and d_model = 4, so 1/d_k = 1/sqrt(d_model) = 1/2; scores 2, 0 give 1/(1 + 1/e) there
    w_q = matrix([[2, 0], [0, 0], [0, 0], [0, 0]])
    head = Head(W_Q=w_q, k=matrix([[1, 0], [0, 0]]), v=matrix([[1], [0]]))
    problem = Problem((head,), matrix([[1, 0, 0, 0]]))
    found = outcome(problem, block("weights", ["0.731 0.269"]))  # as stated 0.804, 0.196
    assert {item.reason for item in found.values()} == {"convention"}
    assert found["weights", (0, 0)].readings == ("scale=1/d_k", "scale=1/sqrt(d_model)")


def test_a_cut_number_on_a_wrong_print_is_right_by_accident():
    found = outcome(scores_problem([[1, 0]]), block("scores", ["1.5 0"]), block("weights", ["0.73105 0.26894"]))
    assert (found["weights", (0, 0)].reason, found["weights", (0, 0)].by_accident) == ("truncated", True)


def test_a_row_that_only_a_rearranged_softmax_explains_follows_from_printed_scores():
    # softmax over queries: e^1/(e^1 + e^0) = 0.7311 for (0, 0), e^2/(e^2 + e^1) = 0.7311 for (0, 1); row 1 is invented
    problem = scores_problem([[1, 2], [0, 1]])
    prints = block("scores", ["1 2", "0 1"]), block("weights", ["0.731 0.731", "0.500 0.111"])
    found = outcome(problem, *prints)
    assert found["weights", (0, 0)].reason == "convention"
    assert found["weights", (0, 0)].closest_reading == "softmax_axis=queries"
    assert found["weights", (1, 1)].reason == "new"


def test_one_number_of_a_list_is_no_row():
    # log(e^0 + e^1) = 1.313; log10(10^0 + 10^1) = 1.041 by chance is what was printed, and explains nothing else
    problem = scores_problem([[0, 1], [0, 2]])
    cells = tuple(PrintedCell((i,), text, F(text), F(1, 100), 3, "decimal") for i, text in enumerate(["1.04", "2.55"]))
    found = outcome(problem, PrintedBlock("lse", Stage.LSE, cells))
    assert {item.reason for item in found.values()} == {"new"}


def test_a_log_sum_exp_of_one_key_is_exact_in_any_base():
    # log2(2^(-3/16)) = -3/16, which is also the value cut toward zero
    problem = scores_problem([[1, 2], [0, 1]], scale="-3/16", base=F(2), causal="top-left")
    cell = PrintedCell((0,), "-0.1875", F(-3, 16), F(1, 10000), 4, "decimal")
    assert outcome(problem, PrintedBlock("lse", Stage.LSE, (cell,)))["lse", (0,)].reason == "exact"

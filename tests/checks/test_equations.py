"""Claims that are arithmetic: exact, rounded, cut, wrong by how much, and what is not readable."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import by_id, document_n, two_heads

from exactattn.attention.spec import Stage
from exactattn.bench import Bench
from exactattn.checks.equations import CHECK
from exactattn.findings import Claim, PrintedBlock, PrintedCell, Verdict
from exactattn.numbers.numerals import parse_numeral

WEIGHTS = ("0.4 0.2 0.4", "0.2 0.4 0.4", "0.3 0.3 0.4")
OUTPUT = ("0.8 0.6", "0.6 0.8", "0.7 0.7")


def block(name, stage, rows):
    cells = []
    for i, row in enumerate(rows):
        for j, text in enumerate(row.split()):
            one = parse_numeral(text)
            cells.append(PrintedCell((i, j), text, one.value, one.unit, one.digits, one.form))
    return PrintedBlock(name, stage, tuple(cells))


PRINTED = (block("weights", Stage.WEIGHTS, WEIGHTS), block("output", Stage.OUTPUT, OUTPUT))


def judge(text, problem=None, printed=()):
    bench = Bench(the_problem=problem, printed=printed, claims=(Claim("e", "equation", {"equation": text}),))
    return by_id(CHECK, bench)["e"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        # S10 to S12 of source-claims.md
        ("0.4*[1, 0] + 0.2*[0, 1] + 0.4*[1, 1] = [0.4, 0] + [0, 0.2] + [0.4, 0.4] = [0.8, 0.6]", "exact"),
        ("0.2*[1, 0] + 0.4*[0, 1] + 0.4*[1, 1] = [0.2, 0] + [0, 0.4] + [0.4, 0.4] = [0.6, 0.8]", "exact"),
        ("0.3·[1,0]+0.3·[0,1]+0.4·[1,1]=[0.7,0.7]", "exact"),
        ("sqrt(2)*sqrt(3) = sqrt(6)", "exact"),
        ("1/sqrt(2) = sqrt(2)/2", "exact"),
        ("exp(1/2)*exp(1/2) = exp(1)", "exact"),
        ("1/sqrt(2) = 0.707", "rounded"),
        ("0.707 = 1/sqrt(2)", "rounded"),
        ("2/3 ~ 0.667", "rounded"),
        ("1/8 = 0.12", "rounded"),  # a tie, rounded to even
        ("1/8 = 0.13", "rounded"),  # the same tie, rounded up
        ("2/3 = 0.66", "truncated"),
        ("-2/3 = -0.66", "truncated"),
        ("234.8 ~ 235", "rounded"),
        ("[0.26, 3] = [0.3, 3]", "rounded"),
        ("28.4% = 0.284", "exact"),
    ],
)
def test_what_holds_without_a_problem(text, reason):
    found = judge(text)
    assert (found.verdict, found.reason, found.code) == (Verdict.HOLDS, reason, "EA202")


@pytest.mark.parametrize(
    ("text", "true", "units"),
    [
        ("2/3 = 0.68", "0.66666666666666666667", "-1.33"),
        ("0.3*[1, 2] = [0.3, 0.5]", "0.6", "1"),
        ("-2/3 = -0.68", "-0.66666666666666666667", "1.33"),
        ("0.3 + 0.3 + 0.3 = 1", "0.9", None),  # a bare integer is meant exactly
        ("0.3*[1, 2] = [0.3, 0]", "0.6", "6"),  # beside decimals it has their last digit
        ("sqrt(2) = 3/2", "1.4142135623730950488", None),
    ],
)
def test_what_fails_has_the_true_value(text, true, units):
    found = judge(text)
    assert (found.verdict, found.reason, found.level) == (Verdict.FAILS, "wrong", "error")
    assert found.evidence["true"] == true
    assert found.evidence["error_in_units"] == units


def test_the_first_wrong_link_is_named():
    found = judge("1 + 1 = 2 = 3 = 4")
    assert found.evidence["first_wrong"] == {"link": 1, "text": "2 = 3", "index": []}
    assert [link["verdict"] for link in found.evidence["links"]] == ["holds", "fails", "fails"]
    assert "link 2 of 3" in found.message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sum(printed.weights[2,:]) = 1", "exact"),  # S8
        ("matmul(printed.weights, v) = printed.output", "exact"),  # S9
        ("weights[2,2]/weights[2,0] = exp(1/sqrt(d_k))", "exact"),  # S8
        ("sum(output[2,:]) = 1 + weights[2,2]", "exact"),  # S20
        ("scaled[0,:] = [1/sqrt(2), 0, 1/sqrt(2)]", "exact"),  # S2
        ("output[0,:] = [0.8, 0.6]", "rounded"),  # S9
        ("weights[0,:] = [0.40111209267978591, 0.19777581464042818, 0.40111209267978591]", "rounded"),  # S4
        ("output[2,:] = [0.7, 0.7]", "truncated"),  # S9: by accident, which the printed check says
        ("matmul(weights, X) = output", "exact"),
        ("transpose(X) = [[1, 0, 1], [0, 1, 1]]", "exact"),
        ("scores[2,2] = n - 1 = 2", "exact"),
        # S39, one element of the Jacobian of row 1
        ("weights[0,0]*(1 - weights[0,0]) ~ 0.24022118", "rounded"),
        # S23, the entropy of row 1
        ("-weights[0,0]*log(weights[0,0])*2 - weights[0,1]*log(weights[0,1]) ~ 1.0534", "rounded"),
    ],
)
def test_document_n_holds(text, reason):
    found = judge(text, document_n(), PRINTED)
    assert (found.verdict, found.reason) == (Verdict.HOLDS, reason), found.message


def test_document_n_third_row_fails():
    """S6: errors +0.0517, +0.0517, -0.1035 of what was printed."""
    found = judge("weights[2,:] = [0.3, 0.3, 0.4]", document_n())
    assert found.verdict is Verdict.FAILS
    assert float(found.evidence["true"]) == 0.24825507825772307
    assert found.evidence["error_in_units"] == "-0.517"
    compared = judge("weights = printed.weights", document_n(), PRINTED)
    assert compared.evidence["first_wrong"]["index"] == [2, 0]


def test_heads_come_first():
    problem = two_heads([[0, 0], [1, 0]], [[0, 1], [0, 0]])
    assert judge("weights[0,0,:] = [1/2, 1/2]", problem).verdict is Verdict.HOLDS
    assert judge("weights[1,0,1] = 1/(1 + exp(-1))", problem).reason == "exact"
    assert judge("weights[0,0] = [1/2, 1/2]", problem).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("0.4*[1, 0]", "relation"),
        ("[1, 2] = 3", "shape"),
        ("1/0 = 2", "zero"),
        ("weights[5,0] = 1", "index 5"),
        ("weights[0,0,0] = 1", "indices"),
        ("wieghts[0,0] = 1", "weights"),
        ("printed.foo[0,0] = 1", "weights"),
        ("q = [[1, 2]]", "shape"),
        ("matmul(X, X) = X", "matmul"),
        ("9**9**9 = 1", "large"),
        ("(" * 1000, "nested"),
        ("1 = " + "1" * 9000, "digits"),
    ],
)
def test_a_mistake_is_a_finding(text, word):
    found = judge(text, document_n(), PRINTED)
    assert (found.code, found.verdict, found.reason) == ("EA209", Verdict.FAILS, "unreadable")
    assert word in found.message


def test_names_need_a_problem():
    assert "problem" in judge("weights[0,0] = 1").message


def test_what_is_not_a_real_number_is_not_judged():
    for text in ("log(weights[0,0] - 1) = log(weights[0,0] - 1)", "1/(weights[0,0] - weights[0,2]) = 1"):
        assert judge(text, document_n()).verdict is Verdict.UNDECIDED


PIECES = ["weights", "[0,0]", "[2,:]", "printed.weights", "=", " = ", "~", "+", "-", "*", "/", "(", ")", "[", "]", ",",
          "0.4", "1", "sum(", "exp(", "sqrt(", "log(", "v", "n", "0", "matmul("]  # fmt: skip


@settings(max_examples=100)
@given(st.lists(st.sampled_from(PIECES), max_size=10))
def test_any_text_gives_a_finding(pieces):
    found = judge("".join(pieces), document_n(), PRINTED)
    assert found.verdict in (Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED)


@given(st.integers(-(10**6), 10**6), st.integers(1, 997), st.integers(0, 5))
def test_decimals_agree_with_pythons_rounding(top, bottom, places):
    """Oracle: Python's correctly rounded division of integers, and its truncation."""
    scale = 10**places
    quotient, rest = divmod(abs(top) * scale, bottom)
    sign = "-" if top < 0 else ""

    def shown(units):
        text = str(units).rjust(places + 1, "0")
        return f"{sign}{text[:-places]}.{text[-places:]}" if places else f"{sign}{text}.0"

    nearest = quotient + (2 * rest >= bottom)
    if places:
        assert judge(f"{top}/{bottom} = {shown(nearest)}").verdict is Verdict.HOLDS
        assert judge(f"{top}/{bottom} = {shown(quotient)}").verdict is Verdict.HOLDS
        assert judge(f"{top}/{bottom} = {shown(quotient + 2)}").verdict is Verdict.FAILS

"""Claims about order: proven inequalities, proven ties, and whether the printed numbers agree."""

from __future__ import annotations

import pytest
from samples import by_id, document_n

from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage, identity
from exactattn.bench import Bench
from exactattn.checks.orders import CHECK
from exactattn.findings import Claim, PrintedBlock, PrintedCell, Verdict
from exactattn.numbers.numerals import parse_numeral


def printed(*rows):
    cells = []
    for i, row in enumerate(rows):
        for j, text in enumerate(row.split()):
            one = parse_numeral(text)
            cells.append(PrintedCell((i, j), text, one.value, one.unit, one.digits, one.form))
    return PrintedBlock("A", Stage.WEIGHTS, tuple(cells))


WEIGHTS = printed("0.4 0.2 0.4", "0.2 0.4 0.4", "0.3 0.3 0.4")


def judge(text, problem=None, blocks=()):
    problem = document_n() if problem is None else problem
    bench = Bench(the_problem=problem, printed=blocks, claims=(Claim("o", "order", {"order": text}),))
    return by_id(CHECK, bench)["o"]


@pytest.mark.parametrize(
    "text",
    [
        "weights[0,0] = weights[0,2] > weights[0,1]",  # S13 of source-claims.md
        "weights[1,1] = weights[1,2] > weights[1,0]",  # S14
        "weights[2,2] > weights[2,0] = weights[2,1]",  # S15
        "weights[2,2] > 1/2",  # S15
        "weights[:,:] > 0",  # S17
        "0 < weights[:,:] < 1",
        "output[1,0] = output[0,1]",  # S18
        "output[1,:] = reverse(output[0,:])",
        "output[2,0] = output[2,1]",
        "scores = transpose(scores)",  # S46
        "weights[0,0] != weights[0,1]",
        "weights[0,0] >= weights[0,2]",
        "weights[0,1] < 1/5 <= 0.2",
        "weights[0,0] ~ 0.40111",
        "exp(1/sqrt(d_k)) = weights[2,2]/weights[2,0]",
    ],
)
def test_what_is_true_of_document_n(text):
    found = judge(text)
    assert (found.code, found.verdict, found.reason) == ("EA203", Verdict.HOLDS, "proven"), found.message


@pytest.mark.parametrize(
    "text",
    [
        "weights[2,2] < weights[2,0]",
        "weights[0,0] > weights[2,2]",
        "weights[:,:] > 0.2",
        "weights[2,0] = 0.2482550782577230697",
        "weights[2,0] = 0.3",
        "output[1,:] = output[0,:]",
        "weights[0,0] != weights[0,2]",
        "weights[0,0] > weights[0,2]",
    ],
)
def test_what_is_false_of_document_n(text):
    found = judge(text)
    assert (found.verdict, found.reason, found.level) == (Verdict.FAILS, "wrong", "error")


def test_values_and_places_are_shown():
    found = judge("weights[2,2] > weights[2,0] = weights[2,1]")
    assert found.evidence["values"] == [
        "0.50348984348455386061",  # S6, and the report that issue 2 wants
        "0.24825507825772306969",
        "0.24825507825772306969",
    ]
    assert "[0,1]" in judge("weights[:,:] > 0.2").message


def test_a_tie_is_told_from_a_near_tie():
    """Two scores that differ by 10**-60 are no tie; the balls must be made finer to see it."""
    near = parse_numeral("1e-60").value
    row = ((near, parse_numeral("0").value),)
    problem = Problem((Head(scores=row, v=identity(2)),), spec=AttentionSpec(scale=parse_numeral("1").value))
    assert judge("weights[0,0] > weights[0,1]", problem).verdict is Verdict.HOLDS
    assert judge("weights[0,0] = weights[0,1]", problem).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("text", "agrees"),
    [
        ("weights[2,2] > weights[2,0] = weights[2,1]", True),
        ("weights[2,2] > 1/2", False),
        ("weights[1,1] > weights[0,1]", True),
        ("weights[2,2] > weights[0,0]", False),  # rounded numbers tie where the true ones do not
        ("output[1,0] = output[0,1]", None),  # not printed here
    ],
)
def test_do_the_printed_numbers_agree(text, agrees):
    found = judge(text, blocks=(WEIGHTS,))
    assert (found.verdict, found.evidence["printed_agrees"]) == (Verdict.HOLDS, agrees)


@pytest.mark.parametrize(
    "text", ["weights[0,0]", "weights[0,9] > 1", "nothing[0] > 1", "weights[0,:] = 1", "weights[0,:] > [1, 2]"]
)
def test_a_mistake_is_a_finding(text):
    found = judge(text)
    assert (found.code, found.reason) == ("EA209", "unreadable")

"""The answer itself, against numbers that come from elsewhere (field/source-claims.md, S6, S9, and the formulas)."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from exactattn.attention.spec import AttentionSpec, Head, Problem
from exactattn.errors import UsageError
from exactattn.journeys.solution import Solution, Value, Wanted
from exactattn.journeys.solve import choose, solve

# 1/(2 + e^(1/sqrt(2))) and e^(1/sqrt(2))/(2 + e^(1/sqrt(2))), MPFR through gmpy2
T20 = "0.24825507825772306969"
T22 = "0.50348984348455386061"


def only(problem, **wanted):
    """The one element asked for."""
    (value,) = solve(problem, Wanted(**wanted)).values
    return value


@pytest.mark.parametrize("engine", ["ball", "multiprecision", "symbolic"])
@pytest.mark.parametrize(("index", "true"), [((2, 0), T20), ((2, 2), T22)])
def test_weights_of_document_n(document_n, engine, index, true):
    value = only(document_n, stage="weights", index=index, engine=engine)
    assert value.decimal == true
    assert value.state == "value"
    assert not value.exact


def test_many_digits_agree_with_mpfr(document_n):
    gmpy2 = pytest.importorskip("gmpy2")
    with gmpy2.context(precision=4000):
        t = gmpy2.exp(1 / gmpy2.sqrt(gmpy2.mpfr(2)))
        true = f"{1 / (2 + t):.1000f}"
    value = only(document_n, stage="weights", index=(2, 0), digits=1000)
    assert value.decimal == true
    assert value.bits > 3300


def test_the_enclosure_holds_the_decimal(document_n):
    value = only(document_n, stage="output", index=(2, 0), digits=15)
    low, high = map(Fraction, value.enclosure)
    assert low < high
    assert abs(Fraction(value.decimal) - low) < Fraction(1, 10**14)
    assert value.closed_form is not None


def test_exact_values_are_shown_exactly(document_n):
    values = {value.id: value for value in solve(document_n, Wanted("scaled")).values}
    assert (values["scaled[0,1]"].decimal, values["scaled[0,1]"].exact) == ("0", True)
    assert values["scaled[2,2]"].closed_form == "sqrt(2)"
    third = Problem((Head(scores=((Fraction(1), Fraction(1), Fraction(1)),), v=((Fraction(1),),) * 3),),
                    spec=AttentionSpec(scale=Fraction(1)))  # fmt: skip
    weight = only(third, stage="weights", index=(0, 0), digits=5)
    assert (weight.decimal, weight.closed_form, weight.exact) == ("0.33333", "1/3", True)


@pytest.mark.parametrize("digits", [1, 5, 20, 60])
def test_an_enclosure_is_no_coarser_than_the_decimal_beside_it(document_n, digits):
    for value in solve(document_n, Wanted("weights", digits=digits)).values:
        low, high = map(Fraction, value.enclosure)
        places = len(value.decimal.partition(".")[2])
        assert high - low <= Fraction(1, 10**places)
        assert abs(Fraction(value.decimal) - low) <= Fraction(1, 10**places)


@pytest.mark.parametrize(
    ("index", "ids"),
    [
        ((2,), ["weights[2,0]", "weights[2,1]", "weights[2,2]"]),
        ((2, None), ["weights[2,0]", "weights[2,1]", "weights[2,2]"]),
        ((None, 1), ["weights[0,1]", "weights[1,1]", "weights[2,1]"]),
        ((2, 1), ["weights[2,1]"]),
    ],
)
def test_rows_and_columns(document_n, index, ids):
    assert [value.id for value in solve(document_n, Wanted("weights", index=index, digits=5)).values] == ids


@pytest.mark.parametrize(("alias", "engine"), [("mpmath", "multiprecision"), ("arb", "ball"), ("sympy", "symbolic")])
def test_engines_by_the_names_of_their_libraries(document_n, alias, engine):
    one = solve(document_n, Wanted("weights", index=(2, 0), engine=alias))
    assert one == solve(document_n, Wanted("weights", index=(2, 0), engine=engine))
    assert one.as_json()["engine"] == engine


def far_apart(size):
    """Two logits so far apart that the smaller weight has no digits at the most bits."""
    head = Head(scores=((Fraction(size), Fraction(0)),), v=((Fraction(1),), (Fraction(3),)))
    return Problem((head,), spec=AttentionSpec(scale=Fraction(1)))


def test_a_closed_form_answers_where_digits_are_not_decided():
    solution = solve(far_apart(10**6), Wanted("weights", index=(0, 1)))
    (value,) = solution.values
    assert (value.state, value.decimal) == ("undecided", None)
    assert value.closed_form == "1/(1 + exp(1000000))"
    assert solution.status == 0
    text = solution.text()
    assert "weights[0,1] = 1/(1 + exp(1000000)) (its digits are not decided with 16384 bits)" in text
    assert text.count("1/(1 + exp(1000000))") == 1
    assert "  between 0\n      and " in text


def test_nothing_decided_is_said_by_the_status():
    undecided = Value("w[0]", "undecided", bits=128)
    solution = Solution(Wanted("weights"), (1, 1), "none", (undecided,))
    assert solution.status == 3
    assert "w[0] is not decided to so many digits with 128 bits" in solution.text()
    assert replace(solution, values=(undecided, Value("w[1]", "value", "1"))).status == 0


def test_undefined_rows_and_masked_keys_say_so(document_n):
    masked = replace(document_n, mask=((True, False, True), (False, False, False), (True, True, True)))
    states = {value.id: value.state for stage in ("masked", "weights", "lse") for value in
              solve(masked, Wanted(stage)).values}  # fmt: skip
    assert states["masked[0,1]"] == "not allowed"
    assert states["weights[1,2]"] == states["lse[1]"] == "undefined"
    assert states["weights[0,1]"] == "value"
    text = solve(masked, Wanted("masked")).text() + solve(masked, Wanted("lse")).text()
    assert "masked[0,1] = -inf (this key is not allowed)" in text
    assert "lse[1] is undefined: this query has no allowed key" in text


@pytest.mark.parametrize("engine", ["ball", "multiprecision", "symbolic"])
def test_heads_and_columns(document_n, engine):
    two = replace(document_n, heads=document_n.heads * 2, several_heads=True)
    assert [value.id for value in solve(two, Wanted("lse", head=1, engine=engine)).values] == [
        "lse[1,0]", "lse[1,1]", "lse[1,2]",
    ]  # fmt: skip
    assert solve(two, Wanted("concat", engine=engine)).shape == (3, 4)
    flipped = tuple(zip(*document_n.X, strict=True))
    columns = Problem(document_n.heads, flipped, spec=AttentionSpec(orientation="columns"))
    assert only(columns, stage="weights", index=(0, 2), engine=engine).decimal == T20


def test_json_is_plain(document_n):
    solution = solve(document_n, Wanted("weights", digits=5, index=(2, 2)))
    data = json.loads(json.dumps(solution.as_json()))
    assert data["schema"] == "exactattn/solution/1"
    assert data["values"][0] == {
        "id": "weights[2,2]",
        "state": "value",
        "decimal": "0.50349",
        "enclosure": ["0.50348984", "0.50348985"],
        "closed_form": "exp(sqrt(2)/2)/(2 + exp(sqrt(2)/2))",
        "exact": False,
        "bits": 128,
    }


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted("wieghts"), "did you mean 'weights'"),
        (Wanted(engine="bal"), "did you mean 'ball'"),
        (Wanted(head=1), "no head 1 of output; heads are counted from 0 to 0"),
        (Wanted(index=(3, 0)), "no element 3,0 of output; it is 3 x 2"),
        (Wanted(index=(3, None)), "no element 3,: of output; it is 3 x 2"),
        (Wanted(index=(0, 0, 0)), "no element 0,0,0 of output; it is 3 x 2"),
    ],
)
def test_what_does_not_exist_is_said(document_n, wanted, words):
    with pytest.raises(UsageError, match=words):
        solve(document_n, wanted)


def test_scores_given_directly_have_no_queries():
    problem = Problem((Head(scores=((Fraction(1),),), v=((Fraction(1),),)),), spec=AttentionSpec(scale=Fraction(1)))
    with pytest.raises(UsageError, match="no stage q"):
        solve(problem, Wanted("q"))


def test_choosing_a_problem(document_n):
    assert choose({"": document_n}, None) is document_n
    assert choose({"a": document_n, "b": document_n}, "b") is document_n
    for problems, name, words in (
        ({}, None, "no problem to solve"),
        ({"a": document_n, "b": document_n}, None, "choose one with --problem"),
        ({"first": document_n}, "frist", "did you mean 'first'"),
    ):
        with pytest.raises(UsageError, match=words):
            choose(problems, name)


@pytest.mark.parametrize("engine", ["multiprecision", "symbolic"])
def test_digits_that_would_fill_the_memory_are_not_written_out(engine):
    # the second weight is e^(-10^9): its exact binary value has 10^9 places
    problem = Problem(
        (Head(scores=((Fraction(10**9), Fraction(0)),), v=((Fraction(1),), (Fraction(2),))),),
        spec=AttentionSpec(scale=Fraction(1)),
    )
    solution = solve(problem, Wanted("weights", digits=20, engine=engine))
    assert [value.state for value in solution.values] == ["value", "undecided"]

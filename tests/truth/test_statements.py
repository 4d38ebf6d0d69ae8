"""Statements over true values: names, printed names, heads, columns, and signs that must be proven."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import document_n, matrix, two_heads

from exactattn.attention.spec import AttentionSpec, Head, Problem, identity
from exactattn.errors import NumeralError
from exactattn.findings import Verdict
from exactattn.numbers.exact import add, exp, log, mul, neg, sqrt, sub
from exactattn.truth.ladder import Truth
from exactattn.truth.relations import judge, worst
from exactattn.truth.statements import Scope
from exactattn.truth.values import Values


def verdict(text, problem=None, **options):
    scope = Scope(None if problem is None else Truth(problem), **options)
    return worst(judge(scope.values, scope.read(text)))


def test_operands_keep_their_text():
    found = Scope().read("1 + 1 = 2  <  [3, 4]")
    assert [one.text for one in found.operands] == ["1 + 1", "2", "[3, 4]"]
    assert found.relations == ("=", "<")
    assert [one.shape for one in found.operands] == [(), (), (2,)]


def test_signs_are_proven():
    values = Values()
    assert values.sign(Fraction(0)) == 0
    assert values.sign(sub(sqrt(Fraction(8)), mul(Fraction(2), sqrt(Fraction(2))))) == 0
    assert values.sign(sub(exp(log(Fraction(3))), Fraction(3))) == 0
    assert values.sign(sub(sqrt(Fraction(2)), Fraction(14142135623730950488016887, 10**25))) == 1
    assert values.sign(log(neg(exp(Fraction(1))))) is None  # no real number


@given(st.fractions(-5, 5, max_denominator=50), st.fractions(-5, 5, max_denominator=50))
def test_signs_of_differences_of_exponentials(a, b):
    """e^a e^b - e^(a+b) is 0; e^a - e^b has the sign of a - b."""
    values = Values()
    assert values.sign(sub(mul(exp(a), exp(b)), exp(add(a, b)))) == 0
    assert values.sign(sub(exp(a), exp(b))) == (a > b) - (a < b)


def test_columns_are_as_shown():
    """With tokens as columns, weights[key, query] sum to 1 down a column."""
    eye = identity(2)
    problem = Problem((Head(eye, eye, eye),), matrix([[1, 0, 1], [0, 1, 1]]), spec=AttentionSpec(orientation="columns"))
    assert verdict("sum(weights[:,2]) = 1", problem) is Verdict.HOLDS
    assert verdict("weights[2,2] > weights[0,2] = weights[1,2]", problem) is Verdict.HOLDS
    assert verdict("sum(weights[2,:]) = 1", problem) is Verdict.FAILS
    assert verdict("matmul(v, weights) = output", problem) is Verdict.HOLDS


def test_heads_are_the_first_index():
    problem = two_heads([[0, 1], [1, 0]], [[2, 0], [0, 0]])
    assert verdict("sum(weights[1,0,:]) = 1", problem) is Verdict.HOLDS
    assert verdict("concat[0,1] = context[1,0,0]", problem) is Verdict.HOLDS
    with pytest.raises(NumeralError, match="index 2"):
        verdict("weights[2,0,0] = 1", problem)


def test_rows_without_keys_have_no_value():
    problem = Problem(
        (Head(scores=matrix([[0, 1], [1, 0]]), v=identity(2)),),
        spec=AttentionSpec(scale=Fraction(1)),
        mask=((False, False), (True, True)),
    )
    with pytest.raises(NumeralError, match="no key is allowed"):
        verdict("weights[0,0] = 1", problem)
    assert verdict("sum(weights[1,:]) = 1", problem) is Verdict.HOLDS


def test_inputs_and_sizes_have_names():
    problem = document_n()
    assert verdict("X = [[1, 0], [0, 1], [1, 1]]", problem) is Verdict.HOLDS
    assert verdict("W_Q = [[1, 0], [0, 1]]", problem) is Verdict.HOLDS
    assert verdict("d_model*n = 6", problem) is Verdict.HOLDS
    with pytest.raises(NumeralError, match="W_O"):
        verdict("W_O = 1", problem)

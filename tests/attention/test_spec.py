"""Problems that make no sense are refused with a reason; those that do know their sizes."""

from fractions import Fraction as F

import pytest
from samples import matrix

from exactattn.attention.conventions import readings
from exactattn.attention.definition import undefined_rows
from exactattn.attention.spec import AttentionSpec, Head, Problem, identity
from exactattn.errors import ProblemError

X = matrix([[1, 0], [0, 1], [1, 1]])
I2, I3 = identity(2), identity(3)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Problem(()), "at least one head"),
        (lambda: Problem((Head(I2, I2, I2),)), "give Q itself, or X together with W_Q"),
        (lambda: Problem((Head(I2, I2),), X), "no V"),
        (lambda: Problem((Head(I3, I2, I2),), X), "X has d_model = 2 and W_Q is 3 x 3"),
        (lambda: Problem((Head(identity(2), matrix([[1], [2]]), I2),), X), "q k\\^T needs equal widths"),
        (lambda: Problem((Head(q=X, k=X, v=I2),)), "3 keys and 2 values"),
        (lambda: Problem((Head(I2, I2, I2), Head(q=I2, k=X, v=X)), X, several_heads=True), "head 1: all heads"),
        (lambda: Problem((Head(I2, I2, I2),), X, I3), "W_O has 3 rows, but the concatenation of the heads is 2 wide"),
        (lambda: Problem((Head(I2, I2, I2),), X, mask=((True, True),)), "mask is 1 x 2"),
        (lambda: Problem((Head(scores=I2),)), "no V"),
        (lambda: Problem((Head(I2, I2, I2),), X, spec=AttentionSpec(orientation="columns")), "d_model = 3"),
    ],
)
def test_what_does_not_fit_is_refused(make, text):
    with pytest.raises(ProblemError, match=text):
        make()


def test_sizes_and_default_scale():
    problem = Problem((Head(I2, I2, matrix([[1, 2, 3], [4, 5, 6]])),), X)
    assert problem.names == {"n": 3, "L": 3, "S": 3, "H": 1, "d_k": 2, "d_v": 3, "d_model": 2}
    assert str(problem.scale) == "2**(-1/2)"


def test_scores_without_keys_need_a_scale():
    problem = Problem((Head(scores=I2, v=I2),))
    with pytest.raises(ProblemError, match="state `scale`"):
        _ = problem.scale


def test_causal_corners():
    two_of_three = Problem((Head(scores=matrix([[0, 0, 0], [0, 0, 0]]), v=I3),), spec=AttentionSpec(scale=F(1)))
    corner = lambda where: two_of_three.with_spec(causal=where).allowed.astype(int).tolist()  # noqa: E731
    assert corner("top-left") == [[1, 0, 0], [1, 1, 0]]
    assert corner("bottom-right") == [[1, 1, 0], [1, 1, 1]]


def test_an_empty_row_is_undefined_unless_the_rule_says_zero():
    spec = AttentionSpec(scale=F(1), causal="bottom-right")
    problem = Problem((Head(scores=matrix([[0], [0]]), v=matrix([[1]])),), spec=spec)
    assert undefined_rows(problem) == {0}
    assert undefined_rows(problem.with_spec(masked_row="zero")) == frozenset()


def test_readings_leave_out_the_stated_one_and_unknown_sizes():
    stated = Problem((Head(I2, I2, I2),), X)
    names = [reading.name for reading in readings(stated)]
    # d_model = d_k = 2 here, so 1/sqrt(d_model) is the stated scale under another name
    assert names == ["scale=1", "scale=1/d_k", "scale=1/sqrt(n)", "base=2", "base=10"]
    bare = Problem((Head(scores=I2, v=I2),), spec=AttentionSpec(scale=F(1)))
    assert [reading.name for reading in readings(bare)] == ["scale=1/sqrt(n)", "base=2", "base=10"]

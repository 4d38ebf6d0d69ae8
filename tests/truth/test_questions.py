"""Questions about floats beside true values, over the ladder of engines: the answers are those of exact fractions."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import FORMATS
from exactattn.numbers.near import nothing_lost
from exactattn.truth.blocks import ENGINES, ask
from exactattn.truth.questions import Above, Measured, Within, WithinUlps
from exactattn.truth.tensors import Tensors

NAN = np.full((1, 1), np.nan)


def measured(mid, rad, size=1.0):
    one = lambda x: np.array([[float(x)]])  # noqa: E731
    return Measured(one(mid), one(rad), one(size), one(size))


finite = st.floats(-1e10, 1e10)
small = st.one_of(st.just(0.0), st.floats(0, 1e10))


@given(finite, small, small)
def test_within_agrees_with_fractions(mid, rad, bound):
    (answer,) = Within(bound).answers(measured(mid, rad), ()).ravel()
    least, most = max(abs(F(mid)) - F(rad), 0), abs(F(mid)) + F(rad)
    if answer is Answer.YES:
        assert most <= F(bound)
    elif answer is Answer.NO:
        assert least > F(bound)
    else:
        assert least * (1 - F(1, 2**30)) <= F(bound) <= most * (1 + F(1, 2**30))


@given(finite, small)
def test_above_agrees_with_fractions(mid, rad):
    (answer,) = Above().answers(measured(mid, rad), ()).ravel()
    if answer is Answer.YES:
        assert F(mid) - F(rad) > 0
    elif answer is Answer.NO:
        assert F(mid) + F(rad) <= 0
    else:
        assert abs(F(mid)) <= F(rad) * (1 + F(1, 2**30)) or rad == 0


@pytest.mark.parametrize("question", [Within(1.0), Above(), WithinUlps(FORMATS["float32"])])
def test_nan_decides_nothing(question):
    for error in (Measured(NAN, NAN, NAN, NAN), measured(0.0, np.nan), measured(np.nan, 0.0), measured(0.0, np.inf)):
        assert question.answers(error, ()).ravel()[0] is Answer.CANNOT_TELL


def tensors():
    """One head with equal scores, whose queries see 2, 3 and 4 keys."""
    q, k = np.zeros((3, 2)), np.ones((4, 2))
    return Tensors.of(q, k, np.array([[1.0], [2.0], [3.0], [4.0]]), AttentionSpec(causal="offset", offset=1))


def test_the_ladder_answers_each_question():
    """Equal weights of 2, 3 and 4 keys: outputs 3/2, 2 and 5/2 exactly."""
    data = np.array([[[1.5], [2.0 + 2.0**-40], [2.5 - 2.0**-51]]])
    yes, no = Answer.YES, Answer.NO
    above = ask(tensors(), data, Above())
    assert above.answers.ravel().tolist()[1:] == [yes, no]
    within = ask(tensors(), data, Within(np.array([[2.0**-50], [2.0**-39], [2.0**-52]])))
    assert within.answers.ravel().tolist() == [yes, yes, no]
    assert within.rows["midradius"] == 3
    assert 1 <= within.rows["ball"] <= 3
    quick = ask(tensors(), data, Within(1e-3), engines=ENGINES[:1])
    assert set(quick.answers.ravel()) == {yes}
    some = ask(tensors(), data[:, [2, 0]], WithinUlps(FORMATS["float32"], 1.0), rows=np.array([2, 0]), workers=2)
    assert set(some.answers.ravel()) == {yes}


def test_sequences_of_several_lengths():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((7, 1, 2)) for _ in range(3))
    packed = Tensors.of(q, k, v, layout="THD", query_starts=[0, 2, 7])
    data = [np.zeros((2, 2)), np.zeros((5, 2))]
    found = ask(packed, data, Within(100.0))
    assert [x.shape for x in found.heads] == [(2, 2), (5, 2)]
    assert set(found.answers) == {Answer.YES}


@pytest.mark.parametrize(
    ("ulps", "error", "answer"),
    [(0.75, 1, Answer.CANNOT_TELL), (0.75, 2, Answer.NO), (0.75, 0, Answer.YES), (1, 1, Answer.YES)],
)
def test_parts_of_the_smallest_ulp(ulps, error, answer):
    """3/4 of 2**-1074 is no float64, and rounds to the whole of it: an error of 1 was said to be within it."""
    smallest = 2.0**-1074
    found = WithinUlps(FORMATS["float64"], ulps).answers(measured(error * smallest, 0.0, 5 * smallest), ())
    assert found[0, 0] is answer


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_a_difference_is_exact_where_nothing_is_lost(a, b):
    x, y = np.array([a]), np.array([b])
    lost = not nothing_lost(x, y, x - y)[0]
    assert lost == (F(a) - F(b) != F(float((x - y)[0])))


def test_ties_of_exact_numbers_are_decided():
    """One key: lse is the score, 2 (1 + 2^-8) here, half an ulp of bfloat16 from both neighbours."""
    q, k = np.array([[8.0, 0.03125]]), np.array([[1.0, 1.0]])
    tensors = Tensors.of(q, k, k, AttentionSpec(scale=F(1, 4)))
    bfloat16 = FORMATS["bfloat16"]
    for data in (2.0, 2.015625):
        found = ask(tensors, np.array([[[data]]]), WithinUlps(bfloat16), Stage.LSE)
        assert found.answers.ravel().tolist() == [Answer.YES]
        less = ask(tensors, np.array([[[data]]]), WithinUlps(bfloat16, 0.499), Stage.LSE)
        assert less.answers.ravel().tolist() == [Answer.NO]

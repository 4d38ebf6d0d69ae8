"""Row blocks of large tensors: the same truth whatever the blocks, and questions decided by engine after engine."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hard_tensors import HARD, normal

from exactattn import plugins
from exactattn.attention.definition import stages
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.errors import ProblemError
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import FORMATS
from exactattn.truth.blocks import enclose_rows, within_ulps
from exactattn.truth.tensors import Tensors

BALL = plugins.get("engines", "ball")


def balls(tensors, stage=Stage.CONTEXT, bits=256):
    """Every head in balls, from the whole problem in one piece."""
    rows = np.arange(tensors.shape[2])
    with BALL.precision(bits):
        return [stages(head.problem(rows), BALL.arithmetic(), until=stage)[stage, 0] for head in tensors.heads]


def assert_holds(found, truth):
    for index in found.indices():
        if np.isfinite(found.rad[index]):
            assert abs(truth[index[0]][index[1:]] - float(found.mid[index])) <= float(found.rad[index]), index


def heads(seed, *shape, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return [np.stack(x) for x in zip(*(normal(rng, *shape, dtype) for _ in range(2)), strict=True)]


@pytest.mark.parametrize("stage", [Stage.WEIGHTS, Stage.LSE, Stage.CONTEXT])
@pytest.mark.parametrize("causal", ["none", "top-left", "bottom-right"])
def test_blocks_of_every_size_hold_the_truth(stage, causal):
    q, k, v = heads(1, 11, 14, 5)
    mask = np.random.default_rng(2).random((11, 14)) < 0.8
    tensors = Tensors.of(
        q, k, v, AttentionSpec(causal=causal), mask, np.random.default_rng(3).standard_normal((11, 14))
    )
    truth = balls(tensors, stage)
    for block in (1, 3, 11, None):
        found = enclose_rows(tensors, stage=stage, block=block)
        assert found.shape[:2] == (2, 11)
        assert_holds(found, truth)
    some = np.array([7, 0, 3])
    assert_holds(enclose_rows(tensors, some, stage, sharp=True), [t[some] for t in truth])


def test_rows_without_a_key_are_undefined_or_zero():
    q, k, v = normal(np.random.default_rng(0), 4, 2, 3)
    found = enclose_rows(Tensors.of(q, k, v, AttentionSpec(causal="bottom-right")))  # rows 0 and 1 see nothing
    assert np.isnan(found.mid[0, :2]).all()
    assert found[0, 0, 0] is None
    assert np.isfinite(found.rad[0, 2:]).all()
    zero = enclose_rows(Tensors.of(q, k, v, AttentionSpec(causal="bottom-right", masked_row="zero")))
    assert (zero.mid[0, :2] == 0).all()
    decided = within_ulps(Tensors.of(q, k, v, AttentionSpec(causal="bottom-right")), found.mid, FORMATS["float32"])
    assert decided.count(Answer.CANNOT_TELL) == 6
    assert decided.rows["ball"] == 0


@pytest.mark.parametrize("make", HARD, ids=lambda make: make.__name__)
def test_answers_about_hard_tensors_are_those_of_balls(make):
    """Correctly rounded outputs are within half an ulp, their neighbours are not; every element is decided."""
    tensors = Tensors.of(*make(np.random.default_rng(5)))
    (truth,) = balls(tensors, bits=3000)
    fmt = FORMATS["float32"]
    with BALL.precision(3000):
        right = np.array([[fmt.round(F(str(x.str(60, radius=False)))) for x in row] for row in truth])
    if not np.isfinite(right).all():
        fmt = FORMATS["float64"]
        with BALL.precision(3000):
            right = np.array([[fmt.round(F(str(x.str(60, radius=False)))) for x in row] for row in truth])
    decided = within_ulps(tensors, right[np.newaxis], fmt)
    ties = decided.count(Answer.CANNOT_TELL)
    assert decided.count(Answer.NO) == 0
    assert ties == 0 or make.__name__ in ("ties", "subnormal", "tiny_everywhere")
    beside = np.vectorize(lambda x: fmt.next_up(fmt.next_up(x)))(right)
    assert within_ulps(tensors, beside[np.newaxis], fmt, 1.25).count(Answer.YES) == 0


def test_engines_take_over_only_what_is_left():
    # one row of ordinary numbers, one on which midradius cannot decide (THEORY section 10)
    q = np.array([[1.0, 0.0, 0.0], [4194274.0, -4194273.0, 4194274.0]])
    k = np.array([[4194301.0, 3.0, 4194287.0], [4194302.0, 4.0, 4194287.0]])
    tensors = Tensors.of(q, k, np.array([[0.0], [1.0]]))
    right = np.array([[[0.6404574756806270], [0.6404574756806270]]])
    decided = within_ulps(tensors, right, FORMATS["float64"], 4)
    # row 0 is 1/(1 + e^(-1/sqrt 3)): the same number but for rounding, as q k^T differs by 1 in both rows
    assert (decided.answers == Answer.YES).all()
    assert decided.rows["ball"] >= 1
    quick = within_ulps(tensors, right, FORMATS["float32"], 1.0, engines=("midradius",))
    assert quick.answers[0, 0, 0] is Answer.YES
    assert quick.answers[0, 1, 0] is Answer.CANNOT_TELL


BAD = {
    "object": (np.array([[F(1)]], object), "type object"),
    "integers": (np.ones((2, 2), int), "type int64"),
    "text": (np.array([["a"]]), "type <U1"),
    "complex": (np.ones((2, 2), complex), "complex128"),
    "one axis": (np.ones(3), "shape"),
    "five axes": (np.ones((1, 1, 1, 1, 1)), "shape"),
    "no width": (np.ones((2, 0)), "shape"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tensors_are_refused_with_the_reason(name):
    x, text = BAD[name]
    with pytest.raises(ProblemError, match=text):
        Tensors.of(x, np.ones((3, 2)), np.ones((3, 2)))


def test_tensors_that_do_not_fit():
    one = np.ones((3, 2))
    with pytest.raises(ProblemError, match="do not fit"):
        Tensors.of(one, one, np.ones((4, 2)))
    with pytest.raises(ProblemError, match="mask has shape"):
        Tensors.of(one, one, one, mask=np.ones((2, 3), bool))
    with pytest.raises(ProblemError, match="booleans"):
        Tensors.of(one, one, one, mask=np.zeros((3, 3), int))
    with pytest.raises(ProblemError, match="orientation"):
        Tensors.of(one, one, one, AttentionSpec(orientation="columns"))
    if np.finfo(np.longdouble).bits > 64:
        with pytest.raises(ProblemError, match=r"longdouble|float128"):
            Tensors.of(one.astype(np.longdouble), one, one)


def test_short_formats_are_taken_as_they_are():
    import ml_dtypes

    for dtype in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        q, k, v = (x.astype(dtype) for x in normal(np.random.default_rng(4), 3, 5, 4))
        tensors = Tensors.of(q, k, v)
        assert [float(x) for x in q.ravel()] == [float(x) for x in tensors.heads[0].q.ravel()]
        assert_holds(enclose_rows(tensors), balls(tensors))

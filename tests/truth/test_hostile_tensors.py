"""Arguments that are not what they should be: refused at the border with a clear text, quickly, and never guessed."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from exactattn.attention.options import Rotary
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.errors import ProblemError
from exactattn.numbers.formats import FORMATS
from exactattn.truth.ball_blocks import enclose_by_balls, enclose_rows_by_balls
from exactattn.truth.blocks import ask, enclose, enclose_rows
from exactattn.truth.gradients import enclose_gradients
from exactattn.truth.questions import Above, Within, WithinUlps
from exactattn.truth.tensors import Tensors

X = np.random.default_rng(0).standard_normal((3, 4))
PACKED = X[:, np.newaxis]
CYCLE: list = []
CYCLE.append(CYCLE)
BAD_ARRAYS = {
    "ragged": ([[1.0], [1.0, 2.0]], "not an array of numbers"),
    "cycle": (CYCLE, "not an array of numbers"),
    "masked": (np.ma.masked_array(X, mask=X > 0), "masked array"),
    "object": (X.astype(object), "type object"),
    "strings": (X.astype(str), "type <U"),
    "dates": (np.zeros((3, 4), "M8[s]"), "type datetime64"),
    "complex": (X.astype(complex), "type complex128"),
    "records": (np.zeros((3, 4), [("a", "f4")]), "give float64"),
    "longdouble": (X.astype(np.longdouble), "type float128|type float64"),
    "text": ("hello", "give float64"),
}


def given_at(place, bad):
    """Something as one of the arguments that are arrays of floats."""
    if place == "gradient":
        return enclose_gradients(Tensors.of(X, X, X), bad)
    if place == "data":
        return ask(Tensors.of(X, X, X), [bad], WithinUlps(FORMATS["float32"]))
    return Tensors.of(**{"q": X, "k": X, "v": X, place: bad}, **({"past_value": X} if place == "past_key" else {}))


@pytest.mark.parametrize("name", BAD_ARRAYS)
@pytest.mark.parametrize("place", ["q", "k", "v", "bias", "sinks", "past_key", "gradient", "data"])
def test_what_is_no_array_of_floats_is_refused(place, name):
    bad, text = BAD_ARRAYS[name]
    if np.dtype(np.longdouble).itemsize == 8 and name == "longdouble":
        pytest.skip("longdouble is float64 here")
    with pytest.raises(ProblemError, match=text + "|a sink has type|sinks for 1 heads"):
        given_at(place, bad)


HUGE = [
    (np.broadcast_to(1.0, (2**38, 4)), X, "more than 2..31 elements"),
    (X, np.broadcast_to(1.0, (2**38, 4)), "more than 2..31 elements"),
    (np.broadcast_to(1.0, (1, 2**22, 1, 4)), X[np.newaxis, np.newaxis], "more than 2..20 heads"),
    (np.broadcast_to(1.0, (2**22, 1, 1, 4)), np.broadcast_to(1.0, (2**22, 1, 1, 4)), "more than 2..20 heads"),
]


@pytest.mark.parametrize(("q", "k", "text"), HUGE)
def test_declared_sizes_are_bounded_before_any_work(q, k, text):
    with pytest.raises(ProblemError, match=text):
        Tensors.of(q, k, k)


ROTARY = AttentionSpec(rotary=Rotary())
REFUSED = [
    ({"layout": "XYZ"}, "layout 'XYZ', wanted one of BHLD"),
    ({"layout": ["LD"]}, "wanted one of BHLD"),
    ({"polarity": "allow"}, "polarity 'allow'"),
    ({"mask": np.ones((3, 3), bool), "polarity": "Attend"}, "polarity 'Attend'"),
    ({"query_heads": 5}, "query_heads or key_heads: nothing in layout LD"),
    ({"query_starts": [0, 3]}, "query_starts or key_starts: nothing in layout LD"),
    ({"query_positions": [0, 1, 2]}, "rotary positions: nothing"),
    ({"spec": ROTARY, "query_positions": np.array([0, 1, 2**64 - 1], np.uint64)}, "above 2..52"),
    ({"spec": ROTARY, "key_positions": [0, 1, -(2**53)]}, "above 2..52"),
    ({"spec": ROTARY, "key_positions": [[0], [1, 2]]}, "not an array"),
    ({"mask": np.full((3, 3), 1e308), "bias": np.full((3, 3), 1e308)}, "do not add up exactly"),
    ({"mask": [[True], [True, False]]}, "not an array"),
    ({"key_lengths": [[1], [1, 2]]}, "not an array"),
    ({"sinks": ["a"]}, "a sink has type str"),
    ({"sinks": [None]}, "a sink has type NoneType"),
    ({"sinks": [True]}, "a sink has type bool"),
    ({"sinks": [[1.0]]}, "a sink has type list"),
    ({"sinks": [1j]}, "a sink has type complex"),
    ({"sinks": np.array(1.0)}, "a sink has type ndarray"),
    ({"sinks": [np.float32("nan")]}, "a sink is not finite"),
]


@pytest.mark.parametrize(("options", "text"), REFUSED)
def test_options_that_would_be_guessed_or_ignored_are_refused(options, text):
    with pytest.raises(ProblemError, match=text):
        Tensors.of(X, X, X, **options)


@pytest.mark.parametrize("heads", [2.0, "2", True, 0, -2])
def test_numbers_of_heads(heads):
    with pytest.raises(ProblemError, match="layout BLD needs the number of heads"):
        Tensors.of(*(X[np.newaxis],) * 3, layout="BLD", query_heads=heads, key_heads=2)


def test_packed_sequences_have_no_positions():
    with pytest.raises(ProblemError, match="past or positions"):
        Tensors.of(PACKED, PACKED, PACKED, ROTARY, layout="THD", query_starts=[0, 3], query_positions=[2, 1, 0])


@pytest.mark.parametrize("sink", [np.float32(0.5), np.float64(0.5), 0.5, F(1, 2)])
def test_a_sink_may_be_any_exact_number(sink):
    want = enclose(Tensors.of(X, X, X, sinks=np.array([0.5])))
    found = enclose(Tensors.of(X, X, X, sinks=[sink]))
    assert (found.mid == want.mid).all()


@pytest.mark.parametrize("rows", [[3], [-1], [0.0, 1.0], [[0]], [True, False, True], ["a"], 1, [2**70]])
@pytest.mark.parametrize("enclosed", [enclose_rows, enclose_rows_by_balls])
def test_rows_that_are_not_there(enclosed, rows):
    """A negative row would stand at a negative position."""
    with pytest.raises(ProblemError, match="rows"):
        enclosed(Tensors.of(X, X, X, AttentionSpec(causal="top-left")), rows)


def test_rows_in_any_order_and_more_than_once():
    tensors = Tensors.of(X, X, X, AttentionSpec(causal="top-left"))
    every = enclose(tensors).mid
    assert (enclose_rows(tensors, [2, 0, 2]).mid[0] == every[[2, 0, 2]]).all()
    assert enclose_rows(tensors, []).mid.shape == (1, 0, 4)


def test_data_and_stages_that_do_not_fit():
    tensors, question = Tensors.of(X, X, X), WithinUlps(FORMATS["float32"])
    for data, text in (
        ([X, X], "data of 2 heads"),
        ([X[:2]], "wanted .3, 4."),
        ([X[:, :2]], "wanted"),
        ([X[0]], "wanted"),
    ):
        with pytest.raises(ProblemError, match=text):
            ask(tensors, data, question)
    with pytest.raises(ProblemError, match="nothing is asked about scores"):
        ask(tensors, [X], question, Stage.SCORES)
    for stage in (Stage.CAPPED, Stage.Q_READY, Stage.K_READY):
        with pytest.raises(ProblemError, match=f"no stage {stage}"):
            enclose(tensors, stage)
    with pytest.raises(ProblemError, match="block"):
        enclose(tensors, block=-1)


def packed_tensors(spec=None):
    """Two heads; sequences of 2 queries and 3 keys, of no query and 4 keys, of 4 queries and no key."""
    rng = np.random.default_rng(1)
    q, k = rng.standard_normal((6, 2, 2)), rng.standard_normal((7, 2, 2))
    return Tensors.of(q, k, k, spec, layout="THD", query_starts=[0, 2, 2, 6], key_starts=[0, 3, 7, 7])


@pytest.mark.parametrize("shape", [(7, 2, 2), (5, 2, 2), (6, 3, 2), (6, 1, 2), (6,), (6, 2)])
def test_packed_gradients_are_never_cut_to_fit(shape):
    with pytest.raises(ProblemError, match=r"wanted \(6, 2, width"):
        enclose_gradients(packed_tensors(), np.zeros(shape))


def test_packed_sequences_of_several_lengths():
    tensors = packed_tensors()
    assert enclose(tensors).mid.shape == (6, 2, 2)
    for enclosed in (enclose, enclose_by_balls):
        with pytest.raises(ProblemError, match="different numbers of keys"):
            enclosed(tensors, Stage.WEIGHTS)
    for rows in (enclose_rows, enclose_rows_by_balls):
        with pytest.raises(ProblemError, match="different lengths"):
            rows(tensors)
    assert ask(tensors, [np.zeros((0, 2))] * 6, Above(), rows=[]).answers.shape == (6, 0, 2)


def test_a_sequence_with_no_query_under_a_causal_rule():
    tensors = packed_tensors(AttentionSpec(causal="bottom-right", masked_row="zero"))
    found = enclose_gradients(tensors, np.ones((6, 2, 2)))
    assert found.q.mid.shape == (6, 2, 2)
    assert not found.k.mid[3:].any()


@pytest.mark.parametrize("bound", [np.ones((1, 4)), np.ones((3, 3)), np.ones((1, 3, 4)), np.ones(4)])
def test_bounds_of_another_shape(bound):
    with pytest.raises(ProblemError, match="one for each element of a head"):
        ask(Tensors.of(X, X, X), [X], Within(bound))


def test_engines_that_are_not_there():
    with pytest.raises(ProblemError, match="engine 'balls', wanted one of midradius"):
        ask(Tensors.of(X, X, X), [X], Above(), engines=("balls",))

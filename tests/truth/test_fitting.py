"""Factors that printed weights show, and readings of formulas."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.documents.case import loads
from exactattn.journeys.verify import VerifyOptions, _benches
from exactattn.numbers.enclosure import Interval
from exactattn.truth.fit import End, Fit
from exactattn.truth.fitting import simplest


def judged(text):
    """What became of the prints of a case, by block and index."""
    (bench,) = _benches(loads(text), VerifyOptions())
    return {(item.block.name, item.element.index): item for item in bench.judged}


def between(low, high):
    return simplest(Fit(End(Interval(low, low)), End(Interval(high, high))))


@given(st.fractions(-3, 3, max_denominator=60), st.fractions(F(1, 100), 1, max_denominator=100))
def test_the_simplest_fraction_is_the_first_that_a_search_finds(low, width):
    high = low + width
    found = between(low, high)
    assert low < found < high
    for denominator in range(1, found.denominator):
        first = (low.numerator * denominator) // low.denominator + 1
        assert not first < high * denominator, (denominator, found)


def test_an_interval_without_ends_has_no_simplest_fraction():
    assert simplest(Fit(End(None), End(Interval(F(1), F(1))))) is None


THIRD = """
version: 1
problem: {inputs: {s: [[3, 1, 0], [2, 5, 1], [0, 4, 2]]}}
printed:
  weights: {of: softmax(s), values: %s}
"""
S = np.array([[3, 1, 0], [2, 5, 1], [0, 4, 2]])


def printed(powers, axis=1, digits=4):
    """Shares of powers along an axis, in so many decimals, as rows of a case file."""
    shares = powers / powers.sum(axis=axis, keepdims=True)
    return "[" + ", ".join("[" + ", ".join(f"{x:.{digits}f}" for x in row) + "]" for row in shares) + "]"


def test_a_factor_that_many_numbers_agree_on_is_the_reading():
    found = judged(THIRD % printed(np.exp(S / 5), digits=3))
    assert {item.reason for item in found.values()} == {"convention"}
    assert {item.closest_reading for item in found.values()} == {"scale=1/5"}


def test_a_scale_and_a_base_together_are_named():
    # Source: NumPy; keys of width 2, scale 1/2 and base 2
    x = np.array([[3, 1], [0, 2], [2, 2], [1, 0]])
    text = f"""
version: 1
problem: {{inputs: {{x: {x.tolist()}}}}}
printed:
  weights: {{of: "softmax(matmul(x, T(x))/sqrt(2))", values: {printed(2.0 ** (x @ x.T / 2))}}}
"""
    assert {item.closest_reading for item in judged(text).values() if item.wrong} == {"scale=1/d_k, base=2"}


def test_two_free_numbers_show_no_factor():
    # one row of three weights: one factor and one number beyond it prove nothing
    prints = "printed: {weights: {of: softmax(s), values: [0.53, 0.27, 0.20]}}"
    found = judged("version: 1\nproblem: {inputs: {s: [3, 1, 0]}}\n" + prints)
    assert {item.reason for item in found.values()} == {"new"}


def test_invented_weights_are_explained_by_nothing():
    found = judged(THIRD % "[[0.61, 0.21, 0.18], [0.30, 0.50, 0.20], [0.20, 0.60, 0.20]]")
    assert {item.reason for item in found.values()} == {"new"}
    assert {item.closest_reading for item in found.values()} == {None}


@pytest.mark.parametrize(
    ("name", "powers"),
    [
        ("scale=1", np.exp),
        ("scale=1/d_k", lambda s: np.exp(s / 2)),
        ("scale=1/sqrt(n)", lambda s: np.exp(s / np.sqrt(3))),
        ("scale=1/sqrt(d_model)", lambda s: np.exp(s / 2.0)),
        ("base=2", lambda s: 2 ** (s / np.sqrt(2))),
        ("base=10", lambda s: 10 ** (s / np.sqrt(2))),
        ("weights=reversed", lambda s: np.exp(s / np.sqrt(2))[:, ::-1]),
        ("mask=causal", lambda s: np.tril(np.exp(s / np.sqrt(2)))),
    ],
)
def test_the_catalogue_names_what_was_done_to_the_scores_of_a_formula(name, powers):
    # Source: NumPy; with d_k = 2 and d_model = 4 two scales are one number, and the first is named
    x = np.array([[1, 0, 2, 1], [0, 1, 1, 3], [2, 1, 0, 1]]) @ np.array([[1, 0], [0, 1], [1, 1], [0, 2]]) / 4
    text = f"""
version: 1
problem:
  inputs:
    X: [[0.25, 0, 0.5, 0.25], [0, 0.25, 0.25, 0.75], [0.5, 0.25, 0, 0.25]]
    W: [[1, 0], [0, 1], [1, 1], [0, 2]]
  steps: {{q: "matmul(X, W)"}}
printed:
  weights: {{of: "softmax(matmul(q, T(q))/sqrt(2))", values: {printed(powers(x @ x.T))}}}
"""
    found = judged(text)
    wrong = {item.closest_reading for item in found.values() if item.wrong}
    assert wrong == {"scale=1/d_k" if name == "scale=1/sqrt(d_model)" else name}
    assert all(name in item.readings for item in found.values())


def test_a_reading_of_another_shape_is_none():
    # the transpose of 2 x 3 scores fits no print of 2 x 3 weights
    text = "version: 1\nproblem: {inputs: {s: [[2, 4, 6], [1, 1, 3]]}}\nprinted: {w: {of: softmax(s), values: %s}}"
    found = judged(text % "[[0.10, 0.30, 0.60], [0.21, 0.21, 0.58]]")
    assert {item.reason for item in found.values()} == {"new"}


def test_the_axis_of_a_softmax_is_named():
    found = judged(THIRD % printed(np.exp(S), axis=0))
    assert {item.closest_reading for item in found.values() if item.wrong} == {"softmax_axis=queries"}


@pytest.mark.parametrize(
    ("name", "powers", "axis"),
    [
        ("softmax_axis=queries", np.exp(S), 0),
        ("weights=reversed", np.exp(S)[:, ::-1], 1),
        ("scores=transposed", np.exp(S.T), 1),
        ("mask=causal", np.tril(np.exp(S)), 1),
    ],
)
def test_the_arrangement_of_a_problem_is_named(name, powers, axis):
    # Source: NumPy
    text = "version: 1\nproblem: {scores: %s, V: [[1], [2], [3]], scale: 1}\nprinted:\n  weights: %s"
    found = judged(text % (S.tolist(), printed(powers, axis)))
    assert {item.closest_reading for item in found.values() if item.wrong} == {name}


def test_a_mask_after_the_softmax_is_named():
    powers = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)
    rows = [[f"{x:.4f}" if j <= i else 0 for j, x in enumerate(row)] for i, row in enumerate(powers)]
    problem = f"problem: {{scores: {S.tolist()}, V: [[1], [2], [3]], scale: 1, causal: true}}"
    text = f"version: 1\n{problem}\nprinted:\n  weights: {rows}"
    assert {item.closest_reading for item in judged(text).values() if item.wrong} == {"mask=after_softmax"}


@pytest.mark.parametrize("steps", ["", "  steps: {w: softmax(s/2)}\n"])
def test_the_softmax_that_is_reread_may_stand_in_an_earlier_step(steps):
    # Source: NumPy, weights of s in place of s/2
    weights = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)
    output = weights @ np.array([[1.0], [2], [4]])
    of = "matmul(w, v)" if steps else "matmul(softmax(s/2), v)"
    text = f"version: 1\nproblem:\n  inputs: {{s: {S.tolist()}, v: [[1], [2], [4]]}}\n{steps}"
    text += f'printed:\n  output: {{of: "{of}", values: {[[f"{x:.4f}"] for (x,) in output]}}}\n'
    assert {item.closest_reading for item in judged(text).values()} == {"scale=1"}

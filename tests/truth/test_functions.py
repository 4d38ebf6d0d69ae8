"""Functions of formulas, against mpmath and NumPy."""

from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.errors import NumeralError
from exactattn.numbers.balls import BallField, interval, precision
from exactattn.numbers.exact import evaluate
from exactattn.numbers.expressions import parse_expression
from exactattn.numbers.folding import evaluate_array, shape
from exactattn.truth.arrays import flat
from exactattn.truth.functions import FUNCTIONS, Rest


def value(text, **names):
    """The value of a formula over arrays by name."""
    return evaluate_array(parse_expression(text), {}, lambda label, _: names[label], FUNCTIONS)


def floats(array):
    """Its elements as floats, each from a ball."""
    with precision(128):
        return [float(interval(evaluate(x, BallField())).midpoint) for x in flat(array)]


X = ((F(1), F(0), F(3)), (F(-2), F(1, 2), F(0)))
VECTOR = (F(20), F(-15), F(30))


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=6), st.sampled_from([None, 2, 10]))
def test_softmax_is_that_of_mpmath(scores, base):
    with mpmath.workdps(40):
        powers = [mpmath.power(base or mpmath.e, x) for x in scores]
        wanted = [float(p / sum(powers)) for p in powers]
    text = "softmax(x)" if base is None else f"softmax(x, {base})"
    assert floats(value(text, x=tuple(map(F, scores)))) == pytest.approx(wanted, rel=1e-14)


def test_softmax_goes_along_rows_and_down_columns():
    array = np.array([[1, 0, 3], [-2, 0.5, 0]])
    rows = np.exp(array) / np.exp(array).sum(axis=1, keepdims=True)
    columns = np.exp(array) / np.exp(array).sum(axis=0)
    assert floats(value("softmax(x)", x=X)) == pytest.approx(rows.ravel().tolist())
    assert floats(value("column_softmax(x)", x=X)) == pytest.approx(columns.ravel().tolist())


def test_masked_scores_get_no_weight():
    square = ((F(1), F(2)), (F(3), F(4)))
    assert value("causal(x)", x=square) == ((F(1), None), (F(3), F(4)))
    assert value("softmax(causal(x)*2)", x=square)[0] == (F(1), F(0))
    assert value("zeroed(x)", x=square) == ((F(1), F(0)), (F(3), F(4)))


def test_equal_scores_get_equal_rational_weights():
    assert value("softmax(x)", x=(F(7), F(7), F(7))) == (F(1, 3),) * 3


def test_a_row_that_is_not_finished_leaves_a_share():
    found = value("softmax(x)", x=(F(1), F(1), Rest("x[...]")))
    assert shape(found) == (2,)
    assert str(found[0]) == "(1/2)*x[...]"


def test_the_jacobian_is_the_derivative():
    # Source: central differences of the softmax in NumPy
    def softmax(x):
        powers = np.exp(x - x.max())
        return powers / powers.sum()

    x = np.array([1.0, 2.0, 3.0])
    wanted = [[(softmax(x + 1e-6 * e)[i] - softmax(x - 1e-6 * e)[i]) / 2e-6 for e in np.eye(3)] for i in range(3)]
    found = floats(value("jacobian(softmax(x))", x=(F(1), F(2), F(3))))
    assert found == pytest.approx(np.ravel(wanted).tolist(), abs=1e-9)


def test_positions_are_sines_and_cosines():
    # Source: Vaswani et al. 2017, section 3.5, in NumPy
    place, j = np.arange(4)[:, None], np.arange(4)[None, :]
    angle = place / 100.0 ** (2 * (j // 2) / 4)
    assert floats(value("pe(4, 4, 100)")) == pytest.approx(np.where(j % 2, np.cos(angle), np.sin(angle)).ravel())


def test_the_small_ones():
    assert value("shares(x)", x=(F(1), F(3))) == (F(1, 4), F(3, 4))
    assert value("total(x)", x=X) == F(5, 2)
    assert value("mean(x)", x=VECTOR) == F(35, 3)
    assert value("variance(x)", x=(F(1), F(3))) == 1
    assert value("std(x)", x=(F(1), F(3))) == 1
    assert value("cat(1, x, 2)", x=VECTOR) == (F(1), *VECTOR, F(2))
    assert value("vstack(x, y)", x=VECTOR, y=(VECTOR,)) == (VECTOR, VECTOR)
    assert value("concat(x, x)", x=((F(1),), (F(2),))) == ((F(1), F(1)), (F(2), F(2)))
    assert value("mirrored(x)", x=X)[0] == (F(3), F(0), F(1))
    assert value("rows(x, 1, 2)", x=X) == X[1:]
    assert value("hadamard(x, x)", x=VECTOR) == (F(400), F(225), F(900))
    assert value("T(x)", x=X)[2] == (F(3), F(0))
    assert value("matmul(x, y)", x=X, y=VECTOR) == (F(110), F(-95, 2))
    assert value("matmul(y, x)", x=X, y=(F(1), F(1))) == (F(-1), F(1, 2), F(3))
    assert floats(value("sigmoid(x)", x=(F(0), F(2)))) == pytest.approx([0.5, 1 / (1 + np.exp(-2))])
    assert value("exp(log(x))", x=(F(1),)) == (F(1),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("softmax(1)", "needs a list"),
        ("softmax(x, 1)", "a base must be"),
        ("softmax(x, -2)", "a base must be"),
        ("softmax(x, 2, 3)", r"softmax takes \(a, base\), found 3 arguments"),
        ("causal(x)", "causal needs a matrix"),
        ("jacobian([[1]])", "jacobian needs a list"),
        ("pe(100, 4, 10)", "whole numbers from 0 to 64"),
        ("pe(1/2, 4, 10)", "whole numbers"),
        ("shares([1, -1])", "whose sum is 0"),
        ("vstack([1], [1, 2])", "rows of one length"),
        ("concat([[1]], [[1], [2]])", "equally many rows"),
        ("rows(x, 2, 2)", "there are no rows"),
        ("rows(x, 2, 9)", "whole numbers from 0 to 3"),
        ("hadamard(x, 1)", "one shape"),
        ("matmul(2, x)", "needs matrices or vectors"),
        ("matmul(causal([[1, 2], [3, 4]]), [1, 2])", "masked scores"),
        ("total(causal([[1, 2], [3, 4]]))", "masked"),
        ("sum(causal([[1, 2], [3, 4]]))", "a masked score"),
        ("exp(exp(exp([1])))", "exp in each other"),
        ("sqrt([-1])", "root of the negative"),
        ("log([0])", "not real"),
    ],
)
def test_what_has_no_value_is_said(text, message):
    with pytest.raises(NumeralError, match=message):
        value(text, x=VECTOR)

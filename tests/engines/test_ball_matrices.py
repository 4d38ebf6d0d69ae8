"""Whole matrices of balls: floats are taken exactly, and every operation holds what single rationals and balls give."""

from __future__ import annotations

from fractions import Fraction as F

import flint
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import matrix

from exactattn import plugins
from exactattn.attention.algorithms import ALGORITHMS
from exactattn.attention.definition import stages
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.numbers.ball_matrix import Balls, Difference, Quotient
from exactattn.numbers.balls import interval
from exactattn.numbers.exact import sqrt

ENGINE = plugins.get("engines", "ball")
WHOLE, SINGLE = ENGINE.arithmetic(whole=True), ENGINE.arithmetic()


def assert_exact(floats):
    """Lifted at 2 bits, an array has the very numbers, without a radius: by Python's own exact ratio of a float."""
    floats = np.atleast_2d(floats)
    with ENGINE.precision(2):
        for lifted in (WHOLE.lift(floats), WHOLE.lift(floats).transposed.transposed):
            assert lifted.shape == floats.shape
            for ball, x in zip(lifted.entries, floats.ravel().tolist(), strict=True):
                mantissa, exponent = ball.man_exp()  # raises for a ball that has a radius
                assert F(int(mantissa)) * F(2) ** int(exponent) == F(x)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_every_float64_is_taken_exactly(numbers):
    assert_exact(np.array(numbers))


def test_the_edges_of_float64_are_taken_exactly():
    assert_exact(np.array([5e-324, -5e-324, 2.0**-1022, np.nextafter(2.0**-1022, 0), np.finfo(float).max, -0.0, 0.1]))


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"])
def test_every_number_of_a_short_format_is_taken_exactly(name):
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    codes = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):  # of signalling NaNs
        floats = codes.view(dtype).astype(np.float64)
    assert_exact(floats[np.isfinite(floats)])


def test_what_is_lifted_stays():
    lifted = WHOLE.lift(np.ones((2, 3)))
    assert WHOLE.lift(lifted) is lifted
    balls = SINGLE.lift(matrix([[1, F(1, 3)]]))
    assert all(a is b for a, b in zip(WHOLE.lift(balls).entries, balls.flat, strict=True))
    assert (len(lifted), len(lifted[0]), len(lifted[1]), [len(row) for row in lifted]) == (2, 3, 3, [3, 3])
    assert [[float(x) for x in row] for row in WHOLE.lift(np.array([[1.0, 2.0], [3.0, 4.0]]))] == [[1, 2], [3, 4]]


RNG = np.random.default_rng(8)
A, B, C = (RNG.standard_normal(shape) for shape in ((4, 6), (4, 6), (4, 1)))
COLUMN = np.abs(C) + 0.5
MASK = RNG.random((4, 6)) < 0.6
MASK[2] = False
OPERATIONS = {
    "override": lambda ar, a, b, c: ar.override(a, {(1, 2): F(1, 3), (3, 5): sqrt(F(2))}),
    "matmul": lambda ar, a, b, c: ar.matmul(ar.matmul_transposed(a, b), b),
    "matmul_transposed": lambda ar, a, b, c: ar.matmul_transposed(a, b),
    "transposed_matmul": lambda ar, a, b, c: ar.transposed_matmul(a, b),
    "scale": lambda ar, a, b, c: ar.scale(a, sqrt(F(3))),
    "add": lambda ar, a, b, c: ar.add(a, b),
    "sub": lambda ar, a, b, c: ar.sub(a, b),
    "mul": lambda ar, a, b, c: ar.mul(a, b),
    "fill": lambda ar, a, b, c: ar.fill(a, MASK, F(1, 7)),
    "sub_column": lambda ar, a, b, c: ar.sub_column(a, c),
    "mul_column": lambda ar, a, b, c: ar.mul_column(a, c),
    "div_column": lambda ar, a, b, c: ar.div_column(a, c),
    "exp": lambda ar, a, b, c: ar.exp(a, np.ones((4, 6), bool)),
    "exp of a difference": lambda ar, a, b, c: ar.exp(ar.sub_column(a, c), np.ones((4, 6), bool)),
    "exp where allowed": lambda ar, a, b, c: ar.exp(ar.sub_column(a, c), MASK),
    "log": lambda ar, a, b, c: ar.log(ar.mul(a, a)),
    "tanh": lambda ar, a, b, c: ar.tanh(a),
    "sqrt": lambda ar, a, b, c: ar.sqrt(ar.mul(a, a)),
    "row_sum": lambda ar, a, b, c: ar.row_sum(a),
    "columns": lambda ar, a, b, c: ar.columns(a, 1, 4),
    "take": lambda ar, a, b, c: ar.take(a, [5, 0, 0]),
    "rows": lambda ar, a, b, c: ar.rows(a, 2, 4),
    "join": lambda ar, a, b, c: ar.join([a, c, b]),
    "join of one": lambda ar, a, b, c: ar.join([a]),
    "quotient times matrix": lambda ar, a, b, c: ar.matmul(ar.div_column(ar.matmul_transposed(a, b), c), b),
    "transposed quotient times matrix": lambda ar, a, b, c: ar.transposed_matmul(ar.div_column(a, c), b),
    "override of a quotient": lambda ar, a, b, c: ar.matmul(
        ar.override(ar.div_column(ar.matmul_transposed(a, b), c), {(0, 0): F(5)}), b
    ),
    "no columns": lambda ar, a, b, c: ar.columns(a, 2, 2),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_holds_what_single_balls_hold(name):
    exact = [tuple(tuple(map(F, row)) for row in x.tolist()) for x in (A, B, COLUMN)]
    with ENGINE.precision(300):
        fine = OPERATIONS[name](SINGLE, *(SINGLE.lift(x) for x in exact))
    with ENGINE.precision(113):
        found = OPERATIONS[name](WHOLE, *(WHOLE.lift(x) for x in (A, B, COLUMN)))
        assert found.shape == fine.shape
        assert (found.mat.nrows(), found.mat.ncols()) == found.shape
        for ball, true in zip(found.entries, fine.flat, strict=True):
            assert true in ball, (ball, true)
            assert float(ball.rad()) <= 2.0**-100 * max(1.0, abs(float(true)))


def test_the_shift_is_an_exact_point_of_the_row_near_its_largest():
    with ENGINE.precision(113):
        a = WHOLE.scale(WHOLE.lift(A), F(1, 3))
        allowed = MASK.copy()
        shifts = WHOLE.shift(a, allowed).entries
        for i, shift in enumerate(shifts):
            assert shift.is_exact()
            seen = A[i, allowed[i]] / 3
            assert abs(float(shift) - (seen.max() if len(seen) else 0)) <= 1e-15
        carried = WHOLE.lift(np.array([[9.0], [9.0], [-9.0], [-9.0]]))
        which = np.array([[True], [False], [True], [False]])
        some = WHOLE.shift(a, allowed, (carried, which)).entries
        assert [float(x) for x in some] == [9.0, float(shifts[1]), -9.0, float(shifts[3])]


@pytest.mark.parametrize(("row", "best"), [([2.0**600, 2.0**500], 0), ([-(2.0**600), -(2.0**500)], 1)])
def test_the_shift_of_numbers_past_float64_is_their_largest(row, best):
    with ENGINE.precision(113):
        a = WHOLE.lift(np.array([row]))
        huge = WHOLE.mul(WHOLE.mul(a, a), a)
        (shift,) = WHOLE.shift(huge, np.ones((1, 2), bool)).entries
        assert (shift - huge.entries[best]).is_zero()


def test_what_waits_keeps_the_precision_it_was_asked_at():
    with ENGINE.precision(300):
        a, c = WHOLE.lift(A), WHOLE.lift(COLUMN)
        waiting = WHOLE.div_column(a, c), WHOLE.sub_column(WHOLE.scale(a, F(1, 3)), c)
    assert [type(x) for x in waiting] == [Quotient, Difference]
    for pending in waiting:
        assert max(float(ball.rad()) for ball in pending.entries) <= 2.0**-280


def problem_of(seed):
    """Exact rationals, masks, a base, two heads and an output projection."""
    rng = np.random.default_rng(seed)
    draw = lambda n, m: matrix([[F(int(x), 7) for x in row] for row in rng.integers(-20, 21, (n, m))])  # noqa: E731
    heads = tuple(Head(q=draw(5, 3), k=draw(4, 3), v=draw(4, 2)) for _ in range(2))
    spec = AttentionSpec(base=F(2) if seed % 2 else None, causal=("none", "top-left", "bottom-right")[seed % 3])
    return Problem(heads, spec=spec, W_O=draw(4, 3), bias=draw(5, 4))


@pytest.mark.parametrize("algorithm", [None, *ALGORITHMS])
@pytest.mark.parametrize("seed", range(6))
def test_one_text_gives_the_same_in_whole_matrices_and_in_single_balls(seed, algorithm):
    problem, how = problem_of(seed), None if algorithm is None else ALGORITHMS[algorithm]
    with ENGINE.precision(400):
        fine = stages(problem, SINGLE, algorithm=how)
    with ENGINE.precision(113):
        found = stages(problem, WHOLE, algorithm=how)
    assert found.keys() == fine.keys()
    for where, balls in found.items():
        assert isinstance(balls, Balls)
        for ball, true in zip(balls.entries, fine[where].flat, strict=True):
            assert true in ball, where
            assert float(ball.rad()) <= 1e-28 * max(1.0, abs(float(true)))


def test_given_numbers_take_their_place():
    given = {(Stage.WEIGHTS, 0): {(0, 0): F(1, 2)}, (Stage.SCORES, 1): {(2, 1): F(3)}}
    with ENGINE.precision(200):
        fine, found = (stages(problem_of(0), ar, given) for ar in (SINGLE, WHOLE))
    for where, balls in found.items():
        assert all(a.overlaps(b) for a, b in zip(balls.entries, fine[where].flat, strict=True)), where
    (half,) = found[Stage.WEIGHTS, 0].entries[:1]
    assert interval(half).equals(F(1, 2)).name == "YES"


def test_a_row_without_ends_does_not_touch_the_others():
    wide = flint.arb("nan")
    with ENGINE.precision(113):
        a = Balls((2, 2), entries=[wide, wide, flint.arb(1), flint.arb(2)])
        out = WHOLE.matmul(
            WHOLE.exp(WHOLE.sub_column(a, WHOLE.shift(a, np.ones((2, 2), bool))), MASK[:2, :2] | True),
            WHOLE.lift(np.ones((2, 1))),
        )
        assert [x.is_finite() for x in out.entries] == [False, True]


def test_the_engine_reads_both_faces():
    with ENGINE.precision(113):
        balls = WHOLE.scale(WHOLE.lift(A), F(1, 3))
        for one, other in zip(ENGINE.floats(balls), ENGINE.floats(balls.array), strict=True):
            assert (one == other).all()
            assert one.shape == A.shape
        box, again = ENGINE.enclosure(balls), ENGINE.enclosure(balls.array)
        assert (box.lower == again.lower).all()
        assert (box.upper == again.upper).all()
        assert all(box[index].contains(F(float(A[index])) / 3) for index in box.indices())

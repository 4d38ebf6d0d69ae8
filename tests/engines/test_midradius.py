"""The engine `midradius`: what it encloses holds the truth, and its assumptions hold on this machine."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hard_tensors import HARD, normal
from hypothesis import given, settings
from hypothesis import strategies as st

from exactattn import plugins
from exactattn.attention.algorithms import ALGORITHMS
from exactattn.attention.definition import stages
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.numbers.balls import TooCoarse
from exactattn.numbers.exact import log, sqrt
from exactattn.numbers.formats import FORMATS
from exactattn.numbers.near import Near
from exactattn.numbers.near_functions import ASSUMPTIONS, EXP_ULPS, LOG_ULPS, TANH_ULPS

BITS = 256
MIDRADIUS, BALL = (plugins.get("engines", name) for name in ("midradius", "ball"))


def exactly(x):
    return tuple(tuple(map(F, row)) for row in np.asarray(x).tolist())


def problem_of(q, k, v, spec=None, **options):
    return Problem((Head(q=exactly(q), k=exactly(k), v=exactly(v)),), spec=spec or AttentionSpec(), **options)


def misses(found, truth):
    """How many elements surely lie outside; `truth` are balls, which are far smaller than any radius here."""
    count = 0
    for index in np.ndindex(*found.shape):
        ball, rad = truth[index], float(found.rad[index])
        if np.isfinite(rad) and not (abs(ball - float(found.mid[index])) <= rad):
            count += 1
    return count


def check(problem, *arithmetics, algorithm=None):
    """No stage of a problem misses the truth; the outputs' enclosures by name of arithmetic."""
    with BALL.precision(BITS):
        truth = stages(problem, BALL.arithmetic())
        found = [stages(problem, arithmetic, algorithm=algorithm) for arithmetic in arithmetics]
        for arithmetic, out in zip(arithmetics, found, strict=True):
            for where, value in out.items():
                assert misses(MIDRADIUS.floats(value), truth[where]) == 0, (arithmetic.sharp, where)
    return [MIDRADIUS.floats(out[Stage.OUTPUT, 0]) for out in found]


CHEAP, SHARP = MIDRADIUS.arithmetic(), MIDRADIUS.arithmetic(sharp=True)


@pytest.mark.parametrize("make", HARD, ids=lambda make: make.__name__)
@pytest.mark.parametrize("seed", range(3))
def test_hard_tensors_are_enclosed_at_every_stage(make, seed):
    check(problem_of(*make(np.random.default_rng(seed))), CHEAP, SHARP)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("make", HARD[:8], ids=lambda make: make.__name__)
def test_every_algorithm_is_enclosed(make, algorithm):
    check(problem_of(*make(np.random.default_rng(7))), CHEAP, algorithm=ALGORITHMS[algorithm])


@pytest.mark.parametrize("causal", ["none", "top-left", "bottom-right"])
@pytest.mark.parametrize(
    "scale", [None, F(1), F(1, 3), sqrt(F(2)), F(-5, 7), F(0), F(1, 8), F(3) ** -700, F(10) ** -400]
)
def test_options_of_a_spec(causal, scale):
    rng = np.random.default_rng(3)
    q, k, v = normal(rng, 6, 9, 4)
    mask = tuple(tuple(bool(x) for x in row) for row in rng.random((6, 9)) < 0.6)
    bias = exactly(rng.standard_normal((6, 9)) * 100)
    for base in (None, F(2), F(1, 3)):
        spec = AttentionSpec(scale=scale, base=base, causal=causal)
        check(problem_of(q, k, v, spec, mask=mask, bias=bias), CHEAP, SHARP)


def test_a_whole_layer_with_inputs_that_float64_does_not_hold():
    rng = np.random.default_rng(5)
    draw = lambda n, m: tuple(  # noqa: E731
        tuple(F(int(rng.integers(-9, 9)), int(rng.integers(3, 30))) for _ in range(m)) for _ in range(n)
    )
    heads = tuple(Head(draw(5, 3), draw(5, 3), draw(5, 2)) for _ in range(2))
    with_roots = draw(7, 4)
    x = tuple((*row, log(F(2 + i))) for i, row in enumerate(with_roots))
    (found,) = check(Problem(heads, X=x, W_O=draw(4, 3), several_heads=True), CHEAP)
    assert (found.rad < 1e-9).all()


def test_radii_of_ordinary_tensors_are_small():
    q, k, v = normal(np.random.default_rng(0), 16, 128, 64)
    cheap, sharp = check(problem_of(q, k, v), CHEAP, SHARP)
    assert np.median(cheap.rad) < 1e-12 * np.abs(v).max()
    assert np.median(sharp.rad) < np.median(cheap.rad)


def test_scores_of_short_formats_are_exact():
    # bfloat16 by ml_dtypes; products of 16 bits, 64 of them: every sum fits in 53 bits
    import ml_dtypes

    for dtype in (np.float16, ml_dtypes.bfloat16):
        q, k, v = normal(np.random.default_rng(1), 8, 16, 64, dtype)
        found = stages(problem_of(q, k, v), CHEAP, until=Stage.SCORES)[Stage.SCORES, 0]
        exact = [[sum(F(a) * F(b) for a, b in zip(x, y, strict=True)) for y in k.tolist()] for x in q.tolist()]
        assert [[F(x) for x in row] for row in found.mid.tolist()] == exact
        assert found.is_exact


def test_the_example_where_a_float64_golden_is_wrong_without_warning():
    # THEORY section 10; the true output is 0.640457475680627..., float64 gives 0.639736
    k1 = np.array([4194301.0, 3.0, 4194287.0])
    q, k = np.array([[4194274.0, -4194273.0, 4194274.0]]), np.stack([k1, k1 + [1, 1, 0]])
    found, sharp = check(problem_of(q, k, [[0.0], [1.0]]), CHEAP, SHARP)
    assert found.rad[0, 0] > 1e-3
    assert sharp.rad[0, 0] > 1e-3
    with BALL.precision(128):
        (ball,) = stages(problem_of(q, k, [[0.0], [1.0]]), BALL.arithmetic())[Stage.OUTPUT, 0][0]
        assert "0.640457475680627" in ball.str(30)


@given(st.lists(st.floats(-800, 10), min_size=1, max_size=12), st.floats(0, 1), st.floats(1e-300, 2.0))
@settings(max_examples=60)
def test_exp_of_what_is_not_known_exactly(xs, rel, radius):
    """The ends of every interval are enclosed, whatever its radius."""
    mid = np.array([xs])
    out = MIDRADIUS.floats(
        CHEAP.exp(Near(mid, np.full((1, 1), rel), np.full((1, 1), radius)), np.ones(mid.shape, bool))
    )
    from mpmath import mp

    with mp.workdps(400):
        for j, x in enumerate(xs):
            for end in (mp.mpf(x) - rel * abs(mp.mpf(x)) - radius, mp.mpf(x) + rel * abs(mp.mpf(x)) + radius):
                assert abs(mp.exp(end) - mp.mpf(float(out.mid[0, j]))) <= mp.mpf(float(out.rad[0, j]))


def test_what_is_not_known_is_never_called_known():
    allowed = np.ones((1, 2), bool)
    for bad in (np.inf, -np.inf, np.nan):
        value = CHEAP.lift(np.array([[1.0, bad]]))
        for made in (
            CHEAP.exp(value, allowed), CHEAP.log(value), CHEAP.row_sum(value), CHEAP.scale(value, F(1, 3)),
            CHEAP.add(value, value), CHEAP.sub_column(value, CHEAP.shift(value, allowed)),
            CHEAP.matmul(value, CHEAP.lift(np.ones((2, 2)))),
            CHEAP.matmul_transposed(value, CHEAP.lift(np.ones((2, 2)))),
            CHEAP.div_column(CHEAP.lift(np.ones((1, 2))), CHEAP.columns(value, 1, 2)),
        ):  # fmt: skip
            assert np.isinf(MIDRADIUS.floats(made).rad).any()
    with pytest.raises(TooCoarse):
        MIDRADIUS.enclosure(CHEAP.lift(np.array([[np.inf]])))


def test_a_division_by_what_may_be_zero_tells_nothing():
    column = Near(np.array([[1.0]]), np.zeros((1, 1)), np.ones((1, 1)))
    assert np.isinf(MIDRADIUS.floats(CHEAP.div_column(CHEAP.lift(np.ones((1, 1))), column)).rad).all()
    assert np.isinf(MIDRADIUS.floats(CHEAP.log(column)).rad).all()


# The assumptions, on this machine.


def arguments(rng, count):
    """Ordinary ones, ones near 0, and all through the range of exp."""
    return np.concatenate(
        [rng.uniform(-50, 1, count), rng.standard_normal(count) * 1e-3, rng.uniform(-708, 709, count)]
    )


def worst_ulps(function, name, xs):
    """The largest error of a NumPy function against balls, in ulps of float64 at the true value."""
    worst = 0.0
    with BALL.precision(160):
        for x, y in zip(xs.tolist(), function(xs).tolist(), strict=True):
            from flint import arb

            true = getattr(arb(x), name)()
            ulp = float(FORMATS["float64"].ulp(y))
            worst = max(worst, float(abs(true - y).abs_upper()) / ulp)
    return worst


@pytest.mark.parametrize("shape", ["whole", "strided"])
def test_exp_and_log_are_as_accurate_as_assumed(shape):
    rng = np.random.default_rng(11)
    step = 1 if shape == "whole" else 3  # NumPy may take another loop for arrays with gaps
    xs = np.repeat(arguments(rng, 8000), step)[::step]
    assert worst_ulps(np.exp, "exp", xs) <= EXP_ULPS
    positive = np.concatenate([np.exp(arguments(rng, 8000)), 1 + rng.standard_normal(8000) * 1e-6])
    assert worst_ulps(np.log, "log", np.repeat(positive, step)[::step]) <= LOG_ULPS
    signed = np.concatenate([xs / 40, xs * 2.0**-30, rng.standard_normal(8000)])
    assert worst_ulps(np.tanh, "tanh", np.repeat(signed, step)[::step]) <= TANH_ULPS
    small = np.abs(np.concatenate([xs / 2, signed]))
    assert worst_ulps(np.expm1, "expm1", np.repeat(small, step)[::step]) <= 8  # what `numbers/computed.py` assumes


def test_exp_below_the_normal_numbers():
    xs = np.linspace(-760, -708, 4001)
    with BALL.precision(160):
        from flint import arb

        for x, y in zip(xs.tolist(), np.exp(xs).tolist(), strict=True):
            assert abs(arb(x).exp() - y) <= 2.0**-1022 or abs(arb(x).exp() - y) <= EXP_ULPS * 2.0**-52 * arb(x).exp()


def test_division_is_correctly_rounded_and_subnormals_are_kept():
    rng = np.random.default_rng(12)
    a, b = rng.standard_normal(4000), rng.standard_normal(4000)
    assert [float(F(x) / F(y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)] == (a / b).tolist()
    assert (np.full(8, 2.0**-1074) * 3 == 3 * 2.0**-1074).all()
    assert (np.full((4, 4), 2.0**-1070) @ np.eye(4) == 2.0**-1070).all()


def test_sums_of_products_keep_the_bound_of_any_order():
    """|fl - exact| <= gamma_k |a|.|b|; Strassen's method would not keep it for rows of very different size."""
    rng = np.random.default_rng(13)
    a = rng.standard_normal((256, 256)) * 10.0 ** rng.integers(-12, 12, (256, 1))
    b = rng.standard_normal((256, 256)) * 10.0 ** rng.integers(-12, 12, (1, 256))
    made = a @ b
    for i, j in rng.integers(0, 256, (40, 2)).tolist():
        pairs = [(F(x), F(y)) for x, y in zip(a[i].tolist(), b[:, j].tolist(), strict=True)]
        exact, size = sum(x * y for x, y in pairs), sum(abs(x * y) for x, y in pairs)
        assert abs(F(float(made[i, j])) - exact) <= size * F(256, 2**53) * F(1001, 1000)


def test_assumptions_are_data():
    assert MIDRADIUS.assumptions is ASSUMPTIONS
    assert set(ASSUMPTIONS) == {"ieee", "sums", "exp", "log", "tanh"}
    assert f"{EXP_ULPS} ulp" in ASSUMPTIONS["exp"]


def test_scores_that_are_written_over_are_gone_and_change_nothing():
    problem = problem_of(*normal(np.random.default_rng(9), 5, 7, 3))
    kept, spent = stages(problem, CHEAP), stages(problem, MIDRADIUS.arithmetic(spend=True))
    for stage in (Stage.WEIGHTS, Stage.LSE, Stage.CONTEXT):
        one, other = (MIDRADIUS.floats(out[stage, 0]) for out in (kept, spent))
        assert (one.mid == other.mid).all()
        assert (one.rad == other.rad).all()
    for stage in (Stage.SCORES, Stage.SCALED):
        assert kept[stage, 0].mid.shape == (5, 7)
        assert spent[stage, 0].mid.size == 0  # an array of no elements: nothing can be read from it

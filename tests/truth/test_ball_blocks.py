"""Balls of whole tensors: they hold what mpmath gives, with as many bits as a row needs, whatever the workers."""

from __future__ import annotations

from fractions import Fraction as F

import flint
import numpy as np
import pytest
from hard_tensors import normal
from mpmath import mp, mpf

from exactattn import plugins
from exactattn.attention.definition import stages
from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.errors import ProblemError
from exactattn.numbers.ball_matrix import Balls
from exactattn.numbers.balls import TooCoarse
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import sqrt
from exactattn.numbers.formats import FORMATS
from exactattn.tensors.drawn import DRAWN
from exactattn.truth import ball_blocks
from exactattn.truth.ball_blocks import (
    BallHead,
    BallRows,
    enclose_by_balls,
    enclose_heads_by_balls,
    enclose_rows_by_balls,
)
from exactattn.truth.blocks import enclose, within_ulps
from exactattn.truth.tensors import Tensors
from exactattn.truth.workers import Workers

BALL = plugins.get("engines", "ball")
DIGITS = 60
PARTS = ("high", "low", "rest", "bits")


def by_mpmath(q, k, v, mask=None, softcap=None):
    """Rows of (weights, lse, context), by mpmath with `DIGITS` digits after those that the scores are made of; None for
    a row with no key.
    """
    exponents = np.frexp(q)[1].max() + np.frexp(k)[1].max()
    with mp.workdps(DIGITS + 40 + max(0, int(exponents))):
        queries, keys, values = [[[mpf(x) for x in row] for row in array.tolist()] for array in (q, k, v)]
        out = []
        for i, query in enumerate(queries):
            scores = [mp.fdot(query, key) / mp.sqrt(len(query)) for key in keys]
            if softcap is not None:
                scores = [softcap * mp.tanh(s / softcap) for s in scores]
            seen = range(len(keys)) if mask is None else np.flatnonzero(mask[i]).tolist()
            if not seen:
                out.append(None)
                continue
            largest = max(scores[j] for j in seen)
            powers = [mp.exp(s - largest) if j in seen else mpf(0) for j, s in enumerate(scores)]
            total = mp.fsum(powers)
            weights = [p / total for p in powers]
            context = [mp.fdot(weights, column) for column in zip(*values, strict=True)]
            out.append((weights, [largest + mp.log(total)], context))
        return out


def distances(found, head, row, true):
    """|t - (high + low)| and the rest of each element of a row, as mpmath numbers."""
    for high, low, rest, t in zip(*(getattr(found, x)[head, row].tolist() for x in PARTS[:3]), true, strict=True):
        yield abs(t - mpf(high) - mpf(low)), mpf(rest)


@pytest.mark.parametrize("name", DRAWN)
def test_hard_tensors_are_held(name):
    """mpmath errs by less than 10^-DIGITS of the largest number of the row, which a radius may miss."""
    made = DRAWN[name](np.random.default_rng(11))
    truth = by_mpmath(made.q, made.k, made.v, made.mask, *made.options.values())
    assert set(made.options) <= {"softcap"}
    tensors = Tensors.of(made.q, made.k, made.v, AttentionSpec(**made.options), made.mask)
    for place, stage in enumerate((Stage.WEIGHTS, Stage.LSE, Stage.CONTEXT)):
        found = enclose_rows_by_balls(tensors, stage=stage)
        size = {Stage.WEIGHTS: 1.0, Stage.CONTEXT: float(np.abs(made.v).max())}.get(stage)
        with mp.workdps(1000):
            for row, true in enumerate(truth):
                assert found.defined[0, row].all() == (true is not None)
                if true is not None:
                    assert_row_is_held(found, row, true[place], size)


def assert_row_is_held(found, row, true, size):
    largest = max(abs(t) for t in true)
    for error, rest in distances(found, 0, row, true):
        assert error <= rest + mpf(10) ** -DIGITS * largest
        if mp.isinf(rest):
            assert largest > 2**1023  # an lse past float64
        else:
            assert rest <= max(
                mpf(2) ** -90 * (max(1, largest * (1 + mpf(2) ** -50)) if size is None else mpf(size)), mpf(2) ** -1074
            )


def test_only_the_rows_that_need_them_get_more_bits():
    q, k, v = normal(np.random.default_rng(1), 6, 20, 3)
    q[1] *= 2.0**70
    q[4] *= 2.0**700
    found = enclose_rows_by_balls(Tensors.of(q, k, v))
    assert found.bits.tolist() == [[113, 452, 113, 113, 1808, 113]]
    assert (found.rest <= 2.0**-90 * np.abs(v).max()).all()
    coarse = enclose_rows_by_balls(Tensors.of(q, k, v), radius=1.0, bits=53)
    assert coarse.bits[0, [0, 2, 3, 5]].tolist() == [53] * 4
    for index in np.ndindex(*found.shape):
        assert coarse[index].meets(found[index])


def test_cancelling_values_get_bits_relative_to_what_is_asked():
    # v = 2^40 and -2^40 under nearly equal weights: a radius of 2^-90 * max|v| is there at once
    q, k = np.array([[1.0]]), np.array([[1.0], [1.0 + 2.0**-50]])
    found = enclose_rows_by_balls(Tensors.of(q, k, np.array([[2.0**40], [-(2.0**40)]])))
    assert found.bits.tolist() == [[113]]
    # exact value: -2^40 tanh(2^-51); the first two terms of its series
    t = F(2) ** 40 * (F(2) ** -51 - F(2) ** -153 / 3)
    assert found[0, 0, 0].lower - F(2) ** -200 <= -t <= found[0, 0, 0].upper + F(2) ** -200


def test_an_exact_zero_takes_bits_until_short_formats_tell_it_from_their_smallest_number():
    # equal keys with opposite values, and a third whose value is 0: t = 0, of which balls only know a small radius
    q, k = np.array([[0.3, 1.0, 2.0]]), np.array([[1.0, 0.1, 0.2]] * 2 + [[3.0, 1.0, 1.0]])
    tensors = Tensors.of(q, k, np.array([[1e6], [-1e6], [0.0]]))
    balls = BallHead(tensors.heads[0], Stage.CONTEXT)
    found = balls.enclosed(np.arange(1), balls.is_sharp)
    assert found.bits.tolist() == [452]
    assert found[0, 0].contains(F(0))
    zero = np.zeros((1, 1, 1))
    assert within_ulps(tensors, zero, FORMATS["float32"]).count(Answer.YES) == 1
    assert within_ulps(tensors, zero, FORMATS["float64"]).count(Answer.CANNOT_TELL) == 1


def test_what_no_bits_tell_is_unknown(monkeypatch):
    monkeypatch.setattr(ball_blocks, "MOST_BITS", 113)
    q, k, v = normal(np.random.default_rng(1), 2, 5, 3)
    q[1] *= 2.0**900
    found = enclose_rows_by_balls(Tensors.of(q, k, v))
    assert np.isfinite(found.rest[0, 0]).all()
    assert np.isinf(found.rest[0, 1]).all()
    with pytest.raises(TooCoarse):
        found[0, 1, 0]


def test_an_lse_past_float64_is_unknown_and_costs_no_bits():
    q = np.array([[2.0**600], [1.0]])
    found = enclose_rows_by_balls(Tensors.of(q, np.array([[2.0**600], [0.5]]), np.ones((2, 1))), stage=Stage.LSE)
    assert np.isinf(found.rest[0, 0, 0])
    assert found[0, 1, 0] is not None


def options(rng):
    """Specs and arguments of `Tensors.of`, for q (2, 3, 9, 4), k and v (2, 1, 11, 4)."""
    mask = rng.random((9, 11)) < 0.7
    mask[3] = False
    bias = rng.standard_normal((9, 11))
    norm = QKNorm("rms", F(1, 10**6))
    return {
        "causal": (AttentionSpec(causal="top-left"), {}),
        "mask and bias": (AttentionSpec(), {"mask": mask, "bias": bias}),
        "zero rows": (AttentionSpec(masked_row="zero"), {"mask": mask}),
        "uniform rows": (AttentionSpec(masked_row="uniform"), {"mask": mask}),
        "base 2": (AttentionSpec(base=F(2), causal="bottom-right"), {}),
        "softcap": (AttentionSpec(softcap=F(5), softcap_order="after-mask"), {"mask": mask}),
        "sinks": (AttentionSpec(), {"mask": mask, "sinks": [F(1, 3), F(0), sqrt(F(2))]}),
        "alibi": (AttentionSpec(alibi=Alibi((F(1, 2), F(1, 4), F(1, 8)))), {}),
        "rotary and norm": (AttentionSpec(rotary=Rotary(), qk_norm=norm, causal="top-left"), {}),
    }


@pytest.mark.parametrize("name", options(np.random.default_rng(0)))
def test_every_option_agrees_with_single_balls(name):
    rng = np.random.default_rng(3)
    spec, more = options(rng)[name]
    q, k, v = (rng.standard_normal(shape) for shape in ((2, 3, 9, 4), (2, 1, 11, 4), (2, 1, 11, 4)))
    tensors = Tensors.of(q, k, v, spec, **more)
    rows = np.array([8, 3, 0])
    for stage in (Stage.WEIGHTS, Stage.LSE, Stage.CONTEXT):
        found = enclose_rows_by_balls(tensors, rows, stage)
        assert found.shape[:2] == (6, 3)
        for number, head in enumerate(tensors.heads):
            with BALL.precision(400):
                single = stages(head.problem(rows), BALL.arithmetic(), until=stage)[stage, 0]
                fine = BALL.enclosure(single)
            undefined = head.undefined(rows, stage)
            for i, j in fine.indices():
                box = found[number, i, j]
                assert (box is None) == undefined[i]
                if box is not None:
                    assert box.lower <= fine[i, j].lower <= fine[i, j].upper <= box.upper


def drawn(heads, queries, keys):
    rng = np.random.default_rng(9)
    q, k, v = (rng.standard_normal((heads, n, 5)).astype(np.float32) for n in (queries, keys, keys))
    q[0, 7] *= 2.0**80  # one row that is done again
    return Tensors.of(q, k, v, AttentionSpec(causal="bottom-right"))


@pytest.mark.parametrize("count", [2, 3])
def test_workers_change_nothing(count, monkeypatch):
    monkeypatch.setattr(ball_blocks, "MOST_ROWS", 4)
    with Workers(count) as workers:
        for heads in (1, 3):
            tensors = drawn(heads, 30, 40)
            for stage in (Stage.LSE, Stage.CONTEXT):
                alone = enclose_rows_by_balls(tensors, stage=stage)
                shared = enclose_rows_by_balls(tensors, stage=stage, workers=workers)
                for name in PARTS:
                    assert (getattr(alone, name) == getattr(shared, name)).all()
        assert 452 in alone.bits


def test_a_number_of_workers_starts_them():
    tensors = drawn(2, 9, 12)
    alone, shared = enclose_rows_by_balls(tensors), enclose_rows_by_balls(tensors, workers=2)
    assert (alone.high == shared.high).all()


def test_tensors_of_short_formats_with_tokens_that_are_no_numbers_go_to_workers():
    import ml_dtypes

    q, k, v = (x.astype(ml_dtypes.bfloat16) for x in normal(np.random.default_rng(2), 8, 8, 4))
    k[5] = np.inf
    tensors = Tensors.of(q, k, v, AttentionSpec(causal="top-left"))
    alone, shared = enclose_rows_by_balls(tensors), enclose_rows_by_balls(tensors, workers=2)
    assert np.array_equal(alone.rest, shared.rest, equal_nan=True)
    assert alone.defined[0, :, 0].tolist() == [True] * 5 + [False] * 3
    truth = by_mpmath(*(x.astype(np.float64)[:5] for x in (q, k, v)))
    with mp.workdps(1000):
        for error, rest in distances(alone, 0, 4, truth[4][2]):
            assert error <= rest + mpf(10) ** -DIGITS * 10


@pytest.mark.parametrize("size", [1, 3, 10**6])
def test_blocks_of_every_size_hold_the_same_reals(size, monkeypatch):
    tensors = drawn(2, 11, 14)
    whole = enclose_rows_by_balls(tensors, bits=300)
    monkeypatch.setattr(ball_blocks, "BYTES", 14 * size * 600)
    found = enclose_rows_by_balls(tensors)
    for index in np.ndindex(*found.shape):
        assert found[index].meets(whole[index])
    rows = np.array([10, 0, 7])
    some = enclose_rows_by_balls(tensors, rows)
    for head, row, column in np.ndindex(*some.shape):
        assert some[head, row, column].meets(whole[head, rows[row], column])


def test_heads_with_rows_of_their_own():
    tensors = drawn(3, 11, 14)
    none, every = np.empty(0, dtype=np.intp), None
    found = enclose_heads_by_balls([(tensors.heads[0], none), (tensors.heads[1], every), (tensors.heads[2], [5])])
    assert [part.shape for part in found] == [(0, 5), (11, 5), (1, 5)]
    assert [part.bits.shape for part in found] == [(0,), (11,), (1,)]
    assert all(isinstance(part, BallRows) for part in found)


@pytest.mark.parametrize("rule", ["zero", "undefined"])
def test_no_keys_at_all(rule):
    q, k = np.ones((2, 3, 4)), np.ones((2, 0, 4))
    tensors = Tensors.of(q, k, k, AttentionSpec(masked_row=rule))
    for stage, width in ((Stage.WEIGHTS, 0), (Stage.LSE, 1), (Stage.CONTEXT, 4)):
        found = enclose_rows_by_balls(tensors, stage=stage)
        assert found.shape == (2, 3, width)
        assert (found.defined == (stage is not Stage.LSE and rule == "zero")).all()
    assert (enclose_rows_by_balls(tensors).rest == 0).all() == (rule == "zero")
    assert enclose_rows_by_balls(tensors, np.empty(0, dtype=np.intp), Stage.WEIGHTS).shape == (2, 0, 0)


@pytest.mark.parametrize("layout", ["BLHD", "BLD", "THD"])
def test_results_are_laid_out_as_the_queries(layout):
    rng = np.random.default_rng(4)
    shape = {"BLHD": (2, 7, 3, 4), "BLD": (2, 7, 12), "THD": (14, 3, 4)}[layout]
    q, k, v = (rng.standard_normal(shape) for _ in range(3))
    more = {"THD": {"query_starts": [0, 4, 14], "key_starts": [0, 4, 14]}, "BLD": {"query_heads": 3, "key_heads": 3}}
    tensors = Tensors.of(q, k, v, layout=layout, **more.get(layout, {}))
    fine, coarse = enclose_by_balls(tensors), enclose(tensors)
    assert fine.shape == coarse.shape == shape
    assert (np.abs(fine.high - coarse.mid) <= coarse.rad).all()


def test_k_and_v_are_lifted_once_for_each_precision():
    (head,) = drawn(1, 30, 40).heads
    balls, calls = BallHead(head, Stage.CONTEXT), []
    lift = balls.arithmetic.lift

    def counted(matrix):
        if not isinstance(matrix, Balls) and len(matrix) == 40:
            calls.append(matrix.shape)
        return lift(matrix)

    balls.arithmetic.lift = counted
    for some in (slice(0, 6), slice(6, 12), slice(12, 30)):
        balls.enclosed(np.arange(30)[some], lambda found: found.rest < 2.0**-90)
    assert calls == [(40, 5)] * 4  # k and v at 113 bits, and at 452 for row 7


@pytest.mark.parametrize("bits", [1, 0, -113, 113.0, True, "113", None, 10**6])
def test_bits_that_make_no_sense(bits):
    with pytest.raises(ProblemError, match="bits: give a whole number from 2 to 2048"):
        enclose_rows_by_balls(drawn(1, 8, 8), bits=bits)


@pytest.mark.parametrize("radius", [0.0, -1.0, 2.0**-101, float("nan")])
def test_radii_that_two_floats_cannot_hold(radius):
    with pytest.raises(ProblemError, match="two float64 numbers hold"):
        enclose_rows_by_balls(drawn(1, 8, 8), radius=radius)


@pytest.mark.parametrize("stage", [Stage.SCORES, Stage.OUTPUT])
def test_stages_that_are_not_offered(stage):
    with pytest.raises(ProblemError, match="weights, lse, context"):
        enclose_rows_by_balls(drawn(1, 8, 8), stage=stage)


@pytest.mark.parametrize("workers", [0, True, 1.5])
def test_workers_that_make_no_sense(workers):
    with pytest.raises(ProblemError, match="workers"):
        enclose_rows_by_balls(drawn(1, 8, 8), workers=workers)


def test_the_precision_of_the_process_stays():
    before = flint.ctx.prec, flint.ctx.threads
    enclose_rows_by_balls(drawn(1, 8, 8), bits=200)
    with pytest.raises(ZeroDivisionError):
        BallHead(drawn(1, 8, 8).heads[0], Stage.LSE).enclosed(np.arange(8), lambda found: 1 / 0)
    assert (flint.ctx.prec, flint.ctx.threads) == before

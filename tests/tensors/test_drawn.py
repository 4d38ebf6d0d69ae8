"""Drawn heads: repeatable, exact, of fitting shapes, and as hard as their docstrings say."""

from __future__ import annotations

import ast
import inspect
from fractions import Fraction
from math import inf

import mpmath
import numpy as np
import pytest

from exactattn.tensors import drawn
from exactattn.tensors.drawn import DRAWN

EVERY = pytest.mark.parametrize("name", DRAWN)


def make(name, seed=0):
    return DRAWN[name](np.random.default_rng(seed))


def scores(x):
    """In float64, with the default scale."""
    with np.errstate(over="ignore", invalid="ignore"):
        return x.q @ x.k.T / np.sqrt(x.q.shape[1])


def test_every_generator_of_the_module_is_named():
    tree = ast.parse(inspect.getsource(drawn))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} - {"normal"}
    assert {name.replace("-", "_") for name in DRAWN} == functions


@EVERY
def test_heads_fit_and_are_finite(name):
    for seed in range(5):
        x = make(name, seed)
        for array in (x.q, x.k, x.v):
            assert array.dtype == np.float64
            assert array.ndim == 2
            assert np.isfinite(array).all()
        assert x.q.shape[1] == x.k.shape[1]
        assert len(x.k) == len(x.v)
        if x.mask is not None:
            assert x.mask.dtype == np.bool_
            assert x.mask.shape == (len(x.q), len(x.k))
        assert all(isinstance(value, Fraction) for value in x.options.values())


@EVERY
def test_a_seed_tells_what_is_drawn(name):
    first, again, other = make(name), make(name), make(name, 1)
    assert all(np.array_equal(getattr(first, part), getattr(again, part)) for part in "qkv")
    assert first.options == again.options
    if name != "wrong-golden":
        assert any(not np.array_equal(getattr(first, part), getattr(other, part)) for part in "qkv")


@EVERY
def test_each_says_what_it_is_hard_for(name):
    assert ":" in DRAWN[name].__doc__ or len(DRAWN[name].__doc__) > 60


def test_the_golden_that_is_wrong():
    """The true output by mpmath on the exact scores, whose difference is 1; float64 is off by 7e-4."""
    x = make("wrong-golden")
    exact = [sum(Fraction(a) * Fraction(b) for a, b in zip(x.q[0], key, strict=True)) for key in x.k]
    assert exact[1] - exact[0] == 1
    with mpmath.workdps(30):
        true = 1 / (1 + mpmath.exp(-1 / mpmath.sqrt(3)))
        assert mpmath.nstr(true, 15) == "0.640457475680627"
    (row,) = scores(x)
    weights = np.exp(row - row.max())
    assert abs((weights / weights.sum())[1] - float(true)) > 1e-4


def test_scores_are_as_far_out_as_said():
    assert np.isinf(scores(make("overflowing"))).any()
    assert not np.isinf(scores(make("huge-and-tiny"))).any()
    assert (scores(make("all-negative")) < -1).all()
    assert np.abs(scores(make("huge-scores"))).max() > 710  # exp overflows
    edge = make("at-the-edge-of-exp").k[1:]
    assert (edge < -700).all()
    assert (edge > -760).all()
    assert all(len(set(row)) == 2 for row in scores(make("ties")).tolist())
    rising = scores(make("ascending-scores"))
    assert (np.diff(np.maximum.accumulate(rising, axis=1)) > 0).mean() > 0.9


def test_scores_of_eight_bits_are_exact():
    x = make("eight-bits")
    found = (x.q @ x.k.T).tolist()
    for q, row in zip(x.q, found, strict=True):
        for k, score in zip(x.k, row, strict=True):
            assert sum(Fraction(a) * Fraction(b) for a, b in zip(q, k, strict=True)) == score


def test_values_are_as_small_or_cancel_as_said():
    assert np.abs(make("subnormal").v).max() < 2.0**-1022
    x = make("cancelling-values")
    assert np.abs(x.v[:10] + x.v[10:]).max() < np.abs(x.v).max() * 1e-5


def test_masks_hide_what_they_say():
    mask = make("masked").mask
    assert mask.sum(axis=1)[[0, 1, -1]].tolist() == [1, 14, 0]
    x = make("hidden-maximum")
    s = scores(x)
    assert (np.where(x.mask, -inf, s).max(axis=1) - np.where(x.mask, s, -inf).max(axis=1) > 745).all()


@pytest.mark.parametrize("seed", range(5))
def test_caps_are_reached_as_said(seed):
    x = make("beyond-the-cap", seed)
    over = np.abs(scores(x)) / float(x.options["softcap"])
    assert np.median(over) > 5
    assert (np.tanh(over) == 1).sum() > 1  # ties that are none
    x = make("near-the-cap", seed)
    assert 0.1 < np.median(np.abs(scores(x)) / float(x.options["softcap"])) < 5

"""Tests of the tester: with a planted bug, the laws that it breaks must not hold; so no law can hold vacuously."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from exactattn import plugins
from exactattn.engines.symbolic import ENGINE, SymbolicArithmetic
from exactattn.findings import Verdict
from exactattn.laws import (
    entropy_scale,
    layer_cost,
    normal_tail,
    operation_count,
    parameter_count,
    scale_convention,
    score_variance,
    softmax_jacobian,
)
from exactattn.laws.counting import CountingArithmetic
from exactattn.laws.proof import Proof, derivative, full, positive, self_attention
from exactattn.numbers.enclosure import Answer, Interval

LAWS = plugins.found("laws")


class FirstTwice(SymbolicArithmetic):
    def row_sum(self, a: Any) -> Any:
        return super().row_sum(a) + a[:, :1]


class ExpPlusOne(SymbolicArithmetic):
    def exp(self, a: Any, allowed: Any) -> Any:
        return super().exp(a, allowed) + allowed.astype(int)


class ExpForgetsMask(SymbolicArithmetic):
    def exp(self, a: Any, allowed: Any) -> Any:
        return super().exp(a, np.ones_like(allowed))


class ExpMayBeNegative(SymbolicArithmetic):
    def exp(self, a: Any, allowed: Any) -> Any:
        return np.where(allowed, a, 0)


class NoRescale(SymbolicArithmetic):
    def mul_column(self, a: Any, column: Any) -> Any:
        return a


class NoShift(SymbolicArithmetic):
    def sub_column(self, a: Any, column: Any) -> Any:
        return a


class LogIsZero(SymbolicArithmetic):
    def log(self, a: Any) -> Any:
        return super().log(a) * 0


class LogTwice(SymbolicArithmetic):
    def log(self, a: Any) -> Any:
        return super().log(a) * 2


class LastColumnNegative(SymbolicArithmetic):
    def matmul(self, a: Any, b: Any) -> Any:
        out = super().matmul(a, b)
        out[:, -1] = -out[:, -1]
        return out


class FirstTermTwice(SymbolicArithmetic):
    def matmul(self, a: Any, b: Any) -> Any:
        return super().matmul(a, b) + a[:, :1] @ b[:1]


class ScoresKnowDistance(SymbolicArithmetic):
    def matmul_transposed(self, a: Any, b: Any) -> Any:
        out = super().matmul_transposed(a, b)
        rows, columns = np.indices(out.shape)
        return out + np.maximum(rows - columns, 0)


class ScoresOfFirstComponent(SymbolicArithmetic):
    def matmul_transposed(self, a: Any, b: Any) -> Any:
        return super().matmul_transposed(a[:, :1], b[:, :1])


class JoinBackwards(SymbolicArithmetic):
    def join(self, parts: Any) -> Any:
        return super().join(list(parts)[::-1])


BREAKS: dict[type[SymbolicArithmetic], str] = {
    FirstTwice: "rows-sum-to-one weights-in-unit-interval convex-hull mask-before-softmax softmax-jacobian "
    "online-softmax entropy-scale entropy-limit saturated-gradient scaled-variance sample-variance",
    ExpPlusOne: "shift-invariance softmax-jacobian online-softmax split-and-merge entropy-scale",
    ExpForgetsMask: "mask-before-softmax split-and-merge",
    ExpMayBeNegative: "weights-in-unit-interval convex-hull shift-invariance softmax-jacobian mask-before-softmax",
    NoRescale: "online-softmax split-and-merge",
    NoShift: "online-softmax split-and-merge shift-invariance",
    LogIsZero: "shift-invariance online-softmax split-and-merge entropy-scale entropy-limit",
    LogTwice: "shift-invariance online-softmax split-and-merge entropy-scale entropy-limit",
    LastColumnNegative: "orientation context-factors convex-hull projection-not-forced softmax-jacobian",
    FirstTermTwice: "convex-hull concat-output projection-not-forced softmax-jacobian split-and-merge "
    "transposed-weights",
    ScoresKnowDistance: "permutation-equivariance projection-not-forced",
    ScoresOfFirstComponent: "score-variance",
    JoinBackwards: "concat-output",
}
PLANTED = [(bug, law) for bug, laws in BREAKS.items() for law in laws.split()]


@pytest.mark.parametrize(("bug", "law"), PLANTED, ids=[f"{bug.__name__}-{law}" for bug, law in PLANTED])
def test_a_planted_bug_is_noticed(bug: type[SymbolicArithmetic], law: str) -> None:
    decision = LAWS[law].decide(lambda free_shifts=False: bug(free_shifts))
    assert decision.verdict is not Verdict.HOLDS
    assert any(step.answer is not Answer.YES for step in decision.steps)


def test_every_law_has_a_bug_that_it_notices() -> None:
    others = {"operation-count", "parameter-count", "layer-cost", "normal-tail", "scale-convention"}
    assert {law for _, law in PLANTED} | others == set(LAWS)


@pytest.mark.parametrize("module", [softmax_jacobian, entropy_scale])
@pytest.mark.parametrize("wrong", [lambda x: -x, lambda x: 2 * x, lambda x: x + 1, lambda x: 0 * x])
def test_a_wrong_derivative_is_noticed(module: Any, wrong: Callable[[Any], Any], monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "derivative", lambda *args: wrong(derivative(*args)))
    assert module.LAW.decide(ENGINE.arithmetic).verdict is not Verdict.HOLDS


def test_a_wrong_expectation_is_noticed(monkeypatch: Any) -> None:
    right = score_variance.expectation

    def squares_of_means(ar: Any, polynomial: Any, moments: Any) -> Any:
        return right(ar, polynomial, {x: (m, m**2) for x, (m, _) in moments.items()})

    monkeypatch.setattr(score_variance, "expectation", squares_of_means)
    assert score_variance.LAW.decide(ENGINE.arithmetic).verdict is not Verdict.HOLDS


@pytest.mark.parametrize("operation", ["matmul", "exp", "div_column"])
def test_a_wrong_count_is_noticed(operation: str, monkeypatch: Any) -> None:
    right = getattr(CountingArithmetic, operation)

    def twice(self: CountingArithmetic, *args: Any) -> Any:
        right(self, *args)
        return right(self, *args)

    monkeypatch.setattr(CountingArithmetic, operation, twice)
    assert operation_count.LAW.decide(ENGINE.arithmetic).verdict is not Verdict.HOLDS


@pytest.mark.parametrize("part", ["_convolution", "_recurrent", "_attention", "_chain", "_layers"])
def test_a_wrong_cost_is_noticed(part: str, monkeypatch: Any) -> None:
    right = getattr(layer_cost, part)
    monkeypatch.setattr(layer_cost, part, lambda *args: right(*args) + 1)
    assert layer_cost.LAW.decide(ENGINE.arithmetic).verdict is not Verdict.HOLDS


def test_a_wrong_tail_is_noticed(monkeypatch: Any) -> None:
    monkeypatch.setattr(normal_tail, "tail", lambda bound, variance: lambda bits: Interval(bound, bound + variance))
    assert normal_tail.LAW.decide(ENGINE.arithmetic).verdict is not Verdict.HOLDS


def test_a_wrong_scale_is_noticed(monkeypatch: Any) -> None:
    right = scale_convention._scale
    monkeypatch.setattr(scale_convention, "_scale", lambda *args: right(*args) ** 2)
    assert scale_convention.LAW.decide(ENGINE.arithmetic).verdict is not Verdict.HOLDS


def test_a_wrong_size_is_noticed(monkeypatch: Any) -> None:
    def wide(n: int, d_model: int, d_k: int, d_v: int, heads: int) -> Any:
        return self_attention(n, d_model, d_k, d_v + 1, heads)

    monkeypatch.setattr(parameter_count, "self_attention", wide)
    assert parameter_count.LAW.decide(ENGINE.arithmetic).verdict is not Verdict.HOLDS


def test_positive_proves_only_what_is_positive() -> None:
    ar = ENGINE.arithmetic()
    x, y = ar.symbols("s", 1, 2)[0]
    e, f = ar.exp(np.array([[x, y]], dtype=object), full(1, 2))[0]
    for yes in (e, e / f, e / (e + f), 1 - e / (e + f), (e + 1) ** 2 - 1, e * f + 3, -e / (-f - 1), 1):
        assert positive(ar, yes) is Answer.YES
    for no in (0, -1, e - f, -e, e - 1, x, x**2, e * x, 1 - e, e - e, e**2 - e * f + f**2, 1 / (e - f)):
        assert positive(ar, no) is Answer.CANNOT_TELL


def test_a_proof_without_steps_or_with_an_open_one_does_not_hold() -> None:
    proof = Proof(ENGINE.arithmetic())
    assert proof.decision("nothing", ["none"], "none").verdict is Verdict.UNDECIDED
    proof.checked("right", "looking", True)
    assert proof.decision("something", ["one"], "one").verdict is Verdict.HOLDS
    proof.positive("no expression at all", [])
    assert proof.decision("something", ["one"], "one").verdict is Verdict.UNDECIDED


def test_shapes_are_never_broadcast_in_a_comparison() -> None:
    ar = ENGINE.arithmetic()
    with pytest.raises(AssertionError, match="shapes"):
        Proof(ar).equal("crooked", ar.symbols("a", 2, 2), ar.symbols("a", 2, 1))

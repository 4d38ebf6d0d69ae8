"""The formulas of laws against numbers from elsewhere: printed ones, finite differences, exact enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactattn.attention.definition import row_softmax, stages
from exactattn.engines.symbolic import ENGINE
from exactattn.findings import Verdict
from exactattn.laws.counting import CountingArithmetic
from exactattn.laws.proof import causal, derivative, full, self_attention
from exactattn.laws.score_variance import LAW, expectation


def at(ar: Any, expression: Any, values: dict[Any, Any]) -> float:
    """The number that an expression is at given values of its variables."""
    return float(ar.closed(ar.algebra.sp.sympify(expression)).xreplace(values).evalf(30))


def test_jacobian_of_row_one_of_document_n() -> None:
    """Source: source-claims.md, S39."""
    ar = ENGINE.arithmetic()
    scores = ar.symbols("s", 1, 3)
    weights, _ = row_softmax(ar, scores, full(1, 3))
    root = 1 / ar.algebra.sp.sqrt(2)
    values = dict(zip(scores[0], (root, ar.algebra.sp.S.Zero, root), strict=True))
    got = [[at(ar, derivative(ar, a, s), values) for s in scores[0]] for a in weights[0]]
    wanted = [
        [0.24022118, -0.07933027, -0.16089091],
        [-0.07933027, 0.15866054, -0.07933027],
        [-0.16089091, -0.07933027, 0.24022118],
    ]
    assert np.allclose(got, wanted, rtol=0, atol=0.51e-8)


def test_causal_rows_of_document_n_and_what_zeroing_after_softmax_keeps() -> None:
    """Source: source-claims.md, S40; worked-examples.md, K17."""
    ar = ENGINE.arithmetic()
    root = 1 / ar.algebra.sp.sqrt(2)
    scores = root * np.array([[1, 0, 1], [0, 1, 1], [1, 1, 2]], dtype=object)
    masked = [at(ar, x, {}) for x in row_softmax(ar, scores, causal(3))[0].flat]
    wanted = [1, 0, 0, 0.33023845, 0.66976155, 0, 0.24825508, 0.24825508, 0.50348984]
    assert np.allclose(masked, wanted, rtol=0, atol=0.51e-8)
    assert at(ar, row_softmax(ar, scores, full(3, 3))[0][0, 0], {}) == pytest.approx(0.40111209, abs=0.51e-8)


@pytest.mark.parametrize("seed", range(5))
def test_entropy_falls_as_finite_differences_say(seed: int) -> None:
    """Oracle: mpmath's numerical derivative of -sum p ln p, written here without the definition."""
    random = Random(seed)
    s = [mpmath.mpf(random.uniform(-3, 3)) for _ in range(random.randint(2, 5))]
    beta = mpmath.mpf(random.uniform(0.1, 2))

    def weights(b: Any) -> list[Any]:
        powers = [mpmath.exp(b * x) for x in s]
        return [x / sum(powers) for x in powers]

    with mpmath.workdps(40):
        slope = mpmath.diff(lambda b: -sum(p * mpmath.log(p) for p in weights(b)), beta)
        p = weights(beta)
        mean = sum(a * x for a, x in zip(p, s, strict=True))
        variance = sum(a * x**2 for a, x in zip(p, s, strict=True)) - mean**2
        assert mpmath.almosteq(slope, -beta * variance, 1e-15)
        assert slope < 0


@pytest.mark.parametrize("seed", range(5))
def test_derivative_is_that_of_sympy(seed: int) -> None:
    """Oracle: SymPy's own derivative of the closed form, at random rationals."""
    random, ar = Random(seed), ENGINE.arithmetic()
    scores, values = ar.symbols("s", 1, 3), ar.symbols("v", 3, 1)
    weights, lse = row_softmax(ar, scores, full(1, 3))
    expression = ar.matmul(weights, values)[0, 0] * scores[0, 0] + lse[0, 0] ** 2
    sp = ar.algebra.sp
    point = {x: sp.Rational(random.randint(-20, 20), 7) for x in (*scores[0], *values[:, 0])}
    plain = expression.xreplace({x: sp.log(a) for x, a in ar.algebra.logarithms.items()})
    plain = plain.xreplace({x: sp.exp(a) for x, a in ar.algebra.exponentials.items()})
    ours = derivative(ar, expression, scores[0, 0]).xreplace({x: sp.log(a) for x, a in ar.algebra.logarithms.items()})
    ours = ours.xreplace({x: sp.exp(a) for x, a in ar.algebra.exponentials.items()})
    assert float((ours - sp.diff(plain, scores[0, 0])).xreplace(point).evalf(30)) == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("seed", range(6))
def test_variance_of_scores_by_enumeration(seed: int) -> None:
    """Oracle: every outcome of small discrete distributions, in Fractions."""
    random = Random(seed)
    width = 2
    components = [
        [Fraction(random.randint(-4, 4), random.randint(1, 3)) for _ in range(random.randint(1, 3))]
        for _ in range(2 * width)
    ]
    scores = [sum(x[i] * x[width + i] for i in range(width)) for x in product(*components)]
    mean = sum(scores) / Fraction(len(scores))
    variance = sum(score**2 for score in scores) / Fraction(len(scores)) - mean**2

    ar = ENGINE.arithmetic()
    q, k = ar.symbols("q", 1, width), ar.symbols("k", 1, width)
    moments = {
        x: tuple(ar.algebra.rational(sum((v**p for v in values), Fraction(0)) / len(values)) for p in (1, 2))
        for x, values in zip((*q[0], *k[0]), components, strict=True)
    }
    score = ar.matmul_transposed(q, k)[0, 0]
    got = expectation(ar, score**2, moments) - expectation(ar, score, moments) ** 2
    assert got == ar.algebra.rational(variance)
    formula = Fraction(0)
    for a, b in zip(components[:width], components[width:], strict=True):
        m_q, m_k = sum(a) / Fraction(len(a)), sum(b) / Fraction(len(b))
        v_q, v_k = (sum((x - m) ** 2 for x in c) / Fraction(len(c)) for c, m in ((a, m_q), (b, m_k)))
        formula += v_q * v_k + m_q**2 * v_k + m_k**2 * v_q
    assert formula == variance


def test_expectation_by_enumeration() -> None:
    ar = ENGINE.arithmetic()
    x, y = ar.symbols("x", 1, 2)[0]
    outcomes = {x: [0, 1, 5], y: [-2, 3]}
    sp = ar.algebra.sp
    moments = {
        v: (sp.Rational(sum(a), len(a)), sp.Rational(sum(b * b for b in a), len(a))) for v, a in outcomes.items()
    }
    polynomial = (x + 2 * y + 1) ** 2 + x**2 * y**2 - x * y
    values = [polynomial.xreplace({x: sp.Integer(a), y: sp.Integer(b)}) for a, b in product(*outcomes.values())]
    assert expectation(ar, polynomial, moments) == sp.Rational(sum(values), len(values))


def test_the_counting_arithmetic_counts_what_loops_do() -> None:
    """Oracle: numbers that count their own multiplications."""

    class Counted:
        products = 0

        def __mul__(self, other: Counted) -> Counted:
            Counted.products += 1
            return self

        def __add__(self, other: Counted) -> Counted:
            return self

    def matrix(rows: int, columns: int) -> Any:
        return np.array([[Counted() for _ in range(columns)] for _ in range(rows)], dtype=object)

    n, d = 5, 6
    X, W = matrix(n, d), matrix(d, d)
    q = X @ W
    for _ in range(2):
        X @ W
    scores = q @ q.T
    context = scores @ q
    context @ W
    counting = CountingArithmetic()
    stages(self_attention(n, d, d, d), counting)
    assert counting.counts["product"] == Counted.products == 2 * n * n * d + 4 * n * d * d


rationals = st.fractions(-3, 3, max_denominator=7)
positives = st.fractions(Fraction(1, 9), 3, max_denominator=9)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 20), rationals, rationals, positives, positives, positives)
def test_a_claimed_variance_is_right_only_at_its_value(
    width: int, m_q: Fraction, m_k: Fraction, v_q: Fraction, v_k: Fraction, scale: Fraction
) -> None:
    """Oracle: E(x^2) E(y^2) - E(x)^2 E(y)^2 for each of the components, in Fractions."""
    true = scale**2 * width * ((v_q + m_q**2) * (v_k + m_k**2) - (m_q * m_k) ** 2)
    stated = {"d_k": width, "mean_q": m_q, "mean_k": m_k, "variance_q": v_q, "variance_k": v_k, "scale": scale}
    for claimed, verdict in ((true, Verdict.HOLDS), (true + Fraction(1, 10**9), Verdict.FAILS)):
        options = {key: str(value) for key, value in stated.items()}
        decision = LAW.decide(ENGINE.arithmetic, **options, expected=str(claimed))
        assert decision.verdict is verdict
        assert decision.values["variance"] == str(true)

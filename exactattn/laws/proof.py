"""The parts that laws are made of: steps decided one by one, and what exact algebra can decide.

A `Proof` collects steps; its law holds only when every step was decided YES.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from exactattn.attention.algorithms import naive
from exactattn.attention.spec import AttentionSpec, Head, Problem
from exactattn.findings import Verdict
from exactattn.laws.law import Decision, Step
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import Matrix, name
from exactattn.numbers.rational_functions import as_fraction


class Proof:
    """The steps of one decision, over one symbolic arithmetic."""

    def __init__(self, ar: Any) -> None:
        self.ar = ar
        self.steps: list[Step] = []

    def add(self, text: str, by: str, *answers: Answer) -> Answer:
        """A step that every one of `answers` (at least one) decides."""
        answer = Answer.every(*answers) if answers else Answer.CANNOT_TELL
        self.steps.append(Step(text, by, answer))
        return answer

    def equal(self, text: str, a: Any, b: Any) -> Answer:
        """The step a = b, element by element, for all values of the variables; b may be one number for all."""
        pairs = _pairs(a, b)
        answers = [self.ar.equal(x, y) for x, y in pairs]
        many = "both" if len(answers) == 2 else f"all {len(answers)}"
        what = "the difference cancels" if len(answers) == 1 else f"{many} differences cancel"
        return self.add(text, f"SymPy: {what} to 0", *answers)

    def positive(self, text: str, expressions: Iterable[Any]) -> Answer:
        """The step that every expression is > 0 for all values of the variables."""
        answers = [positive(self.ar, x) for x in expressions]
        return self.add(text, "SymPy: quotient of polynomials with positive coefficients in exponentials", *answers)

    def checked(self, text: str, by: str, is_so: bool) -> Answer:
        """A step that was decided by looking, counting or trying: yes or no."""
        return self.add(text, by, Answer.YES if is_so else Answer.NO)

    def decision(
        self,
        statement: str,
        shapes: Iterable[str],
        scope: str,
        values: Mapping[str, str] | None = None,
        counterexample: str | None = None,
        corrected: str | None = None,
    ) -> Decision:
        """HOLDS when all steps are YES, FAILS with a counterexample, else UNDECIDED; `corrected` goes with FAILS."""
        decided = bool(self.steps) and all(step.answer is Answer.YES for step in self.steps)
        verdict = Verdict.HOLDS if decided else Verdict.UNDECIDED
        if counterexample is not None:
            verdict = Verdict.FAILS
        corrected = corrected if verdict is Verdict.FAILS else None
        steps, formulas = tuple(self.steps), dict(values or {})
        return Decision(verdict, statement, tuple(shapes), scope, steps, counterexample, formulas, corrected)


def _pairs(a: Any, b: Any) -> list[tuple[Any, Any]]:
    """Elements to compare; never broadcast but from one number, so that no comparison is empty or crooked."""
    if not isinstance(a, np.ndarray):
        return [(a, b)]
    if isinstance(b, np.ndarray):
        assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
        return list(zip(a.flat, b.flat, strict=True))
    return [(x, b) for x in a.flat]


def positive(ar: Any, expression: Any) -> Answer:
    """Is the expression > 0 for all values of its variables? YES is proven, NO is never claimed.

    Proof: every exponential is a positive symbol. When numerator and denominator, multiplied out, are polynomials in
    positive symbols whose coefficients are all positive (or all negative in both), and none is the zero polynomial,
    each is a sum of positive terms (or minus one), and so is > 0 (or < 0 with the other); their quotient is > 0.
    """
    expression = ar.independent(ar.algebra.sp.sympify(expression))
    if expression.is_Rational:
        return Answer.YES if expression > 0 else Answer.CANNOT_TELL
    parts = as_fraction(expression) if all(v.is_positive for v in expression.free_symbols) else None
    signs = {0} if parts is None else {_sign(part) for part in parts}
    return Answer.YES if signs in ({1}, {-1}) else Answer.CANNOT_TELL


def _sign(polynomial: Any) -> int:
    """1 when every coefficient is positive and there is one, -1 when negative, else 0."""
    coefficients = polynomial.coeffs()
    if not coefficients:
        return 0
    return 1 if all(c > 0 for c in coefficients) else -1 if all(c < 0 for c in coefficients) else 0


def derivative(ar: Any, expression: Any, variable: Any) -> Any:
    """d expression / d variable, by the chain rule through the arithmetic's exponentials and logarithms.

    Exact value: sum over the symbols E of exponentials of (d/dE) E a' and over the symbols of logarithms of
    (d/dL) a'/a, with a their argument, added to the partial derivative.
    """
    sp, algebra = ar.algebra.sp, ar.algebra
    expression = sp.sympify(expression)
    total = sp.diff(expression, variable)
    for symbol in sorted(expression.free_symbols & algebra.exponentials.keys(), key=str):
        inner = derivative(ar, algebra.exponentials[symbol], variable)
        total += sp.diff(expression, symbol) * symbol * inner
    for symbol in sorted(expression.free_symbols & algebra.logarithms.keys(), key=str):
        argument = algebra.logarithms[symbol]
        total += sp.diff(expression, symbol) * derivative(ar, argument, variable) / argument
    return total


def depends_on(ar: Any, expressions: Iterable[Any]) -> set[str]:
    """The names of all variables that the expressions contain, inside exponentials and logarithms too."""
    algebra, found, todo = ar.algebra, set(), list(expressions)
    while todo:
        for symbol in ar.algebra.sp.sympify(todo.pop()).free_symbols:
            inner = algebra.exponentials.get(symbol, algebra.logarithms.get(symbol))
            if inner is None:
                found.add(str(symbol))
            else:
                todo.append(inner)
    return found


def named(label: str, rows: int, columns: int) -> Matrix:
    """A matrix of free variables label_ij, the same as `SymbolicArithmetic.symbols` makes."""
    return tuple(tuple(name(f"{label}{i}{j}") for j in range(columns)) for i in range(rows))


def self_attention(
    n: int, d_model: int, d_k: int, d_v: int, heads: int = 1, spec: AttentionSpec | None = None
) -> Problem:
    """Self-attention in which every input is a free variable: X, for head h Qh Kh Vh as projections, and W_O."""
    parts = tuple(
        Head(W_Q=named(f"Q{h}_", d_model, d_k), W_K=named(f"K{h}_", d_model, d_k), W_V=named(f"V{h}_", d_model, d_v))
        for h in range(heads)
    )
    wide = named("O", heads * d_v, d_model)
    return Problem(parts, X=named("X", n, d_model), W_O=wide, spec=spec or AttentionSpec())


def full(rows: int, columns: int) -> Any:
    """Every key allowed."""
    return np.ones((rows, columns), dtype=np.bool_)


def causal(size: int) -> Any:
    """Key j allowed for query i when j <= i."""
    return np.tril(full(size, size))


def same_as_softmax(proof: Proof, what: str, allowed: Any, algorithm: Any) -> None:
    """The steps that an algorithm's context and lse are those of softmax attention."""
    ar, (rows, size) = proof.ar, allowed.shape
    scores, values = ar.symbols("s", rows, size), ar.symbols("v", size, 1)
    wanted, got = naive(ar, scores, allowed, values), algorithm(ar, scores, allowed, values)
    proof.equal(f"{what}: context equals that of softmax", got.context, wanted.context)
    proof.equal(f"{what}: lse equals that of softmax", got.lse, wanted.lse)

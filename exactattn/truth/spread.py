"""How scores spread and how far a softmax is saturated: variance, largest weight, entropy, trace of the Jacobian.

The Jacobian of a softmax row is diag(p) - p p^T, its trace 1 - sum p^2: 1 - 1/n for uniform weights, 0 when one key
has all the weight and no gradient passes. Entropy (nats) is ln n for uniform weights and 0 for a single key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from exactattn import plugins
from exactattn.attention.definition import Where, stages
from exactattn.attention.spec import Problem, Stage
from exactattn.errors import Unavailable
from exactattn.numbers.balls import FIRST_BITS, MOST_BITS, TooCoarse, enclose, interval
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact, Expr, div, evaluate, log, mul, power
from exactattn.truth.rows import MASKING_BIAS, Row, largest, product, trimmed
from exactattn.truth.work import products

MOST_EXACT_SCORES = 400
MOST_EXACT_PRODUCTS = 100_000
SAME_SCALE = Fraction(1, 20)
SATURATED_WEIGHT = Fraction(99, 100)
SATURATED_TRACE = Fraction(1, 2)
CRITERION = (
    "some row's largest weight is above 0.99, or the mean over rows of 1 - sum p^2 is below half of its mean for "
    "uniform rows, 1 - 1/n; rows with a single key are left out, and so are keys masked by a bias of at most "
    f"{MASKING_BIAS}"
)


@dataclass(frozen=True, slots=True)
class Saturation:
    """How concentrated the weights of one row are. Rounding or proof: enclosures by balls."""

    row: Row
    keys: int
    largest: Interval
    entropy: Interval
    trace: Interval


def saturation(problem: Problem, bits: int = FIRST_BITS) -> list[Saturation]:
    """Of every row with at least two keys, head by head.

    Exact value: with natural logits s and m near their maximum, the entropy is (lse - m) - sum p (s - m).
    Errors: TooCoarse where `MOST_BITS` give no finite ends either.
    """
    try:
        return _saturation(problem, bits)
    except TooCoarse:
        if bits >= MOST_BITS:
            raise
        return saturation(problem, 4 * bits)


def _saturation(problem: Problem, bits: int) -> list[Saturation]:
    engine = plugins.get("engines", "ball")
    found = []
    with engine.precision(bits):
        arithmetic = engine.arithmetic()
        values = stages(problem, arithmetic, until=Stage.WEIGHTS)
        base = problem.spec.base
        factor = None if base is None else evaluate(log(base), arithmetic.field)
        for head in range(len(problem.heads)):
            for query, allowed in enumerate(problem.allowed):
                keys = np.flatnonzero(allowed)
                if len(keys) >= 2:
                    found.append(_of_row(values, (head, query), keys, factor, arithmetic))
    return found


def _of_row(values: Mapping[Where, Any], row: Row, keys: Any, factor: Any, arithmetic: Any) -> Saturation:
    head, query = row
    weights = values[Stage.WEIGHTS, head][query, keys]
    logits = values[Stage.MASKED, head][query, keys]
    lse = values[Stage.LSE, head][query, 0]
    if factor is not None:
        logits, lse = logits * factor, lse * factor
    middle = arithmetic.pick(list(logits))
    entropy = lse - middle - sum(p * (s - middle) for p, s in zip(weights, logits, strict=True))
    trace = 1 - sum(p * p for p in weights)
    return Saturation(row, len(keys), largest(map(_ends, weights)), _positive(entropy), _positive(trace))


def _ends(ball: Any) -> Interval:
    return trimmed(interval(ball))


def _positive(ball: Any) -> Interval:
    """The ends of a number that is known not to be negative."""
    ends = _ends(ball)
    return Interval(max(ends.lower, Fraction(0)), ends.upper)


def mean(values: Sequence[Interval]) -> Interval:
    """The enclosure of the mean."""
    count = len(values)
    low, high = (sum((getattr(v, end) for v in values), Fraction(0)) for end in ("lower", "upper"))
    return Interval(low / count, high / count)


def uniform_trace(rows: Sequence[Saturation]) -> Fraction:
    """The mean of 1 - 1/n over the rows."""
    return sum((1 - Fraction(1, row.keys) for row in rows), Fraction(0)) / len(rows)


def is_saturated(rows: Sequence[Saturation]) -> Answer:
    """Is a softmax clearly saturated, by `CRITERION`?"""
    if not rows:
        return Answer.NO
    peaked = [row.largest.above(SATURATED_WEIGHT).negated for row in rows]
    flat = mean([row.trace for row in rows]).below(SATURATED_TRACE * uniform_trace(rows)).negated
    return Answer.every(flat, *peaked).negated


def variance(problem: Problem) -> Interval:
    """The population variance of the scores (before the scale) over all allowed pairs of all heads.

    Exact value: mean of squares minus square of the mean; of no width where the scores are few and rational.
    """
    queries, keys = problem.lengths
    if queries * keys * len(problem.heads) <= MOST_EXACT_SCORES and products(problem) <= MOST_EXACT_PRODUCTS:
        with suppress(Unavailable):
            scores = _allowed_scores(problem, plugins.get("engines", "rational").arithmetic())
            centre = sum(scores, Fraction(0)) / len(scores)
            exact = sum(((x - centre) ** 2 for x in scores), Fraction(0)) / len(scores)
            return Interval(exact, exact)
    engine = plugins.get("engines", "ball")
    with engine.precision(FIRST_BITS):
        scores = _allowed_scores(problem, engine.arithmetic())
        middle = sum(scores) / len(scores)
        return _positive(sum((x - middle) ** 2 for x in scores) / len(scores))


def _allowed_scores(problem: Problem, arithmetic: Any) -> list[Any]:
    values = stages(problem, arithmetic, until=Stage.SCORES)
    return [x for head in range(len(problem.heads)) for x in values[Stage.SCORES, head][problem.allowed]]


def scaled_variance(problem: Problem, before: Interval) -> Interval:
    """The variance after the scale: the square of the scale times the one before."""
    return product(before, enclose(square(problem.scale)))


def is_inverse_root(scale: Exact, d_k: Fraction) -> bool:
    """Is a scale 1/sqrt(d_k), as written or to a few digits: does scale^2 d_k lie within 5 % of 1?"""
    ratio = enclose(mul(d_k, square(scale)))
    positive = enclose(scale).above(Fraction(0)) is Answer.YES
    return positive and ratio.within(Fraction(1), SAME_SCALE) is Answer.YES


def square(x: Exact) -> Exact:
    """Exact value: x squared; roots in products and quotients become rational."""
    if isinstance(x, Expr) and x.op == "pow" and isinstance(x.args[1], Fraction):
        return power(x.args[0], 2 * x.args[1])
    if isinstance(x, Expr) and x.op in ("mul", "div"):
        return (mul if x.op == "mul" else div)(square(x.args[0]), square(x.args[1]))
    return mul(x, x)


def mass(problem: Problem, cells: Mapping[Row, Sequence[int]]) -> dict[Row, Interval]:
    """The sum of the true weights of some keys of each row. Rounding or proof: enclosures by balls."""
    engine = plugins.get("engines", "ball")
    with engine.precision(FIRST_BITS):
        values = stages(problem, engine.arithmetic(), until=Stage.WEIGHTS)
        return {
            (head, query): _ends(sum(values[Stage.WEIGHTS, head][query, list(keys)]))
            for (head, query), keys in cells.items()
        }

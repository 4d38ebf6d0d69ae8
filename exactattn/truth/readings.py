"""What words or a formula say about the scores: their scale, base and mask; and what two such readings give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from exactattn import plugins
from exactattn.attention.formula_tree import Formula, symbols
from exactattn.attention.shapes import Misfit, fit
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage, identity
from exactattn.attention.symbols import Notation
from exactattn.errors import UsageError
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import ONE, ZERO, Exact, log, mul, name, names_in, power, sub, substitute
from exactattn.truth.formula_repairs import repairs
from exactattn.truth.formula_values import Evaluation, Setting
from exactattn.truth.formulas import Comparison
from exactattn.truth.ladder import Truth
from exactattn.truth.values import Values

USUAL_SCALE = power(name("d_k"), Fraction(-1, 2))
EXAMPLE_SIZES: Mapping[str, Exact] = {"d_k": Fraction(2)}  # where there is no problem: scores (1, 0, 1), d_k = 2
EXAMPLE_TEXT = "scores (1, 0, 1), d_k = 2"
EXAMPLE_SCORES = ((Fraction(1), Fraction(0), Fraction(1)),)
WIDTHS = range(1, 65)
MOST_ROWS = 8


def scale_of(formula: Formula, notation: Notation, spec: AttentionSpec) -> Exact:
    """The factor on q k^T that a formula for scores states, such as 1/sqrt(d_k); for the nearest one that fits.

    Exact value: the right side at q = k = 1. Errors: UsageError when it is not a number times a power of d_k, or
    not in proportion to q k^T.
    """
    found = fit(formula, notation)
    if isinstance(found, Misfit):
        near = repairs(formula, found, notation, spec)
        if not near:
            raise UsageError(f"{formula.plain} does not fit its own shapes, so it states no scale")
        formula, notation = near[0].formula, near[0].notation
    if {notation.source(symbol.base) for symbol in symbols(formula.right)} - {"q", "k", None}:
        raise UsageError(f"{formula.plain} is not a formula for scores in terms of Q and K")
    one, two = (_at(formula, notation, spec, Fraction(q)) for q in (1, 2))
    d_k = one.field.name("d_k")
    factor, exponent = one.value.as_coeff_exponent(d_k)
    linear = one.equal(two.value, 2 * one.value) is Answer.YES
    if not (factor.is_Rational and exponent.is_Rational and linear):
        raise UsageError(f"{formula.plain} is not a number times a power of d_k times q k^T, so it states no scale")
    return mul(Fraction(factor.p, factor.q), power(name("d_k"), Fraction(exponent.p, exponent.q)))


class _At:
    """The right side of a formula at one token and one component."""

    def __init__(self, arithmetic: Any, value: Any) -> None:
        self.field, self.equal, self.value = arithmetic.field, arithmetic.equal, value


def _at(formula: Formula, notation: Notation, spec: AttentionSpec, q: Fraction) -> _At:
    comparison = Comparison(formula, notation, spec)
    numbers: dict[str, Exact] = dict.fromkeys(("n", "H", "d_v", "d_model"), ONE) | {"d_k": name("d_k")}
    sizes = dict.fromkeys(("n", "H", "d_k", "d_v", "d_model"), 1)
    setting = Setting(sizes, numbers, comparison.sources | {"q", "k"}, replace(spec, scale=ONE))
    arithmetic = plugins.get("engines", "symbolic").arithmetic()
    problem = setting.problem(lambda label, *_: q if label[0] == "q" else ONE)
    single = replace(notation, heads=False)
    tables = setting.tables(arithmetic, problem)
    evaluation = Evaluation(arithmetic, setting, tables, single, comparison.ranges)
    return _At(arithmetic, evaluation.value(formula.right, dict.fromkeys(comparison.free, 0))[0, 0])


def same_scale(a: Exact, b: Exact, sizes: Mapping[str, Exact]) -> Answer:
    """Are two scales equal for all sizes that they name; or, when one names none, at the given sizes?"""
    if not names_in(a) or not names_in(b):
        a, b = substitute(a, sizes), substitute(b, sizes)
    if names_in(a) | names_in(b):
        arithmetic = plugins.get("engines", "symbolic").arithmetic()
        if arithmetic.equal(arithmetic.scalar(a), arithmetic.scalar(b)) is Answer.YES:
            return Answer.YES
        apart = any(_differ_at(a, b, Fraction(size)) for size in WIDTHS)
        return Answer.known(yes=False, no=apart)
    return _same_number(a, b)


def agreeing_widths(a: Exact, b: Exact) -> list[int]:
    """The d_k among `WIDTHS` at which two scales agree."""
    return [d for d in WIDTHS if _same_number(*(substitute(x, {"d_k": Fraction(d)}) for x in (a, b))) is Answer.YES]


def same_base(a: Exact | None, b: Exact | None) -> Answer:
    """Are two bases of the exponential equal? None is e."""
    return _same_number(*(ONE if base is None else log(base) for base in (a, b)))


def _differ_at(a: Exact, b: Exact, d_k: Fraction) -> bool:
    others = {"d_v": d_k + 1, "n": d_k + 2, "H": d_k + 3, "d_model": d_k * (d_k + 3)}
    at = [substitute(x, {"d_k": d_k, **others}) for x in (a, b)]
    return not names_in(at[0]) | names_in(at[1]) and _same_number(*at) is Answer.NO


def _same_number(a: Exact, b: Exact) -> Answer:
    sign = Values().sign(sub(a, b))
    return Answer.known(sign == 0, sign in (-1, 1))


def variance(scale: Exact) -> str:
    """Var(scale * q.k) for independent components of mean 0 and variance 1: scale^2 d_k."""
    arithmetic = plugins.get("engines", "symbolic").arithmetic()
    scaled = arithmetic.scalar(mul(power(scale, Fraction(2)), name("d_k")))
    return str(arithmetic.algebra.sp.powdenest(scaled, force=True))


def under(problem: Problem | None, spec: AttentionSpec) -> Problem:
    """The problem under a spec with a symbolic scale; without a problem, the stated example."""
    scale = USUAL_SCALE if spec.scale is None else spec.scale
    if problem is None:
        known = substitute(scale, EXAMPLE_SIZES)
        head = Head(scores=EXAMPLE_SCORES, v=identity(3))
        return Problem((head,), spec=replace(spec, scale=_number(known), orientation="rows"))
    return problem.with_spec(scale=_number(substitute(scale, dict(problem.names))), base=spec.base, causal=spec.causal)


def _number(x: Exact) -> Exact:
    if names_in(x):
        raise UsageError(f"the scale {x} names sizes that are not known here: {', '.join(sorted(names_in(x)))}")
    return x


def weights_and_entropies(problem: Problem, digits: int) -> tuple[list[list[str]], list[str]]:
    """Rows of weights of the first head and the entropy of each, in digits."""
    truth = Truth(problem)
    values = Values(truth)
    form = truth.enclosure(Stage.WEIGHTS)
    columns = problem.spec.orientation == "columns"
    rows, entropies = [], []
    for i in range(min(form.shape[0], MOST_ROWS)):
        if i in truth.undefined:
            continue
        weights = [values.element(Stage.WEIGHTS, (j, i) if columns else (i, j)) for j in range(form.shape[1])]
        rows.append([values.decimal(w, digits) or "?" for w in weights])
        entropies.append(values.decimal(_entropy(weights), digits) or "?")
    return rows, entropies


def _entropy(weights: list[Exact]) -> Exact:
    """-sum w ln w over the weights that are not 0."""
    total: Exact = ZERO
    for w in weights:
        if w != ZERO:
            total = sub(total, mul(w, log(w)))
    return total

"""Law `saturated-gradient`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from exactattn import plugins
from exactattn.attention.definition import row_softmax
from exactattn.errors import UsageError
from exactattn.laws.formulas import shown
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.prints import Enclose, compare_number, listed, told
from exactattn.laws.proof import Proof, derivative, full
from exactattn.laws.saturation import REAL, Pair, chosen, confirm, slope, smallest_gap, spell
from exactattn.numbers.balls import FIRST_BITS, interval
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Exact
from exactattn.numbers.formats import Format
from exactattn.numbers.numerals import parse_numeral
from exactattn.numbers.tokens import shorten

MOST_KEYS = 16
SATURATED = Fraction(99, 100)
ORDER = "two keys with the scores [g, 0], the smallest whole g first"


class SaturatedGradient:
    """Where one weight is near 1 the gradient is near 0, but for finite scores no element on its diagonal is 0.

    Statement: with a_1 any of the weights, |da_i/ds_j| <= 1 - a_1 for all i, j; and da_i/ds_i = a_i (1 - a_i) > 0 for
    two keys or more and finite scores. So the gradient tends to 0 as a_1 tends to 1 and never is 0.
    Derivation: da_i/ds_j = a_i (delta_ij - a_j); every other weight is at most 1 - a_1, and all weights at most 1.
    What it is not: a statement about floats. In a format a_1 rounds to 1 and the derivative to exactly 0 (claim it with
    `format: float32`).
    """

    name = "saturated-gradient"
    statement = "|da_i/ds_j| <= 1 - a_1, so the gradient is near 0 where the softmax is saturated, yet never 0"
    options = THOROUGH | {
        "claims": "never zero, or zero: what is said of da_i/ds_i",
        "format": "real numbers, or a float format",
        "at": "given scores, a list",
        "diagonal": "the da_i/ds_i at the given scores that are claimed, a list",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides the bound for two and three keys (thorough: four), then what is claimed."""
        sizes = range(2, 5 if is_thorough(self, options) else 4)
        proof = Proof(algebra())
        for size in sizes:
            _show(proof, size)
        shapes = [f"S={size}" for size in sizes]
        scope = "for all finite scores at the stated sizes, by algebra; for every number of keys by the derivation"
        values = {"da_i/ds_j": "a_i*(delta_ij - a_j)", "|da_i/ds_j|": "<= 1 - a_1"}
        if "at" in options or "diagonal" in options:
            return _at(proof, options, shapes, scope, values)
        fmt = chosen(str(options.get("format", REAL)))
        zero = choice(options, "claims", "never zero", "zero") == "zero"
        statement, found = self.statement, None
        if options.keys() - {"thorough"}:
            statement = f"da_i/ds_i is {'0 where' if zero else 'never 0, even where'} the softmax is saturated, in "
            statement += "real numbers" if fmt is None else fmt.name
        if zero:
            found = _not_zero(proof, fmt)
        elif fmt is not None:
            found = _lost(proof, fmt)
            scope = "every operation correctly rounded; for every number of keys, as others may lie far below"
        if found is not None:
            scope += f"; the counterexample is the first among {ORDER}"
        right = "da_i/ds_i = a_i (1 - a_i) is above 0 for finite scores, at most 1 - a_1; in floats it may round to 0"
        return proof.decision(statement, shapes, scope, values, found, right)


def _show(proof: Proof, size: int) -> None:
    """The bound and the sign for one number of keys; a_1 is the first, as the order of keys is free."""
    ar, what = proof.ar, f"{size} keys"
    scores = ar.symbols("s", 1, size)
    a = row_softmax(ar, scores, full(1, size))[0][0]
    own = [derivative(ar, a[i], scores[0, i]) for i in range(size)]
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    other = [derivative(ar, a[i], scores[0, j]) for i, j in pairs]
    proof.equal(f"{what}: 1 - a_1 is the sum of the other weights", 1 - a[0], sum(a[1:]))
    proof.positive(f"{what}: da_i/ds_i > 0", own)
    proof.positive(f"{what}: da_i/ds_j < 0 for i != j", [-x for x in other])
    sides = [1 - a[0] - x for x in own] + [1 - a[0] + x for x in other]
    proof.positive(f"{what}: |da_i/ds_j| < 1 - a_1", sides)


def _not_zero(proof: Proof, fmt: Format | None) -> str | None:
    """The smallest gap at which the largest weight is above 0.99 and its derivative is not 0."""
    if fmt is None:
        by, gap = "balls, 128 bits", next(g for g in range(100) if _pair(g)[1].lower > SATURATED)
        value = shown(_pair(gap)[0])
    else:
        by = "rounding each operation exactly"
        found = smallest_gap(fmt, lambda w: Fraction(w.large) > SATURATED and slope(w.large, fmt) != 0)
        if found is None:
            proof.add("the derivative is 0 where a_1 > 0.99", by, Answer.CANNOT_TELL)
            return None
        gap, value = found.gap, f"{slope(found.large, fmt):.6g}"
    proof.checked("the derivative is 0 where a_1 > 0.99", by, False)
    return f"scores [{gap}, 0]: da_1/ds_1 = {value}"


def _pair(gap: int) -> tuple[Interval, Interval]:
    """The derivative of the first weight of [gap, 0], and the weight."""
    slopes, weight = _diagonal([Fraction(gap), Fraction(0)], FIRST_BITS)
    return slopes[0], weight


def _lost(proof: Proof, fmt: Format) -> str | None:
    """The smallest gap at which the derivative of the largest weight rounds to 0, then that of both."""

    def flat(weights: Pair) -> bool:
        return slope(weights.large, fmt) == 0

    def gone(weights: Pair) -> bool:
        return flat(weights) and slope(weights.small, fmt) == 0

    found = smallest_gap(fmt, flat)
    if found is None:
        return None
    proof.checked(f"{fmt.name}: da_1/ds_1 is not 0", "rounding each operation exactly", False)
    confirm(proof, found, fmt, flat)
    text = f"scores [{found.gap}, 0]: the weights in {fmt.name} are {spell(found)} and da_1/ds_1 is 0"
    both = smallest_gap(fmt, gone)
    if both is not None and both.gap != found.gap:
        confirm(proof, both, fmt, gone)
        text += f"; from [{both.gap}, 0] every element of the gradient is 0"
    return text


def _diagonal(scores: list[Exact], bits: int) -> tuple[list[Interval], Interval]:
    """Enclosures of a_i (1 - a_i), and of the first weight."""
    balls = plugins.get("engines", "ball")
    with balls.precision(bits):
        ar: Any = balls.arithmetic()
        weights, _ = row_softmax(ar, ar.lift((tuple(scores),)), full(1, len(scores)))
        rest = [sum((x for i, x in enumerate(weights[0]) if i != j), 0 * weights[0, 0]) for j in range(len(scores))]
        return [interval(a * b) for a, b in zip(weights[0], rest, strict=True)], interval(weights[0, 0])


def _at(proof: Proof, options: Mapping[str, str], shapes: list[str], scope: str, values: dict[str, str]) -> Decision:
    """The diagonal of the gradient at given scores, as printed."""
    if not {"at", "diagonal"} <= options.keys() or options.keys() & {"claims", "format"}:
        raise UsageError("wanted `at` with scores and `diagonal` with the claimed da_i/ds_i, and no other claim")
    scores = listed(options, "at")
    printed = [part.strip() for part in str(options["diagonal"]).strip().strip("[]").split(",")]
    if not len(printed) == len(scores) <= MOST_KEYS:
        raise UsageError(
            f"found {len(scores)} scores and {len(printed)} derivatives, wanted as many, at most {MOST_KEYS}"
        )
    wrong, true = [], []
    for i, text in enumerate(printed):
        enclosure: Enclose = lambda bits, i=i: _diagonal(scores, bits)[0][i]  # type: ignore[misc]  # noqa: E731
        found = compare_number(proof, f"da_{i + 1}/ds_{i + 1}", parse_numeral(text), enclosure, "balls")
        wrong += [f"da_{i + 1}/ds_{i + 1}: {found}"] if found else []
        true.append(told(enclosure))
    values = values | {"diagonal": f"[{', '.join(true)}]"}
    where = shorten(str(options["at"]))
    statement = f"at the scores {where} the da_i/ds_i are {shorten(str(options['diagonal']))}"
    right = f"at the scores {where} the da_i/ds_i are {values['diagonal']}"
    return proof.decision(statement, [*shapes, "the given scores"], scope, values, "; ".join(wrong) or None, right)


LAW = SaturatedGradient()

"""Other readings of a step: those that the case lists, and the catalogue applied to the softmax in its formula.

The catalogue needs to know what stands in the softmax: scores times a factor. It looks through names of steps, the
causal mask and a factor that is one number; sizes are read off the product that the scores are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from exactattn.attention.conventions import BASES, SCALES
from exactattn.attention.sheet import StepName
from exactattn.errors import NumeralError
from exactattn.numbers.balls import enclose
from exactattn.numbers.exact import Exact, mul, power
from exactattn.numbers.expressions import Binary, Call, Name, Node, Number, Reference, Unary
from exactattn.numbers.folding import shape
from exactattn.numbers.tokens import Numeral
from exactattn.numbers.trees import parts_below

SOFTMAXES = ("softmax", "column_softmax")
MOST_STEPS = 20  # steps that are looked through


@dataclass(frozen=True, slots=True)
class Inside:
    """What a softmax is taken of: scores before their factor, the factor, and whether it is masked causally.

    sizes   d_k, d_model and n, as far as the formula shows them
    """

    scores: Node
    factor: Exact
    masked: bool
    sizes: Mapping[str, Fraction]


def step_readings(truth: Any, name: StepName) -> Iterator[tuple[str, StepName, Node]]:
    """The names of other readings, and which step gets which formula, those listed in the case first.

    `truth` is a `SheetTruth`. The softmax that is reread may stand in an earlier step that this one is made from.
    """
    step = truth.sheet.step(str(name))
    if step is None or step.formula is None:
        return
    for label, formula in step.readings.items():
        yield label, step.name, formula
    for owner in _made_from(truth, step):
        call = first_softmax(owner.formula)
        inside = None if call is None else look_inside(truth, call.args[0])
        if call is None or inside is None:
            continue
        for label, other in _changes(call, inside):
            if label not in step.readings:
                yield label, owner.name, _put(owner.formula, call, other)
        return


def _made_from(truth: Any, step: Any) -> Iterator[Any]:
    """The step, and the earlier ones that it is made from, nearest first."""
    waiting, seen = [step], {str(step.name)}
    while waiting and len(seen) <= MOST_STEPS:
        step = waiting.pop(0)
        yield step
        for part in parts_below(step.formula):
            label = part.label if isinstance(part, Name | Reference) else ""
            other = truth.sheet.step(label) if label and label not in seen else None
            if other is not None and other.formula is not None:
                seen.add(label)
                waiting.append(other)


def _changes(call: Call, inside: Inside) -> Iterator[tuple[str, Node]]:
    """The softmax under every other reading of the catalogue."""
    base = call.args[1:]

    def made(scores: Node, function: str = call.function, base: tuple[Node, ...] = base) -> Node:
        return Call(function, (scores, *base), call.offset)

    scales: list[Exact] = []
    for label, _, make in SCALES:
        with suppress(KeyError):
            scales.append(make(inside.sizes))
            yield label, made(_scaled(inside, scales[-1]))
    twice = mul(inside.factor, inside.factor)
    if not any(enclose(twice).meets(enclose(scale)) for scale in scales):
        yield "scale=twice", made(_scaled(inside, twice))
    for label, _, number in BASES:
        yield label, made(_scaled(inside, inside.factor), base=(_number(number),))
    if base:
        yield "base=e", made(_scaled(inside, inside.factor), base=())
    other = "column_softmax" if call.function == "softmax" else "softmax"
    axis = "queries" if call.function == "softmax" else "keys"
    yield f"softmax_axis={axis}", made(_scaled(inside, inside.factor), other)
    turned = replace(inside, scores=Call("T", (inside.scores,), call.offset))
    yield "scores=transposed", made(_scaled(turned, inside.factor))
    yield "weights=reversed", Call("mirrored", (made(_scaled(inside, inside.factor)),), call.offset)
    unmasked = replace(inside, masked=False)
    if inside.masked:
        yield "mask=none", made(_scaled(unmasked, inside.factor))
        yield "mask=after_softmax", Call("zeroed", (made(_scaled(unmasked, inside.factor)),), call.offset)
    else:
        yield "mask=causal", made(_scaled(replace(inside, masked=True), inside.factor))


def with_factor(call: Call, inside: Inside, factor: Exact) -> Node:
    """The softmax of the same scores with another factor, inside a natural exponential."""
    return Call(call.function, (_scaled(inside, factor),), call.offset)


def _scaled(inside: Inside, factor: Exact) -> Node:
    scores = inside.scores
    product = Binary("*", scores, _number(factor), scores.offset)
    return Call("causal", (product,), scores.offset) if inside.masked else product


def _number(x: Exact) -> Node:
    return Number(Numeral(str(x), x, None, None, "closed"), 0)


def first_softmax(node: Node) -> Call | None:
    """The first softmax in a formula, outermost first."""
    calls = (part for part in parts_below(node) if isinstance(part, Call))
    return next((call for call in calls if call.function in SOFTMAXES), None)


def _put(formula: Node, old: Node, new: Node) -> Node:
    """The formula with one part replaced."""
    if formula is old:
        return new
    match formula:
        case Binary():
            return replace(formula, left=_put(formula.left, old, new), right=_put(formula.right, old, new))
        case Unary():
            return replace(formula, operand=_put(formula.operand, old, new))
        case Call():
            return replace(formula, args=tuple(_put(arg, old, new) for arg in formula.args))
        case _:
            return formula


def look_inside(truth: Any, node: Node) -> Inside | None:
    """What the argument of a softmax is; None where its value cannot be formed."""
    factor: Exact = Fraction(1)
    masked = False
    for _ in range(MOST_STEPS):
        if isinstance(node, Call) and node.function == "causal":
            node, masked = node.args[0], True
        elif isinstance(node, Binary) and node.op in ("*", "/"):
            parted = _parted(truth, node)
            if parted is None:
                break
            node, factor = parted[0], mul(factor, parted[1])
        elif isinstance(node, Name) and (step := truth.sheet.step(node.label)) and step.formula is not None:
            node = step.formula
        else:
            break
    try:
        sizes = dict(_sizes(truth, node))
        sizes["n"] = Fraction(shape(evaluated(truth, node))[-1])
    except (NumeralError, KeyError, IndexError):
        return None
    if "d_k" not in sizes and isinstance(square := power(factor, Fraction(-2)), Fraction) and square.denominator == 1:
        sizes["d_k"] = square  # a factor such as 1/8 that is the root of a whole number implies it
    if sizes.get("d_k") == 1 and factor == 1:
        del sizes["d_k"]
    return Inside(node, factor, masked, sizes)


def _parted(truth: Any, node: Binary) -> tuple[Node, Exact] | None:
    """A product or quotient with one number as its array and that number."""
    left, right = (evaluated(truth, side) for side in (node.left, node.right))
    if isinstance(left, tuple) and not isinstance(right, tuple) and right is not None:
        return node.left, power(right, Fraction(-1)) if node.op == "/" else right
    if isinstance(right, tuple) and not isinstance(left, tuple) and left is not None and node.op == "*":
        return node.right, left
    return None


def evaluated(truth: Any, node: Node) -> Any:
    """The exact value of a formula over the names of a sheet."""
    return truth.evaluate(node)


def _sizes(truth: Any, node: Node) -> Iterator[tuple[str, Fraction]]:
    """d_k from the product that the scores are, and d_model where its first factor is a projection."""
    if not (isinstance(node, Call) and node.function == "matmul" and len(node.args) == 2):
        return
    first = node.args[0]
    yield "d_k", Fraction(shape(evaluated(truth, first))[-1])
    for _ in range(MOST_STEPS):
        step = truth.sheet.step(first.label) if isinstance(first, Name | Reference) else None
        if step is None or step.formula is None:
            break
        first = step.formula
    if isinstance(first, Call) and first.function == "matmul" and len(first.args) == 2:
        yield "d_model", Fraction(shape(evaluated(truth, first.args[0]))[-1])

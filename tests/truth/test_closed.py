"""The definition over closed expressions gives what it gives over balls."""

from fractions import Fraction as F

import numpy as np
import pytest
from samples import matrix

from exactattn.attention.definition import stages
from exactattn.attention.sheet import FIRST_ORDER, Sheet, Step, StepName
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.numbers.balls import enclose
from exactattn.numbers.exact import power
from exactattn.numbers.expressions import parse_expression
from exactattn.truth.closed import Closed
from exactattn.truth.elements import Element
from exactattn.truth.ladder import Truth
from exactattn.truth.sheet import SheetTruth

SPECS = [
    AttentionSpec(),
    AttentionSpec(scale=power(F(3), F(-1, 2)), causal="top-left"),
    AttentionSpec(base=F(2), scale=F(1, 4)),
    AttentionSpec(orientation="columns"),
]


def problems(seed):
    """Random small problems, one of each spec."""
    draw = np.random.RandomState(seed)

    def rows(n, m):
        return matrix(draw.randint(-3, 4, (n, m)).tolist())

    for spec in SPECS:
        sizes = (3, 2) if spec.orientation == "rows" else (2, 3)
        head = Head(*(rows(*sizes) for _ in "qkv"))
        yield Problem((head,), rows(3, 3), spec=spec)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_stage_agrees_with_balls(seed):
    for problem in problems(seed):
        truth, closed = Truth(problem), stages(problem, Closed())
        for stage in filter(problem.has, Stage):
            for element in truth.elements(stage):
                x = closed[stage, element.head][element.place(problem)]
                if not truth.is_minus_infinity(element):
                    assert truth.value(element).meets(enclose(x)), (stage, element)


FORMULAS = {
    "q": "matmul(X, W_Q)",
    "k": "matmul(X, W_K)",
    "v": "matmul(X, W_V)",
    "scores": "matmul(q, T(k))",
    "scaled": "scores/sqrt(2)",
    "weights": "softmax(scaled)",
    "output": "matmul(weights, v)",
}


def as_sheet(problem):
    """The same problem as formulas: a second text, which only this test has."""
    inputs = {"X": problem.X} | {part: getattr(problem.heads[0], part) for part in ("W_Q", "W_K", "W_V")}
    steps = tuple(
        Step(StepName(name, FIRST_ORDER + i), parse_expression(text)) for i, (name, text) in enumerate(FORMULAS.items())
    )
    return Sheet(inputs, steps)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_formulas_give_what_the_definition_gives_also_after_prints(seed):
    problem = next(problems(seed))
    sheet = as_sheet(problem)
    by_name = {str(step.name): step.name for step in sheet.steps}
    given = {Element(Stage.SCALED, (1, 0)): F(7, 10), Element(Stage.WEIGHTS, (2, 2)): F(1, 2)}
    at_steps = {Element(by_name[e.stage.value], e.index): x for e, x in given.items()}
    for one, other in (
        (Truth(problem), SheetTruth(sheet)),
        (Truth(problem).following(given), SheetTruth(sheet).following(at_steps)),
    ):
        for name, step in by_name.items():
            for element in one.elements(Stage(name)):
                assert one.value(element).meets(other.value(Element(step, element.index))), (name, element.index)

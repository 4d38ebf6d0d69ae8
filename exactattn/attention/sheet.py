"""Sheets: named inputs, and steps that are formulas over them, for documents that compute something else than one head.

A document may start from scores, carry on a sum of exponentials, count parameters, or print one row of a product. Each
such step is a formula of its own over inputs, earlier steps and, where the case has a problem, the stages of that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from exactattn.attention.spec import Problem, Stage
from exactattn.numbers.enclosure import Interval
from exactattn.numbers.expressions import Node

SCALE = "scale"  # the step of a printed scale, such as 0.707, beside an attention problem
SCALE_ORDER = Stage.SCORES.order  # before what is scaled
FIRST_ORDER = 100  # steps come after all stages of attention in the data flow: no stage uses a step


@dataclass(frozen=True, slots=True)
class StepName:
    """What a step is called, its place in the data flow, and the stage of attention that it plays, if any."""

    name: str
    order: int
    role: Stage | None = None
    per_head: bool = False

    def __str__(self) -> str:
        """The name alone."""
        return self.name

    @property
    def value(self) -> str:
        """The name alone, as stages have it."""
        return self.name


Where = Stage | StepName


def role_of(stage: Where) -> Stage | None:
    """The stage of attention that a stage or step is."""
    return stage.role if isinstance(stage, StepName) else stage


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its name, its formula (None: what it is made from is not given), and other readings of it."""

    name: StepName
    formula: Node | None
    readings: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Inputs (nested tuples of exact numbers) and steps in the order of the data flow.

    boxes    free names in the inputs, which are known only to lie in an interval: digits that were rounded away, or
             the part of a vector that an ellipsis leaves out
    problem  an attention problem whose stages the formulas may name
    prints   what later formulas use for the steps that have none of their own: their printed numbers
    """

    inputs: Mapping[str, Any]
    steps: tuple[Step, ...] = ()
    boxes: Mapping[str, Interval] = field(default_factory=dict)
    problem: Problem | None = None
    prints: Mapping[str, Any] = field(default_factory=dict)

    def step(self, name: str) -> Step | None:
        """A step by its name."""
        return next((step for step in self.steps if step.name.name == name), None)

    def with_formula(self, name: StepName, formula: Node) -> Sheet:
        """The sheet with another formula for one step."""
        return replace(self, steps=tuple(Step(s.name, formula) if s.name == name else s for s in self.steps))

"""What kind of error a wrong number is, by the stage or formula it was said to be.

The kinds are those that a survey of published examples found: an invented weight for right scores, a wrong product, a
wrong exponential, a slip in a weighted sum, a last weight that completes its row, and what only carries on.
"""

from __future__ import annotations

from exactattn.attention.sheet import role_of
from exactattn.attention.spec import Stage
from exactattn.numbers.expressions import Call
from exactattn.numbers.trees import parts_below
from exactattn.truth.face import AnyTruth
from exactattn.truth.prints import Judged
from exactattn.truth.sheet import SheetTruth

OF_STAGE = {
    **dict.fromkeys((Stage.Q, Stage.K, Stage.V), "a wrong projection"),
    **dict.fromkeys((Stage.Q_READY, Stage.K_READY), "a wrong norm or rotation"),
    Stage.SCORES: "a wrong dot product",
    **dict.fromkeys((Stage.SCALED, Stage.MASKED), "a wrong scaling"),
    Stage.CAPPED: "a wrong softcap",
    Stage.WEIGHTS: "an invented weight: no usual reading explains its row",
    Stage.LSE: "a wrong log-sum-exp",
    Stage.CONTEXT: "a slip in the weighted sum",
    Stage.CONCAT: "a wrong copy",
    Stage.OUTPUT: "a slip in the weighted sum",
}
OF_FUNCTION = {"exp": "a wrong exponential", "matmul": "a wrong product", "total": "a wrong sum", "sum": "a wrong sum"}
COMPLEMENT = "a complement: 1 minus the other prints of its row"
UNFINISHED = "impossible for any rest of the unfinished vector"


def kind_of(truth: AnyTruth, item: Judged) -> str | None:
    """The kind of a wrong number; None for one that is right or undecided."""
    if not item.wrong:
        return None
    if item.reason == "propagated":
        return "carried on rounding" if item.origin == "rounding" else "inherited"
    if item.reason == "convention":
        return "another convention"
    if item.cell.bound:
        return "a bound that does not hold"
    if item.complement:
        return COMPLEMENT
    if not truth.sharpens(item.element):
        unfinished = isinstance(truth, SheetTruth) and truth.unfinished(item.element)
        return UNFINISHED if unfinished else "wrong for all inputs that round to those printed"
    role = role_of(item.element.stage)
    if role is Stage.OUTPUT and not item.after_prints:
        return "a wrong result, with no intermediate step printed"
    if role is Stage.WEIGHTS and item.readings:
        return "a wrong weight"
    return OF_STAGE[role] if role is not None else _of_formula(truth, item)


def _of_formula(truth: AnyTruth, item: Judged) -> str:
    step = truth.sheet.step(str(item.element.stage)) if isinstance(truth, SheetTruth) else None
    parts = () if step is None or step.formula is None else parts_below(step.formula)
    functions = [part.function for part in parts if isinstance(part, Call)]
    if any(function.endswith("softmax") for function in functions):
        return OF_STAGE[Stage.WEIGHTS]
    return next((OF_FUNCTION[f] for f in functions if f in OF_FUNCTION), "a slip in the arithmetic")

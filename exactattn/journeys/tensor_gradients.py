"""Gradients in a file against their enclosures: all rows, as a gradient of a key is a sum over all queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactattn.attention.spec import Stage
from exactattn.documents.specs import Inputs
from exactattn.errors import ProblemError
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import Format
from exactattn.numbers.near import Floats
from exactattn.truth.gradients import TensorGradients, enclose_gradients, enclose_gradients_by_balls
from exactattn.truth.outputs import format_of, per_head
from exactattn.truth.tally import Tally, measured

GRADIENTS = {"dq": "q", "dk": "k", "dv": "v", "dbias": "bias", "dsinks": "sinks"}
MOST_SCORES = 2**27  # that gradients are computed of where only some rows are asked for
BALL_SCORES = 2**14  # that balls are used for, which take all of it again

Enclosed = dict[str, FloatEnclosure]


@dataclass(slots=True)
class Judged:
    """One gradient: what was counted; or why it was not looked at.

    widest, scale  the largest radius, and the largest value; undefined: elements with no true value
    """

    role: str
    name: str | None = None
    tally: Tally | None = None
    why_not: str | None = None
    widest: float = 0.0
    scale: float = 0.0
    undefined: int = 0
    engine: str = "midradius"


def unjudged_gradients(inputs: Inputs) -> list[Judged]:
    """Each gradient of the file that nothing can be said of, as the gradient of the output is missing."""
    why = "needs the gradient of the output, which no file holds: name it under `tensors:` as output_gradient"
    names = {role: inputs.names[role] for role in GRADIENTS if role in inputs.arrays}
    return [Judged(role, name, why_not=f"{role} is not judged; it {why}") for role, name in names.items()]


def judged_gradients(
    inputs: Inputs, rows: int | None, fmt: Format | None, bounds: tuple[float, ...], workers: int
) -> list[Judged]:
    """Each gradient of the file against its enclosure; dq, dk and dv where the file has none.

    Errors: ProblemError for a gradient of another shape.
    """
    tensors = inputs.tensors
    scores = sum(head.lengths[0] * head.lengths[1] for head in tensors.heads)
    wanted = [role for role in GRADIENTS if role in inputs.arrays]
    shown = wanted or ["dq", "dk", "dv"]
    if rows is not None and scores > MOST_SCORES:
        why = f"gradients need all {scores} scores, and only some rows were asked for: ask with --rows all"
        return [Judged(role, inputs.names.get(role), why_not=why) for role in shown]
    given = inputs.arrays["output_gradient"]
    per_head(tensors, given, Stage.CONTEXT, inputs.names["output_gradient"])
    bias = "dbias" in wanted

    def midradius(sharp: bool) -> TensorGradients:
        return enclose_gradients(tensors, given, bias=bias, sharp=sharp, workers=workers)

    ways: list[tuple[str, Callable[[], TensorGradients]]] = [
        ("midradius", lambda: midradius(False)),
        ("midradius, sharp", lambda: midradius(True)),
    ]
    if scores <= BALL_SCORES:
        ways.append(("ball", lambda: enclose_gradients_by_balls(tensors, given, bias=bias)))
    done: list[Judged] = []
    open_ = list(shown)
    for engine, enclosed in ways:
        parts = _parts(enclosed(), open_)
        found = [_judged(inputs, role, part, fmt, bounds, engine) for role, part in parts.items()]
        last = engine == ways[-1][0]
        done += [one for one in found if last or one.tally is None or one.tally.open + one.tally.unclear == 0]
        open_ = [one.role for one in found if one not in done]
        if not open_:
            break
    done += [Judged(role, inputs.names.get(role), why_not=_absent(role)) for role in shown if role not in _roles(done)]
    return sorted(done, key=lambda one: shown.index(one.role))


def _roles(done: list[Judged]) -> list[str]:
    return [one.role for one in done]


def _absent(role: str) -> str:
    return f"the problem has no {GRADIENTS[role]}, so there is no gradient of it"


def _parts(gradients: TensorGradients, roles: list[str]) -> Enclosed:
    """Those enclosures that are asked for and there."""
    parts = {role: getattr(gradients, GRADIENTS[role]) for role in roles}
    return {role: part for role, part in parts.items() if part is not None}


def _judged(
    inputs: Inputs, role: str, found: FloatEnclosure, fmt: Format | None, bounds: tuple[float, ...], engine: str
) -> Judged:
    """One gradient against one enclosure."""
    array, name = inputs.arrays.get(role), inputs.names.get(role)
    defined = ~np.isnan(found.mid)
    out = Judged(role, name, engine=engine, undefined=int((~defined).sum()))
    out.widest = float(found.rad[defined].max(initial=0.0))
    out.scale = float(np.abs(found.mid[defined]).max(initial=0.0))
    if array is None:
        return out
    own = format_of(array, role)
    data = _shaped(array, found, name or role)
    out.tally = Tally(fmt or own, bounds)
    out.tally.add(data, measured(found, data), defined, lambda place: place)
    return out


def _shaped(array: Any, found: FloatEnclosure, name: str) -> Floats:
    """The floats of a gradient in the shape of its enclosure, which may have more axes of length 1 in front."""
    wanted = found.shape
    if array.shape != wanted and array.size == found.mid.size and wanted[len(wanted) - array.ndim :] == array.shape:
        array = array.reshape(wanted)
    if array.shape != wanted:
        raise ProblemError(f"{name} has shape {array.shape}, wanted {wanted}")
    return np.asarray(array, dtype=np.float64)

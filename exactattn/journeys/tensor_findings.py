"""The findings of `exactattn report`: what the problem is, its truth, and how far the floats of a file are from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import isfinite
from typing import Any

import numpy as np

from exactattn.attention.spec import Stage
from exactattn.documents.specs import Inputs
from exactattn.documents.tensor_names import shape_words
from exactattn.findings import Finding, Level, Verdict, name_index
from exactattn.journeys.looked import Looked
from exactattn.journeys.spec_words import plural, sizes_in_words, spec_in_words
from exactattn.journeys.tensor_codes import CODES
from exactattn.journeys.tensor_gradients import Judged
from exactattn.numbers.near_functions import ASSUMPTIONS
from exactattn.truth.not_finite import elements_of
from exactattn.truth.one_head import Rows
from exactattn.truth.tally import HALF, ONE, Tally

__all__ = ["CODES", "Judged", "Looked", "Told", "findings_of"]

CHECK = "tensors"
NOT_KNOWN = "midradius knows nothing of some elements"
PROOF = "enclosures by midradius under the assumptions listed, sharper ones where needed, then Arb balls"


@dataclass(frozen=True, slots=True)
class Told:
    """Where the numbers of a report come from: inputs, spec file, digests of files, rows and seed of the draw, and the
    bound in ulps that was asked for."""

    inputs: Inputs
    spec: str
    digests: Mapping[str, str]
    rows: int | None
    seed: int
    within: float | None


def findings_of(
    told: Told, rows: Sequence[Rows], looked: Sequence[Looked], gradients: Sequence[Judged], skipped: Sequence[str]
) -> Iterator[Finding]:
    """Everything that is to be said, in order."""
    yield _problem(told, rows, skipped)
    yield from _bad_inputs(told, rows)
    for one in looked:
        yield _truth(one)
        if one.undefined:
            yield _undefined(one)
        if one.tally is None:
            continue
        if one.given:
            more = _beside(one)
            draw = _draw(told, rows, one)
            yield from _accuracy(one.role, told.inputs.names[one.role], one.tally, told.within, draw, **more)
            yield from _left(one)
        else:
            yield _rounded(one, _draw(told, rows, one))
    for gradient in gradients:
        yield from _gradient(gradient, told.within)
    tallies = [one.tally for one in looked if one.given] + [one.tally for one in gradients]
    if told.within is not None and not any(tally.total + tally.groundless for tally in tallies if tally):
        yield _nothing(told, [one.role for one in looked if one.given])


def _finding(code: str, id: str, message: str, verdict: Verdict = Verdict.HOLDS, **more: Any) -> Finding:
    level = more.pop("level", Level.NOTE if verdict is Verdict.HOLDS else Level.ERROR)
    reason = more.pop("reason", None)
    kept = {key: value for key, value in more.items() if value is not None and value not in ({}, [], "")}
    return Finding(id, CHECK, code, level, verdict, message, reason, evidence=kept)


def _problem(told: Told, rows: Sequence[Rows], skipped: Sequence[str]) -> Finding:
    inputs, tensors = told.inputs, told.inputs.tensors
    total = sum(head.lengths[0] for head in tensors.heads)
    looked = sum(map(len, rows))
    draw = "all rows" if looked == total else f"{looked} of {total} rows, drawn with seed {told.seed}"
    mask = inputs.arrays.get("mask")
    kinds = {role: str(array.dtype) for role, array in inputs.arrays.items() if role in ("q", "k", "v")}
    types = (
        next(iter(kinds.values())) if len(set(kinds.values())) == 1 else ", ".join(f"{a} {b}" for a, b in kinds.items())
    )
    return _finding(
        "EA510",
        "problem",
        f"attention with {sizes_in_words(tensors)}, in {types}; {draw}",
        tensors={
            role: f"{inputs.names[role]} ({array.dtype}, {shape_words(array.shape)})"
            for role, array in inputs.arrays.items()
        },
        layout=tensors.layout,
        spec=spec_in_words(tensors.spec, tensors.heads[0].q.shape[1]),
        mask=None if mask is None else _mask_words(mask, told),
        spec_file=told.spec,
        digests=dict(told.digests),
        not_used=list(inputs.unused),
        not_judged=list(skipped),
    )


def _draw(told: Told, rows: Sequence[Rows], one: Looked) -> str:
    """How many rows were judged, where that is not all."""
    total, drawn = sum(head.lengths[0] for head in told.inputs.tensors.heads), sum(map(len, rows))
    if drawn == total:
        return ""
    more = one.beside.more if one.beside else 0
    beside = f", and {more} more {'that is' if more == 1 else 'that are'} not finite" if more else ""
    return f" ({drawn} of {total} rows, seed {told.seed}{beside})"


def _beside(one: Looked) -> dict[str, Any]:
    """What is not finite of the whole tensor."""
    if one.beside is None or not one.beside.elements:
        return {}
    return {"not_finite_in_the_whole_tensor": one.beside.elements, "rows_judged_for_it": one.beside.more or None}


def _left(one: Looked) -> Iterator[Finding]:
    """Rows with a NaN or an infinity that were too many to be judged."""
    left = one.beside.left if one.beside else 0
    if left:
        message = f"{one.role}: {plural(left, 'more row')} with a NaN or an infinity not judged: ask with --rows all"
        yield _finding("EA515", f"finite-left:{one.role}", message, Verdict.UNDECIDED)


def _bad_inputs(told: Told, rows: Sequence[Rows]) -> Iterator[Finding]:
    """What is not finite of the inputs, where not every row is looked at."""
    if sum(map(len, rows)) == sum(head.lengths[0] for head in told.inputs.tensors.heads):
        return
    roles = [role for role in ("q", "k", "v", "past_key", "past_value") if role in told.inputs.arrays]
    counts = {role: elements_of(told.inputs.arrays[role]) for role in roles}
    lost = ", ".join(f"{plural(count, 'element')} of {role}" for role, count in counts.items() if count)
    if lost:
        message = f"NaN or infinite: {lost}; rows in which one takes part have no true value, drawn or not"
        yield _finding("EA512", "undefined:inputs", message, Verdict.FAILS, level=Level.WARNING, reason="undefined")


def _nothing(told: Told, given: Sequence[str]) -> Finding:
    """A bound was set, and there is nothing that it could be about."""
    if given:
        message = f"nothing was judged, so --within says nothing: no element of {', '.join(given)} has a true value"
    else:
        unused = told.inputs.unused
        example = f"`tensors: {{output: {unused[0] if unused else 'NAME'}}}`"
        message = "nothing was judged, so --within says nothing: found no output, lse, weights or gradient to judge; "
        message += f"say in a spec which tensor is the output ({example}); gradients need output_gradient"
    return _finding("EA518", "within", message, Verdict.NOT_RUN, level=Level.WARNING)


def _mask_words(mask: Any, told: Told) -> str:
    if mask.dtype != np.bool_:
        return "floats are added to the scores, -inf blocks"
    polarity = told.inputs.polarity
    return "true lets a query see a key" if polarity == "attend" else "true keeps a query from a key"


def _truth(one: Looked) -> Finding:
    radii = np.concatenate(one.radii) if one.radii else np.empty(0)
    unit = " of max|v|" if one.stage is Stage.CONTEXT else ""
    evidence: dict[str, Any] = {"rows": one.rows, "engine_of_first_look": "midradius"}
    if len(radii):
        median, largest = (_up(float(x), unit) for x in (np.median(radii), radii.max()))
        evidence["radius"] = {"median": median, "largest": largest}
        said = f"the radius of a row is at most {largest}, of half of them at most {median}"
    else:
        said = "no row has a value that midradius knows" if one.rows else "there is no row"
    unknown = f"; midradius knows nothing of {plural(one.unknown, 'row')}" if one.unknown else ""
    return _finding(
        "EA511",
        f"truth:{one.stage}",
        f"{one.stage} proven by midradius: {said}{unknown}",
        Verdict.UNDECIDED if one.unknown and one.tally is None else Verdict.HOLDS,
        level=Level.NOTE,
        **evidence,
        assumptions=dict(ASSUMPTIONS),
        proof=PROOF,
    )


def _undefined(one: Looked) -> Finding:
    why = [
        *([f"{one.no_key} with no allowed key"] if one.no_key else []),
        *([f"{one.not_finite} in which a NaN or an infinity takes part"] if one.not_finite else []),
    ]
    lost = f"{one.undefined} of {plural(one.rows, 'row')} {_have(one.undefined)}"
    return _finding(
        "EA512",
        f"undefined:{one.stage}",
        f"{lost} no {one.stage}: {', '.join(why)}; not judged",
        Verdict.FAILS,
        level=Level.WARNING,
        reason="undefined",
    )


def _accuracy(
    role: str, name: str, tally: Tally, within: float | None, draw: str = "", **more: Any
) -> Iterator[Finding]:
    """How close, whether within what was asked for, and what is not finite without reason."""
    total = tally.total
    counts = {bound: tally.within.get(bound, [0, 0, 0]) for bound in (HALF, ONE)}
    largest = _largest(tally)
    message = (
        f"{role}: {counts[HALF][0]} of {plural(total, 'element')} within 1/2 ulp of {tally.fmt.name}, {counts[ONE][0]} "
        f"within 1 ulp{_not_finite(tally)}{draw}; largest error {largest}"
    )
    open_ = tally.open + tally.unclear
    evidence: dict[str, Any] = {
        "tensor": name,
        "format": tally.fmt.name,
        "within_half_ulp": _counts(counts[HALF]),
        "within_one_ulp": _counts(counts[ONE]),
        "largest_error_ulps": [_down(tally.least), _up(tally.most)] if tally.elements else None,
        "largest_absolute_error": _up(tally.largest) if tally.elements else None,
        "no_true_value": tally.undefined or None,
        "not_finite": tally.infinite or None,
        "rows_by_engine": {engine: count for engine, count in tally.rows.items() if count} or None,
        **_worst(role, tally),
        **more,
    }
    verdict = Verdict.HOLDS if not open_ else Verdict.UNDECIDED
    message += f"; {open_} cannot be told" if open_ else ""
    yield _finding("EA513", f"accuracy:{role}", message, verdict, level=Level.NOTE, **evidence)
    if tally.unfounded:
        where = name_index(role, *(tally.unfounded_at or ()))
        yield _finding(
            "EA515",
            f"finite:{role}",
            f"{plural(tally.unfounded, 'element')} of {role} {_be(tally.unfounded)} NaN or infinite "
            f"where the true value is within the range of {tally.fmt.name}, the first at {where}",
            Verdict.FAILS,
            reason="not-finite",
            count=tally.unfounded,
            first=where,
        )
    if within is not None:
        yield _bound(role, tally, within)


def _bound(role: str, tally: Tally, within: float) -> Finding:
    yes, no, open_ = tally.within.get(within, [0, 0, 0])
    wanted = f"{within:g} ulp of {tally.fmt.name}"
    total = plural(tally.total, "element")
    if not tally.total + tally.groundless:
        message = f"{role}: no element has a true value, so none can be within {wanted}"
        return _finding("EA514", f"within:{role}", message, Verdict.NOT_RUN, level=Level.WARNING)
    if no:
        message = f"{no} of {total} of {role} {_be(no)} more than {wanted} off{_not_finite(tally)}"
        message += f"; largest error {_largest(tally)}"
        return _finding("EA514", f"within:{role}", message, Verdict.FAILS, reason="too-far", **_worst(role, tally))
    if tally.unfounded:
        message = f"{yes} of {total} of {role} {_be(yes)} within {wanted}{_not_finite(tally)}"
        return _finding("EA514", f"within:{role}", message, Verdict.FAILS, reason="not-finite")
    if open_ + tally.unclear:
        message = f"{role}: {open_ + tally.unclear} of {total} cannot be told to be within {wanted}"
        return _finding("EA514", f"within:{role}", message, Verdict.UNDECIDED)
    if tally.groundless:
        lost = f"{plural(tally.groundless, 'element')} {_be(tally.groundless)} finite where there is no true value"
        message = f"{role}: {lost}; {yes} of {total} with one {_be(yes)} within {wanted}"
        return _finding("EA514", f"within:{role}", message, Verdict.UNDECIDED)
    past = f", and {tally.infinite} infinite as {_have(tally.infinite)} to be" if tally.infinite else ""
    return _finding("EA514", f"within:{role}", f"all {plural(yes, 'element')} of {role} are within {wanted}{past}")


def _not_finite(tally: Tally) -> str:
    """How many elements with a true value are NaN, and how many infinite."""
    counts = (("NaN", tally.nans), ("infinite", tally.infinite - tally.nans))
    return "".join(f", {count} {_be(count)} {what}" for what, count in counts if count)


def _be(count: int) -> str:
    return "is" if count == 1 else "are"


def _rounded(one: Looked, draw: str) -> Finding:
    """What a correctly rounded result would be."""
    tally = one.tally
    assert tally is not None
    yes, no, open_ = tally.within.get(HALF, [0, 0, 0])
    message = f"{one.stage} rounded to {tally.fmt.name}: {yes} of {plural(tally.elements, 'element')} proven{draw}"
    message += f"; {open_ + no} cannot be told, so near are they to a tie" if open_ + no else ""
    return _finding(
        "EA516",
        f"rounded:{one.stage}",
        message,
        Verdict.UNDECIDED if open_ + no else Verdict.HOLDS,
        level=Level.NOTE,
        format=tally.fmt.name,
        largest_error_ulps=[_down(tally.least), _up(tally.most)] if tally.elements else None,
        rows_by_engine={engine: count for engine, count in tally.rows.items() if count} or None,
        **_worst(str(one.stage), tally),
    )


def _gradient(one: Judged, within: float | None) -> Iterator[Finding]:
    """One gradient: not run, its truth alone, or how far it is off."""
    if one.why_not is not None:
        yield _finding("EA517", f"gradient:{one.role}", one.why_not, Verdict.NOT_RUN, level=Level.WARNING)
        return
    known = isfinite(one.widest)
    radius = {"largest_radius": _up(one.widest), "largest_value": f"{one.scale:.3g}"} if known else {}
    if one.tally is None:
        said = f"the largest radius is {_up(one.widest)}, the largest value {one.scale:.3g}" if known else NOT_KNOWN
        lost = (
            f"; {plural(one.undefined, 'element')} of it {_have(one.undefined)} no true value" if one.undefined else ""
        )
        verdict = Verdict.HOLDS if known else Verdict.UNDECIDED
        message = f"{one.role} proven by {one.engine}: {said}{lost}"
        yield _finding("EA517", f"gradient:{one.role}", message, verdict, level=Level.NOTE)
        return
    yield from _accuracy(one.role, one.name or one.role, one.tally, within, engine_used=one.engine, **radius)


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _worst(role: str, tally: Tally) -> dict[str, Any]:
    """Where the largest error is."""
    if tally.at is None:
        return {}
    where = name_index(role, *tally.at)
    return {"largest_error_at": f"{where}: {tally.computed!r}, near the true {tally.near:.12g}"}


def _largest(tally: Tally) -> str:
    """The largest error as an enclosure, and where it is."""
    if not tally.elements:
        return "none, as nothing is judged"
    low, high = _down(tally.least), _up(tally.most)
    where = "" if tally.at is None else f" at [{','.join(map(str, tally.at))}]"
    if not isfinite(tally.most):
        return f"at least {low} ulp{where}, and not bounded"
    return f"{low if low == high else f'between {low} and {high}'} ulp{where}"


def _counts(counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(("yes", "no", "cannot_tell"), counts, strict=True))


def _up(x: float, unit: str = "") -> str:
    """Three digits, no less than x."""
    return _digits(x, ROUND_CEILING) + unit


def _down(x: float) -> str:
    """Three digits, no more than x."""
    return _digits(x, ROUND_FLOOR)


def _digits(x: float, rounding: str) -> str:
    if not isfinite(x):
        return str(x)
    number = Context(prec=3, rounding=rounding).create_decimal(Decimal(x))
    return (
        format(number.normalize(), "f")
        if -3 <= number.adjusted() < 7 or not number
        else str(number.normalize()).lower()
    )

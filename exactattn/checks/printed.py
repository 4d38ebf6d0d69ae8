"""Check `printed`: every number that an author printed for a stage, judged by the rules of `truth.judge`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict, as_text, name_index
from exactattn.numbers.balls import FIRST_BITS, MOST_BITS, enclose
from exactattn.numbers.enclosure import Interval, outward, significant
from exactattn.truth.face import AnyTruth
from exactattn.truth.kinds import kind_of
from exactattn.truth.prints import Judged, Row, is_noise

DIGITS = 8  # of the ends of what is known only to lie between them
CODE_OF = {"new": "EA102", "propagated": "EA103", "convention": "EA104"}


class Printed:
    """Is each printed number right, and if not, is the error new, inherited, or another reading?"""

    name = "printed"
    CODES = {
        "EA101": "A printed number is right: `exact` (equal to the true value), `rounded` (within half a unit of its "
        "last printed digit; a tie may go either way), `float-noise` (at least 15 significant digits and within 4 ulp "
        "of float64, or, where the block says `dtype: float32`, 7 digits and 4 ulp of float32), or "
        "`truncated` (the true value cut toward zero, unless it follows exactly or rounded from earlier prints, which "
        "comes first). `by_accident` says that it is right although it rests on an "
        "earlier wrong print.",
        "EA102": "A printed number is wrong, and neither the author's earlier prints nor another reading explains it: "
        "the error is new at this step. Replace it by the true value given; later numbers that rest on it change too.",
        "EA103": "A printed number is wrong against the exact inputs but follows from the author's own earlier prints. "
        "`origin: wrong` means that an earlier wrong print is the cause, which is named: mend that one first. "
        "`origin: rounding` means that only intermediate rounding was carried on: keep more digits between the steps.",
        "EA104": "A printed number is wrong under the stated reading and right under one other (its scale, or the base "
        "of its exponential). State that reading, or compute again under the stated one.",
        "EA105": "It cannot be told whether a printed number is right: the true value is undefined (a query with no "
        "allowed key), or too near a boundary to decide at the stated limit of precision.",
        "EA107": "A printed block mixes rounded and truncated numbers. Each is right by its own rule; say which rule "
        "the text follows, or round all of them.",
        "EA108": "A printed weight equals 1 minus the other printed weights of its row: it was probably filled in to "
        "make the row sum to 1, and carries the rounding errors of all the others. Compute it from its own score.",
    }

    def run(self, bench: Bench) -> Iterator[Finding]:
        """One finding a printed number, and remarks on blocks."""
        for item in bench.judged:
            yield self._finding(bench, item)
        yield from self._complements(bench)
        yield from self._mixtures(bench)

    def _finding(self, bench: Bench, item: Judged) -> Finding:
        id = element_id(bench, item)
        if item.cell.value is None or bench.referee.is_minus_infinity(item.element):
            return self._masked(bench, item, id)
        unknown = bench.referee.unknown(item.element)
        if unknown is not None:
            return bench.finding(
                self, "EA105", id, Verdict.UNDECIDED,
                f"printed {item.cell.text}, but {unknown}, so there is no true value",
                level=Level.WARNING, where=item.cell.where, printed=item.cell.text, true=None,
            )  # fmt: skip
        code = "EA101" if item.verdict is Verdict.HOLDS else CODE_OF.get(item.reason or "", "EA105")
        evidence = self._evidence(bench, item)
        carried = item.reason == "propagated" and item.origin == "rounding"
        return bench.finding(
            self, code, id, item.verdict, _message(item, evidence),
            level=Level.WARNING if carried or item.verdict is Verdict.UNDECIDED else Level.ERROR,
            reason=item.reason, where=item.cell.where, readings=item.readings, **evidence,
        )  # fmt: skip

    def _masked(self, bench: Bench, item: Judged, id: str) -> Finding:
        """A print of -inf, or of a score whose key is not allowed."""
        holds, printed = item.verdict is Verdict.HOLDS, item.cell.text
        hidden = bench.referee.is_minus_infinity(item.element)
        true = "-inf" if hidden else decimal(bench.referee, item, bench.digits)[0]
        why = "the key is not allowed" if hidden else "the key is allowed"
        message = f"{printed} is exact: {why}" if holds else f"{printed} is wrong: {why}, so the true value is {true}"
        return bench.finding(
            self, "EA101" if holds else "EA102", id, item.verdict, message,
            reason=item.reason, where=item.cell.where, printed=printed, true=true, block=item.block.name,
            stage=str(item.block.stage),
        )  # fmt: skip

    def _evidence(self, bench: Bench, item: Judged) -> dict[str, Any]:
        true, value, bits = decimal(bench.referee, item, bench.digits)
        more = {
            "kind": kind_of(bench.referee, item),
            "true_from_constants": None if item.from_constants is None else short(item.from_constants),
            "reading": item.closest_reading if item.reason == "convention" else None,
        }
        return {key: x for key, x in more.items() if x is not None} | {
            "printed": item.cell.text,
            "times": item.block.times,
            "true": true,
            "enclosure": list(outward(value, bench.digits + 2)),
            "closed_form": None if item.verdict is Verdict.HOLDS else bench.referee.closed_form(item.element),
            "error_units": error_units(item, value),
            "follows": None if item.follows is None else short(item.follows),
            "origin": item.origin,
            "first_wrong": None if item.first_wrong is None else row_name(bench, item.first_wrong),
            "rests_on": [row_name(bench, row) for row in item.rests_on],
            "float32": item.reason == "new" and item.block.dtype is None and is_noise(bench.referee, item, "float32"),
            "by_accident": item.by_accident,
            "tie": item.tie,
            "block": item.block.name,
            "stage": str(item.block.stage),
            "engine": "ball",
            "bits": bits,
        }

    def _complements(self, bench: Bench) -> Iterator[Finding]:
        """Weights that are wrong and equal 1 minus the other prints of their row."""
        for item in bench.judged:
            if item.complement:
                yield bench.finding(
                    self, "EA108", f"complement:{element_id(bench, item)}", Verdict.HOLDS,
                    f"{element_id(bench, item, plain=True)} = {item.cell.text} is 1 minus the other weights "
                    "printed in its row, so it carries their rounding errors", where=item.cell.where,
                )  # fmt: skip

    def _mixtures(self, bench: Bench) -> Iterator[Finding]:
        blocks: dict[str, set[str | None]] = {}
        for item in bench.judged:
            either = item.cut and item.reason == "rounded"
            blocks.setdefault(item.block.name, set()).add("either" if either else item.reason)
        for name, reasons in blocks.items():
            if {"rounded", "truncated"} <= reasons:
                yield bench.finding(
                    self, "EA107", f"mixed:{name}", Verdict.HOLDS,
                    f"{name} mixes rounded and truncated numbers; each is right by its own rule",
                )  # fmt: skip


def element_id(bench: Bench, item: Judged, plain: bool = False) -> str:
    """NAME[head,row,column], the head only where the problem declares several."""
    head = item.element.head if bench.several_heads and item.element.stage.per_head else None
    text = name_index(item.block.name, head, *item.element.index)
    return bench.id(text) if plain else text


def row_name(bench: Bench, row: Row) -> str:
    """NAME[row,:] of a printed row."""
    if row.index < 0:
        return bench.id(row.name)
    head = f"{row.head}," if bench.several_heads else ""
    return bench.id(f"{row.name}[{head}{row.index},:]")


def decimal(truth: AnyTruth, item: Judged, digits: int) -> tuple[str, Interval, int]:
    """The true value correctly rounded to so many digits, the enclosure and its bits."""
    bits = FIRST_BITS
    while True:
        value = truth.value(item.element, bits)
        assert value is not None
        if value.lower == value.upper:
            return as_text(value.lower) or "", value, bits
        text = value.decimal(digits)
        if text is not None or bits >= MOST_BITS or not truth.sharpens(item.element):
            return text or " to ".join(outward(value, digits if truth.sharpens(item.element) else DIGITS)), value, bits
        bits *= 4


def error_units(item: Judged, value: Interval) -> str | None:
    """printed - true in units of the last printed digit, to three digits."""
    if item.cell.unit is None or item.reason in ("exact", "digits"):
        return None
    x, h = enclose(item.cell.number).midpoint, enclose(item.cell.unit).midpoint
    nearest = min(max(x, value.lower), value.upper) if value.lower < value.upper else value.lower
    return significant((x - nearest) / h, 3)  # for the eye: three digits of 38


def short(value: Interval, digits: int = 12) -> str:
    """A value to a few digits, exact where it is a short rational."""
    if value.lower == value.upper:
        text = as_text(value.lower) or ""
        return text if len(text) <= digits + 2 else significant(value.lower, digits)
    return value.decimal(digits) or " to ".join(outward(value, digits))


def _message(item: Judged, evidence: dict[str, Any]) -> str:
    printed, true = item.cell.text, evidence["true"]
    if item.reason == "exact":
        return f"{printed} is exact"
    off = f", off by {evidence['error_units']} units of its last digit" if evidence["error_units"] else ""
    if item.verdict is Verdict.HOLDS:
        tie = ", a tie" if item.tie else ""
        accident = ", by accident: it rests on an earlier wrong number" if item.by_accident else ""
        return f"{printed} is right ({item.reason}{tie}{accident}): true value {true}"
    if item.reason == "propagated" and item.origin == "wrong":
        return (
            f"{printed} is wrong{off}: true value {true}; it follows from {evidence['first_wrong']}, "
            "where the error began"
        )
    if item.reason == "propagated":
        return f"{printed} carries on rounding{off}: true value {true}; it follows from rounded earlier numbers"
    if item.reason == "convention":
        return f"{printed} is wrong as stated{off}: true value {true}; it is right under {item.closest_reading}"
    if item.reason == "new":
        rests = " and ".join(evidence["rests_on"])
        why = f"it rests on {rests} but does not follow from it" if rests else "no earlier number explains it"
        why += f"; kind: {evidence['kind']}"
        why += f", unless {' or '.join(item.readings)} was meant" if item.readings else ""
        hint = "; it is right as a float32 print: state `dtype: float32`" if evidence["float32"] else ""
        return f"{printed} is wrong{off}: true value {true}; {why}{hint}"
    if item.reason == "digits":
        return f"cannot tell from these digits whether {printed} is right: the true value lies from {true}"
    return f"cannot tell whether {printed} is right: true value near {true}"


CHECK = Printed()

"""Evidence as labelled lines: any key is shown, the usual ones in a good order and in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from exactattn.findings import Finding

LABELS = {
    "printed": "printed",
    "times": "times",
    "true": "true value",
    "error_units": "off by",
    "closed_form": "closed form",
    "enclosure": "proven in",
    "follows": "earlier prints give",
    "first_wrong": "began at",
    "rests_on": "rests on",
    "origin": "origin",
    "threshold": "threshold",
    "by_accident": "right by accident",
    "tie": "a tie",
}
LAST = ("remedy",)
HIDDEN = frozenset({"block", "stage", "index", "engine", "bits"})


@dataclass(frozen=True, slots=True)
class Line:
    """One labelled line of evidence; `literal` for numbers and formulas."""

    label: str
    text: str
    literal: bool = True


def details(finding: Finding) -> list[Line]:
    """What a reader needs beyond the message: evidence that the message does not say already, then readings."""
    known = [key for key in LABELS if key in finding.evidence]
    other = [key for key in finding.evidence if key not in LABELS and key not in HIDDEN and key not in LAST]
    lines = []
    for key in [*known, *other, *(key for key in LAST if key in finding.evidence)]:
        value = finding.evidence[key]
        text = plain(value)
        if text and (len(text) < 2 or text not in finding.message):
            text = SHOWN[key](finding, value, text) if key in SHOWN else text
            lines += [Line(LABELS.get(key, _words(key)), text, _is_literal(value))] if text else []
    if finding.readings:
        lines.append(Line("whole stage right under", ", ".join(finding.readings)))
    return lines


def _enclosure(finding: Finding, value: Any, text: str) -> str:
    """Both ends and who proved them; nothing when they are one number."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return text
    engine, bits = finding.evidence.get("engine"), finding.evidence.get("bits")
    by = f" ({engine}{f', {bits} bits' if bits else ''})" if engine else ""
    return "" if value[0] == value[1] else f"[{text}]{by}"


def _units(finding: Finding, value: Any, text: str) -> str:  # noqa: ARG001 - as `_enclosure`
    return f"{text} units of the last printed digit"


SHOWN: Mapping[str, Callable[[Finding, Any, str], str]] = {
    "enclosure": _enclosure,
    "error_units": _units,
}


def _is_literal(value: Any) -> bool:
    """Numbers and formulas are literal, sentences are prose."""
    return not (isinstance(value, str) and value.count(" ") > 3 and value[:1].isalpha())


def plain(value: Any, inner: bool = False) -> str:
    """Any JSON value as text; what is absent or untrue is empty."""
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, Mapping):
        parts = [f"{key}: {plain(item, True) or '-'}" for key, item in value.items()]
        text = (", " if inner else "; ").join(parts)
        return f"({text})" if inner else text
    if isinstance(value, (list, tuple)):
        text = ", ".join(plain(item, True) or "-" for item in value)
        return f"[{text}]" if inner else text
    return str(value)


def _words(key: str) -> str:
    return str(key).replace("_", " ")

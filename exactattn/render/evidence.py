"""Evidence as labelled lines: any key is shown, the usual ones in a good order and in words.

What the message says already, what is empty and what counts nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    "true_from_constants": "printed constants give",
    "follows": "earlier prints give",
    "first_wrong": "began at",
    "rests_on": "rests on",
    "origin": "origin",
    "threshold": "threshold",
    "by_accident": "right by accident",
    "tie": "a tie",
    "proof": "proven by",
    "agree_for_d_k": "agree for d_k",
}
LAST = ("proof", "remedy")
HIDDEN = frozenset({"excerpt", "block", "stage", "index", "engine", "bits", "offset", "run_engine"})
SAID_BY = {"error": "off by", "error_in_units": "units of", "error_units": "off by"}  # key: the words that say it too
_PAUSE = re.compile(r"[,:;] ")  # in an item it would read as the next item
_OURS = re.compile(r"[a-z]{2,}(_[a-z0-9.]+)*")
INLINE = 60  # a list or mapping of at most so many characters stands on one line


@dataclass(frozen=True, slots=True)
class Line:
    """One line of evidence, with a label or as an item of a list, and the lines under it.

    `literal` for numbers and formulas.
    """

    label: str
    text: str = ""
    literal: bool = True
    parts: tuple[Line, ...] = ()

    def leaves(self) -> Iterator[str]:
        """Every text in it."""
        if self.text:
            yield self.text
        for part in self.parts:
            yield from part.leaves()


def details(finding: Finding) -> list[Line]:
    """What a reader needs beyond the message, then the readings."""
    known = [key for key in LABELS if key in finding.evidence and key not in LAST]
    other = [key for key in finding.evidence if key not in LABELS and key not in HIDDEN and key not in LAST]
    lines: list[Line] = []
    said = finding.message
    for key in [*known, *other, *(key for key in LAST if key in finding.evidence)]:
        if SAID_BY.get(key, "\n") in finding.message or _counts_what_is_listed(key, finding.evidence):
            continue
        line = SHOWN.get(key, _as_it_is)(LABELS.get(key, words(str(key))), finding.evidence[key], finding)
        if line is not None and not all(_is_said(leaf, said) for leaf in line.leaves()):
            lines.append(line)
            said += "\n" + "\n".join(line.leaves())
    if finding.readings:
        lines.append(Line("whole stage right under", ", ".join(finding.readings)))
    return lines


def brief(lines: Iterable[Line], instead: str) -> list[Line]:
    """The same with a word in place of tables within tables."""
    return [
        Line(line.label, instead, literal=False) if any(part.parts for part in line.parts) else line for line in lines
    ]


def words(key: str) -> str:
    """A key as a label; names such as e_ij and W_O stay."""
    return key.replace("_", " ") if _OURS.fullmatch(key) else key


def line_of(label: str, value: Any) -> Line | None:
    """Any JSON value under a label; None when there is nothing in it."""
    if isinstance(value, Mapping):
        return _mapping(label, value)
    if isinstance(value, (list, tuple)):
        return _listing(label, value)
    text = scalar(value)
    return Line(label, text, _is_literal(text)) if text else None


def scalar(value: Any) -> str:
    """A plain JSON value as text; what is absent or untrue is empty."""
    if value is None or value is False:
        return ""
    return "yes" if value is True else str(value)


def _mapping(label: str, value: Mapping[str, Any]) -> Line | None:
    """On one line where it is short, else one line a key."""
    if value.get("count", 1) == 0:
        return None
    kept = ((key, item) for key, item in value.items() if not _counts_what_is_listed(key, value))
    parts = tuple(part for key, item in kept if (part := line_of(words(str(key)), item)) is not None)
    if not parts:
        return None
    flat = ", ".join(f"{part.label}: {part.text}" for part in parts)
    short = len(flat) <= INLINE and not any(part.parts or ", " in part.text for part in parts)
    return Line(label, flat) if short else Line(label, parts=parts)


def _listing(label: str, value: list[Any] | tuple[Any, ...]) -> Line | None:
    """Plain texts behind one another, long ones and mappings each on a line of its own."""
    items = [line_of("", item) or Line("", "-") for item in value]
    if not items:
        return None
    if all(not item.parts and item.literal for item in items) and not any(isinstance(i, Mapping) for i in value):
        nested = [isinstance(item, (list, tuple)) for item in value]
        texts = [f"[{item.text}]" if inner else item.text for item, inner in zip(items, nested, strict=True)]
        if all(
            inner or (len(text) <= INLINE // 2 and not _PAUSE.search(text))
            for text, inner in zip(texts, nested, strict=True)
        ):
            return Line(label, ", ".join(texts))
    return Line(label, parts=tuple(items)) if len(items) > 1 or items[0].parts else Line(label, items[0].text)


def _is_literal(text: str) -> bool:
    """Numbers and formulas are literal, sentences are prose."""
    return not (text.count(" ") > 3 and text[:1].isalpha()) or " = " in text or "\\" in text


def _is_said(text: str, said: str) -> bool:
    """Do the words stand there, whole? One character says too little to tell."""
    if len(text) < 2:
        return False
    return re.search(rf"(?<![\w.]){re.escape(text)}(?!\w|\.\d)", said) is not None or (len(text) > 12 and text in said)


def _counts_what_is_listed(key: str, evidence: Mapping[str, Any]) -> bool:
    """A `count` of 0, or of rows that are all listed beside it."""
    rows = evidence.get("rows")
    return key == "count" and evidence[key] in (0, len(rows) if isinstance(rows, (list, tuple)) else 0)


Shower = Callable[[str, Any, Finding], Line | None]


def _as_it_is(label: str, value: Any, finding: Finding) -> Line | None:  # noqa: ARG001 - one form for all
    return line_of(label, value)


def _enclosure(label: str, value: Any, finding: Finding) -> Line | None:
    """Both ends and who proved them; nothing when they are one number."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return line_of(label, value)
    engine, bits = finding.evidence.get("engine"), finding.evidence.get("bits")
    by = f" ({engine}{f', {bits} bits' if bits else ''})" if engine else ""
    return None if value[0] == value[1] else Line(label, f"[{value[0]}, {value[1]}]{by}")


def _units(label: str, value: Any, finding: Finding) -> Line | None:  # noqa: ARG001
    return Line(label, f"{value} units of the last printed digit") if value is not None else None


def _links(label: str, value: Any, finding: Finding) -> Line | None:  # noqa: ARG001
    """The links of a chain and what came of each; a single link is the statement itself."""
    if not _are_records(value, "link", "verdict"):
        return line_of(label, value)
    shown = (f"{one['link']}: {one['verdict']}" for one in value)
    return Line(label, parts=tuple(Line("", text) for text in shown)) if len(value) > 1 else None


def _began(label: str, value: Any, finding: Finding) -> Line | None:  # noqa: ARG001
    """The link of a chain where the error began, and the element."""
    if not isinstance(value, Mapping) or "text" not in value:
        return line_of(label, value)
    index = ",".join(map(str, value.get("index") or ()))
    return Line(label, f"{value['text']}" + (f", element [{index}]" if index else ""))


def _repairs(label: str, value: Any, finding: Finding) -> Line | None:  # noqa: ARG001
    if not _are_records(value, "formula", "what"):
        return line_of(label, value)
    texts = [f"{one['formula']} ({one['what']})" for one in value]
    return Line(label, texts[0]) if len(texts) == 1 else Line(label, parts=tuple(Line("", text) for text in texts))


def _misfit(label: str, value: Any, finding: Finding) -> Line | None:
    """The two sides that do not fit; nothing when the message names both with their shapes."""
    sides: list[Any] = [value.get("left"), value.get("right")] if isinstance(value, Mapping) else []
    if not sides or not _are_records(sides, "text", "shape"):
        return line_of(label, value)
    if all(str(one[key]) in finding.message for one in sides for key in ("text", "shape")):
        return None
    return Line(label, parts=tuple(Line("", f"{one['text']} is {one['shape']}") for one in sides))


def _sides(label: str, value: Any, finding: Finding) -> Line | None:
    """The values of the sides of a chain; nothing when each stands in the message, or beside `true`."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        return line_of(label, value)
    said = f"{finding.message} {finding.evidence.get('true')} "
    known = all(re.search(rf"(?<![\w.]){re.escape(item)}(?!\w|\.\d)", said) for item in value)
    return None if known else line_of(label, value)


def _are_records(value: Any, *keys: str) -> bool:
    """A list of mappings that have these keys."""
    return isinstance(value, (list, tuple)) and all(
        isinstance(one, Mapping) and all(key in one for key in keys) for one in value
    )


SHOWN: Mapping[str, Shower] = {
    "enclosure": _enclosure,
    "error_units": _units,
    "links": _links,
    "first_wrong": _began,
    "repairs": _repairs,
    "misfit": _misfit,
    "values": _sides,
}

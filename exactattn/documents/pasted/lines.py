"""Lines of numbers without brackets: `Row 1: 0.4 0.2`, `0.4, 0.2`, `0,4 0,2`; and what MATLAB and Julia show."""

from __future__ import annotations

import re

from exactattn.documents.pasted.block import Block, Span, looks_like_number
from exactattn.documents.pasted.digits import COMMA, HINT, POINT
from exactattn.documents.pasted.source import Source
from exactattn.documents.pasted.vectors import pieces

_LABEL = re.compile(r"([^:=]{1,80})(?::|=)\s")
_COMMON = re.compile(r"([0-9.]+e[-+]?[0-9]+)\s*\*", re.IGNORECASE)
_JULIA = re.compile(r"[0-9]+(?:×[0-9]+|-element)\s[^\n]{0,80}:")
COMMA_NUMBER = re.compile(r"[-+]?[0-9]*,[0-9]+%?")


def headed(source: Source, low: int, high: int) -> tuple[int, Block]:
    """Where the numbers begin, and what the lines before them say: `A =`, `1.0e+03 *`, `2×2 Matrix{Float64}:`."""
    said = Block("", [])
    for start, end in list(source.lines(low, high))[:3]:
        line = source.text[start:end]
        common, julia = _COMMON.fullmatch(line), _JULIA.fullmatch(line)
        if common is not None:
            said.times, said.form = common[1], "matlab"
        elif julia is not None:
            said.form, said.dtype = "julia", "float32" if "{Float32" in line else None
        elif line.endswith(("=", ":")) and len(line) <= 80:
            said.label = line.rstrip("=: ").strip("*# ")
        else:
            return start, said
    return low, said


def labels_of(source: Source, low: int, high: int) -> list[tuple[str, int, int]] | None:
    """For lines that all have a label, each with the range behind it; otherwise None."""
    out = []
    for start, end in source.lines(low, high):
        label = _LABEL.match(source.text, start, end)
        if label is None or not source.text[label.end() : end].strip() or looks_like_number(label[1]):
            return None
        out.append((label[1].strip(" -*•·"), *source.trim(label.end(), end)))
    return out or None


def numbers(source: Source, low: int, high: int, decimal: str | None) -> list[Span]:
    """The numbers of a line: between semicolons, or commas with spaces, or white space, or commas alone.

    Errors: PastedError where a comma can be either sign.
    """
    text = source.text[low:high]
    if ";" in text:
        return _split(source, low, high, ";")
    if "," not in text:
        return pieces(source, low, high)
    if re.search(r",\s", text):
        return _split(source, low, high, ",")
    parts = pieces(source, low, high)
    fitting = all(
        COMMA_NUMBER.fullmatch(source.text[slice(*part)]) or source.text[slice(*part)].isdigit() for part in parts
    )
    if decimal == COMMA or (decimal is None and fitting and len(parts) > 1):
        return parts
    if decimal is None and fitting:
        whole, _, fraction = text.partition(",")
        if not (fraction.startswith("0") and len(fraction) > 1) and whole not in ("-0", ""):
            raise source.error(
                f"found {text!r}: one number with a decimal comma, or two numbers", low, f"{HINT}, or use spaces"
            )
        return parts
    return [piece for part in parts for piece in _split(source, *part, ",")] if decimal in (None, POINT) else parts


def _split(source: Source, low: int, high: int, sign: str) -> list[Span]:
    out, begin = list[Span](), low
    for at in range(low, high):
        if source.text[at] == sign:
            out.append(source.trim(begin, at))
            begin = at + 1
    last = source.trim(begin, high)
    return [*out, last] if last[0] < last[1] else out

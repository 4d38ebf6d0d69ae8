"""Which sign is the decimal point, and which only groups digits: `1,234`, `1.234.567`, `0,4`, `12 288`.

A run of digits often says it itself (`0,4`, `1,234,567`, `1.234,5`); where it does not, the other numbers of the
block do, or the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from exactattn.errors import NumeralError
from exactattn.numbers.tokens import shorten

POINT, COMMA = "point", "comma"
DECIMALS = (POINT, COMMA)
# digits with signs between them; one sign in front for dropped zeros: .84
_RUN = re.compile(r"[.,]?[0-9](?:[0-9]|[.,'’_](?=[0-9])|[ \u00a0](?=[0-9]{3}(?![0-9])))*[.]?")
_IDEOGRAPHS = "\u2e80"  # and what follows: letters in front of a number, never of its name
HINT = "write `decimal: comma` or `decimal: point` beside it"


@dataclass(frozen=True, slots=True)
class Run:
    """A run of digits with its signs, and its place."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """Past its last character."""
        return self.start + len(self.text)


def runs(text: str) -> Iterator[Run]:
    """The runs of digits of a text that are numbers, not parts of names such as `x_1`."""
    for match in _RUN.finditer(text):
        before = text[match.start() - 1 : match.start()]
        letter = before.isalpha() and before < _IDEOGRAPHS
        if not (letter or before == "_") or before in "eE":
            yield Run(match.group(), match.start())


def told(run: Run) -> str | None:
    """What a run says about the decimal sign by itself; None when both readings are possible, or neither sign is used.

    Errors: NumeralError when it is a number in neither.
    """
    text = _joined(run)
    commas, points = text.count(","), text.count(".")
    if not commas and not points:
        return None
    possible = [decimal for decimal in DECIMALS if _plain(text, decimal) is not None]
    if not possible:
        message = (
            f"found {shorten(run.text)!r}, which is a number neither with a decimal point nor with a decimal comma"
        )
        raise NumeralError(
            message + "; digits are grouped by three, and between two numbers there is a space", run.start
        )
    return possible[0] if len(possible) == 1 else None


def plain(run: Run, decimal: str | None) -> str:
    """The digits with a decimal point and no grouping.

    Errors: NumeralError when the run does not fit `decimal`, or when both readings of a comma are possible.
    """
    text = _joined(run)
    if decimal is None and "," in text:
        decimal = told(run)
        if decimal is None:
            point, comma = _plain(text, POINT), _plain(text, COMMA)
            message = f"found {shorten(run.text)!r}: {point} with a decimal point, {comma} with a decimal comma"
            raise NumeralError(f"{message}; {HINT}", run.start)
    elif decimal is None and "." in text:
        decimal = told(run) or POINT  # `1.234` alone: a point that could group one group of digits is a decimal point
    out = _plain(text, decimal or POINT)
    if out is None:
        raise NumeralError(f"found {shorten(run.text)!r}, wanted a number with a decimal {decimal}; {HINT}", run.start)
    return out


def _joined(run: Run) -> str:
    """The run without spaces, apostrophes and underscores, which only ever group."""
    text = run.text
    if not any(sign in text for sign in " \u00a0'’_"):
        return text
    whole = text.split(",")[0].split(".")[0]
    groups = re.split(r"[ \u00a0'’_]", whole)
    rest = text[len(whole) :]
    if not _grouped(groups) or any(sign in rest for sign in " \u00a0'’_"):
        message = f"found {shorten(text)!r}, whose digits are not grouped by three"
        raise NumeralError(f"{message}; write the digits of one number together", run.start)
    return "".join(groups) + rest


def _grouped(groups: list[str]) -> bool:
    return 1 <= len(groups[0]) <= 3 and not groups[0].startswith("0") and all(len(group) == 3 for group in groups[1:])


def _plain(text: str, decimal: str) -> str | None:
    """The text read with this decimal sign, or None."""
    sign, other = (".", ",") if decimal == POINT else (",", ".")
    whole, found, fraction = text.partition(sign)
    if sign in fraction or other in fraction:
        return None
    groups = whole.split(other)
    if len(groups) > 1 and not _grouped(groups):
        return None
    return "".join(groups) + ("." + fraction if found else "")

"""One number in the words and marks of its author -> Said: `≈ 0.33`, `just under 58 billion`, `0.4011…`, `28,4 %`.

Exact value: the digits as written, times what the words say. The unit of the last digit is scaled with it; where the
words say "about", the zeros at the end of an integer are no digits: `about 150` has the unit 10.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from exactattn.documents.forms import magnitude, with_unit
from exactattn.documents.pasted.digits import COMMA, DECIMALS, plain, runs
from exactattn.documents.pasted.mathtext import spell
from exactattn.documents.pasted.model import MAX_CELL, PastedError, Said
from exactattn.documents.pasted.sayings import (
    PERCENTS,
    SCALES,
    TWO_READINGS,
    UNITS,
    Ends,
    Phrase,
    by_last,
    longest_first,
)
from exactattn.documents.pasted.source import Source
from exactattn.errors import NumeralError
from exactattn.numbers.exact import mul
from exactattn.numbers.numerals import Numeral, parse_numeral
from exactattn.numbers.tokens import shorten

MAX_PHRASES = 8
ELLIPSES = ("…", "...", "..", "· · ·", "......")
_ANNOUNCED = re.compile(
    r"""[(]\s*(?:rounded\s)?(?:to\s)?(?P<digits>[0-9]{1,2})\s*
    (?:(?P<places>decimals?|decimal\ places|decimal\ digits|d\.?p\.?|places|Nachkommastellen)
    |(?P<significant>digits|significant\ digits|significant\ figures|s\.?f\.?|sig\.?\ figs?\.?))\s*[)]\Z
    | [(]\s*保留(?P<zh>[0-9一二三四五六七八九])位小数\s*[)]\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_SCIENTIFIC = re.compile(
    r"([-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))\s*[*×·x]\s*10\s*(?:\^|\*\*)\s*[({]?\s*([-+]?[0-9]{1,9})\s*[)}]?"
)
_PLAIN = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_RANGE = re.compile(r"[0-9.]+%?\s*-\s*[0-9.]+%?")
_CHINESE = "一二三四五六七八九"
_SCALE_WORDS, _UNIT_WORDS, _PERCENT_WORDS = by_last(SCALES), by_last(UNITS), by_last(PERCENTS)
_DOUBTFUL = longest_first(TWO_READINGS)
PROSE = "write the number in digits, with the words that stand beside it: about 150, just under 58 billion, 0.4011..."


def read_said(text: str, decimal: str | None = None) -> Said:
    """One number as it was stated. Errors: PastedError with the place."""
    source = Source(text)
    known_decimal(decimal)
    try:
        return said(source.text, decimal)
    except NumeralError as error:
        raise source.error(str(error), min(error.offset or 0, len(text))) from None


def known_decimal(decimal: str | None) -> None:
    """Errors: PastedError for a word that is no decimal sign."""
    if decimal is not None and decimal not in DECIMALS:
        raise PastedError(f"found {shorten(decimal)!r}, wanted `decimal: comma` or `decimal: point`", 1, 1)


def said(text: str, decimal: str | None = None) -> Said:
    """One number of a repaired text. Errors: NumeralError with the place in it."""
    if len(text) > MAX_CELL:
        raise NumeralError(f"a number of {len(text)} characters: at most {MAX_CELL} are read", 0)
    if decimal != COMMA and _PLAIN.fullmatch(text):
        return Said(parse_numeral(text))
    spelled, places = spell(text)
    try:
        return _Peeled(spelled).said(decimal)
    except NumeralError as error:
        at = places[min(error.offset or 0, len(places) - 1)]
        raise NumeralError(str(error), at) from None


class _Peeled:
    """One text, its phrases peeled off."""

    def __init__(self, text: str) -> None:
        self.ends = Ends(text)
        self.phrases: list[Phrase] = []
        self.announced: tuple[str, int] | None = None
        self.truncated = False
        self.percent = False
        self.scale: str | None = None
        self.unit: str | None = None
        self._peel()

    def _peel(self) -> None:
        """Takes off what stands around the number until nothing more is known; each step makes the text shorter."""
        ends, before = self.ends, (-1, -1)
        while ends.rest.endswith((",", ";", "。")):  # of the sentence, not of the number
            ends.high -= 1
            ends.strip()
        for _ in range(MAX_PHRASES):
            if (ends.low, ends.high) == before:
                return
            before = (ends.low, ends.high)
            self.phrases.extend(phrase for phrase in (ends.before(), ends.after()) if phrase is not None)
            self._announcement()
            for sign in ELLIPSES:
                if len(ends.rest) > len(sign) and ends.rest.endswith(sign):
                    ends.high -= len(sign)
                    self.truncated = True
                    ends.strip()
            if ends.rest.startswith("百分之"):
                ends.low, self.percent = ends.low + 3, True
            if not self.percent:
                self.percent = ends.word(_PERCENT_WORDS) is not None
            self.unit = self.unit or ends.word(_UNIT_WORDS)
            self.scale = self.scale or ends.word(_SCALE_WORDS)
            self._doubtful()
        raise NumeralError(f"found more than {MAX_PHRASES} words and marks around one number", ends.low)

    def _announcement(self) -> None:
        ends = self.ends
        opening = ends.text.rfind("(", ends.low, ends.high)
        short = ends.low < opening and ends.high - opening <= 60
        found = _ANNOUNCED.match(ends.text[opening : ends.high]) if short else None
        if found is None:
            return
        zh = found["zh"]
        count = int(found["digits"]) if zh is None else _CHINESE.find(zh) + 1 or int(zh)
        self.announced = ("significant digits" if found["significant"] else "decimals", count)
        ends.high = opening
        ends.strip()

    def _doubtful(self) -> None:
        for word in _DOUBTFUL:
            start = self.ends.high - len(word)
            if self.ends.rest.endswith(word) and start > self.ends.low:
                before = self.ends.text[start - 1]
                if before.isdigit() or (before.isspace() and self.ends.text[start - 2].isdigit()):
                    raise NumeralError(f"found {word!r} after a number: {TWO_READINGS[word]}", start)

    def said(self, decimal: str | None) -> Said:
        """The number and what was said about it."""
        mark, approximate = self._mark()
        numeral = self._number(decimal or self._language())
        if self.percent:
            numeral = self._as_percent(numeral)
        if self.announced is not None:
            numeral = self._announced_unit(numeral, *self.announced)
        if approximate and self.announced is None:
            numeral = coarse(numeral)
        factor = SCALES[self.scale] if self.scale else 1
        factor *= UNITS[self.unit] if self.unit else 1
        words = " ".join(word for word in (numeral.text, self.scale, self.unit) if word)
        unit = None if numeral.unit is None else numeral.unit * factor
        value = numeral.value if factor == 1 else mul(numeral.value, Fraction(factor))
        numeral = replace(numeral, text=words, value=value, unit=unit)
        return Said(numeral, mark, self.truncated, self.scale, self.unit, approximate)

    def _mark(self) -> tuple[str, bool]:
        marks = {phrase.mark for phrase in self.phrases} - {"=", "~"}
        approximate = any(phrase.approximate for phrase in self.phrases)
        if len(marks) > 1:
            shown = " and ".join(sorted(marks))
            raise NumeralError(f"found two marks around one number, {shown}; wanted one", 0)
        return (marks.pop() if marks else "~" if approximate else "="), approximate

    def _language(self) -> str | None:
        languages = {phrase.decimal for phrase in self.phrases} - {None}
        return languages.pop() if len(languages) == 1 else None

    def _number(self, decimal: str | None) -> Numeral:
        ends = self.ends
        if not any(c.isdigit() for c in ends.rest) and "pi" not in ends.rest and "π" not in ends.rest:
            found = f"found {shorten(ends.rest or ends.text.strip())!r}" if ends.text.strip() else "found nothing"
            raise NumeralError(f"{found}, wanted a number; {PROSE}", ends.low)
        if "‒" in ends.rest:
            raise NumeralError("found a range, wanted one number; write its ends apart", ends.low)
        text, places = _pointed(ends.text, ends.low, ends.high, decimal)
        power = _SCIENTIFIC.fullmatch(text)
        if _RANGE.fullmatch(text) and self.phrases:
            raise NumeralError(f"found {shorten(text)!r}, wanted one number; write the two ends apart", places[0])
        if power is not None:
            text, places = f"{power[1]}e{power[2]}", [places[0]] * len(text) + places[-1:]
        try:
            return parse_numeral(text)
        except NumeralError as error:
            raise NumeralError(str(error), places[min(error.offset or 0, len(places) - 1)]) from None

    def _as_percent(self, numeral: Numeral) -> Numeral:
        """`50 per cent` as `50%`. Errors: NumeralError when there is a sign % too."""
        if numeral.form == "percent":
            raise NumeralError("found a percent sign and the word; wanted one of them", self.ends.low)
        unit = None if numeral.unit is None else numeral.unit / 100
        return replace(
            numeral, text=numeral.text + "%", value=mul(numeral.value, Fraction(1, 100)), unit=unit, form="percent"
        )

    def _announced_unit(self, numeral: Numeral, kind: str, count: int) -> Numeral:
        """The unit of the digits that were announced; trailing zeros that are not there are meant."""
        if numeral.unit is None or not isinstance(numeral.value, Fraction):
            return numeral
        percent = Fraction(1, 100) if numeral.form == "percent" else Fraction(1)
        unit = Fraction(1, 10**count) * percent
        if kind != "decimals":
            top = 0 if numeral.value == 0 else magnitude(numeral.value)
            unit = Fraction(10) ** (top - count + 1)
        if numeral.unit < unit and numeral.form != "integer" and numeral.value % unit:
            message = f"found more digits than the {count} {kind} that are announced"
            raise NumeralError(f"{message}; correct one of them", self.ends.low)
        return with_unit(numeral, unit)


def coarse(numeral: Numeral) -> Numeral:
    """An integer or whole percentage said to be about right: its last digit that is not 0 is the last that counts."""
    whole = Fraction(1, 100) if numeral.form == "percent" else Fraction(1)
    if (
        numeral.unit != whole
        or not isinstance(numeral.value, Fraction)
        or numeral.value == 0
        or "e" in numeral.text.lower()
    ):
        return numeral
    digits = str(abs(numeral.value / whole))
    zeros = len(digits) - len(digits.rstrip("0"))
    return with_unit(numeral, whole * 10**zeros) if zeros else numeral


def _pointed(text: str, low: int, high: int, decimal: str | None) -> tuple[str, list[int]]:
    """The text with decimal points and no grouping, and the place of each character."""
    parts: list[str] = []
    places: list[int] = []
    at = low
    for run in runs(text[low:high]):
        start = low + run.start
        try:
            digits = plain(run, decimal)
        except NumeralError as error:
            raise NumeralError(str(error), start) from None
        parts += [text[at:start], digits]
        places += [*range(at, start), *range(start, start + len(digits))]
        at = low + run.end
    parts.append(text[at:high])
    places += range(at, high + 1)
    return "".join(parts), places


def read_chain(text: str, decimal: str | None = None) -> tuple[Said, ...]:
    """The numbers of a chain of equations, `0.36/1.41 = 0.255 ≈ 25.5%`, each with the mark in front of it.

    Errors: PastedError with the place.
    """
    source = Source(text)
    known_decimal(decimal)
    out = []
    for low, high in _links(source.text):
        try:
            out.append(said(source.text[low:high], decimal))
        except NumeralError as error:
            raise source.error(str(error), low + (error.offset or 0)) from None
    return tuple(out)


def _links(text: str) -> Iterator[tuple[int, int]]:
    r"""The parts of a chain, each with the relation in front of it; `\approx` and the like are relations too."""
    start = 0
    for match in re.finditer(r"[=≈~<>≤≥]+|\\(?:approx|simeq|sim|leq?|geq?|lt|gt)(?![a-zA-Z])", text):
        if text[start : match.start()].strip():
            yield start, match.start()
            start = match.start()
    yield start, len(text)

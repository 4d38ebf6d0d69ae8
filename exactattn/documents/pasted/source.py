"""A text with its places, after what is certain has been repaired.

Every repair keeps the length of the text, so an offset in it is a place in what was pasted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from exactattn.documents.pasted.model import MAX_CHARACTERS, PastedError

# full-width forms of ASCII, and signs that have several characters
_SIGNS = {ord(full): chr(ord(full) - 0xFEE0) for full in map(chr, range(0xFF01, 0xFF5F))}
_SIGNS |= {ord(c): "-" for c in "\u2212\u2010\u2011\u2013\ufe63"}
_SIGNS |= {ord(c): "·" for c in "\u22c5\u2219\u2022\u00b7"}
_SIGNS |= {ord(c): "~" for c in "\u223c\u301c"} | {ord(c): "≈" for c in "\u2243\u2245\u2248\u2252"}
_SIGNS |= {ord("\u3001"): ",", ord("\u2a7d"): "≤", ord("\u2266"): "≤", ord("\u2a7e"): "≥", ord("\u2267"): "≥"}
_SIGNS |= {ord("\u22ef"): "…", ord("\u27e8"): "[", ord("\u27e9"): "]", ord("\u3010"): "[", ord("\u3011"): "]"}
_SIGNS |= {ord(c): " " for c in "\u3000\u200b\u200c\u200d\u2060\ufeff\x0b\x0c\x85\u2028\u2029\x1c\x1d\x1e\x1f\x00"}
_SIGNS |= {ord(c): "\u00a0" for c in "\u2007\u2009\u202f\u2008\u2006\u2005\u2002\u2003"}

# characters whose UTF-8 bytes, read as cp1252 or latin-1, cannot be meant: the repair is padded to the same length
_BROKEN_SIGNS = "×·÷±−≈≤≥≠∞√…–—→⋅∼°²³¹⁻½ᵀ≃≅‖“”‘’"
_BEFORE = "−√–"  # a sign that belongs to what follows
FILL = "\u2063"  # stands before such a sign; an invisible character that is no space


def _as_cp1252(data: bytes) -> str:
    """Bytes as a browser shows them: cp1252, and latin-1 where that has no character."""
    return "".join(bytes([b]).decode("cp1252", "ignore") or chr(b) for b in data)


def _broken() -> dict[str, str]:
    out = {}
    for sign in _BROKEN_SIGNS:
        data = sign.encode()
        for seen in (_as_cp1252(data), data.decode("latin-1")):
            more = len(seen) - 1
            out[seen] = FILL * more + sign if sign in _BEFORE else sign + " " * more
    out["Â\u00a0"] = " \u00a0"
    return out


_REPAIRS = _broken()
_BROKEN = re.compile("|".join(sorted(map(re.escape, _REPAIRS), key=len, reverse=True)))
_BETWEEN = re.compile("(?<=[0-9])–(?=[0-9])|(?<=[0-9] )–(?= [0-9])")  # from one number to another: not a minus
_HARD_SPACE = re.compile("(?<![0-9])\u00a0|\u00a0(?![0-9])")


def repaired(text: str) -> str:
    """The text with one spelling for each sign: equally long, lines end in a line feed alone."""
    text = text.replace("\r\n", " \n").replace("\r", "\n")
    if any(c in text for c in "ÂÃâá"):
        text = _BROKEN.sub(lambda match: _REPAIRS[match.group()], text)
    text = _BETWEEN.sub("‒", text).translate(_SIGNS)
    return _HARD_SPACE.sub(" ", text) if "\u00a0" in text else text


class Source:
    """A text and its lines. Errors: PastedError when it is too long."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARACTERS:
            hint = "paste one block at a time"
            message = f"a text of {size_of(len(text))}: at most {MAX_CHARACTERS:,} characters are read"
            raise PastedError(message, 1, 1, hint)
        self.original = text
        self.text = repaired(text)
        self.starts = [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def error(self, message: str, offset: int, hint: str | None = None) -> PastedError:
        """The exception for a mistake at an offset."""
        return PastedError(message, *self.place(offset), hint, offset)

    def lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The lines of a range that are not blank, each from its first to past its last character that is no space."""
        first = bisect_right(self.starts, start) - 1
        for number in range(first, len(self.starts)):
            low = max(self.starts[number], start)
            if low >= end:
                return
            high = min(end, self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text))
            low, high = self.trim(low, high)
            if low < high:
                yield low, high

    def trim(self, start: int, end: int) -> tuple[int, int]:
        """The range without white space at its ends."""
        text = self.text
        while start < end and text[start].isspace():
            start += 1
        while start < end and text[end - 1].isspace():
            end -= 1
        return start, end


def size_of(characters: int) -> str:
    """A length for people."""
    return f"{characters / 1e6:.1f} million characters" if characters >= 10**6 else f"{characters:,} characters"

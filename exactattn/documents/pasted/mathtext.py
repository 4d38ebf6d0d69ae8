r"""LaTeX of one number -> the language of `numbers.expressions`: `\frac{1}{\sqrt{2}}` -> `(1/sqrt(2))`.

Also what people type for it: `e^{1/√2}`, `10⁻³`, `$0.33$`, `**0.33**`. Every character of the result knows where it
came from. The depth of groups is bounded, and every step goes forward.
"""

from __future__ import annotations

import re

from exactattn.documents.pasted.commands import DROPPED, FRACTIONS, GONE, RAISED, SECOND, SIGNS, SPACES, WRAPPERS
from exactattn.documents.pasted.source import FILL
from exactattn.errors import NumeralError
from exactattn.numbers.tokens import shorten

MAX_DEPTH = 20
_ATOM = re.compile(r"[0-9.]+|[A-Za-z_]\w*|[A-Za-z]*\(.*\)", re.DOTALL)
_FRACTION = re.compile(r"\s*[-+]?\s*\(\s*[0-9]+\s*/\s*[0-9]+\s*\)\s*")
_MARKUP = "$*_`"  # pairs of these around a number are markup


class Spelled:
    """Pieces of text, each with the offset it came from."""

    def __init__(self) -> None:
        self.parts: list[tuple[str, int]] = []

    def add(self, text: str, place: int) -> None:
        """Text that stands for what is at a place."""
        self.parts.append((text, place))

    def bracket(self, first: int) -> None:
        """Brackets around the pieces from the first on, unless they are one number, name or call."""
        text = "".join(part for part, _ in self.parts[first:]).strip()
        if _ATOM.fullmatch(text) is None or (text.count("(") > 1 and not one_call(text)):
            self.parts.insert(first, ("(", self.parts[first][1] if first < len(self.parts) else 0))
            self.parts.append((")", self.parts[-1][1]))


def one_call(text: str) -> bool:
    """Does the last bracket close the first?"""
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and char == ")" and at < len(text) - 1:
            return False
    return True


def spell(text: str) -> tuple[str, list[int]]:
    """The text in our language, and the place of each of its characters. Errors: NumeralError with the place."""
    out = Spelled()
    low, high = _unmarked(text)
    end = _Reader(text, high, out).sequence(low, high, 0)
    assert end == high
    spelled = "".join(part for part, _ in out.parts)
    places = [place for part, place in out.parts for _ in part]
    fraction = _FRACTION.fullmatch(spelled)
    if fraction is not None:  # one over another alone needs no brackets
        keep = [at for at in range(len(spelled)) if spelled[at] not in "()"]
        spelled, places = "".join(spelled[at] for at in keep), [places[at] for at in keep]
    return spelled, [*places, high]


def _unmarked(text: str) -> tuple[int, int]:
    r"""The range inside pairs of $, *, _, ` and \( \)."""
    low, high = 0, len(text)
    while low < high:
        if text[low].isspace():
            low += 1
        elif text[high - 1].isspace():
            high -= 1
        elif high - low >= 2 and text[low] in _MARKUP and text[high - 1] == text[low]:
            low, high = low + 1, high - 1
        elif high - low >= 4 and text.startswith(r"\(", low) and text.endswith(r"\)", low, high):
            low, high = low + 2, high - 2
        else:
            break
    return low, high


class _Reader:
    """Goes through one text once."""

    def __init__(self, text: str, end: int, out: Spelled) -> None:
        self.text, self.end, self.out = text, end, out
        self.first = 0  # the first piece of the argument that is being read

    def sequence(self, i: int, end: int, depth: int) -> int:
        """Everything from i to end; gives end."""
        if depth > MAX_DEPTH:
            raise NumeralError(f"groups are nested more than {MAX_DEPTH} deep; write it flatter", i)
        while i < end:
            i = self.one(i, end, depth)
        return i

    def one(self, i: int, end: int, depth: int) -> int:
        """One character, command or group; gives the place after it."""
        char = self.text[i]
        if char == "\\":
            return self.command(i, end, depth)
        if char == FILL:
            return i + 1
        if char == "{":
            return self.group(i, end, depth, "(", ")")
        if char == "}":
            raise NumeralError("found '}' without its '{'; remove it or add the other", i)
        if char in RAISED:
            return self.raised(i, end)
        if char == "√":
            return self.root(i, end, depth)
        if char == "e" and self.power_of_e(i, end):
            return self.exponential(i, end, depth)
        if char == "e" and self.alone(i, end):
            self.out.add("exp(1)", i)
            return i + 1
        if char == "~" and i > 0 and self.text[i - 1].isdigit() and self.text[i + 1 : i + 2].isdigit():
            char = "\u00a0"  # a space of LaTeX that is not broken
        self.out.add(char, i)
        return i + 1

    def command(self, i: int, end: int, depth: int) -> int:
        """A command with its arguments."""
        stop = i + 1
        while stop < end and self.text[stop].isascii() and self.text[stop].isalpha():
            stop += 1
        stop = max(stop, min(i + 2, end))
        name = self.text[i + 1 : stop]
        if name in SIGNS:
            self.out.add(SIGNS[name], i)
        elif name in SPACES:
            digits = self.text[i - 1 : i].isdigit() and self.text[stop : stop + 1].isdigit()
            self.out.add("\u00a0" if digits and name in (",", ";", ":", " ") else "" if name == "!" else " ", i)
        elif name in FRACTIONS:
            return self.fraction(stop, end, depth)
        elif name == "sqrt":
            return self.root(i, end, depth, stop)
        elif name in WRAPPERS:
            return self.argument(stop, end, depth)
        elif name in SECOND:
            return self.argument(self.skipped(stop, end), end, depth) if name != "color" else self.skipped(stop, end)
        elif name in GONE:
            return self.skipped(stop, end)
        elif name not in DROPPED:
            shown = shorten("\\" + name)
            raise NumeralError(f"found the LaTeX command {shown!r} inside a number; write the number without it", i)
        return stop

    def fraction(self, i: int, end: int, depth: int) -> int:
        self.out.add("(", i)
        i = self.bracketed(i, end, depth)
        self.out.add("/", i)
        i = self.bracketed(i, end, depth)
        self.out.add(")", i)
        return i

    def bracketed(self, i: int, end: int, depth: int) -> int:
        """An argument, in brackets where it needs them."""
        outer, self.first = self.first, len(self.out.parts)
        stop = self.argument(i, end, depth)
        self.out.bracket(self.first)
        self.first = outer
        return stop

    def product(self, i: int) -> None:
        r"""The sign of a product between a number and a root behind it: `2\sqrt{2}`.

        Errors: NumeralError for `1/2√2`, where the root can stand above the line or below.
        """
        parts, last = self.out.parts, len(self.out.parts)
        while last > self.first and (not parts[last - 1][0].strip() or parts[last - 1][0].strip("0123456789.") == ""):
            last -= 1
        if any(part.strip() for part, _ in parts[last:]):
            if last > self.first and parts[last - 1][0] == "/":
                raise NumeralError(
                    "found a root behind a quotient without a sign; write 1/(2*sqrt(2)) or 1/2*sqrt(2)", i
                )
            self.out.add("*", i)

    def root(self, i: int, end: int, depth: int, stop: int | None = None) -> int:
        r"""`\sqrt[n]{x}` or `√x`: sqrt(x), or x**(1/n)."""
        self.product(i)
        stop = i + 1 if stop is None else stop
        index = None
        at = self.start(stop, end)
        if self.text[at] == "[":
            close = self.text.find("]", at, end)
            if close < 0:
                raise NumeralError("found '[' after \\sqrt without its ']'; write \\sqrt[3]{2}", at)
            index, stop = (at + 1, close), close + 1
            at = self.start(stop, end)
        if stop == i + 1 and self.text[at] != "{":
            self.out.add("√", i)
            return stop
        self.out.add("(" if index else "sqrt", i)
        stop = self.bracketed(at, end, depth) if index else self.whole(at, end, depth)
        if index:
            self.out.add("**(1/(", index[0])
            self.sequence(index[0], index[1], depth + 1)
            self.out.add(")))", index[1])
        return stop

    def whole(self, i: int, end: int, depth: int) -> int:
        self.out.add("(", i)
        i = self.argument(i, end, depth)
        self.out.add(")", i - 1)
        return i

    def alone(self, i: int, end: int) -> bool:
        """Is a letter no part of a name, a number or an index?"""
        before, after = self.text[i - 1 : i], self.text[i + 1 : min(i + 2, end)]
        return not (before.isalnum() or before in ("\\", "_", ".") or after.isalnum() or after == "_")

    def power_of_e(self, i: int, end: int) -> bool:
        return self.alone(i, end) and self.text.startswith("^", self.start_or_end(i + 1, end))

    def exponential(self, i: int, end: int, depth: int) -> int:
        """`e^{x}`, `e^x`, `e^-x`, `e^(x)`, `e^0.382`: exp(x)."""
        at = self.start(self.start_or_end(i + 1, end) + 1, end)
        self.out.add("exp(", i)
        if self.text[at] in "{\\":
            at = self.argument(at, end, depth)
        else:
            stop = at + (self.text[at] in "+-")
            if self.text.startswith("(", stop):
                stop = self.closing(stop, end, "(", ")") + 1
            else:
                stop += self.text.startswith("√", stop)
                while stop < end and (self.text[stop].isalnum() or self.text[stop] in "._"):
                    stop += 1
            at = self.sequence(at, max(stop, at + 1), depth + 1)
        self.out.add(")", at - 1)
        return at

    def raised(self, i: int, end: int) -> int:
        self.out.add("^(", i)
        while i < end and self.text[i] in RAISED:
            self.out.add(RAISED[self.text[i]], i)
            i += 1
        self.out.add(")", i - 1)
        return i

    def group(self, i: int, end: int, depth: int, opening: str, closing: str) -> int:
        close = self.closing(i, end, "{", "}")
        if self.text[i + 1 : close] in (",", "."):  # `12{,}288`: a comma that is no list
            self.out.add(self.text[i + 1], i + 1)
            return close + 1
        self.out.add(opening, i)
        self.sequence(i + 1, close, depth + 1)
        self.out.add(closing, close)
        return close + 1

    def argument(self, i: int, end: int, depth: int) -> int:
        """The argument of a command: a group without its braces, a command, or one character."""
        i = self.start(i, end)
        if self.text[i] == "{":
            return self.group(i, end, depth, "", "")
        if depth > MAX_DEPTH:
            raise NumeralError(f"groups are nested more than {MAX_DEPTH} deep; write it flatter", i)
        return self.one(i, end, depth + 1)

    def skipped(self, i: int, end: int) -> int:
        i = self.start(i, end)
        return self.closing(i, end, "{", "}") + 1 if self.text[i] == "{" else i + 1

    def start_or_end(self, i: int, end: int) -> int:
        while i < end and self.text[i].isspace():
            i += 1
        return i

    def start(self, i: int, end: int) -> int:
        i = self.start_or_end(i, end)
        if i >= end:
            raise NumeralError("the number ends where an argument is wanted", max(end - 1, 0))
        return i

    def closing(self, i: int, end: int, opening: str, closing: str) -> int:
        depth = 0
        for at in range(i, end):
            char = self.text[at]
            depth += (char == opening) - (char == closing)
            if depth == 0:
                return at
        raise NumeralError(f"found {opening!r} without its {closing!r}", i)

"""Brackets of a text -> groups inside each other, each with its ranges.

Round brackets and braces are part of a number where they stand behind a name, or hold no comma. Every pass over the
text goes forward once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from exactattn.documents.pasted.model import MAX_CELLS, MAX_NESTING
from exactattn.documents.pasted.source import Source

PAIRS = {"[": "]", "(": ")", "{": "}"}
CLOSING = {close: opening for opening, close in PAIRS.items()}
SIZES = ("\\left", "\\big", "\\Big", "\\bigl", "\\Bigl", "\\bigg", "\\Bigg")
DOTS = ("...", "…", "\\dots", "\\ldots", "\\cdots", "\\vdots", "⋮")
Span = tuple[int, int]


@dataclass
class Group:
    """A list: its items are ranges of numbers, or groups; `semicolons` tells how many items stand before each."""

    start: int
    end: int
    items: list[Group | Span] = field(default_factory=list)
    commas: int = 0
    semicolons: list[int] = field(default_factory=list)

    @property
    def leaf(self) -> bool:
        """Does it hold numbers, no groups?"""
        return not any(isinstance(item, Group) for item in self.items)

    @property
    def groups(self) -> list[Group]:
        """The groups among its items."""
        return [item for item in self.items if isinstance(item, Group)]

    @property
    def spans(self) -> list[Span]:
        """The numbers among its items."""
        return [item for item in self.items if not isinstance(item, Group)]


def partners(source: Source, low: int, high: int, without: Sequence[Span], lenient: bool) -> dict[int, int]:
    """For each opening bracket of the range, outside of `without`, its closing one.

    Errors: PastedError for one that has none; `lenient` passes over them.
    """
    text, stack, out = source.text, list[int](), dict[int, int]()
    for at in _outside(low, high, without):
        char = text[at]
        if (char not in PAIRS and char not in CLOSING) or (text[at - 1 : at] == "\\" and at > low):
            continue
        if char in PAIRS:
            stack.append(at)
        elif stack and text[stack[-1]] == CLOSING[char]:
            out[stack.pop()] = at
        elif not lenient:
            inside = f"; the {text[stack[-1]]!r} on line {source.place(stack[-1])[0]} is still open" if stack else ""
            raise source.error(f"found {char!r} without its {CLOSING[char]!r}{inside}", at, "paste the whole block")
        elif char != ")":
            stack.clear()
    if stack and not lenient:
        line = source.place(stack[0])[0]
        raise source.error(f"the {text[stack[0]]!r} on line {line} is not closed", stack[0], "paste the whole block")
    return out


def _outside(low: int, high: int, without: Sequence[Span]) -> list[int]:
    out: list[int] = []
    for start, end in [*without, (high, high)]:
        out.extend(range(low, min(start, high)))
        low = max(low, end)
    return out


class Lists:
    """The lists of one range that stand in no other, in order, and the brackets that are none."""

    def __init__(
        self, source: Source, low: int, high: int, without: Sequence[Span] = (), lenient: bool = False
    ) -> None:
        self.source = source
        self.pairs = partners(source, low, high, without, lenient)
        self.separated, self.holding = set[int](), set[int]()
        self.items = 0
        self._mark(low, high, without)
        self.found = self._found(low)

    def _mark(self, low: int, high: int, without: Sequence[Span]) -> None:
        """Which brackets hold a comma of their own, and which hold a list or a matrix, directly or further inside."""
        text, stack = self.source.text, list[int]()
        closing = {close: opening for opening, close in self.pairs.items()}
        self.matrices = [start for start, _ in without]
        inside = set(self.matrices)
        for at in sorted([*_outside(low, high, without), *inside]):
            char = text[at]
            if at in inside:
                if stack:
                    self.holding.add(stack[-1])
            elif at in self.pairs:
                stack.append(at)
            elif at in closing:
                opening = stack.pop()
                is_list = text[opening] == "[" or opening in self.separated
                if stack and (is_list or opening in self.holding):
                    self.holding.add(stack[-1])
            elif stack and char in ",;" and text[at - 1] != "\\":
                self.separated.add(stack[-1])

    def _found(self, low: int) -> list[Group]:
        out: list[Group] = []
        at = low
        for start in sorted(self.pairs):
            if start < at:
                continue
            if self.is_list(start):
                out.append(self.group(start, 1))
                at = out[-1].end
            elif start not in self.holding:
                at = self.pairs[start] + 1
        return out

    def is_list(self, at: int) -> bool:
        """Does this bracket open a list, and not a part of a number, an index, or the arguments of a call?"""
        text = self.source.text
        next_matrix = bisect_right(self.matrices, at)
        if next_matrix < len(self.matrices) and self.matrices[next_matrix] < self.pairs[at]:
            return False
        before = text[at - 1] if at else " "
        if before.isdigit() and _ends_in_number(text, at):
            before = " "  # a factor, 0.4[1, 0]
        named = (before.isalnum() or before in "_^\\}") and not text[max(0, at - 5) : at].endswith(SIZES)
        if text[at] == "[":
            return not named
        of_r = before == "c" and (at < 2 or not (text[at - 2].isalnum() or text[at - 2] in "_.\\"))  # c(1, 2) of R
        return (not named or of_r) and at in self.separated

    def group(self, start: int, depth: int) -> Group:
        """The list that opens at a bracket. Errors: PastedError."""
        text = self.source.text
        if depth > MAX_NESTING:
            raise self.source.error(f"lists are nested more than {MAX_NESTING} deep", start, "paste one matrix")
        close = self.pairs[start]
        out = Group(start, close + 1)
        at, begin = start + 1, start + 1
        while at <= close:
            char = text[at]
            if at == close:
                self._atom(out, begin, at)
                at += 1
            elif char == "\\":
                at += 2 if at + 1 < close else 1  # a space of LaTeX is no separator
            elif char in ",;":
                self._atom(out, begin, at)
                out.commas += char == ","
                if char == ";":
                    out.semicolons.append(len(out.items))
                at, begin = at + 1, at + 1
            elif at in self.pairs:
                between = text[begin:at].strip()
                if (not between or between in (*DOTS, "vec!")) and self.is_list(at):
                    if between in DOTS:
                        out.items.append(self.source.trim(begin, at))
                    out.items.append(self.group(at, depth + 1))
                    begin = self.pairs[at] + 1
                at = self.pairs[at] + 1
            else:
                at += 1
        self.items += len(out.items)
        if self.items > 2 * MAX_CELLS:
            message = f"lists of more than {self.items - 1:,} items: at most {MAX_CELLS:,} numbers are read"
            raise self.source.error(message, start, "paste a part")
        return out

    def _atom(self, out: Group, begin: int, at: int) -> None:
        """Adds the range of a number, if there is one."""
        low, high = self.source.trim(begin, at)
        if low < high and self.source.text[low:high] not in SIZES and self.source.text[low:high] != "\\right":
            out.items.append((low, high))
        elif self.source.text[at] in ",;" and self.source.text[begin - 1] in PAIRS.keys() | {",", ";"}:
            raise self.source.error("found nothing where a number is wanted", at, "write ... for it")


def _ends_in_number(text: str, at: int) -> bool:
    """Is what ends at a place a number, and not a name with digits?"""
    start = at
    while start > max(0, at - 40) and text[start - 1] in "0123456789.":
        start -= 1
    return start == 0 or not (text[start - 1].isalnum() or text[start - 1] in "_}^")

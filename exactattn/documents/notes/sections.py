"""Numbered examples of a document: each is a problem of its own, and what stands before the first holds for all."""

from __future__ import annotations

import re
from collections.abc import Iterable

from exactattn.documents.notes.model import Block
from exactattn.documents.notes.names import INPUTS
from exactattn.documents.pasted.source import Source

END = 10**9
_HEAD = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*|\\(?:sub)*section\*?\{|\*\*|\\paragraph\{|\\textbf\{)?[ \t]*"
    r"(?:(?:Worked |Second |First |Another )*(?:Example|Exercise|Problem|Case|Scenario)|Beispiel|Aufgabe"
    r"|Exemple|Ejemplo|例子?|示例)"
    r"\s*(?:[0-9]{1,2}|[A-Z]|[IVX]{1,4}|[一二三四五六])\b",
    re.MULTILINE | re.IGNORECASE,
)
_STARTS = (*INPUTS, "q", "k", "v")


def sections(source: Source, blocks: Iterable[Block]) -> list[tuple[int, int]]:
    """The lines of each numbered example, where two of them at least give inputs of the same name; else nothing."""
    heads = [source.place(found.end() - 1)[0] for found in _HEAD.finditer(source.text)]
    parts = list(zip(heads, [*heads, END][1:], strict=True))
    given: list[set[str]] = [set() for _ in parts]
    for block in blocks:
        for number, (low, high) in enumerate(parts):
            if low <= block.place.line < high and block.role.name in _STARTS and not block.derived:
                given[number].add(block.role.name)
    several = any(sum(name in names for names in given) > 1 for name in _STARTS)
    return parts if several else []

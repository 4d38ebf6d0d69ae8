r"""Matrices whose `\begin` and `\end` do not match, so that their numbers cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from exactattn.documents.notes.model import Noted
from exactattn.documents.pasted.source import Source
from exactattn.findings import Place

MOST = 20
_BOUND = re.compile(r"\\(begin|end)\s?\{((?:[pbBvV]|small)?matrix\*?|array|cases)\}")


def mismatched(source: Source) -> Iterator[Noted]:
    """The first matrices that are closed by another bracket than opened, or never."""
    opened: list[re.Match[str]] = []
    count = 0
    for bound in _BOUND.finditer(source.text):
        if bound[1] == "begin":
            opened.append(bound)
            continue
        begin = opened.pop() if opened else None
        if begin is not None and begin[2] == bound[2]:
            continue
        count += 1
        if count > MOST:
            return
        if begin is None:
            yield _noted(source, bound, "closes a matrix that no \\begin opens")
        else:
            line = source.place(begin.start())[0]
            yield _noted(
                source, begin, f"is closed by \\end{{{bound[2]}}}, so the brackets of line {line} do not match"
            )
    for begin in opened[: max(0, MOST - count)]:
        yield _noted(source, begin, "is not closed")


def _noted(source: Source, bound: re.Match[str], says: str) -> Noted:
    return Noted(Place(*source.place(bound.start())), f"the matrix at {bound[0]}", f"it {says}", understood=False)

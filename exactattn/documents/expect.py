"""Which findings a pattern means: `NAME`, `NAME[i, j]`, `NAME[i, :]`, each perhaps after `PROBLEM:`.

`:` stands for a whole axis, and axes left out at the end are whole too, as everywhere in the language of claims:
`weights[2]` is row 2, `weights` is every element. The name, its problem included, must be the same to the letter.
"""

from __future__ import annotations

import re

from exactattn.documents.nodes import Mistakes, Node, Scalar, quoted
from exactattn.documents.words import VERDICTS
from exactattn.findings import Expectation, Verdict

_PATTERN = re.compile(r"(?P<name>[^\[\]]*[^\[\]\s])\s*(?:\[(?P<index>[^\[\]]*)\])?")
_AXIS = re.compile(r"[0-9]+|:")
WHOLE = ":"


def matches(pattern: str, finding_id: str) -> bool:
    """Does a pattern mean the finding of this id? A text that is no pattern means none."""
    wanted, found = _split(pattern), _split(finding_id)
    if wanted is None or found is None or wanted[0] != found[0] or len(wanted[1]) > len(found[1]):
        return False
    return all(axis in (WHOLE, index) for axis, index in zip(wanted[1], found[1], strict=False))


def read_expectation(key: Scalar, node: Node, mistakes: Mistakes) -> Expectation | None:
    """One expectation, or None after noting every mistake in it."""
    if _split(key.text) is None:
        hint = 'write for example "weights[2, 0]", or "weights[2, :]" for the whole row'
        mistakes.add(f"found {quoted(key.text)}, wanted the id of a finding, or a slice of them", key, hint)
        return None
    body = mistakes.mapping(node)
    verdict, reason = (body.values.get("verdict"), body.values.get("reason")) if body else (None, None)
    chosen = mistakes.choice(verdict, VERDICTS, " or ".join(map(repr, VERDICTS))) if verdict else None
    why = mistakes.text(reason) if reason else None
    return Expectation(key.text, Verdict(chosen), why, key.place) if chosen else None


def _split(text: str) -> tuple[str, tuple[str, ...]] | None:
    """The name and the axes of an id or a pattern."""
    found = _PATTERN.fullmatch(text.strip())
    if found is None:
        return None
    if found["index"] is None:
        return found["name"], ()
    axes = tuple(axis.strip() for axis in found["index"].split(","))
    return (found["name"], tuple(a if a == WHOLE else str(int(a)) for a in axes)) if all(map(_is_axis, axes)) else None


def _is_axis(text: str) -> bool:
    return _AXIS.fullmatch(text) is not None and len(text) < 10

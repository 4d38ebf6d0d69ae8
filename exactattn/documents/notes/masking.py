"""Numbers with minus infinity among them: a mask that is added (nothing but 0 and -inf), or scores after the mask."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from exactattn.documents.notes.flat import compact, flat
from exactattn.documents.notes.model import Block, Noted, Role
from exactattn.documents.notes.names import role_of
from exactattn.documents.notes.statements import Statement
from exactattn.documents.pasted import Cell, Found, Pasted
from exactattn.findings import Place

AFTER_MASK = ("masked", "weights", "context", "output", "lse")
EVERY_STAGE = ("q", "k", "v", "scores", "scaled", *AFTER_MASK)
MOST_COMPARED = 500  # blocks that one is compared with
AFTER: Mapping[str, tuple[str, ...]] = {  # a stage -> those that rest on it
    "q": EVERY_STAGE,
    "k": EVERY_STAGE,
    "v": ("v", "context", "output"),
    "scores": ("scores", "scaled", *AFTER_MASK),
    "scaled": ("scaled", *AFTER_MASK),
    "masked": AFTER_MASK,
    "weights": ("weights", "context", "output"),
    "context": ("context", "output"),
    "output": ("output",),
}
HUGE = Fraction(-10_000)  # an entry as low as this stands for minus infinity
_SOFTMAX_OF = re.compile(r"softmax(?:_\w+)?\((\w+'*)(?:,(?:dim|axis)=-?[0-9])?\)", re.IGNORECASE)
_ADDED = re.compile(r"\+\(?(\w+'*)\)?")
_MASKED_WORDS = re.compile(r"masked(?: \w+){0,2} (?:scores?|logits)|maskierte\w* \w+|掩码后", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unclear:
    """Something in the document that changes these stages, and is not understood: they are not judged."""

    stages: tuple[str, ...]
    why: str
    place: Place


def with_masks(
    blocks: Iterable[Block], found: Iterable[Found], known: Iterable[Statement], text: str
) -> tuple[list[Block], list[Noted], list[Unclear]]:
    """The blocks, each mask either a mask that is added or scores after it; and what is neither for sure."""
    others, formulas = list(found), softmax_names(known)
    lines = text.split("\n")
    out, noted, unclear = list[Block](), list[Noted](), list[Unclear]()
    for block in blocks:
        role = block.role.name
        if role in ("scores", "scaled") and any_minus_infinity(block.pasted):
            out.append(_as_masked(block, f"{block.by}, and -inf stands in it"))
        elif role != "mask" or _is_added(block.pasted) or _is_boolean(block.pasted):
            out.append(block)
        elif (why := _masked_by(block, others, formulas, lines)) is not None and not _huge(block.pasted):
            out.append(_as_masked(block, why))
        else:
            says = "neither a mask of 0 and -inf, nor the scores after a mask that another line gives"
            noted.append(Noted(block.place, "a mask", says, understood=False))
            unclear.append(Unclear(AFTER_MASK, f"the mask on line {block.place.line} is not understood", block.place))
    return out, noted, unclear


def any_minus_infinity(pasted: Pasted) -> bool:
    """Does -inf stand among the numbers?"""
    return any(cell.minus_infinity for row in pasted.rows for cell in row)


def looks_masked(pasted: Pasted) -> bool:
    """Does -inf stand beside numbers that are not 0?"""
    return any_minus_infinity(pasted) and not _is_added(pasted)


def _as_masked(block: Block, by: str) -> Block:
    return replace(block, role=Role("masked", block.role.row, True, block.role.head), by=by)


def _values(pasted: Pasted) -> list[Fraction | None]:
    """The numbers that are not -inf; None for what is no rational number."""
    cells = [cell for row in pasted.rows for cell in row if not cell.minus_infinity]
    return [_value(cell) for cell in cells]


def _value(cell: Cell) -> Fraction | None:
    value = None if cell.said is None else cell.said.numeral.value
    return value if isinstance(value, Fraction) else None


def _is_added(pasted: Pasted) -> bool:
    return all(x is not None and (x == 0 or x <= HUGE) for x in _values(pasted))


def _is_boolean(pasted: Pasted) -> bool:
    return not any_minus_infinity(pasted) and all(x in (0, 1) for x in _values(pasted))


def _huge(pasted: Pasted) -> bool:
    return any(x is not None and x <= HUGE for x in _values(pasted))


def softmax_names(known: Iterable[Statement]) -> tuple[set[str], set[str]]:
    """The names that a softmax is taken of, and the names that are added to something."""
    taken, added = set[str](), set[str]()
    for statement in known:
        for side in statement.sides:
            spelled = flat(side)
            text = "" if spelled is None else compact(spelled)
            taken |= {match[1] for match in _SOFTMAX_OF.finditer(text)}
            added |= {match[1] for match in _ADDED.finditer(text)}
    return taken, added


def _masked_by(block: Block, others: list[Found], formulas: tuple[set[str], set[str]], lines: list[str]) -> str | None:
    """What says that these are the scores after the mask; None where nothing does."""
    taken, added = formulas
    spelled = None if block.pasted.label is None else flat(block.pasted.label)
    name = None if spelled is None else compact(spelled)
    if not any_minus_infinity(block.pasted) or name in added:
        return None
    roles = {role.name for part in (name or "").split("+") if (role := role_of(part)) is not None}
    if "mask" in roles and roles & {"scores", "scaled"}:
        return f"its name '{name}'"
    for other in others[:MOST_COMPARED]:
        if other.pasted.rows is not block.pasted.rows and _agrees(block.pasted, other.pasted):
            return f"its numbers, which are those of line {other.start_line} where -inf does not stand"
    if name in taken:
        return f"the formula softmax({name})"
    above = " ".join(lines[max(0, block.place.line - 5) : block.place.line])
    return "the words above it" if _MASKED_WORDS.search(above) else None


def _agrees(masked: Pasted, other: Pasted) -> bool:
    """Are the numbers the same, up to the last printed digit, wherever -inf does not stand?"""
    if any_minus_infinity(other) or [len(row) for row in masked.rows] != [len(row) for row in other.rows]:
        return False
    pairs = [(a, b) for p, q in zip(masked.rows, other.rows, strict=True) for a, b in zip(p, q, strict=True)]
    return all(a.minus_infinity or _near(a, b) for a, b in pairs)


def _near(a: Cell, b: Cell) -> bool:
    x, y = _value(a), _value(b)
    if x is None or y is None or a.said is None or b.said is None:
        return False
    decimals = [one for one in (a.said.numeral, b.said.numeral) if one.form == "decimal"]
    return abs(x - y) <= max((numeral.unit or Fraction(0) for numeral in decimals), default=Fraction(0))

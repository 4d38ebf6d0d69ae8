"""Whether the relations of a statement hold, link by link, element by element.

`=` between two exact values; where one side is a printed number (decimals), also right when rounded, |t - x| <= h/2
with h the unit of the last printed digit, or cut toward zero. A bare integer is meant exactly under `=`: beside
decimals it has their finest unit, under `~` its own unit 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactattn.errors import NumeralError
from exactattn.findings import Verdict
from exactattn.numbers.exact import ONE, ZERO, Exact, div, mul, neg, sub
from exactattn.truth.statements import Operand, Print, Statement
from exactattn.truth.values import Values

HALF = Fraction(1, 2)
SIGNS: Mapping[str, frozenset[int]] = {
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
    "!=": frozenset({-1, 1}),
}
_STRENGTH = ("exact", "rounded", "truncated", "unknown", "off")


@dataclass(frozen=True, slots=True)
class Link:
    """One relation and what became of it.

    reason  exact, rounded, truncated, off (false) or unknown; for an order: proven, off or unknown
    place   where the element that decided stands, when it fails or is unknown; error: left - right there
    unit    of the last printed digit there
    """

    left: Operand
    relation: str
    right: Operand
    reason: str
    place: tuple[int, ...] | None = None
    at: int = 0
    error: Exact | None = None
    unit: Exact | None = None

    @property
    def verdict(self) -> Verdict:
        """HOLDS, FAILS or UNDECIDED."""
        return {"off": Verdict.FAILS, "unknown": Verdict.UNDECIDED}.get(self.reason, Verdict.HOLDS)

    @property
    def text(self) -> str:
        """The link as written."""
        return f"{self.left.text} {self.relation} {self.right.text}"

    def side(self, operand: Operand) -> Exact:
        """The element of an operand that decided."""
        return operand.values[self.at if operand.shape else 0]


def judge(values: Values, statement: Statement, prints: bool = True) -> list[Link]:
    """Every link of a statement. Without `prints` an `=` is meant exactly, whatever its sides look like.

    Errors: NumeralError when two sides do not have the same shape (one number may be compared with every element
    of an array, but is not `=` to it).
    """
    return [
        _link(values, left, relation, right, prints or relation == "~")
        for left, relation, right in zip(statement.operands, statement.relations, statement.operands[1:], strict=False)
    ]


def worst(links: list[Link]) -> Verdict:
    """FAILS when one link fails, else UNDECIDED when one is, else HOLDS."""
    verdicts = [link.verdict for link in links]
    return next((v for v in (Verdict.FAILS, Verdict.UNDECIDED) if v in verdicts), Verdict.HOLDS)


def _link(values: Values, left: Operand, relation: str, right: Operand, prints: bool) -> Link:
    order = relation in SIGNS
    if left.shape != right.shape and not (order and () in (left.shape, right.shape)):
        raise NumeralError(
            f"found {_spell(left)} {relation} {_spell(right)} in {left.text} {relation} {right.text}; "
            "wanted the same shape on both sides"
        )
    shape = left.shape or right.shape
    size = max(len(left.values), len(right.values))
    units = _units(left, right, relation == "~") if prints and not order else [None] * size
    found: list[tuple[str, Exact, Exact | None]] = []
    for number in range(size):
        a, b = (side.values[number if side.shape else 0] for side in (left, right))
        if order:
            reason = _ordered(values, a, relation, b)
        else:
            reason = _equal(values, a, b, units[number], printed_left=right.prints is None)
        found.append((reason, sub(a, b), units[number]))
    reasons = [reason for reason, _, _ in found]
    reason = max(reasons, key=_STRENGTH.index) if not order else max(reasons, key=("proven", "unknown", "off").index)
    at = reasons.index(reason)
    if reason not in ("off", "unknown"):
        return Link(left, relation, right, reason)
    return Link(left, relation, right, reason, _place(shape, at), at, found[at][1], found[at][2])


def _ordered(values: Values, a: Exact, relation: str, b: Exact) -> str:
    sign = values.sign(sub(a, b))
    if sign is None:
        return "unknown"
    return "proven" if sign in SIGNS[relation] else "off"


def _equal(values: Values, a: Exact, b: Exact, h: Exact | None, printed_left: bool) -> str:
    """How two sides stand to each other; with h, one of them is a print and the other what it is judged by."""
    exact = values.sign(sub(a, b))
    if exact == 0:
        return "exact"
    if h is None:
        return "unknown" if exact is None else "off"
    t, x = (b, a) if printed_left else (a, b)
    half = mul(h, HALF)
    rounded = _all_signs(values, (sub(half, sub(t, x)), (0, 1)), (sub(half, sub(x, t)), (0, 1)))
    if rounded:
        return "rounded"
    cut = _truncated(values, t, x, h)
    if cut:
        return "truncated"
    return "unknown" if None in (rounded, cut) else "off"


def _truncated(values: Values, t: Exact, x: Exact, h: Exact) -> bool | None:
    """Is x the value cut toward zero: |x| <= |t| < |x| + h, with the sign of x?"""
    sign = values.sign(x)
    if sign is None:
        return None
    if sign == 0:
        return _all_signs(values, (sub(h, t), (1,)), (sub(h, neg(t)), (1,)))
    rest = sub(t, x) if sign > 0 else sub(x, t)
    return _all_signs(values, (rest, (0, 1)), (sub(h, rest), (1,)))


def _all_signs(values: Values, *wanted: tuple[Exact, tuple[int, ...]]) -> bool | None:
    """Have all these numbers one of the signs wanted? None when that cannot be told."""
    signs = [(values.sign(x), signs) for x, signs in wanted]
    if any(sign is not None and sign not in allowed for sign, allowed in signs):
        return False
    return None if any(sign is None for sign, _ in signs) else True


def _units(left: Operand, right: Operand, loose: bool) -> list[Exact | None]:
    """The unit of the print at each element; the right side is the print, or else the left."""
    prints = right.prints if right.prints is not None else left.prints
    if prints is None:
        return [None] * len(left.values)
    finest = min((p.unit for p in prints if not p.whole and isinstance(p.unit, Fraction)), default=None)
    return [_unit(one, finest, loose) for one in prints]


def _unit(one: Print, finest: Fraction | None, loose: bool) -> Exact | None:
    if not one.whole:
        return one.unit
    return finest if finest is not None else ONE if loose else None


def in_units(values: Values, link: Link, digits: int = 3) -> str | None:
    """The size of an error in units of the last printed digit."""
    if link.error is None or link.unit is None or link.unit == ZERO:
        return None
    return values.decimal(div(link.error, link.unit), digits)


def _place(shape: tuple[int, ...], at: int) -> tuple[int, ...]:
    place: list[int] = []
    for size in reversed(shape):
        at, index = divmod(at, size)
        place.insert(0, index)
    return tuple(place)


def _spell(operand: Operand) -> str:
    return "x".join(map(str, operand.shape)) + " array" if operand.shape else "one number"


def as_json(links: list[Link]) -> list[dict[str, Any]]:
    """The links for evidence."""
    return [{"link": link.text, "verdict": str(link.verdict), "reason": link.reason} for link in links]

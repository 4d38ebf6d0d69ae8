"""What `solve` gives: the elements of a stage with their digits, enclosures and closed forms; to JSON and to text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SCHEMA = "exactattn/solution/1"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked: a stage, its digits, and optionally one head, one index, one engine.

    In an index None is every place of its axis, and axes at the end may be left out: (0,) is a whole row.
    """

    stage: str = "output"
    digits: int = 20
    head: int | None = None
    index: tuple[int | None, ...] | None = None
    engine: str = "ball"


@dataclass(frozen=True, slots=True)
class Value:
    """One element.

    state      "value", "undefined" (its query has no allowed key), "not allowed" (-inf) or "undecided"
    decimal    correctly rounded to the wanted digits, or exact; enclosure: ends rounded outward
    exact      is `decimal` or `closed_form` the number itself, rational?
    bits       of the balls that decided it
    """

    id: str
    state: str
    decimal: str | None = None
    enclosure: tuple[str, str] | None = None
    closed_form: str | None = None
    exact: bool = False
    bits: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        ends = None if self.enclosure is None else list(self.enclosure)
        return {**{key: getattr(self, key) for key in self.__dataclass_fields__}, "enclosure": ends}


@dataclass(frozen=True, slots=True)
class Solution:
    """A stage, or a part of it, and how it was found."""

    wanted: Wanted
    shape: tuple[int, ...]
    guarantee: str
    values: tuple[Value, ...]

    @property
    def status(self) -> int:
        """The exit status: 3 when nothing that was asked for has digits or a closed form, else 0."""
        return 3 if all(value.state == "undecided" and value.closed_form is None for value in self.values) else 0

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values: schema, stage, engine, guarantee, digits, shape of one head, values."""
        return {
            "schema": SCHEMA,
            "stage": self.wanted.stage,
            "engine": self.wanted.engine,
            "guarantee": self.guarantee,
            "digits": self.wanted.digits,
            "shape": list(self.shape),
            "values": [value.as_json() for value in self.values],
        }

    def text(self) -> str:
        """For people."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        size = " x ".join(map(str, self.shape))
        yield f"{self.wanted.stage} ({size}), {self.wanted.digits} significant digits"
        yield f"engine {self.wanted.engine}; guarantee: {self.guarantee}"
        for value in self.values:
            yield ""
            yield f"{value.id} {_shown(value)}"
            if value.closed_form is not None and value.state == "value" and value.closed_form != value.decimal:
                yield f"  closed form {value.closed_form}"
            if value.enclosure is not None and value.enclosure[0] != value.enclosure[1]:
                yield f"  between {value.enclosure[0]}"
                yield f"      and {value.enclosure[1]}" + (f"   ({value.bits} bits)" if value.bits else "")


def _shown(value: Value) -> str:
    if value.state == "undefined":
        return "is undefined: this query has no allowed key"
    if value.state == "not allowed":
        return "= -inf (this key is not allowed)"
    if value.state == "undecided":
        how = f" with {value.bits} bits" if value.bits else ""
        if value.closed_form is not None:
            return f"= {value.closed_form} (its digits are not decided{how})"
        return f"is not decided to so many digits{how}"
    return f"= {value.decimal}" + (" (exact)" if value.exact and value.closed_form in (None, value.decimal) else "")

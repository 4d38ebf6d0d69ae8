"""What reading a document gives: a draft of a case, and for everything in it what it was taken for, or why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from exactattn.documents.pasted import Pasted
from exactattn.findings import Place


@dataclass(frozen=True, slots=True)
class Role:
    """What a block is: a name of inputs (X, W_Q, W_K, W_V, W_O, mask) or of a stage.

    `row` is the token that a vector belongs to, counted from 0; `head` the number that a matrix has in its name, as
    written; `sure` is False where convention alone says so.
    """

    name: str
    row: int | None = None
    sure: bool = True
    head: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Numbers of the document that were understood: what they are, by what, and where they stand.

    `derived` says that a formula beside them makes them from others, so they may be rounded.
    """

    role: Role
    pasted: Pasted
    place: Place
    end: int
    by: str
    derived: bool = False
    scale: str | None = None  # the factor on the scores that its own formula states


class Scale(NamedTuple):
    """A scale that a formula or a sentence states."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """A claim of the draft: its keys in order, and the line it came from."""

    fields: Mapping[str, object]
    place: Place
    assumed: str | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """One thing found in the document: understood as what, or why not.

    `assumed` says that no line states it; `claim` that it became a claim, which has a finding of its own.
    """

    place: Place
    what: str
    says: str
    understood: bool
    assumed: bool = False
    claim: bool = False

    def __str__(self) -> str:
        """One line for people."""
        verb = "assumed" if self.assumed else "understood" if self.understood else "not understood"
        return f"line {self.place.line}: {verb}: {self.what}: {self.says}"


@dataclass(frozen=True, slots=True)
class Draft:
    """A case drafted from a document.

    `text` is its YAML; `places` says for a line and column of it where in the document that stands, `lines` the same
    for a whole line.
    """

    text: str
    noted: tuple[Noted, ...]
    places: Mapping[tuple[int, int], Place] = field(default_factory=dict)
    lines: Mapping[int, Place] = field(default_factory=dict)

    def place_of(self, place: Place | None) -> Place | None:
        """The place in the document of a place in the draft."""
        if place is None:
            return None
        return self.places.get((place.line, place.column)) or self.lines.get(place.line)

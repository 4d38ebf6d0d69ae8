"""The mask of an example: shown by -inf among its numbers, or told by words; and why it may be neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from exactattn.documents.notes.conditions import Conditions
from exactattn.documents.notes.examples import Example
from exactattn.documents.notes.model import Block
from exactattn.findings import Place


@dataclass(frozen=True, slots=True)
class Masks:
    """What is known of the mask of one example; `turned` says that its tokens are columns."""

    example: Example
    words: Conditions
    turned: bool
    given: Callable[[str], Block | None]

    def shown(self) -> tuple[Place, str, str] | None:
        """A mask that is not causal, as the masked scores show it: where, its rows of 1 and 0, and why."""
        block = self.example.stage("masked")
        if block is None or shows_causal(block) or self.turned:
            return None
        rows = [[0 if cell.minus_infinity else 1 for cell in row] for row in block.pasted.rows]
        return block.place, str(rows), f"-inf stands there on line {block.place.line}"

    def causal(self) -> tuple[Place, str] | None:
        """Where it is said that the mask is causal, and how."""
        if self.doubt() is not None:
            return None
        block = next((b for b in self.example.printed if b.role.name == "masked" and shows_causal(b)), None)
        if block is not None:
            return block.place, f"-inf stands above the diagonal on line {block.place.line}, and nowhere else"
        if self.example.stage("masked") is not None:
            return None
        said = next((one for one in self.words.causal if self.example.covers(one.place.line)), None)
        return None if said is None else (said.place, f"line {said.place.line} says '{said.words}'")

    def doubt(self) -> str | None:
        """Why it is not known which mask holds for the numbers here."""
        said = [one for one in self.words.causal if self.example.covers(one.place.line)]
        masked = self.example.stage("masked")
        if self.given("mask") is not None or not (said or masked):
            return None
        if self.turned:
            return "there is a mask, and tokens are columns"
        if masked is not None:
            return None
        line = said[-1].place.line
        other = next((one for one in self.words.not_causal if self.example.covers(one.place.line)), None)
        if other is not None:
            return f"line {line} speaks of a causal mask, and line {other.place.line} of none"
        weights = self.example.stage("weights")
        if weights is not None and not zero_above(weights):
            return f"line {line} speaks of a causal mask, and these weights are not 0 above the diagonal"
        q, k = self.given("q"), self.given("k")
        if q is not None and k is not None and self.given("X") is None and len(q.pasted.rows) != len(k.pasted.rows):
            return f"line {line} speaks of a causal mask, and there are not as many keys as queries"
        return None


def shows_causal(block: Block) -> bool:
    """Does minus infinity stand above the diagonal and nowhere else?"""
    rows = block.pasted.rows
    square = len(rows) == len(rows[0]) > 1
    return square and all(x.minus_infinity == (j > i) for i, row in enumerate(rows) for j, x in enumerate(row))


def zero_above(block: Block) -> bool:
    """Are printed weights 0 wherever the key comes after the query?"""
    rows = block.pasted.rows
    if len(rows) != len(rows[0]):
        return False
    later = [cell for i, row in enumerate(rows) for cell in row[i + 1 :] if cell.said is not None]
    return all(cell.said is not None and cell.said.numeral.value == 0 for cell in later)

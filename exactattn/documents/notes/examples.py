"""The blocks of a document -> its examples: the inputs of each, and the numbers printed for its stages.

A document that gives other numbers for an input has begun another example; what that does not give again is taken
over from the one before, and said to be assumed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from exactattn.documents.notes.model import Block, Noted, Role
from exactattn.documents.notes.names import INPUTS
from exactattn.findings import Place
from exactattn.numbers.exact import Exact

ROWED = ("q", "scores", "scaled", "masked", "weights", "context", "output")  # a row for each query
ROWS_NEAR = 8  # lines


@dataclass
class Example:
    """One problem of a document: `inputs` by name, `printed` in order; `first` is where it begins."""

    inputs: dict[str, Block] = field(default_factory=dict)
    printed: list[Block] = field(default_factory=list)
    inherited: set[str] = field(default_factory=set)

    @property
    def first(self) -> Place:
        """The place of its first own block."""
        own = [block.place for name, block in self.inputs.items() if name not in self.inherited]
        own += [block.place for block in self.printed]
        return min(own, key=lambda place: (place.line, place.column), default=Place(1, 1))

    def stage(self, name: str) -> Block | None:
        """The first whole print of a stage."""
        return next((block for block in self.printed if block.role.name == name and block.role.row is None), None)


def examples(blocks: Iterable[Block]) -> tuple[list[Example], list[Noted]]:
    """The examples of a document in order, and what was assumed for them."""
    known = merged(list(blocks))
    starts = _starts(known)
    out, noted = [Example()], list[Noted]()
    for block in known:
        name, now = block.role.name, out[-1]
        if name not in starts:
            now.printed.append(block)
            continue
        before = now.inputs.get(name)
        if before is not None and values(before) != values(block) and block.role.row is None:
            if name in now.inherited:
                now.inherited.discard(name)
            else:
                now = Example(dict(now.inputs), [], set(now.inputs))
                now.inherited.discard(name)
                out.append(now)
            now.inputs[name] = block
        elif before is None and block.role.row is None:
            now.inputs[name] = block
        elif name in ("scores", "scaled") and block.role.row is not None:
            now.printed.append(block)
        elif before is None or block.role.row is not None:
            noted.append(Noted(block.place, "one row", f"of {name}, which is not given whole", understood=False))
        elif name in now.inherited:
            now.inherited.discard(name)
        if name in ("q", "k", "v") and not (before is None and block.role.row is None):
            now.printed.append(block)
    for example in out:
        for name in sorted(example.inherited):
            says = f"{name} of line {example.inputs[name].place.line} holds here too, as no line gives another"
            noted.append(
                Noted(example.first, f"the inputs of the example from line {example.first.line}", says, True, True)
            )
    return out, noted


def _starts(blocks: list[Block]) -> set[str]:
    """The names that inputs go by: without X also Q, K and V; without any of Q and K also the scores."""
    names = {block.role.name for block in blocks}
    out = set(INPUTS)
    if "X" not in names:
        out |= {"q", "k", "v"}
        if not names & {"q", "k"}:
            out |= {"scores"} if "scores" in names else {"scaled"}
    return out


def with_rows(blocks: list[Block]) -> tuple[list[Block], list[Noted]]:
    """Vectors of a stage that nothing counts, as the row that the vector before them belongs to: assumed, and noted."""
    out, noted = list[Block](), list[Noted]()
    for block in blocks:
        before = next((one for one in reversed(out) if one.pasted.vector and one.role.name in ROWED), None)
        near = before is not None and block.place.line - before.end <= ROWS_NEAR
        if block.pasted.vector and block.role.row is None and block.role.name in ROWED and before and near:
            row = before.role.row
            if row is not None and before.role.name != block.role.name:
                says = f"row {row}, as the {before.role.name} on line {before.place.line}"
                noted.append(Noted(block.place, f"which row of {block.role.name} this is", says, True, True))
                out.append(replace(block, role=replace(block.role, row=row)))
                continue
        out.append(block)
    return out, noted


def values(block: Block) -> tuple[tuple[Exact | str, ...], ...]:
    """The exact numbers of a block, to compare; a factor in front and what is no number as text."""
    times = (block.pasted.times or "",)
    rows = (tuple(x.text if x.said is None else x.said.numeral.value for x in row) for row in block.pasted.rows)
    return (times, *rows)


def merged(blocks: list[Block]) -> list[Block]:
    """The blocks with vectors of successive tokens, `x_1 = ..`, `x_2 = ..`, put together to the matrix they make."""
    out: list[Block] = []
    at = 0
    while at < len(blocks):
        run = [blocks[at]]
        if blocks[at].role.row == 0:
            while at + len(run) < len(blocks) and _follows(run[-1], blocks[at + len(run)]):
                run.append(blocks[at + len(run)])
        out.append(_matrix(run) if len(run) > 1 else blocks[at])
        at += len(run)
    return out


def _follows(block: Block, following: Block) -> bool:
    """Is this the next row of the same thing, soon after?"""
    one, other = block.role, following.role
    same = one.name == other.name and len(block.pasted.rows[0]) == len(following.pasted.rows[0])
    near = following.place.line - block.end <= 3
    return same and near and other.row == (one.row or 0) + 1 and block.pasted.times == following.pasted.times


def _matrix(run: list[Block]) -> Block:
    first = run[0]
    rows = tuple(row for block in run for row in block.pasted.rows)
    pasted = replace(first.pasted, rows=rows, vector=False, label=None, row_labels=None)
    return Block(Role(first.role.name, None, first.role.sure), pasted, first.place, run[-1].end, first.by)

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

PROJECTIONS = ("W_Q", "W_K", "W_V")
ROWED = ("q", "scores", "scaled", "masked", "weights", "context", "output")  # a row for each query
ROWS_NEAR = 8  # lines


@dataclass
class Example:
    """One problem of a document: `inputs` by name, `printed` in order; `first` is where it begins."""

    inputs: dict[str, Block] = field(default_factory=dict)
    printed: list[Block] = field(default_factory=list)
    inherited: set[str] = field(default_factory=set)

    lines: tuple[int, int] = (1, 10**9)  # the part of the document that is about it alone
    begin: int = 1  # the first line that is about one example alone

    def covers(self, line: int) -> bool:
        """Is a line about this example, or about all of them?"""
        return line < self.begin or self.lines[0] <= line < self.lines[1]

    @property
    def first(self) -> Place:
        """The place of its first own block."""
        own = [block.place for name, block in self.inputs.items() if name not in self.inherited]
        own += [block.place for block in self.printed]
        here = [place for place in own if self.lines[0] <= place.line < self.lines[1]]
        return min(here or own, key=lambda place: (place.line, place.column), default=Place(1, 1))

    def stage(self, name: str) -> Block | None:
        """The first whole print of a stage."""
        return next((block for block in self.printed if block.role.name == name and block.role.row is None), None)


def examples(blocks: Iterable[Block]) -> tuple[list[Example], list[Noted]]:
    """The examples of a document in order, and what was assumed for them or could not be placed."""
    reader = _Reader(merged(list(blocks)))
    for block in reader.blocks:
        reader.one(block)
    for example in reader.out:
        for name in sorted(example.inherited):
            what = f"the inputs of the example from line {example.first.line}"
            says = f"{name} of line {example.inputs[name].place.line} holds here too, as no line gives another"
            reader.noted.append(Noted(example.first, what, says, True, True))
    return reader.out, reader.noted


def examples_by_section(blocks: list[Block], parts: list[tuple[int, int]]) -> tuple[list[Example], list[Noted]]:
    """The examples of each numbered part of a document; inputs before the first part hold for all of them."""
    if not parts:
        return examples(blocks)
    begin = parts[0][0]
    common = [block for block in blocks if block.place.line < begin]
    out, noted = list[Example](), list[Noted]()
    for low, high in parts:
        own = [block for block in blocks if low <= block.place.line < high]
        if not own:
            continue
        shared = [block for block in common if block.role.name not in {one.role.name for one in own}]
        found, said = examples([*shared, *own])
        for example in found:
            example.lines, example.begin = (low, high), begin
            example.printed = [block for block in example.printed if block.place.line >= begin or low == begin]
        out += [example for example in found if example.printed or example.inputs]
        noted += said
    return out, noted


class _Reader:
    """Puts one block after the other into its example."""

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks, self.starts = blocks, _starts(blocks)
        heads = {block.role.head for block in blocks if block.role.name in PROJECTIONS} - {None}
        self.several = len(heads) > 1
        self.heads: dict[int, Example] = {}
        self.out, self.noted = [Example()], list[Noted]()

    def one(self, block: Block) -> None:
        """One block."""
        role = block.role
        if self.several and role.name != "X":
            self._of_head(block)
        elif role.name not in self.starts:
            self.out[-1].printed.append(block)
        elif role.row is not None:
            self._row(block)
        else:
            self._input(block)

    def _of_head(self, block: Block) -> None:
        """A block of a document with several heads: each head is an example of its own, and outputs are of all."""
        head, name = block.role.head, block.role.name
        if head is None or (name not in PROJECTIONS and head not in self.heads):
            says = "the document has several heads, and which one this belongs to is not said"
            self.noted.append(Noted(block.place, f"numbers for {name}", says, understood=False))
            return
        if head not in self.heads:
            shared = {key: x for key, x in self.out[0].inputs.items() if key == "X"}
            fresh = Example(shared, [], set(shared) if self.heads else set())
            self.out = [*self.heads.values(), fresh] if self.heads else [fresh]
            self.heads[head] = fresh
        if name in PROJECTIONS:
            self.heads[head].inputs.setdefault(name, block)
        else:
            self.heads[head].printed.append(block)

    def _row(self, block: Block) -> None:
        """One row of something that is given whole, or nowhere."""
        name, now = block.role.name, self.out[-1]
        if name in ("q", "k", "v", "scores", "scaled") and (name in now.inputs or name in ("scores", "scaled")):
            now.printed.append(block)
        else:
            self.noted.append(Noted(block.place, "one row", f"of {name}, which is not given whole", understood=False))

    def _input(self, block: Block) -> None:
        name, now = block.role.name, self.out[-1]
        before = now.inputs.get(name)
        if before is not None and values(before) != values(block) and name not in now.inherited:
            now = Example(dict(now.inputs), [], set(now.inputs))
            self.out.append(now)
        if before is None or values(before) != values(block) or name in now.inherited:
            now.inputs[name] = block
        elif name in ("q", "k", "v"):
            now.printed.append(block)
        now.inherited.discard(name)


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

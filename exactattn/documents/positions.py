"""Where printed numbers stand in their stage: all of it, or the rows and columns that the block names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from exactattn.attention.sheet import Where
from exactattn.attention.spec import Problem, Stage
from exactattn.documents.cells import COMMAS, Reader, looks_like_commas
from exactattn.documents.nodes import Mapping, Node, Scalar, Sequence

Axis = Literal["rows", "columns"]
SCORES = ": its scores are given directly (print scores, or give Q and K)"
_WHY = {
    Stage.CAPPED: ", which a softcap makes",
    Stage.Q_READY: ", which a norm or rotary positions make",
    Stage.K_READY: ", which a norm or rotary positions make",
}
AXES: tuple[Axis, Axis] = ("rows", "columns")


@dataclass
class Part:
    """A block of printed numbers as written, with the problem that it belongs to (None: that has mistakes)."""

    name: Scalar
    node: Node
    problem: Problem | None
    reader: Reader

    def get(self, key: str) -> Node | None:
        """What stands under a key of the block."""
        return self.node.values.get(key) if isinstance(self.node, Mapping) else None

    def index(self, node: Node) -> int | None:
        """A count from 0, or None after noting the mistake."""
        if isinstance(node, Scalar) and node.text.isascii() and node.text.isdigit() and len(node.text) < 7:
            return int(node.text)
        self.reader.mistakes.wrong_kind(node, "an index: a whole number counted from 0")
        return None

    def listed(self, key: str) -> list[int] | None:
        """The rows or columns that the block names, or None when it names none, or not all can be read."""
        node = self.get(key)
        if not isinstance(node, Sequence):
            return None  # a value of another kind is a mistake of the shape, noted there
        found = [self.index(item) for item in node.items]
        known = [index for index in found if index is not None]
        if len(set(known)) < len(known):
            self.reader.mistakes.add(f"a number stands twice in `{key}`", node)
        return known if len(known) == len(found) else None

    def indices(
        self, cells: list[list[Scalar]], stage: Stage, head: int | None, values: Node | None
    ) -> list[list[tuple[int, ...]]] | None:
        """The index of every cell in its stage as shown, or None after noting why they do not fit."""
        printed = (len(cells), len(cells[0]))
        shape = printed if self.problem is None else shape_of(self.problem, stage, head or 0)
        if shape is None:
            self.reader.mistakes.add(f"the problem has no {stage.value!r}{_WHY.get(stage, SCORES)}", self.name)
            return None
        if len(shape) == 1:
            return self.list_indices(cells, shape[0], stage, values)
        return self.matrix_indices(cells, stage, (shape[0], shape[1]))

    def matrix_indices(
        self, cells: list[list[Scalar]], stage: Where, shape: tuple[int, int]
    ) -> list[list[tuple[int, ...]]] | None:
        """The same for a stage or step that is a matrix."""
        printed = (len(cells), len(cells[0]))
        rows, columns = (self._axis(*of, _spell(stage, shape)) for of in zip(AXES, printed, shape, strict=True))
        if rows is None or columns is None:
            self._misfit(cells, stage, shape, AXES)
            return None
        return [[(i, j) for j in columns] for i in rows]

    def list_indices(
        self, cells: list[list[Scalar]], length: int, stage: Where, values: Node | None
    ) -> list[list[tuple[int, ...]]] | None:
        """The same for a step that is a list, or a stage with one number for each query (lse), printed as a list."""
        if stage is not Stage.LSE and len(cells) > 1 and all(len(row) == 1 for row in cells):  # a column of numbers
            down = self.list_indices([[row[0] for row in cells]], length, stage, values)
            return None if down is None else [[index] for index in down[0]]
        if len(cells) != 1:
            what = "has one number for each query" if stage is Stage.LSE else "is a list"
            self.reader.mistakes.add(f"{stage.value!r} {what}, wanted one list", values)
            return None
        key: Axis = "columns" if self.get("columns") is not None else "rows"
        axis = self._axis(key, len(cells[0]), length, _spell(stage, (length,)))
        if axis is None:
            self._misfit(cells, stage, (length,), (key,))
        return None if axis is None else [[(i,) for i in axis]]

    def _axis(self, key: Axis, count: int, size: int, shown: str) -> list[int] | None:
        """Which indices of an axis the printed ones are; what is wrong with those that are listed is noted."""
        node, listed = self.get(key), self.listed(key)
        if node is None:
            return list(range(size)) if count == size else None
        if listed is None:
            return None  # noted where it was read
        if len(listed) != count:
            one = key[:-1] if count == 1 else key
            message = f"`{key}` names {len(listed)}, and {count} {one} {'is' if count == 1 else 'are'} printed"
            self.reader.mistakes.add(message, node, "name each printed one once, counted from 0")
            return None
        outside = [index for index in listed if index >= size]
        if outside and self.problem is not None:
            message = f"{shown}, so there is no {key[:-1]} {outside[0]}"
            self.reader.mistakes.add(message, node, f"wanted 0 to {size - 1}, or check the shapes of the problem")
            return None
        return listed

    def _misfit(self, cells: list[list[Scalar]], stage: Where, shape: tuple[int, ...], keys: tuple[Axis, ...]) -> None:
        """Notes that more or less than all of a stage is printed, and nothing says which part it is."""
        printed = (len(cells), len(cells[0])) if len(shape) == 2 else (len(cells[0]),)
        off = [key for key, n, size in zip(keys, printed, shape, strict=True) if self.get(key) is None and n != size]
        if not off:
            return
        count = f"{printed[0]} x {printed[1]} numbers are" if len(printed) == 2 else f"{printed[0]} are"
        message = f"{_spell(stage, shape)}, and {count} printed"
        if all(n <= size for n, size in zip(printed, shape, strict=True)):
            which = " and ".join(f"`{key}: [...]`" for key in off)
            hint = f"say which part that is with {which}, counted from 0; if it is all of it, check the shapes of the "
            hint += "problem"
        else:
            hint = "either too many are printed, or the problem has another shape than the source: check both"
        if off == ["columns"] and printed[-1] == 2 * shape[-1] and looks_like_commas(cells):
            hint = f"{COMMAS}; else {hint}"
        values = self.get("values")
        self.reader.mistakes.add(message, self.node if values is None else values, hint)


def _spell(stage: Where, shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"{stage.value!r} has {shape[0]} {'number' if shape[0] == 1 else 'numbers'} here"
    return f"{stage.value!r} is {' x '.join(map(str, shape))} here (rows x columns)"


def shape_of(problem: Problem, stage: Stage, head: int) -> tuple[int, ...] | None:
    """The shape of a stage as shown in the problem's orientation; None when the problem has no such stage.

    Shapes: tokens as rows, q (L, d_k), k (S, d_k), v (S, d_v), scores to weights (L, S), lse (L,), context (L, d_v),
    concat (L, H*d_v), output (L, columns of W_O); tokens as columns, all but lse turned.
    """
    if not problem.has(stage):
        return None
    form = problem.row_form
    queries, keys = problem.lengths
    part = form.heads[min(head, len(form.heads) - 1)]
    if stage is Stage.LSE:
        return (queries,)
    widths = [len((h.v or h.W_V or ((),))[0]) for h in form.heads]
    key = part.k or part.W_K
    wide = {
        Stage.Q: len(key[0]) if key else 0,
        Stage.K: len(key[0]) if key else 0,
        Stage.Q_READY: len(key[0]) if key else 0,
        Stage.K_READY: len(key[0]) if key else 0,
        Stage.V: widths[min(head, len(widths) - 1)],
        Stage.CONTEXT: widths[min(head, len(widths) - 1)],
        Stage.CONCAT: sum(widths),
        Stage.OUTPUT: len(form.W_O[0]) if form.W_O else sum(widths),
    }.get(stage, keys)
    if wide == 0:
        return None
    long = keys if stage in (Stage.K, Stage.K_READY, Stage.V) else queries
    return (wide, long) if problem.spec.orientation == "columns" else (long, wide)

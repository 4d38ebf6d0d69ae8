"""Text -> Problem: exact inputs, masks and options."""

from __future__ import annotations

from collections.abc import Mapping as Names
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast

from exactattn.attention.options import Orientation
from exactattn.attention.spec import AttentionSpec, Head, Problem, identity
from exactattn.documents.case_tensors import BY_HAND, MAX_SCORES, check_turns, problem_of_file
from exactattn.documents.cells import ANY_SIZES, COMMAS, Reader, looks_like_commas
from exactattn.documents.masks import read_mask
from exactattn.documents.model import HeadPart, ProblemPart
from exactattn.documents.nodes import Mapping, Mistakes, Node, Scalar, Sequence
from exactattn.documents.options import Options, Sizes
from exactattn.documents.words import ORIENTATIONS
from exactattn.errors import ProblemError
from exactattn.numbers.exact import Exact, Matrix, add

PARTS = {"W_Q": "W_Q", "W_K": "W_K", "W_V": "W_V", "Q": "q", "K": "k", "V": "v", "scores": "scores"}
EITHER_OR = (
    *(("Q", "W_Q"), ("K", "W_K"), ("V", "W_V")),
    *(("scores", part) for part in ("Q", "K", "W_Q", "W_K")),
)
ATTENTION = ("X", "heads", "tensors", *PARTS)  # a problem with one of these is one of attention
# a matrix, and another that says how many columns it has: by its columns, or by its rows (True)
WIDTHS = (
    *(("X", part, True) for part in ("W_Q", "W_K", "W_V")),
    *(("Q", "K", False), ("K", "Q", False), ("W_Q", "W_K", False), ("W_K", "W_Q", False)),
    *(("scores", "V", True), ("mask", "K", True), ("bias", "K", True), ("mask", "X", True), ("bias", "X", True)),
)
NOTHING: Names[str, Matrix] = MappingProxyType({})


def read_problem(node: Node, reader: Reader, drawn: Names[str, Matrix] = NOTHING) -> Problem | None:
    """The problem that a mapping states, or None after noting every mistake in it.

    `drawn` are matrices by the names of the parts that a generator drew them for.
    """
    body = reader.mistakes.mapping(node)
    if body is None:
        return None
    before = len(reader.mistakes)
    maker = _Maker(body, reader, drawn)
    problem = maker.make()
    return problem if len(reader.mistakes) == before else None


@dataclass
class _Maker:
    """Makes one problem, part by part, so that a part that does not fit is named at its own place."""

    body: Mapping
    reader: Reader
    drawn: Names[str, Matrix]

    @property
    def mistakes(self) -> Mistakes:
        return self.reader.mistakes

    def get(self, key: str) -> Node | None:
        return self.body.values.get(key)

    def make(self) -> Problem | None:
        before = len(self.mistakes)
        if self.get("tensors") is not None:
            return self.from_file()
        spec = AttentionSpec(orientation=cast(Orientation, self.choice("orientation", ORIENTATIONS, "rows")))
        x = self.matrix("X")
        heads = self.heads(x, spec)
        w_o, bias, mask = self.w_o(heads, spec), self.matrix("bias"), self.mask()
        if len(self.mistakes) > before or self.misspelt():
            self.without_shapes()
            return None
        several = self.get("heads") is not None
        problem = self.fitting(self.body, lambda: Problem(tuple(heads), x, spec=spec, several_heads=several))
        for key, change in (("W_O", {"W_O": w_o}), ("bias", {"bias": bias}), ("mask", mask)):
            problem = self.changed(problem, key, change)
        if problem is None:
            self.without_shapes()
            return None
        return self.options(problem)

    def misspelt(self) -> bool:
        """Has a part a key that is unknown (noted with the shape of the file)? Then nothing can be said to miss."""
        heads = self.get("heads")
        parts = [item for item in heads.items if isinstance(item, Mapping)] if isinstance(heads, Sequence) else []
        return not ProblemPart.model_fields.keys() >= self.body.keys.keys() or any(
            not HeadPart.model_fields.keys() >= part.keys.keys() for part in parts
        )

    def without_shapes(self) -> None:
        """Looks for the mistakes that can be seen in expressions without knowing any sizes."""
        self.option_reader().fields(Sizes(ANY_SIZES))

    def from_file(self) -> Problem | None:
        """The problem of a small file of tensors beside the case."""
        for key in (*ATTENTION, "W_O", "mask", "bias", "sinks", "orientation"):
            if key != "tensors" and (key in self.body.keys or key in self.drawn):
                place = self.body.keys.get(key, self.body)
                self.mistakes.add(f"found {key!r} beside `tensors`", place, "keep the one that is meant")
        return problem_of_file(self.body, self.option_reader())

    def option_reader(self) -> Options:
        """The reader of the options of this problem; caches of rotary positions are rows of numbers here."""
        return Options(self.body, self.reader, self.reader.matrix, self.no_list)

    def no_list(self, node: Node) -> None:
        """Notes that weights are not a list."""
        self.mistakes.wrong_kind(node, "a list, a number for each element")

    def fitting(self, place: Node, make: Any) -> Problem | None:
        """What `make` gives, or None after noting why its parts do not fit."""
        try:
            return cast(Problem, make())
        except ProblemError as error:
            self.mistakes.add(str(error), place, self.commas())
            return None

    def commas(self) -> str | None:
        """A hint at decimal commas, when a matrix is exactly twice as wide as another one wants it."""
        bodies = [self.body]
        if isinstance(heads := self.get("heads"), Sequence):
            bodies += [item for item in heads.items if isinstance(item, Mapping)]
        for body in bodies:
            grids = {key: _grid(body.values.get(key)) for key in (*PARTS, "mask", "bias")}
            grids |= {"X": _grid(self.get("X"))}
            for key, other, turned in WIDTHS:
                one, two = grids[key], grids[other]
                wanted = 0 if not two else len(two) if turned else len(two[0])
                if one and wanted and len(one[0]) == 2 * wanted and looks_like_commas(one):
                    return f"{key} has twice as many columns as fit: {COMMAS}"
        return None

    def changed(self, problem: Problem | None, key: str, change: dict[str, Any]) -> Problem | None:
        """The problem with a part put in, if the file has the part."""
        node = self.get(key)
        if problem is None or node is None:
            return problem
        if change.get("bias") is not None and problem.bias is not None:
            change = change | {"bias": _sum(problem.bias, change["bias"])}
        return self.fitting(node, lambda: replace(problem, **change))

    def options(self, problem: Problem) -> Problem | None:
        """The problem with its options."""
        if self.too_large(problem):
            return None
        before, options = len(self.mistakes), self.option_reader()
        fields = options.fields(Sizes(problem.names, problem.lengths, len(problem.heads)))
        sinks = self.get("sinks")
        logits = None if sinks is None else options.numbers(sinks, "a logit for each head")
        if len(self.mistakes) > before:
            return None
        whole = self.fitting(self.body, lambda: self.with_options(problem, fields, logits))
        if whole is not None and self.get("scale") is None:
            self.fitting(self.body, lambda: whole.scale)  # an unknown d_k is a mistake of the file
        return whole

    def with_options(self, problem: Problem, fields: dict[str, Any], sinks: tuple[Exact, ...] | None) -> Problem:
        """The problem under its options. Errors: ProblemError for what does not go together."""
        changed = replace(problem, spec=replace(problem.spec, **fields), sinks=sinks)
        check_turns(changed)
        return changed

    def heads(self, x: Matrix | None, spec: AttentionSpec) -> list[Head]:
        """The heads: those listed, or the one that the problem itself is."""
        node = self.get("heads")
        if node is None:
            return [self.head(self.body, x, spec)]
        for key in PARTS:
            if key in self.body.keys:
                self.mistakes.add(f"found {key!r} beside `heads`", self.body.keys[key], "put it into each head")
        listed = self.mistakes.sequence(node)
        if listed is None:
            return []
        if not listed.items:
            self.mistakes.wrong_kind(node, "at least one head")
        bodies = [self.mistakes.mapping(item) for item in listed.items]
        return [self.head(body, x, spec) for body in bodies if body is not None]

    def head(self, body: Mapping, x: Matrix | None, spec: AttentionSpec) -> Head:
        """One head; parts with mistakes are left out."""
        for one, other in EITHER_OR:
            if one in body.keys and other in body.keys:
                self.mistakes.add(f"found both {one!r} and {other!r}", body.keys[other], "keep the one that is meant")
        width = None if x is None else len(x[0] if spec.orientation == "rows" else x)
        parts: dict[str, Matrix | None] = {}
        for key, name in PARTS.items():
            if key in body.values:
                parts[name] = self.part(body.values[key], key, width)
            elif key in self.drawn and body is self.body:
                parts[name] = self.drawn[key]
        return Head(**parts)

    def part(self, node: Node, key: str, size: int | None) -> Matrix | None:
        """A matrix, or the word `identity` for a square one of a size that is known."""
        if not isinstance(node, Scalar) or node.text != "identity":
            return self.reader.matrix(node)
        if not key.startswith("W_"):
            hint = "`identity` has a size only in W_Q, W_K, W_V and W_O"
            self.mistakes.add(f"found 'identity' for {key}, wanted a matrix", node, hint)
        elif size is None and (key == "W_O" or "X" not in self.body.keys):
            hint = "give X" if key != "W_O" else "mend the heads"
            self.mistakes.add(f"the size of 'identity' for {key} is unknown", node, f"{hint}, or write it out")
        elif size is not None and size * size > MAX_SCORES:
            self.mistakes.add(f"'identity' would be {size} x {size} here", node, BY_HAND)
            return None
        return None if size is None else identity(size)

    def matrix(self, key: str) -> Matrix | None:
        node = self.get(key)
        if node is None and key in self.drawn:
            return self.drawn[key]
        return None if node is None else self.part(node, key, None)

    def w_o(self, heads: list[Head], spec: AttentionSpec) -> Matrix | None:
        """The output projection; its identity is as wide as all values together."""
        node = self.get("W_O")
        if node is None:
            return None
        rows = spec.orientation == "rows"
        values = [head.v or head.W_V for head in heads]
        # tokens as rows, values are (S, d_v) and W_V (d_model, d_v); as columns both are turned
        widths = [len(v[0]) if rows else len(v) for v in values if v]
        return self.part(node, "W_O", sum(widths) if len(widths) == len(heads) else None)

    def mask(self) -> dict[str, Any]:
        node = self.get("mask")
        return {} if node is None else read_mask(node, self.reader)

    def choice(self, key: str, known: tuple[str, ...], default: str) -> str:
        node = self.get(key)
        if node is None:
            return default
        return self.mistakes.choice(node, known, " or ".join(map(repr, known))) or default

    def too_large(self, problem: Problem) -> bool:
        """Would the scores be more than a case is for?"""
        queries, keys = problem.lengths
        count = queries * keys * len(problem.heads)
        if count > MAX_SCORES:
            message = f"this problem has {count} scores ({queries} queries, {keys} keys), wanted at most {MAX_SCORES}"
            self.mistakes.add(message, self.body, BY_HAND)
        return count > MAX_SCORES


def _grid(node: Node | None) -> list[list[Scalar]] | None:
    """The cells of a matrix with rows of one length, if it is written as one."""
    if isinstance(node, Mapping):
        node = node.values.get("values")
    rows = [row.items for row in node.items if isinstance(row, Sequence)] if isinstance(node, Sequence) else []
    cells = [[cell for cell in row if isinstance(cell, Scalar)] for row in rows]
    return cells if cells and len({len(row) for row in cells}) == 1 else None


def _sum(a: Matrix, b: Matrix) -> Matrix:
    return tuple(tuple(add(x, y) for x, y in zip(p, q, strict=False)) for p, q in zip(a, b, strict=False))

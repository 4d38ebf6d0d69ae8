"""What the symbols of a formula stand for: which stage or input, which head, row and element of it, and its shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from exactattn.attention.dimensions import ONE, SCALAR, Dim, Shape, spell_shape
from exactattn.attention.formula_tree import FRESH, Symbol
from exactattn.attention.spec import Stage
from exactattn.errors import NumeralError, close

OTHER = "·"  # the unnamed token of a symbol that is one row without an index
D = Dim.named
HD_V = D("H") * D("d_v")
NATURAL: Mapping[str, tuple[Dim, Dim]] = {  # tokens as rows
    "X": (D("n"), D("d_model")), "W_Q": (D("d_model"), D("d_k")), "W_K": (D("d_model"), D("d_k")),
    "W_V": (D("d_model"), D("d_v")), "W_O": (HD_V, D("d_model")), "q": (D("n"), D("d_k")), "k": (D("n"), D("d_k")),
    "v": (D("n"), D("d_v")), "scores": (D("n"), D("n")), "scaled": (D("n"), D("n")), "masked": (D("n"), D("n")),
    "weights": (D("n"), D("n")), "lse": (D("n"), ONE), "context": (D("n"), D("d_v")), "concat": (D("n"), HD_V),
    "output": (D("n"), D("d_model")),
}  # fmt: skip
PER_HEAD = frozenset(NATURAL) - {"X", "W_O", "concat", "output"}
USUAL: Mapping[str, str] = {
    "X": "X", "x": "X", "W_Q": "W_Q", "W_K": "W_K", "W_V": "W_V", "W_O": "W_O", "Q": "q", "q": "q", "K": "k", "k": "k",
    "V": "v", "v": "v", "e": "scaled", "E": "scaled", "s": "scaled", "S": "scaled", "scores": "scores", "a": "weights",
    "A": "weights", "α": "weights", "P": "weights", "p": "weights", "weights": "weights", "lse": "lse", "C": "context",
    "c": "context", "Z": "context", "z": "context", "head": "context", "O": "output", "o": "output", "Y": "output",
    "y": "output", "output": "output", "Output": "output",
}  # fmt: skip
SIZES = ("n", "H", "d_k", "d_v", "d_model")
_SIZE_WORDS: Mapping[str, str] = {"n": "n", "N": "n", "L": "n", "T": "n", "H": "H", "h": "H"} | {s: s for s in SIZES}


@dataclass(frozen=True, slots=True)
class Slot:
    """What one symbol stands for.

    source   a stage or input; "size"; or None for a symbol that has only a shape
    head     its head: an index, a number from 1, or None where there is none
    rows, columns   indices into its natural form (tokens as rows), None for the whole axis
    shape    as it stands in the formula; turned: that is the transpose of the natural form
    """

    source: str | None
    shape: Shape
    head: str | None = None
    rows: str | None = None
    columns: str | None = None
    turned: bool = False
    why: str = ""

    @property
    def is_size(self) -> bool:
        """Is it a plain number such as d_k?"""
        return self.source == "size"


@dataclass(frozen=True)
class Notation:
    """How a formula is to be read.

    means     names -> stages or inputs, before the usual meanings
    shapes    names (with as many indices as given) -> shapes that the author states
    heads     are there several heads? head: the letter of the head index
    projected  is there a W_O? Without one, the output is what the heads give
    sizes     names of sizes -> what they are in terms of others
    """

    means: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[Symbol, Shape] = field(default_factory=dict)
    heads: bool = False
    head: str = "h"
    projected: bool = False
    orientation: Literal["rows", "columns"] = "rows"
    sizes: Mapping[str, Dim] = field(default_factory=dict)

    def slot(self, symbol: Symbol) -> Slot:
        """What a symbol stands for. Errors: NumeralError with its place for an unknown one."""
        if symbol.base in _SIZE_WORDS and not symbol.subs and self._stated(symbol) is None:
            return Slot("size", SCALAR, columns=_SIZE_WORDS[symbol.base])
        stated, source = self._stated(symbol), self.source(symbol.base)
        if source is None:
            if stated is None:
                raise NumeralError(
                    f"{symbol.base!r} has no known shape or meaning{close(symbol.base, USUAL)}; or state "
                    f"shapes: {{{symbol.base}: [rows, columns]}}, or means: {{{symbol.base}: STAGE}}",
                    symbol.offset,
                )
            return Slot(None, self.sized(stated), why=f"no meaning is known for {symbol.base}: add `means:`")
        head, rest = self._split(symbol, source)
        if source == "context" and self.heads and head is None:
            source = "concat"
        if head is None and self.heads and source in PER_HEAD:
            head = self.head
        return self._placed(symbol, source, head, rest, None if stated is None else self.sized(stated))

    def source(self, base: str) -> str | None:
        """The stage or input that a name stands for."""
        if base in self.means:
            return self.means[base]
        usual = USUAL.get(base)
        return "context" if usual == "output" and not self.projected else usual

    def sized(self, shape: Shape) -> Shape:
        """A shape with the stated sizes put in."""
        return shape[0].substituted(self.sizes), shape[1].substituted(self.sizes)

    def _stated(self, symbol: Symbol) -> Shape | None:
        """The author's shape of a symbol, or of the same name with other indices of the same kind."""
        for other, shape in self.shapes.items():
            kinds = [[self._is_head(sub) for sub in one.subs] for one in (symbol, other)]
            if other.base == symbol.base and kinds[0] == kinds[1]:
                return shape
        return None

    def _is_head(self, sub: str) -> bool:
        return sub in (self.head, FRESH, "H")

    def _split(self, symbol: Symbol, source: str) -> tuple[str | None, list[str]]:
        """The head index and the others."""
        rest = list(symbol.subs)
        if (source not in PER_HEAD and source != "W_O") or not rest:
            return None, rest
        places = [n for n, sub in enumerate(rest) if self._is_head(sub)]
        if symbol.base == "head":
            places = [0]
        numbers = [n for n, sub in enumerate(rest) if sub.isdigit()]
        if not places and self.heads and numbers and (len(rest) > len(numbers) or len(rest) > 1 or source[0] == "W"):
            places = numbers[-1:] if source == "context" else numbers[:1]
        return (rest.pop(places[0]), rest) if places else (None, rest)

    def _placed(self, symbol: Symbol, source: str, head: str | None, rest: list[str], stated: Shape | None) -> Slot:
        """The slot with its shape, which is the natural one, its transpose, or else only a shape."""
        height, width = self.sized(NATURAL[source])
        if source == "W_O" and head is not None:
            height = self.sized((D("d_v"), ONE))[0]
        columns_form = self.orientation == "columns"
        if len(rest) > 2:
            raise NumeralError(f"found {len(rest)} indices at {symbol.base!r}, wanted row and column", symbol.offset)
        rows, columns = (*rest, None, None)[:2]
        if columns_form and len(rest) == 2:
            rows, columns = columns, rows
        natural = (height if rows is None else ONE, width if columns is None else ONE)
        shown = natural[::-1] if columns_form else natural
        if stated is None or stated == shown:
            return Slot(source, shown, head, rows, columns, columns_form)
        if stated == shown[::-1]:
            return Slot(source, stated, head, rows, columns, not columns_form)
        if rows is None and stated in ((ONE, width), (width, ONE)):
            turned = stated != (ONE, width)
            return Slot(source, stated, head, OTHER, columns, turned)
        here = f"{symbol.base} is stated to be {spell_shape(stated)}"
        return Slot(None, stated, why=f"{here}, where {source} of the definition is {spell_shape(shown)}")


def has_heads(symbols: Iterable[Symbol], head: str = "h") -> bool:
    """Does a formula speak of several heads?"""
    return any(symbol.base in ("head", "W_O", "H") or {head, FRESH, "H"} & {*symbol.subs} for symbol in symbols)


def stage_of(source: str) -> Stage | None:
    """The stage of a source, or None for an input."""
    return Stage(source) if source in [str(stage) for stage in Stage] else None


def ranges(slots: Iterable[Slot]) -> dict[str, Dim]:
    """How far each index runs. Errors: NumeralError for an index that runs over two different sizes."""
    found: dict[str, Dim] = {}
    for slot in slots:
        if slot.source is None or slot.is_size:
            continue
        height, width = NATURAL[slot.source]
        for index, size in ((slot.head, D("H")), (slot.rows, height), (slot.columns, width)):
            if index is None or index.isdigit():
                continue
            if found.setdefault(index, size) != size:
                raise NumeralError(f"the index {index} runs over {found[index]} in one place and {size} in another")
    return found

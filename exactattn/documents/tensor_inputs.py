"""Tensors of a file and the options beside them -> `Tensors`, whose heads the truth is about."""

from __future__ import annotations

from collections.abc import Mapping as Names
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.spec import AttentionSpec
from exactattn.documents.cells import ANY_SIZES, Reader
from exactattn.documents.model_options import INPUTS
from exactattn.documents.nodes import Mapping, Mistakes, Node
from exactattn.documents.options import MOST_POSITION, Options, Sizes
from exactattn.documents.tensor_names import named_tensor, names_of
from exactattn.documents.words import HEAD_MAPS, LAYOUTS, POLARITIES
from exactattn.errors import ProblemError
from exactattn.numbers.exact import Exact
from exactattn.truth.layouts import checked
from exactattn.truth.tensors import Tensors

MOST_TURNS = 2**20  # exact cosines and sines that are computed for rotary positions, over all heads
PACKED = ("query_starts", "key_starts")
NO_NODE: Names[str, Node] = {}


@dataclass
class TensorMaker:
    """Makes the tensors of one problem; every mistake is noted.

    body     has the layout; said names tensors; arrays: the tensors of the file by name
    options  reads the options of attention; None where they stand in the body too, with names of tensors as tables
    """

    body: Mapping
    said: Mapping | None
    arrays: Names[str, NDArray[Any]]
    reader: Reader
    options: Options | None = None

    @property
    def mistakes(self) -> Mistakes:
        """Where mistakes are noted."""
        return self.reader.mistakes

    def make(self, roles: tuple[str, ...] = INPUTS) -> tuple[Tensors, dict[str, str]] | None:
        """The tensors, and the name of the tensor for each role; None after noting every mistake."""
        before = len(self.mistakes)
        names = names_of(self.said, self.arrays, roles, self.mistakes)
        layout = self.layout(names)
        given = {role: self.arrays[name] for role, name in names.items() if role in INPUTS}
        if len(self.mistakes) > before:
            return None
        try:
            for label in ("q", "k", "v"):
                checked(given[label], label)
            heads = self.head_counts(layout)
            sizes = sizes_of(given, layout or _by_axes(given["q"]), heads)
            spec = self.spec(sizes)
            self.positions(given)
            if len(self.mistakes) > before or spec is None:
                return None
            others: dict[str, Any] = {
                **given,
                "spec": spec,
                "layout": layout,
                "query_heads": heads[0],
                "key_heads": heads[1],
                "polarity": self.choice("polarity", POLARITIES) or "attend",
            }
            made = Tensors.of(**others)
            self.fits(made)
        except ProblemError as error:
            self.mistakes.add(str(error), self.body)
        return None if len(self.mistakes) > before else (made, names)

    def choice(self, key: str, known: tuple[str, ...]) -> str | None:
        """One of some words."""
        node = self.body.values.get(key)
        return None if node is None else self.mistakes.choice(node, known, f"one of {', '.join(known)}")

    def layout(self, names: Names[str, str]) -> str | None:
        """The layout that is said, where it goes with what is there."""
        layout = self.choice("layout", LAYOUTS)
        packed = [role for role in PACKED if role in names]
        if packed and layout != "THD" and "layout" not in self.body.values:
            hint = "write `layout: THD`, or name no starts"
            self.mistakes.add(f"{names[packed[0]]!r} says where packed sequences begin", self.body, hint)
        elif packed and layout != "THD":
            hint = "packed sequences have layout THD (tokens of all sequences, heads, width)"
            self.mistakes.add(f"found {packed[0]} with layout {layout}", self.body.values["layout"], hint)
        return layout

    def head_counts(self, layout: str | None) -> tuple[int | None, int | None]:
        """The numbers of heads of q and of k, which only layout BLD needs."""
        counts: list[int | None] = []
        for key in ("query_heads", "key_heads"):
            node = self.body.values.get(key)
            if node is not None and layout != "BLD":
                hint = "every other layout has an axis for it: leave it out"
                self.mistakes.add(f"`{key}` is for layout BLD", self.body.keys[key], hint)
            whole = self.options_of().whole(node, "a number of heads, 1 or more", least=1) if node is not None else None
            counts.append(whole)
        return counts[0], counts[1] if counts[1] is not None or "key_heads" in self.body.values else counts[0]

    def options_of(self) -> Options:
        """The reader of options, with tensors in place of tables."""
        return self.options or Options(self.body, self.reader, self.table, self.listed)

    def spec(self, sizes: Sizes) -> AttentionSpec | None:
        """The spec, or None after noting why it makes no sense."""
        before = len(self.mistakes)
        fields = self.options_of().fields(sizes)
        head_map = self.choice("head_map", HEAD_MAPS)
        if len(self.mistakes) > before:
            return None
        if head_map:
            fields["head_map"] = head_map
        try:
            return AttentionSpec(**fields)
        except ProblemError as error:
            self.mistakes.add(str(error), self.options_of().body)
            return None

    def table(self, node: Node) -> NDArray[Any] | None:
        """A cache: a tensor of finite floats with two axes."""
        return self.floats(node, 2, "rows of positions and columns of pairs")

    def listed(self, node: Node) -> tuple[Exact, ...] | None:
        """Weights: a tensor of finite floats with one axis, as exact numbers."""
        array = self.floats(node, 1, "a number for each element")
        return None if array is None else tuple(Fraction(x) for x in array.tolist())

    def floats(self, node: Node, axes: int, what: str) -> NDArray[Any] | None:
        """A named tensor of finite floats, or None after noting the mistake."""
        name = named_tensor(node, self.arrays, self.mistakes)
        if name is None:
            return None
        try:
            array = np.asarray(checked(self.arrays[name], name), dtype=np.float64)
        except ProblemError as error:
            self.mistakes.add(str(error), node)
            return None
        if array.ndim != axes or 0 in array.shape or not np.isfinite(array).all():
            found = (
                f"{name!r} has shape {array.shape}"
                if array.ndim != axes or 0 in array.shape
                else f"{name!r} has a NaN or an infinity"
            )
            self.mistakes.add(f"{found}, wanted {what}, all finite", node)
            return None
        return array

    def positions(self, given: Names[str, NDArray[Any]]) -> None:
        """Positions are whole numbers of a size that nothing overflows with; what else they are `Tensors` says."""
        for role in ("query_positions", "key_positions"):
            array = given.get(role)
            if array is None or array.dtype.kind not in "iu" or not array.size:
                continue
            if int(array.max()) > MOST_POSITION or int(array.min()) < -MOST_POSITION:
                self.mistakes.add(f"{role} has numbers beyond {MOST_POSITION}", self.body, "check what was saved")

    def fits(self, tensors: Tensors) -> None:
        """Errors: ProblemError for options that do not fit the tensors, or more exact cosines than are computed."""
        spec, width = tensors.spec, tensors.heads[0].q.shape[1]
        check_width(spec, width)
        if spec.bias_place == "inside" and tensors.bias_shape is None and spec.alibi is None:
            raise ProblemError("bias_place is inside (before the scale), but there is no bias and no alibi")
        if spec.rotary is None or spec.rotary.cache is not None:
            return
        count = spec.rotary.turned(width) // 2 * sum(len(head.k) for head in tensors.heads)
        if count > MOST_TURNS:
            raise ProblemError(
                f"rotary positions need {count} exact cosines here, wanted at most {MOST_TURNS}: give the cosines and "
                "sines that were used as tensors (rotary: {cosines: NAME, sines: NAME}), or take fewer heads or keys"
            )


def check_width(spec: AttentionSpec, width: int) -> None:
    """Errors: ProblemError for pairs that cannot be turned, and weights of a norm that are not one an element."""
    if spec.rotary is not None:
        spec.rotary.turned(width)
    for weight in (spec.qk_norm.q_weight, spec.qk_norm.k_weight) if spec.qk_norm else ():
        if weight is not None and len(weight) != width:
            raise ProblemError(f"the norm has {len(weight)} weights for {width} elements: give one for each")


def first_look(body: Mapping, reader: Reader) -> None:
    """Notes the mistakes of options that can be seen without any tensor."""
    nothing = TensorMaker(body, None, {}, reader)
    options = Options(body, reader, lambda node: reader.mistakes.text(node) and None, lambda _: None)
    before = len(reader.mistakes)
    fields = options.fields(Sizes(ANY_SIZES))
    for key, known in (("layout", LAYOUTS), ("polarity", POLARITIES), ("head_map", HEAD_MAPS)):
        nothing.choice(key, known)
    if len(reader.mistakes) == before:
        try:
            AttentionSpec(**fields)
        except ProblemError as error:
            reader.mistakes.add(str(error), body)


def _by_axes(q: NDArray[Any]) -> str:
    return {2: "LD", 3: "HLD"}.get(q.ndim, "BHLD")


def sizes_of(given: Names[str, NDArray[Any]], layout: str, heads: tuple[int | None, int | None]) -> Sizes:
    """What expressions and options may need to know, as far as the shapes say it; misfits are for `Tensors` to say."""
    q, k, v = (given[label] for label in ("q", "k", "v"))
    if any(x.ndim != len(layout) or 0 in (x.shape[-1],) for x in (q, k, v)):
        return Sizes(ANY_SIZES)
    split = heads[0] or 1, heads[1] or 1
    h = split[0] if layout == "BLD" else 1 if layout == "LD" else q.shape[layout.index("H")]
    d_k = q.shape[-1] // (split[0] if layout == "BLD" else 1)
    d_v = v.shape[-1] // (split[1] if layout == "BLD" else 1)
    tokens = layout.index("T" if layout == "THD" else "L")
    past = given.get("past_key")
    keys = k.shape[tokens] + (past.shape[tokens] if past is not None and past.ndim == k.ndim else 0)
    lengths: tuple[int, int] | None = (q.shape[tokens], keys)
    names = {"d_k": d_k, "d_v": d_v, "H": h}
    if layout == "THD":
        lengths = _differing(given)
    else:
        names |= {"L": q.shape[tokens], "S": keys, "n": keys}
    if "key_lengths" in given and given["key_lengths"].size and lengths:
        least = int(np.min(given["key_lengths"])) if given["key_lengths"].dtype.kind in "iu" else keys
        lengths = (lengths[0], least)
    return Sizes({name: Fraction(size) for name, size in names.items()}, lengths, h)


def _differing(given: Names[str, NDArray[Any]]) -> tuple[int, int] | None:
    """The lengths of the first packed sequence that has more or fewer keys than queries."""
    starts = [given.get(role) for role in PACKED]
    if any(x is None or x.ndim != 1 or x.dtype.kind not in "iu" for x in starts):
        return None
    lengths = [[int(b) - int(a) for a, b in pairwise(cast(Any, x).tolist())] for x in starts]
    return next(((a, b) for a, b in zip(*lengths, strict=False) if a != b), None)

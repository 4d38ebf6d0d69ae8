"""Options of attention: the keys of a mapping -> the fields of an `AttentionSpec`, for cases and spec files alike."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Names
from dataclasses import dataclass
from typing import Any, cast

from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.attention.positions import authors_slopes, falling_slopes
from exactattn.documents.cells import Reader, sign
from exactattn.documents.nodes import Mapping, Mistakes, Node, Scalar, Sequence, found
from exactattn.documents.words import (
    ALIBI_FORMS,
    BIAS_PLACES,
    CAUSAL,
    MASKED_ROWS,
    NORMS,
    ROTARY_LAYOUTS,
    SLOPES,
    SOFTCAP_ORDERS,
)
from exactattn.numbers.exact import ONE, ZERO, Exact, exp

YES, NO = ("true", "yes", "on"), ("false", "no", "off", "none")
OPEN = ("null", "none", "~", "")
MOST_POSITION = 2**31
CAUSAL_WORDS = "true, false (or none), 'top-left', 'bottom-right', or a whole number: the position of query 0"
MINUS_ONE = "write null for an open side, which ONNX and flash-attn call -1"
ROTARY_CACHE = "cosines", "sines"

Read = Callable[[Node], Any]  # what stands for a table or a list of numbers: themselves, or the name of a tensor


@dataclass(frozen=True, slots=True)
class Sizes:
    """What options may need to know: names in expressions, (L, S), how many heads; None where it is not known."""

    names: Names[str, Exact]
    lengths: tuple[int, int] | None = None
    heads: int | None = None


@dataclass
class Options:
    """Reads the options that a mapping has, each mistake at its place.

    `table` reads a cache of rotary positions, `named` weights that are not written as a list.
    """

    body: Mapping
    reader: Reader
    table: Read
    named: Read

    @property
    def mistakes(self) -> Mistakes:
        """Where mistakes are noted."""
        return self.reader.mistakes

    def fields(self, sizes: Sizes) -> dict[str, Any]:
        """The fields of an `AttentionSpec` that the mapping says; those with mistakes are left out."""
        made: dict[str, Any] = {
            "scale": self.expression("scale", sizes.names),
            "base": self.base("base", sizes.names),
            "lse_base": self.base("lse_base", sizes.names),
            "softcap": self.expression("softcap", sizes.names),
            "window": self.window(),
            "alibi": self.alibi(sizes.heads),
            "rotary": self.rotary(),
            "qk_norm": self.qk_norm(),
            **self.causal(sizes.lengths),
        }
        for key, known in (
            ("softcap_order", SOFTCAP_ORDERS),
            ("bias_place", BIAS_PLACES),
            ("masked_row", MASKED_ROWS),
        ):
            made[key] = self.choice(self.body, key, known)
        return {key: value for key, value in made.items() if value is not None}

    def get(self, key: str) -> Node | None:
        """What stands under a key."""
        return self.body.values.get(key)

    def choice(self, body: Mapping, key: str, known: tuple[str, ...]) -> str | None:
        """One of some words."""
        node = body.values.get(key)
        return None if node is None else self.mistakes.choice(node, known, " or ".join(map(repr, known)))

    def expression(self, key: str, names: Names[str, Exact]) -> Exact | None:
        """A number or an expression over sizes."""
        node = self.get(key)
        return None if node is None else self.reader.exact(node, names)

    def base(self, key: str, names: Names[str, Exact]) -> Exact | None:
        """A base of exponentials; None for an absent one, and for e as the base of the softmax."""
        node = self.get(key)
        base = None if node is None else self.reader.exact(node, {**names, "e": exp(ONE)})
        if node is not None and base is not None and (sign(base) != 1 or base == ONE):
            self.mistakes.add(f"found the {key} {found(node)}, wanted a positive number other than 1", node)
            return None
        return None if key == "base" and base == exp(ONE) else base

    def causal(self, lengths: tuple[int, int] | None) -> dict[str, Any]:
        """The causal rule and the offset. `true` is enough where both corners are the same."""
        offset = self.offset()
        node = self.get("causal")
        text = node.text.strip().lower() if isinstance(node, Scalar) else ""
        if node is None:
            return {"offset": offset}
        if text in YES:
            queries, keys = lengths or (1, 1)
            if queries != keys:
                message = f"with {queries} queries and {keys} keys `causal: {text}` has two meanings"
                self.mistakes.add(message, node, "write `top-left` (j <= i) or `bottom-right` (j <= i + S - L)")
            return {"causal": "top-left", "offset": offset}
        if text in NO:
            return {"offset": offset}
        if _is_whole(text):
            if offset is not None:
                self.mistakes.add("found an offset in both `causal` and `offset`", node, "keep one of them")
            return {"causal": "offset", "offset": self.whole(node, "a position")}
        known = (*CAUSAL, "offset") if offset is not None else CAUSAL
        return {"causal": self.mistakes.choice(node, known, CAUSAL_WORDS), "offset": offset}

    def offset(self) -> int | str | None:
        """The position of query 0, or the word end."""
        node = self.get("offset")
        if isinstance(node, Scalar) and node.text.strip() == "end":
            return "end"
        return None if node is None else self.whole(node, "a position of query 0: a whole number, or the word end")

    def whole(self, node: Node, wanted: str, hint: str | None = None, least: int = -MOST_POSITION) -> int | None:
        """A whole number within bounds, or None after noting the mistake."""
        text = node.text.strip() if isinstance(node, Scalar) else ""
        number = int(text) if _is_whole(text) and len(text) < 12 else None
        if number is None or not least <= number <= MOST_POSITION:
            self.mistakes.wrong_kind(node, wanted, hint)
            return None
        return number

    def window(self) -> tuple[int | None, int | None] | None:
        """How many keys are seen to the left and to the right; None for an open side."""
        node = self.get("window")
        if node is None:
            return None
        if not isinstance(node, Sequence) or len(node.items) != 2:
            self.mistakes.wrong_kind(node, "two whole numbers, [left, right]", MINUS_ONE)
            return None
        left, right = (
            None
            if isinstance(side, Scalar) and side.text.strip().lower() in OPEN
            else self.whole(side, "how many keys are seen on this side, 0 or more", MINUS_ONE, least=0)
            for side in node.items
        )
        return left, right

    def part(self, key: str) -> Mapping | None:
        """A mapping under a key; another kind is a mistake of the shape, noted there."""
        node = self.get(key)
        return node if isinstance(node, Mapping) else None

    def alibi(self, heads: int | None) -> Alibi | None:
        """ALiBi: a slope for each head, or the slopes of the paper or of its authors' code."""
        body = self.part("alibi")
        if body is None:
            return None
        node = body.values.get("slopes")
        form = self.choice(body, "form", ALIBI_FORMS) or "distance"
        if isinstance(node, Sequence) and node.items:
            slopes = [self.reader.exact(item) for item in node.items]
            if None in slopes:
                return None
            if heads is not None and len(slopes) != heads:
                self.mistakes.add(f"found {len(slopes)} slopes for {heads} heads", node, "give one for each head")
                return None
            return Alibi(cast("tuple[Exact, ...]", tuple(slopes)), cast(Any, form))
        if node is None:
            hint = "write `slopes: paper` for 2**(-8 h/H), h = 1, ..., H, or list them"
            self.mistakes.add("'alibi' has no key 'slopes'", body, hint)
            return None
        word = self.mistakes.choice(node, SLOPES, "a list of slopes, 'paper' or 'authors'")
        made = {"paper": falling_slopes, "authors": authors_slopes}
        return None if word is None else Alibi(made[word](heads or 1), cast(Any, form))

    def rotary(self) -> Rotary | None:
        """Rotary positions, their cache as `table` reads it."""
        body = self.part("rotary")
        if body is None:
            return None
        values = body.values
        fields: dict[str, Any] = {"layout": self.choice(body, "layout", ROTARY_LAYOUTS)}
        if "width" in values:
            wanted = "how many leading elements are turned: an even whole number, 2 or more"
            fields["width"] = self.whole(values["width"], wanted, least=2)
        for key in ("base", "factor"):
            fields[key] = self.reader.exact(values[key]) if key in values else None
        given = [key for key in ROTARY_CACHE if key in values]
        if len(given) == 1:
            self.mistakes.add(f"found {given[0]!r} alone", body.keys[given[0]], "give both cosines and sines, or none")
        elif given:
            tables = tuple(self.table(values[key]) for key in ROTARY_CACHE)
            fields["cache"] = None if any(table is None for table in tables) else tables
        return Rotary(**{key: value for key, value in fields.items() if value is not None})

    def qk_norm(self) -> QKNorm | None:
        """The norm of q and k."""
        body = self.part("qk_norm")
        if body is None:
            return None
        eps = body.values.get("eps")
        return QKNorm(
            cast(Any, self.choice(body, "kind", NORMS) or "rms"),
            (None if eps is None else self.reader.exact(eps)) or ZERO,
            self.weights(body.values.get("q_weight")),
            self.weights(body.values.get("k_weight")),
        )

    def weights(self, node: Node | None) -> tuple[Exact, ...] | None:
        """A number for each element."""
        if node is None:
            return None
        if isinstance(node, Sequence):
            return self.numbers(node, "a number for each element")
        return cast("tuple[Exact, ...] | None", self.named(node))

    def numbers(self, node: Node, what: str) -> tuple[Exact, ...] | None:
        """A list of numbers, or None after noting every mistake in it."""
        if not isinstance(node, Sequence) or not node.items:
            self.mistakes.wrong_kind(node, f"a list, {what}")
            return None
        read = [self.reader.exact(item) for item in node.items]
        return None if None in read else cast("tuple[Exact, ...]", tuple(read))


def _is_whole(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").removeprefix("+").isdigit()

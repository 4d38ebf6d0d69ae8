"""Attention over float tensors: sequences and heads of q, k, v in any usual layout, one `OneHead` for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.spec import AttentionSpec
from exactattn.errors import ProblemError
from exactattn.numbers.exact import Exact
from exactattn.truth.additions import Polarity, masks, positions_of, sinks_of
from exactattn.truth.layouts import Layout, as_array, checked, layout_of, lengths_of, packed, with_batch
from exactattn.truth.one_head import OneHead, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Tensors:
    """A spec, and the heads of all sequences, sequence by sequence; each number of a tensor is meant exactly.

    `shape` is (B, H, L, S), of the longest sequence where they differ; `layout` is how the tensors were laid out.
    """

    heads: tuple[OneHead, ...]
    spec: AttentionSpec
    shape: tuple[int, int, int, int]
    layout: Layout
    starts: tuple[int, ...] | None = None
    key_heads: int = 1
    bias_shape: tuple[int, ...] | None = None

    @staticmethod
    def of(
        q: Any,
        k: Any,
        v: Any,
        spec: AttentionSpec | None = None,
        mask: Any = None,
        bias: Any = None,
        *,
        layout: Layout | None = None,
        query_heads: int | None = None,
        key_heads: int | None = None,
        polarity: Polarity = "attend",
        sinks: Any = None,
        key_lengths: Any = None,
        query_starts: Any = None,
        key_starts: Any = None,
        past_key: Any = None,
        past_value: Any = None,
        query_positions: Any = None,
        key_positions: Any = None,
    ) -> Tensors:
        """From arrays of any float type that float64 holds.

        Shapes: by `layout`: "BHLD" (batch, heads, tokens, width), "BLHD", "BLD" (batch, tokens, heads*width, with
        `query_heads` and `key_heads`), "HLD", "LD", "THD" (tokens of all sequences, heads, width, with `query_starts`
        and `key_starts`: where each begins and the last ends). None means LD, HLD or BHLD by the number of axes.
        H must be a multiple of the key heads. mask and bias: whatever broadcasts to (B, H, L, S); a mask of booleans
        is true where a key may be seen, or with `polarity` "block" where not; a mask of floats is added, -inf blocks.
        sinks (H,); key_lengths (B,); past_key and past_value go before k and v, in the layout of k.
        query_positions and key_positions, for rotary positions alone: (L,) and (S,), or (B, L) and (B, S).

        Errors: ProblemError for what is not an array of floats, or for shapes that do not fit.
        """
        spec = AttentionSpec() if spec is None else spec
        if spec.orientation != "rows":
            raise ProblemError("tensors have tokens as rows: transpose them, and leave out the orientation")
        parts = {label: checked(x, label) for label, x in (("q", q), ("k", k), ("v", v))}
        layout = layout_of(layout, parts["q"])
        if layout == "THD":
            others = (mask, bias, key_lengths, past_key, past_value, query_positions, key_positions)
            return _packed(parts, spec, query_starts, key_starts, sinks, others)
        for label, idle in (
            ("query_starts or key_starts", query_starts is not None or key_starts is not None),
            ("query_heads or key_heads", layout != "BLD" and (query_heads is not None or key_heads is not None)),
            ("rotary positions", spec.rotary is None and (query_positions is not None or key_positions is not None)),
        ):
            if idle:
                raise ProblemError(f"{label}: nothing in layout {layout} and this spec asks for them; leave them out")
        counts = (query_heads, key_heads, key_heads)
        arrays = [with_batch(x, name, layout, n) for (name, x), n in zip(parts.items(), counts, strict=True)]
        for place, (label, past) in enumerate((("past_key", past_key), ("past_value", past_value)), start=1):
            if past is not None:
                arrays[place] = _after(with_batch(checked(past, label), label, layout, key_heads), arrays[place], label)
        if (past_key is None) != (past_value is None):
            raise ProblemError("past keys and past values go together: give both, or none")
        batch, heads, queries, _ = arrays[0].shape
        keys = arrays[1].shape[2]
        _check(arrays)
        if keys == 0:
            arrays[1:], key_lengths, spec = _no_keys(arrays[1:]), np.zeros(batch, np.int64), _without_keys(spec)
        seen, added = masks(mask, bias, polarity, (batch, heads, queries, keys))
        lengths = lengths_of(key_lengths, "key_lengths", batch, keys)
        positions = tuple(
            positions_of(x, label, (batch, n))
            for x, label, n in ((query_positions, "query_positions", queries), (key_positions, "key_positions", keys))
        )
        made = [
            _heads(
                spec,
                [x[b] for x in arrays],
                None if seen is None else seen[min(b, len(seen) - 1)],
                None if added is None else added[min(b, len(added) - 1)],
                sinks_of(sinks, heads),
                None if lengths is None else int(lengths[b]),
                tuple(None if x is None else x[b] for x in positions),
                keys == 0,
            )
            for b in range(batch)
        ]
        flat = tuple(h for one in made for h in one)
        shape = None if added is None else added.shape
        return Tensors(flat, spec, (batch, heads, queries, keys), layout, None, arrays[1].shape[1], shape)

    def key_head(self, head: int) -> int:
        """The key head that a query head uses, both counted from 0 in their sequence."""
        return key_head(self.spec, head, self.shape[1], self.key_heads)

    def each(self, rows: Rows | None) -> list[tuple[OneHead, Rows | None]]:
        """Some rows of every head. Errors: ProblemError for sequences of several lengths: no array holds their rows."""
        if len({head.lengths for head in self.heads}) > 1:
            raise ProblemError("sequences have different lengths, so no array holds the rows of all: ask head by head")
        return [(head, rows) for head in self.heads]

    def assembled(self, parts: Sequence[NDArray[Any]], heads: int | None = None) -> NDArray[Any]:
        """An array a head, (tokens, width) each, laid out as q was, or as k was for its number of heads.

        Errors: ProblemError for weights of sequences with different numbers of keys, which no array holds.
        """
        if len({part.shape[1] for part in parts}) > 1:
            raise ProblemError(
                "sequences have different numbers of keys, so no array holds all weights: ask head by head"
            )
        batch, heads = self.shape[0], heads or self.shape[1]
        if self.layout == "THD":
            rows = [np.stack(parts[i : i + heads], axis=1) for i in range(0, len(parts), heads)]
            return np.concatenate(rows)
        out = np.stack(parts).reshape(batch, heads, *parts[0].shape)
        if self.layout == "BLHD":
            return out.transpose(0, 2, 1, 3)
        if self.layout == "BLD":
            return out.transpose(0, 2, 1, 3).reshape(batch, out.shape[2], -1)
        return out[0, 0] if self.layout == "LD" else out[0] if self.layout == "HLD" else out

    def split(self, data: Any) -> list[NDArray[Any]]:
        """The inverse: an array laid out as q was, as one array a head. Errors: ProblemError for another shape."""
        batch, heads, queries, _ = self.shape
        array = as_array(data, "the data")
        if self.layout == "THD":
            starts = self.starts or (0,)
            if array.ndim != 3 or array.shape[:2] != (starts[-1], heads):
                raise ProblemError(f"the data has shape {array.shape}, wanted ({starts[-1]}, {heads}, width) as q")
            pieces = [array[a:b] for a, b in pairwise(starts)]
            return [piece[:, h] for piece in pieces for h in range(heads)]
        whole = with_batch(array, "the data", self.layout, heads)
        if whole.shape[:3] != (batch, heads, queries):
            raise ProblemError(f"the data has shape {array.shape}, which is not that of the outputs of {self.shape}")
        return [whole[b, h] for b in range(batch) for h in range(heads)]


def _after(past: NDArray[Any], new: NDArray[Any], label: str) -> NDArray[Any]:
    """The past before the new tokens."""
    if past.shape[:2] != new.shape[:2] or past.shape[3] != new.shape[3]:
        raise ProblemError(
            f"{label} has shape {past.shape}, which does not go before {new.shape}: only tokens may differ"
        )
    if past.dtype != new.dtype:
        past, new = past.astype(np.float64), new.astype(np.float64)
    return np.concatenate([past, new], axis=2)


def _check(arrays: Sequence[NDArray[Any]]) -> None:
    q, k, v = arrays
    fits = len(q) == len(k) == len(v) and q.shape[3] == k.shape[3] and k.shape[1:3] == v.shape[1:3]
    if not fits:
        raise ProblemError(
            f"q {q.shape}, k {k.shape} and v {v.shape} do not fit: wanted (B, H, L, d), (B, H_kv, S, d) and "
            "(B, H_kv, S, d_v)"
        )
    if k.shape[1] == 0 or q.shape[1] % k.shape[1]:
        raise ProblemError(f"{q.shape[1]} query heads cannot share {k.shape[1]} key heads: wanted a multiple")


def _no_keys(arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """One key and value that nobody may see, in place of none: no array of the arithmetic is empty then."""
    return [np.zeros((*x.shape[:2], 1, x.shape[3])) for x in arrays]


def _without_keys(spec: AttentionSpec) -> AttentionSpec:
    """What the spec says of no keys at all: there is no mean over them, and no score that a softcap could give.

    "uniform" says the same as "mean" there, which is undefined; a softcap after the mask would let in the one key that
    stands for none.
    """
    rule = "mean" if spec.masked_row == "uniform" else spec.masked_row
    capped = spec.softcap_order == "after-mask"
    without = replace(spec, softcap=None, softcap_order="before-bias") if capped else spec
    return replace(without, masked_row=rule)


def _heads(
    spec: AttentionSpec,
    arrays: Sequence[NDArray[Any]],
    mask: Any,
    bias: Any,
    sinks: tuple[Exact, ...] | None,
    key_length: int | None,
    positions: Any,
    keyless: bool = False,
) -> Iterator[OneHead]:
    """The heads of one sequence. Shapes: q (H, L, d), k (H_kv, S, d), v (H_kv, S, d_v); mask, bias (H or 1, ...)."""
    q, k, v = arrays
    heads, key_heads = len(q), len(k)
    bad_q = ~np.isfinite(q).all(axis=2)
    bad_k = ~(np.isfinite(k).all(axis=2) & np.isfinite(v).all(axis=2))
    alibi = spec.alibi
    if alibi is not None and len(alibi.slopes) != heads:
        raise ProblemError(f"found {len(alibi.slopes)} alibi slopes for {heads} heads: give one for each head")
    for h in range(heads):
        own = spec if alibi is None else replace(spec, alibi=replace(alibi, slopes=(alibi.slopes[h],)))
        g = key_head(spec, h, heads, key_heads)
        yield OneHead(
            q[h],
            k[g],
            v[g],
            own,
            None if mask is None else mask[min(h, len(mask) - 1)],
            None if bias is None else bias[min(h, len(bias) - 1)],
            None if sinks is None else sinks[h],
            key_length,
            positions,
            bad_q[h] if bad_q[h].any() else None,
            bad_k[g] if bad_k[g].any() else None,
            keyless,
        )


def key_head(spec: AttentionSpec, head: int, heads: int, key_heads: int) -> int:
    """The key head that a query head uses: h // (H/H_kv), or h mod H_kv."""
    return head * key_heads // heads if spec.head_map == "grouped" else head % key_heads


def _packed(
    parts: dict[str, NDArray[Any]], spec: AttentionSpec, query_starts: Any, key_starts: Any, sinks: Any, others: Any
) -> Tensors:
    """Sequences packed one after the other, each with its own queries and keys."""
    if any(x is not None for x in others):
        raise ProblemError("packed sequences (THD) have no mask, bias, key lengths, past or positions")
    pieces = packed(parts, query_starts, key_starts)
    made: list[OneHead] = []
    for arrays in pieces:
        _check([x[np.newaxis] for x in arrays])
        own, length = spec, None
        if arrays[1].shape[1] == 0:
            arrays[1:] = [x[0] for x in _no_keys([x[np.newaxis] for x in arrays[1:]])]
            own, length = _without_keys(spec), 0
        made += _heads(own, arrays, None, None, sinks_of(sinks, len(arrays[0])), length, (None, None), length == 0)
    longest = max(piece[0].shape[1] for piece in pieces), max(piece[1].shape[1] for piece in pieces)
    starts = tuple(int(x) for x in query_starts)
    counts = parts["q"].shape[1], parts["k"].shape[1]
    return Tensors(tuple(made), spec, (len(pieces), counts[0], *longest), "THD", starts, counts[1])

"""A spec and its tensors in words, for a report."""

from __future__ import annotations

from collections.abc import Iterator

from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.attention.spec import AttentionSpec
from exactattn.numbers.exact import ONE, ZERO, spell
from exactattn.truth.tensors import Tensors

MOST_SLOPES = 8


def sizes_in_words(tensors: Tensors) -> str:
    """How many sequences, heads, queries and keys, and how wide."""
    batch, heads, queries, keys = tensors.shape
    head = tensors.heads[0]
    longest = "up to " if tensors.layout == "THD" and batch > 1 else ""
    sizes = [plural(batch, "sequence")] if batch > 1 else []
    of = f"{plural(heads, 'head')}" + (
        f" ({plural(tensors.key_heads, 'key head')})" if tensors.key_heads != heads else ""
    )
    widths = f"width {head.q.shape[1]}" + (f", values {head.v.shape[1]} wide" if head.v.shape != head.k.shape else "")
    return ", ".join(
        [*sizes, of, f"{longest}{plural(queries, 'query', 'queries')}, {longest}{plural(keys, 'key')}", widths]
    )


def spec_in_words(spec: AttentionSpec, width: int) -> dict[str, str]:
    """Every option that is not left out, by its key; the scale always."""
    return dict(_options(spec, width))


def _options(spec: AttentionSpec, width: int) -> Iterator[tuple[str, str]]:
    yield "scale", f"1/sqrt({width})" if spec.scale is None else spell(spec.scale)
    for key, value in (("base", spec.base), ("lse base", spec.lse_base), ("softcap", spec.softcap)):
        if value is not None:
            yield key, spell(value)
    if spec.softcap is not None:
        yield "softcap order", spec.softcap_order
    yield from _positions(spec)
    if spec.bias_place != "outside":
        yield "bias place", f"{spec.bias_place}, before the scale"
    if spec.alibi is not None:
        yield "alibi", _alibi(spec.alibi)
    if spec.rotary is not None:
        yield "rotary", _rotary(spec.rotary, width)
    if spec.qk_norm is not None:
        yield "qk norm", _norm(spec.qk_norm)
    yield "row with no allowed key", spec.masked_row
    if spec.head_map != "grouped":
        yield "head map", spec.head_map


def _positions(spec: AttentionSpec) -> Iterator[tuple[str, str]]:
    """Where queries stand, and which keys they see by that."""
    said = {"top-left": "j <= i", "bottom-right": "j <= i + S - L", "offset": f"j <= i + {spec.offset}"}
    if spec.causal != "none":
        yield "causal", f"{spec.causal} ({said[spec.causal]})"
    if spec.causal != "offset" and spec.offset is not None:
        yield "offset", "the last query at the last key" if spec.offset == "end" else str(spec.offset)
    if spec.window != (None, None):
        left, right = ("open" if side is None else str(side) for side in spec.window)
        yield "window", f"{left} to the left, {right} to the right"


def _alibi(alibi: Alibi) -> str:
    shown = ", ".join(spell(x) for x in alibi.slopes[:MOST_SLOPES])
    more = len(alibi.slopes) - MOST_SLOPES
    return f"{alibi.form}, slopes {shown}{f' and {more} more' if more > 0 else ''}"


def _rotary(rotary: Rotary, width: int) -> str:
    source = f"base {spell(rotary.base)}" if rotary.cache is None else "cosines and sines as given"
    factor = f", factor {spell(rotary.factor)}" if rotary.factor != ONE else ""
    return f"{rotary.width or width} of {width} elements, {rotary.layout}, {source}{factor}"


def _norm(norm: QKNorm) -> str:
    eps = f", eps {spell(norm.eps)}" if norm.eps != ZERO else ""
    weighted = [name for name, weight in (("q", norm.q_weight), ("k", norm.k_weight)) if weight is not None]
    return f"{norm.kind}{eps}" + (f", weights of {' and '.join(weighted)}" if weighted else "")


def plural(count: int, one: str, many: str | None = None) -> str:
    """The number and the noun: 1 head, 2 heads."""
    return f"{count} {one if count == 1 else many or one + 's'}"

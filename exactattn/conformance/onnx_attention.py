"""ONNX's Attention (opset 23 and later) as our problem, and its expected outputs judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.contract import PrecisionContract
from exactattn.attention.spec import AttentionSpec, Stage
from exactattn.conformance.judging import Within, format_of, same, within
from exactattn.conformance.onnx_nodes import NodeCase
from exactattn.conformance.onnx_text import Text
from exactattn.errors import ProblemError
from exactattn.numbers.formats import FORMATS, Format
from exactattn.truth.blocks import enclose_heads
from exactattn.truth.contracted import contracted_rows
from exactattn.truth.layouts import with_batch
from exactattn.truth.tensors import Tensors

SOFTMAX_FORMATS = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}  # TensorProto.DataType

Change = Callable[[AttentionSpec], AttentionSpec]


@dataclass(frozen=True, slots=True, eq=False)
class OnnxAttention:
    """One node test as our problem. Shapes: q (B, H, L, d), k and v with the past (B, H_kv, S, ...)."""

    tensors: Tensors
    present: Mapping[str, NDArray[Any]]
    fmt: Format
    softmax: Format

    def contract(self, accumulation: Format) -> PrecisionContract:
        """Everything in the type of q, sums in some format, the root of the scale on q and on k."""
        scale = self.tensors.spec.scale
        both = scale is None or (isinstance(scale, Fraction) and scale > 0)
        return PrecisionContract.uniform(
            self.fmt, softmax=self.softmax, accumulation=accumulation, scale_place="both" if both else "scores"
        )


def attention_of(case: NodeCase, text: Text, change: Change | None = None) -> OnnxAttention:
    """The problem of a node test; `change` puts another reading of its attributes in place of the text's.

    Errors: ProblemError for types, attributes or shapes that are not the operator's.
    """
    given, attributes = case.inputs, case.attributes
    fmt = format_of(given["Q"])
    if fmt is None:
        raise ProblemError(f"{case.name}: Q has type {given['Q'].dtype}, which is not one of our formats")
    past = {name: given.get(name) for name in ("past_key", "past_value")}
    q, k, v = (_four(given[name], name, attributes, text) for name in "QKV")
    nonpad = given.get("nonpad_kv_seqlen")
    seen = 0 if past["past_key"] is None else past["past_key"].shape[2]
    spec = _spec(attributes, text, seen, nonpad is not None)
    tensors = Tensors.of(
        q,
        k,
        v,
        change(spec) if change else spec,
        _mask(given.get("attn_mask"), k.shape[2] + seen),
        layout="BHLD",
        key_lengths=nonpad,
        past_key=past["past_key"],
        past_value=past["past_value"],
    )
    present = {
        f"present_{name}": new if old is None else np.concatenate([old, new], axis=2)
        for name, old, new in (("key", past["past_key"], k), ("value", past["past_value"], v))
    }
    return OnnxAttention(tensors, present, fmt, _softmax_format(attributes, fmt))


def _softmax_format(attributes: Mapping[str, Any], fmt: Format) -> Format:
    """That of `softmax_precision`, or of q where it is left out."""
    kind = attributes.get("softmax_precision")
    if kind is None:
        return fmt
    if kind not in SOFTMAX_FORMATS:
        raise ProblemError(f"found softmax_precision {kind}, wanted one of {SOFTMAX_FORMATS}")
    return FORMATS[SOFTMAX_FORMATS[kind]]


def _four(x: NDArray[Any], name: str, attributes: Mapping[str, Any], text: Text) -> NDArray[Any]:
    """(batch, heads, tokens, width)."""
    if x.ndim == 4:
        return x
    heads = attributes.get("q_num_heads" if name == "Q" else "kv_num_heads")
    four = with_batch(x, name, "BLD", heads)
    return four if text.split == "width" else x.reshape(four.shape)


def _spec(attributes: Mapping[str, Any], text: Text, past: int, has_lengths: bool) -> AttentionSpec:
    """The scale is a float32 attribute, taken as it is stored; -1 leaves a side of the window open; softcap 0 is none.

    Query i stands at i + past, or where lengths are given with its last query at the last key.
    """
    scale, cap = attributes.get("scale"), attributes.get("softcap", 0.0)
    sides = (attributes.get(f"{side}_window_size", -1) for side in ("left", "right"))
    window = tuple(None if side < 0 else side for side in sides)
    from_end, causal = has_lengths and text.lengths_place, bool(attributes.get("is_causal", 0))
    rule = ("bottom-right" if from_end else "offset" if past else "top-left") if causal else "none"
    placed = rule == "offset" or (rule == "none" and window != (None, None))
    return AttentionSpec(
        scale=None if scale is None else Fraction(scale),
        causal=rule,  # type: ignore[arg-type]  # one of the literals
        offset=("end" if from_end else past) if placed else None,
        window=window,  # type: ignore[arg-type]  # two of them
        softcap=Fraction(cap) if cap > 0 else None,
        softcap_order=text.softcap_order if cap > 0 else "before-bias",
        masked_row=text.masked_row,
        head_map=text.head_map,
    )


def _mask(mask: NDArray[Any] | None, keys: int) -> NDArray[Any] | None:
    """The mask in full width: what it is too short by is blocked. Integers are added, as floats are."""
    if mask is None:
        return None
    floats = mask if mask.dtype == np.bool_ else mask.astype(np.float64)
    missing = [(0, 0)] * (mask.ndim - 1) + [(0, max(0, keys - mask.shape[-1]))]
    return np.pad(floats, missing, constant_values=False if mask.dtype == np.bool_ else -np.inf)


def judged_attention(
    case: NodeCase, text: Text, accumulation: Format | None = None, change: Change | None = None
) -> dict[str, Within]:
    """Every expected output of a node test against the truth; sums are in the type of q unless another is named.

    Shapes: one dimension, the heads one after the other.
    """
    made = attention_of(case, text, change)
    contract = made.contract(accumulation or made.fmt)
    out: dict[str, Within] = {}
    for name, data in case.outputs.items():
        if name in made.present:
            out[name] = same(data, made.present[name])
            continue
        tensors, stage = (made.tensors, Stage.CONTEXT) if name == "Y" else _shown(made.tensors, case, text)
        out[name] = Within.joined(list(_judged(tensors, stage, data, contract)))
    return out


def _judged(tensors: Tensors, stage: Stage, data: NDArray[Any], contract: PrecisionContract) -> Iterator[Within]:
    """Head by head."""
    batch, heads, queries, _ = tensors.shape
    four = data if data.ndim == 4 else with_batch(data, "Y", "BLD", heads)
    if four.shape[:3] != (batch, heads, queries):
        raise ProblemError(f"an output has shape {data.shape}, wanted one row for each of {(batch, heads, queries)}")
    rows = np.arange(queries)
    for place, head in enumerate(tensors.heads):
        (truth,) = enclose_heads([(head, None)], stage, sharp=True)
        bound = contracted_rows(head, rows, contract, stage)
        blocked = ~head.allowed(rows) if stage is Stage.MASKED else None
        yield within(four[place // heads, place % heads], truth, bound, contract.output, blocked)


def _shown(tensors: Tensors, case: NodeCase, text: Text) -> tuple[Tensors, Stage]:
    """The stage that qk_matmul_output shows.

    The scores are shown with the scale; those with the mask have -inf where a key is blocked. Up to 1.21 the mask was
    added before the softcap, so scores with the mask are those of a problem without softcap.
    """
    mode = case.attributes.get("qk_matmul_output_mode", 0)
    capped = tensors.spec.softcap is not None
    if mode == 3:
        return tensors, Stage.WEIGHTS
    if mode == text.biased_mode:
        late = text.softcap_order == "after-mask"
        return (_uncapped(tensors) if late and capped else tensors), Stage.MASKED
    if mode == text.capped_mode:
        late = text.softcap_order == "after-mask"
        return tensors, Stage.MASKED if late else Stage.CAPPED if capped else Stage.SCALED
    return tensors, Stage.SCALED


def _uncapped(tensors: Tensors) -> Tensors:
    """The same without the softcap."""
    spec = replace(tensors.spec, softcap=None, softcap_order="before-bias")
    heads = tuple(replace(head, spec=spec) for head in tensors.heads)
    return replace(tensors, heads=heads, spec=spec)

"""Attention with drawn options, run by onnx itself in two ways: what its node tests leave out.

The reference evaluator has the operator as one function; the schema has it written out as a graph of small operators,
which the same evaluator runs one by one. Both are judged by the text.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.conformance.judging import Within
from exactattn.conformance.onnx_attention import judged_attention
from exactattn.conformance.onnx_nodes import NodeCase, onnx_module
from exactattn.conformance.onnx_text import Text
from exactattn.numbers.enclosure import Answer

NAMES = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
OUTPUTS = ("Y", "present_key", "present_value", "qk_matmul_output")
OPSET = 25
DRAWS = 120


@dataclass(frozen=True, slots=True)
class Difference:
    """A reading of the reference evaluator that is not the text's.

    `seen` tells where it may show; `read` gives the problem whose output by the text it is.
    """

    name: str
    seen: Callable[[NodeCase], bool]
    read: Callable[[NodeCase], NodeCase]
    why: str


def _one_row_for_all(case: NodeCase) -> bool:
    mask, windows = case.inputs.get("attn_mask"), ("left_window_size", "right_window_size")
    queries = case.outputs["Y"].shape[1 if case.outputs["Y"].ndim == 3 else 2]
    windowed = any(case.attributes.get(side, -1) >= 0 for side in windows)
    is_causal = case.attributes.get("is_causal") == 1 and not windowed
    return bool(is_causal and mask is not None and mask.ndim > 1 and mask.shape[-2] == 1 < queries)


def _first_row_for_all(case: NodeCase) -> NodeCase:
    """No causal rule, and the keys that it leaves to the first query allowed to all."""
    mask, past, lengths = (case.inputs.get(name) for name in ("attn_mask", "past_key", "nonpad_kv_seqlen"))
    assert mask is not None
    queries = case.outputs["Y"].shape[1 if case.outputs["Y"].ndim == 3 else 2]
    first = np.atleast_1d(0 if past is None else past.shape[2]) if lengths is None else lengths - queries
    seen = np.arange(mask.shape[-1]) <= first.reshape(-1, 1, 1, 1)
    blocked = np.array(False if mask.dtype == np.bool_ else -np.inf, mask.dtype)
    attributes = {name: x for name, x in case.attributes.items() if name != "is_causal"}
    return replace(case, attributes=attributes, inputs={**case.inputs, "attn_mask": np.where(seen, mask, blocked)})


def _as_mode_one(case: NodeCase) -> NodeCase:
    return replace(case, attributes={**case.attributes, "qk_matmul_output_mode": 1})


def _capped_in_mode_zero(case: NodeCase) -> bool:
    return bool(case.attributes.get("softcap", 0) > 0) and case.attributes.get("qk_matmul_output_mode", 0) == 0


DIFFERENCES = (
    Difference(
        "qk_matmul_output_mode 0 with a softcap",
        _capped_in_mode_zero,
        _as_mode_one,
        "the text wants the scores before the softcap, the reference evaluator gives those after it",
    ),
    Difference(
        "is_causal, no window, and a mask that has one row for all queries",
        _one_row_for_all,
        _first_row_for_all,
        "the reference evaluator takes the number of queries from the mask: every query sees what the first one sees",
    ),
)
"""What explains every output of the reference evaluator of onnx 1.23.2 that is outside; the graph follows the text."""


def drawn(seed: int) -> NodeCase:
    """A node test without expected outputs, of a few options at once."""
    import ml_dtypes

    rng = np.random.default_rng(seed)
    dtype = (np.float32, np.float32, np.float16, ml_dtypes.bfloat16)[rng.integers(4)]
    size = float(rng.choice([0.5, 1.0, 2.0]))
    sizes = (int(x) for x in rng.integers((1, 1, 1, 1, 1, 1, 1), (3, 4, 3, 6, 8, 9, 6)))
    batch, key_heads, group, queries, keys, width, value_width = sizes

    def normal(*shape: int) -> NDArray[Any]:
        return np.asarray((size * rng.standard_normal(shape)).astype(dtype))

    inputs = {
        "Q": normal(batch, key_heads * group, queries, width),
        "K": normal(batch, key_heads, keys, width),
        "V": normal(batch, key_heads, keys, value_width),
    }
    past = int(rng.integers(1, 5)) if rng.random() < 0.3 else 0
    if past:
        inputs["past_key"] = normal(batch, key_heads, past, width)
        inputs["past_value"] = normal(batch, key_heads, past, value_width)
    elif rng.random() < 0.3:
        inputs["nonpad_kv_seqlen"] = rng.integers(1, keys + 1, batch)
    if rng.random() < 0.5:
        inputs["attn_mask"] = _mask(rng, (batch, key_heads * group, queries, keys + past), inputs, normal)
    attributes = _attributes(rng)
    if rng.random() < 0.3:
        attributes |= {"q_num_heads": key_heads * group, "kv_num_heads": key_heads}
        for name in "QKV":
            x = inputs[name]
            inputs[name] = np.ascontiguousarray(x.transpose(0, 2, 1, 3).reshape(batch, x.shape[2], -1))
    return NodeCase(f"drawn {seed}", "Attention", OPSET, attributes, inputs, {})


def _attributes(rng: np.random.Generator) -> dict[str, Any]:
    """Each of them at times; floats are numbers of float32, as attributes are."""
    drawn: dict[str, Any] = {
        "is_causal": int(rng.integers(0, 2)),
        "scale": float(np.float32(rng.choice([0.1, 0.3, 1.0, 2.5]))),
        "softcap": float(np.float32(rng.choice([0.7, 2.0, 30.0]))),
        "left_window_size": int(rng.integers(-1, 4)),
        "right_window_size": int(rng.integers(-1, 3)),
        "softmax_precision": int(rng.choice([1, 10, 11, 16])),
        "qk_matmul_output_mode": int(rng.integers(0, 4)),
    }
    rare = {"left_window_size", "right_window_size", "softmax_precision"}
    return {name: x for name, x in drawn.items() if rng.random() < (0.2 if name in rare else 0.5)}


def _mask(
    rng: np.random.Generator, shape: tuple[int, ...], inputs: Mapping[str, NDArray[Any]], normal: Callable[..., Any]
) -> NDArray[Any]:
    """A mask of 2 to 4 axes, of booleans or floats, in some places -inf, and at times shorter than the keys."""
    least = int(inputs["nonpad_kv_seqlen"].max()) if "nonpad_kv_seqlen" in inputs else 1
    keys = int(rng.integers(least, shape[3] + 1)) if rng.random() < 0.4 else shape[3]
    own = [*(int(rng.choice([1, n])) for n in shape[:3]), keys][int(rng.integers(0, 3)) :]
    if rng.random() < 0.5:
        return np.asarray(rng.random(own) < 0.8)
    floats = normal(*own)
    return np.where(rng.random(own) < 0.2, np.array(-np.inf, floats.dtype), floats)


def run(case: NodeCase, *, as_graph: bool = False) -> NodeCase:
    """The same with the outputs of the reference evaluator, of the operator or of the graph that it is written out as.

    Errors: Unavailable where onnx is not installed.
    """
    onnx = onnx_module()
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    has_past = "past_key" in case.inputs
    outputs = [name if has_past or not name.startswith("present") else "" for name in OUTPUTS]
    given = [name if name in case.inputs else "" for name in NAMES]
    nodes = [helper.make_node("Attention", given, outputs, **case.attributes)]
    opset = [helper.make_opsetid("", case.opset)]

    def kind(x: NDArray[Any]) -> Any:
        return helper.np_dtype_to_tensor_dtype(x.dtype)

    if as_graph:
        from onnx.backend.test.case.node import function_testcase_helper

        of_tensor, inputs = helper.make_tensor_type_proto, case.inputs
        types = [of_tensor(kind(inputs[n]), inputs[n].shape) if n else onnx.TypeProto() for n in given]
        ((nodes, _), *_), _ = function_testcase_helper(nodes[0], types, "drawn", opset)
    infos = [helper.make_tensor_value_info(name, kind(x), x.shape) for name, x in case.inputs.items()]
    ends = [helper.make_tensor_value_info(name, kind(case.inputs["Q"]), None) for name in outputs if name]
    model = helper.make_model(helper.make_graph(nodes, "attention", infos, ends), opset_imports=opset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: list[Any] = list(ReferenceEvaluator(model).run(None, dict(case.inputs)))
    return replace(case, outputs=dict(zip([name for name in outputs if name], found, strict=True)))


def runs_here(text: Text) -> bool:
    """Does the installed version have the operator of that opset? From 1.23 on."""
    return text.lengths_place


def explained(case: NodeCase, text: Text) -> str:
    """The differences that explain outputs outside: read with them, all is within. Nothing where they do not."""
    seen = [one for one in DIFFERENCES if one.seen(case)]
    for one in seen:
        case = one.read(case)
    found = judged_attention(case, text)
    is_within = not any(output.count(Answer.NO) for output in found.values())
    return " and ".join(one.name for one in seen) if is_within else ""


def judged_draw(seed: int, text: Text, *, as_graph: bool) -> tuple[NodeCase, dict[str, Within]]:
    """A drawn problem run in one of the ways, and its outputs judged."""
    case = run(drawn(seed), as_graph=as_graph)
    return case, judged_attention(case, text)

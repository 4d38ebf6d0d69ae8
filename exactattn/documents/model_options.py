"""The shapes of what cases and spec files share: the options of attention, and which tensor of a file is what."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema

from exactattn.documents.model_parts import ANY_SCALAR, Index, Matrix, Part, Text, one_of, optional
from exactattn.documents.words import (
    ALIBI_FORMS,
    BIAS_PLACES,
    CAUSAL,
    HEAD_MAPS,
    LAYOUTS,
    MASKED_ROWS,
    NORMS,
    POLARITIES,
    ROTARY_LAYOUTS,
    SLOPES,
    SOFTCAP_ORDERS,
)

WHOLE: dict[str, Any] = {"type": "integer"}
SIDE: dict[str, Any] = {"anyOf": [{"type": "integer", "minimum": 0}, {"enum": [None, "none"]}]}
Causal = Annotated[str, WithJsonSchema({"anyOf": [{"enum": [True, False, "none", *CAUSAL]}, WHOLE]})]
Offset = Annotated[str, WithJsonSchema({"anyOf": [WHOLE, {"const": "end"}]})]
Window = Annotated[list[str], WithJsonSchema({"type": "array", "minItems": 2, "maxItems": 2, "items": SIDE})]
NumberList = Annotated[list[str], WithJsonSchema({"type": "array", "minItems": 1, "items": ANY_SCALAR})]
Slopes = Annotated[
    Any, WithJsonSchema({"anyOf": [{"enum": list(SLOPES)}, {"type": "array", "minItems": 1, "items": ANY_SCALAR}]})
]
NameOrList = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": ANY_SCALAR}]})
]


class AlibiPart(Part):
    """A bias that is linear in the distance."""

    slopes: Slopes = optional("A slope for each head, or those of the `paper`, or of its `authors`' code.")
    form: Annotated[str, one_of(*ALIBI_FORMS)] = optional("distance: -|p - j| (the default); signed: j - p.")


class RotaryPart(Part):
    """Rotary positions."""

    width: Index = optional("How many leading elements are turned; all if left out.")
    base: Text = optional("Base of the frequencies; 10000 if left out.")
    layout: Annotated[str, one_of(*ROTARY_LAYOUTS)] = optional("Which elements make a pair; halves if left out.")
    factor: Text = optional("Factor on cosines and sines; 1 if left out.")


class CaseRotary(RotaryPart):
    """Rotary positions, with a cache as numbers."""

    cosines: Matrix = optional("Cosines as given: a row for each position, a column for each pair.")
    sines: Matrix = optional("Sines as given: a row for each position, a column for each pair.")


class FileRotary(RotaryPart):
    """Rotary positions, with a cache as tensors of the file."""

    cosines: Text = optional("Name of the tensor of cosines: a row for each position, a column for each pair.")
    sines: Text = optional("Name of the tensor of sines: a row for each position, a column for each pair.")


class NormPart(Part):
    """A norm of each query and key before rotation and scores."""

    kind: Annotated[str, one_of(*NORMS)] = optional(
        "rms: by the root of the mean square (the default); l2: of the sum."
    )
    eps: Text = optional("Added under the root; 0 if left out.")
    q_weight: NameOrList = optional("Factors of the elements of q afterwards; 1 if left out.")
    k_weight: NameOrList = optional("Factors of the elements of k afterwards; 1 if left out.")


class OptionsPart(Part):
    """The options of attention."""

    scale: Text = optional("Factor on the scores over d_k, d_v, d_model, n, L, S, H; 1/sqrt(d_k) if left out.")
    base: Text = optional("Base of the exponential of the softmax; e if left out.")
    lse_base: Text = optional("Base of the lse; that of the softmax if left out.")
    causal: Causal = optional(
        "May a query see only keys up to its own position? The corner matters when L is not S; a whole number is the "
        "position of query 0."
    )
    offset: Offset = optional("Position of query 0 where causal does not say it; `end` puts the last at the last key.")
    window: Window = optional("[left, right]: how many keys before and after its position a query sees; null is open.")
    softcap: Text = optional("c: scaled scores s become c tanh(s / c).")
    softcap_order: Annotated[str, one_of(*SOFTCAP_ORDERS)] = optional("Where; before-bias if left out.")
    bias_place: Annotated[str, one_of(*BIAS_PLACES)] = optional(
        "A bias is added after the scale (outside, the default) or before it (inside)."
    )
    alibi: AlibiPart = optional("A bias that is linear in the distance of query and key.")
    qk_norm: NormPart = optional("A norm of q and k, each token by itself, before rotation and scores.")
    masked_row: Annotated[str, one_of(*MASKED_ROWS)] = optional(
        "What a row with no allowed key gives: nothing (`undefined`, the default), zeros, equal weights of all keys "
        "(`uniform`), or of those the sequence has (`mean`)."
    )


class CaseOptions(OptionsPart):
    """The options of a problem of a case."""

    rotary: CaseRotary = optional("Rotary positions of q and k.")


ROLES = {
    "q": "Queries.",
    "k": "Keys.",
    "v": "Values.",
    "mask": "Booleans, which keys a query may see; or floats that are added, -inf where it may not.",
    "bias": "Floats that are added to the scores.",
    "sinks": "A logit for each head.",
    "key_lengths": "How many keys each sequence has; those after them are padding.",
    "query_starts": "Layout THD: where each sequence begins among the queries, and the end.",
    "key_starts": "Layout THD: where each sequence begins among the keys, and the end.",
    "past_key": "Keys that go before k.",
    "past_value": "Values that go before v.",
    "query_positions": "Rotary positions of the queries.",
    "key_positions": "Rotary positions of the keys.",
    "output": "Outputs to judge.",
    "lse": "Log-sum-exps to judge.",
    "weights": "Weights to judge.",
    "output_gradient": "The gradient of the loss by the outputs.",
    "dq": "Gradient by q, to judge.",
    "dk": "Gradient by k, to judge.",
    "dv": "Gradient by v, to judge.",
    "dbias": "Gradient by the bias, to judge.",
    "dsinks": "Gradient by the sinks, to judge.",
}
INPUTS = tuple(ROLES)[: tuple(ROLES).index("output")]


class InputNames(Part):
    """Which tensor of a file is what, by name; the usual names if left out."""

    q: Text = optional(ROLES["q"])
    k: Text = optional(ROLES["k"])
    v: Text = optional(ROLES["v"])
    mask: Text = optional(ROLES["mask"])
    bias: Text = optional(ROLES["bias"])
    sinks: Text = optional(ROLES["sinks"])
    key_lengths: Text = optional(ROLES["key_lengths"])
    query_starts: Text = optional(ROLES["query_starts"])
    key_starts: Text = optional(ROLES["key_starts"])
    past_key: Text = optional(ROLES["past_key"])
    past_value: Text = optional(ROLES["past_value"])
    query_positions: Text = optional(ROLES["query_positions"])
    key_positions: Text = optional(ROLES["key_positions"])


class TensorNames(InputNames):
    """The same, with what is judged."""

    output: Text = optional(ROLES["output"])
    lse: Text = optional(ROLES["lse"])
    weights: Text = optional(ROLES["weights"])
    output_gradient: Text = optional(ROLES["output_gradient"])
    dq: Text = optional(ROLES["dq"])
    dk: Text = optional(ROLES["dk"])
    dv: Text = optional(ROLES["dv"])
    dbias: Text = optional(ROLES["dbias"])
    dsinks: Text = optional(ROLES["dsinks"])


class LaidOut(Part):
    """How tensors are laid out."""

    layout: Annotated[str, one_of(*LAYOUTS)] = optional(
        "B batch, H heads, L or T tokens, D width; LD, HLD or BHLD by the number of axes if left out."
    )
    query_heads: Index = optional("Layout BLD: how many heads q has.")
    key_heads: Index = optional("Layout BLD: how many heads k and v have.")
    polarity: Annotated[str, one_of(*POLARITIES)] = optional(
        "A true in the mask lets a query see the key (attend, the default), or not (block)."
    )
    head_map: Annotated[str, one_of(*HEAD_MAPS)] = optional(
        "Which key head a query head uses: grouped h // (H/H_kv) (the default), or tiled h mod H_kv."
    )
    dtypes: dict[str, Text] = optional("Types that a file of NumPy forgets, by the names of tensors: {q: bfloat16}.")


class TensorsPart(InputNames, LaidOut):
    """A small file of tensors beside a case, and which of them is what."""

    file: Text = optional("The file, in the folder of the case.")


class SpecPart(OptionsPart, LaidOut):
    """What the tensors of a file are, and which attention is meant: for `exactattn report`."""

    version: Annotated[str, WithJsonSchema({"const": 1})] = optional("Version of the format: 1.")
    rotary: FileRotary = optional("Rotary positions of q and k.")
    tensors: TensorNames = optional("Which tensor of the file is what; the usual names if left out.")

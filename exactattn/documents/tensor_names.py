"""Which tensor of a file is what: as a mapping says, else by the usual names. What is not clear is a mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from exactattn.documents import nodes as tree
from exactattn.documents.nodes import Mistakes, quoted

NEEDED = ("q", "k", "v")
MOST_LISTED = 12  # tensors that a message lists
USUAL: Mapping[str, tuple[str, ...]] = {
    "q": ("q", "Q", "query", "queries"),
    "k": ("k", "K", "key", "keys"),
    "v": ("v", "V", "value", "values"),
    "mask": ("mask", "attn_mask", "attention_mask"),
    "bias": ("bias", "attn_bias", "attention_bias"),
    "sinks": ("sinks", "sink", "attn_sink", "attn_sinks", "s_aux"),
    "key_lengths": ("key_lengths", "kv_lengths", "key_value_seq_lengths", "nonpad_kv_seqlen", "cache_seqlens"),
    "query_starts": ("query_starts", "cu_seqlens_q"),
    "key_starts": ("key_starts", "cu_seqlens_k", "cu_seqlens_kv"),
    "past_key": ("past_key", "past_k"),
    "past_value": ("past_value", "past_v"),
    "query_positions": ("query_positions", "q_positions"),
    "key_positions": ("key_positions", "k_positions"),
    "output": ("output", "out", "o", "O", "context"),
    "lse": ("lse", "LSE", "softmax_lse", "logsumexp"),
    "weights": ("weights", "attn_weights", "probs"),
    "output_gradient": ("output_gradient", "do", "dO", "dout", "grad_output", "grad_out"),
    "dq": ("dq", "dQ", "grad_q", "grad_query"),
    "dk": ("dk", "dK", "grad_k", "grad_key"),
    "dv": ("dv", "dV", "grad_v", "grad_value"),
    "dbias": ("dbias", "grad_bias"),
    "dsinks": ("dsinks", "grad_sinks"),
}


def names_of(
    said: tree.Mapping | None, arrays: Mapping[str, Any], roles: Iterable[str], mistakes: Mistakes
) -> dict[str, str]:
    """The name of the tensor for each role that has one.

    `said` names some. A role that is not named takes the one tensor of a usual name; two are a mistake, and so is
    none for q, k or v.
    """
    found: dict[str, str] = {}
    values = {} if said is None else said.values
    named = [node.text for node in values.values() if isinstance(node, tree.Scalar)]
    for role in roles:
        node = values.get(role)
        if node is not None:
            name = named_tensor(node, arrays, mistakes)
            if name is not None:
                found[role] = name
            continue
        usual = [name for name in USUAL[role] if name in arrays and name not in named]
        if len(usual) > 1:
            hint = f"say which one it is: `tensors: {{{role}: {usual[0]}}}`"
            mistakes.add(f"{' and '.join(map(quoted, usual))} are both usual names of {role}", said, hint)
        elif usual:
            found[role] = usual[0]
        elif role in NEEDED:
            wanted = f"no tensor is called {', '.join(USUAL[role][:-1])} or {USUAL[role][-1]}; {held(arrays)}"
            mistakes.add(wanted, said, f"say which one it is: `tensors: {{{role}: NAME}}`")
    return found


def named_tensor(node: tree.Node, arrays: Mapping[str, Any], mistakes: Mistakes) -> str | None:
    """The tensor that a text names, or None after noting that there is none."""
    name = mistakes.text(node)
    if name is None or name in arrays:
        return name
    near = get_close_matches(name[:60], arrays, n=1)
    hint = f"did you mean {near[0]!r}?" if near else None
    mistakes.add(f"there is no tensor {quoted(name)}; {held(arrays)}", node, hint)
    return None


def held(arrays: Mapping[str, Any]) -> str:
    """What a file holds, in words."""
    shown = [f"{name} ({x.dtype}, {shape_words(x.shape)})" for name, x in list(arrays.items())[:MOST_LISTED]]
    more = len(arrays) - MOST_LISTED
    return f"found {', '.join(shown)}{f' and {more} more' if more > 0 else ''}"


def shape_words(shape: tuple[int, ...]) -> str:
    """A shape as 2 x 3."""
    return " x ".join(map(str, shape)) or "one number"

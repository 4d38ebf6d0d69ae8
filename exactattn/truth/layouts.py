"""How tensors are laid out, and what they must be: every layout becomes (batch, heads, tokens, width)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from exactattn.errors import ProblemError

Layout = Literal["BHLD", "BLHD", "BLD", "HLD", "LD", "THD"]
AXES: Mapping[Layout, str] = {
    "BHLD": "(batch, heads, tokens, width)",
    "BLHD": "(batch, tokens, heads, width)",
    "BLD": "(batch, tokens, heads*width)",
    "HLD": "(heads, tokens, width)",
    "LD": "(tokens, width)",
    "THD": "(tokens of all sequences, heads, width)",
}
MOST_ELEMENTS = 2**31  # of one tensor; a broadcast one may declare any shape without having memory for it
MOST_HEADS = 2**20  # of all sequences together, as each is a piece of work of its own
WANTED = "give float64, float32, float16, bfloat16 or 8-bit floats"


def checked(x: Any, label: str) -> NDArray[Any]:
    """An array of floats, of a type that float64 holds exactly; nothing is converted.

    A torch tensor of such a type is one, bfloat16 too. Errors: ProblemError for anything else.
    """
    array = as_array(x, label)
    # ml_dtypes' types have kind V or f; what is not a float of at most 8 bytes is refused
    is_float = array.dtype.kind == "f" or array.dtype.name.startswith(("bfloat16", "float8"))
    if not is_float or array.dtype.itemsize > 8:
        raise ProblemError(f"{label} has type {array.dtype}: {WANTED}")
    if array.size > MOST_ELEMENTS:
        raise ProblemError(f"{label} has shape {array.shape}, more than 2**31 elements: give fewer sequences or heads")
    return array


def as_array(x: Any, label: str) -> NDArray[Any]:
    """An array, or a torch tensor as one. Errors: ProblemError for what is none, or hides some of its elements."""
    if isinstance(x, np.ma.MaskedArray):
        raise ProblemError(f"{label} is a masked array: fill it, and say by `mask` which keys are allowed")
    try:
        return _from_torch(x) if type(x).__module__.split(".")[0] == "torch" else np.asarray(x)
    except (TypeError, ValueError, RuntimeError, AttributeError, OverflowError) as error:
        raise ProblemError(f"{label} is not an array of numbers: {WANTED} ({error})") from error


def _from_torch(tensor: Any) -> NDArray[Any]:
    """A torch tensor as a NumPy array; bfloat16 and 8-bit floats, which NumPy lacks, by their bits."""
    tensor = tensor.detach().cpu()
    name = str(tensor.dtype).removeprefix("torch.")
    if name.startswith(("bfloat16", "float8")):
        import ml_dtypes
        import torch

        kind = getattr(ml_dtypes, name, None)
        if kind is None:
            raise ProblemError(f"found a torch tensor of {name}: {WANTED}")
        bits = torch.int16 if name == "bfloat16" else torch.uint8
        return np.asarray(tensor.contiguous().view(bits).numpy()).view(kind)
    return np.asarray(tensor.numpy())


def layout_of(layout: Any, q: NDArray[Any]) -> Layout:
    """The layout that is named, or that of the number of axes. Errors: ProblemError for neither."""
    if layout is None:
        layout = {2: "LD", 3: "HLD", 4: "BHLD"}.get(q.ndim)
        if layout is None:
            raise ProblemError(f"q has shape {q.shape}: give 2 axes (tokens, width), 3 (heads first), 4 (batch first)")
    if layout not in tuple(AXES):
        raise ProblemError(f"found layout {layout!r}, wanted one of {', '.join(AXES)}")
    return cast(Layout, layout)


def checked_rows(rows: Any, queries: int) -> NDArray[np.intp]:
    """Some query rows, or all of them for None. Errors: ProblemError for what is not a list of integers below L."""
    if rows is None:
        return np.arange(queries)
    array = as_array(rows, "rows")
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ProblemError(f"rows: found {array.dtype} {array.shape}, wanted a list of integers")
    if ((array < 0) | (array >= queries)).any():
        raise ProblemError(f"rows: found numbers from {array.min()} to {array.max()}, wanted 0 to {queries - 1}")
    return array.astype(np.intp)


def with_batch(x: NDArray[Any], label: str, layout: Layout, heads: int | None) -> NDArray[Any]:
    """(batch, heads, tokens, width), a view. Errors: ProblemError for another number of axes, or an empty one."""
    if x.ndim != {"BHLD": 4, "BLHD": 4, "BLD": 3, "HLD": 3, "LD": 2}.get(layout, 3):
        raise ProblemError(f"{label} has shape {x.shape}, and layout {layout} is {AXES[layout]}")
    if layout == "BLD":
        if type(heads) is not int or heads < 1 or x.shape[2] % heads:
            raise ProblemError(
                f"{label} has shape {x.shape}; layout BLD needs the number of heads, which divides its last axis: "
                f"give query_heads and key_heads, found {heads}"
            )
        x = x.reshape(x.shape[0], x.shape[1], heads, x.shape[2] // heads)
    out = {"BLHD": lambda: x.transpose(0, 2, 1, 3), "BLD": lambda: x.transpose(0, 2, 1, 3)}.get(
        layout, lambda: x[(np.newaxis,) * (4 - x.ndim)]
    )()
    if 0 in (out.shape[0], out.shape[1], out.shape[3]):
        raise ProblemError(f"{label} has shape {x.shape}: no axis but that of the tokens may have length 0")
    if out.shape[0] * out.shape[1] > MOST_HEADS:
        raise ProblemError(f"{label} has shape {x.shape}, more than 2**20 heads: give fewer sequences")
    return out


def lengths_of(x: Any, label: str, batch: int, most: int) -> NDArray[np.int64] | None:
    """A length for each sequence. Errors: ProblemError for what is not an integer from 0 to `most`."""
    if x is None:
        return None
    array = np.atleast_1d(as_array(x, label))
    if array.dtype.kind not in "iu" or array.shape != (batch,):
        raise ProblemError(f"{label}: found {array.dtype} {array.shape}, wanted {batch} integers, one a sequence")
    if (array < 0).any() or (array > most).any():
        raise ProblemError(f"{label}: found {array.tolist()}, wanted numbers from 0 to {most}, the keys that there are")
    return array.astype(np.int64)


def packed(parts: Mapping[str, NDArray[Any]], query_starts: Any, key_starts: Any) -> list[list[NDArray[Any]]]:
    """The sequences of packed tensors, heads first.

    Shapes: (T, H, d), (T, H_kv, d), (T, H_kv, d_v) -> (H, L, d), (H_kv, S, d), (H_kv, S, d_v) of each.
    """
    for label, x in parts.items():
        if x.ndim != 3 or 0 in x.shape:
            raise ProblemError(f"{label} has shape {x.shape}, and layout THD is {AXES['THD']}, no axis of length 0")
    queries = _starts(query_starts, "query_starts", len(parts["q"]))
    keys = _starts(query_starts if key_starts is None else key_starts, "key_starts", len(parts["k"]))
    if len(parts["v"]) != len(parts["k"]):
        raise ProblemError(f"there are {len(parts['k'])} keys and {len(parts['v'])} values: each key needs one value")
    if len(queries) != len(keys):
        raise ProblemError(f"query_starts say {len(queries) - 1} sequences, key_starts {len(keys) - 1}")
    cuts = zip(queries, queries[1:], keys, keys[1:], strict=False)
    return [
        [parts[label][a:b].transpose(1, 0, 2) for label, a, b in (("q", a, b), ("k", c, d), ("v", c, d))]
        for a, b, c, d in cuts
    ]


def _starts(x: Any, label: str, total: int) -> list[int]:
    """Where each sequence begins, and the end of the last."""
    array = as_array(x, label) if x is not None else np.zeros(0)
    if array.dtype.kind not in "iu" or array.ndim != 1 or len(array) < 2:
        raise ProblemError(f"packed sequences need {label}: integers, where each begins and the last ends ({total})")
    out = [int(i) for i in array]
    if out[0] != 0 or out[-1] != total or any(b < a for a, b in pairwise(out)):
        raise ProblemError(f"{label} is {out[:8]}...: wanted 0 first, {total} last, none smaller than the one before")
    return out

"""What a program gave for tensors: outputs, lse, weights, as an array a head; formats by their types; sampled rows."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.attention.spec import Stage
from exactattn.errors import ProblemError
from exactattn.numbers.formats import FORMATS, Format
from exactattn.truth.layouts import checked
from exactattn.truth.one_head import Rows
from exactattn.truth.tensors import Tensors


def format_of(array: NDArray[Any], label: str) -> Format:
    """The format of an array of floats. Errors: ProblemError for another type."""
    name = str(checked(array, label).dtype)
    found = next((fmt for fmt in FORMATS.values() if fmt.dtype == name), None)
    if found is None:
        raise ProblemError(f"{label} has type {name}, which is none of the formats: {', '.join(FORMATS)}")
    return found


def per_head(tensors: Tensors, array: NDArray[Any], stage: Stage, label: str) -> list[NDArray[Any]]:
    """What was given for a stage, an array (L, width) for each head.

    Shapes: context as q is laid out; lse the same with width 1, or without that axis heads before tokens; weights
    (B, H, L, S), (H, L, S) or (L, S). Errors: ProblemError for another shape, or one that could mean two things.
    """
    checked(array, label)
    if stage is Stage.WEIGHTS:
        return _weights(tensors, array, label)
    if stage is Stage.LSE:
        array = _with_width(tensors, array, label)
    width = 1 if stage is Stage.LSE else tensors.heads[0].v.shape[1]
    wanted = _shape(tensors, width)
    if array.shape != wanted:
        raise ProblemError(f"{label} has shape {array.shape}, wanted {wanted}: as q is laid out, {tensors.layout}")
    return tensors.split(array)


def _shape(tensors: Tensors, width: int) -> tuple[int, ...]:
    """The shape of outputs of a width."""
    batch, heads, queries, _ = tensors.shape
    total = tensors.starts[-1] if tensors.starts else 0
    return {
        "BHLD": (batch, heads, queries, width),
        "BLHD": (batch, queries, heads, width),
        "BLD": (batch, queries, heads * width),
        "HLD": (heads, queries, width),
        "LD": (queries, width),
        "THD": (total, heads, width),
    }[tensors.layout]


def _with_width(tensors: Tensors, array: NDArray[Any], label: str) -> NDArray[Any]:
    """An lse laid out as outputs of width 1, from one that has no axis for it."""
    wanted = _shape(tensors, 1)
    if array.ndim == len(wanted) and (tensors.layout != "BLD" or array.shape == wanted):
        _, heads, queries, _ = tensors.shape
        if tensors.layout == "BLD" and heads == queries != 1:
            raise _two_ways(array, label)
        return array
    heads_first = tensors.layout in ("BLHD", "BLD", "THD")
    shape = wanted if tensors.layout == "BLD" else wanted[:-1]
    if not heads_first:
        return array[..., np.newaxis] if array.shape == shape else array
    turned = (*shape[:-2], shape[-1], shape[-2])
    if array.shape == shape == turned and shape[-1] != 1:
        raise _two_ways(array, label)
    if array.shape == turned:
        array = array.swapaxes(-1, -2)
    return array if tensors.layout == "BLD" or array.shape != shape else array[..., np.newaxis]


def _two_ways(array: NDArray[Any], label: str) -> ProblemError:
    return ProblemError(
        f"{label} has shape {array.shape}, as many tokens as heads, so it could be laid out in two ways: use a layout "
        "with heads before tokens (BHLD or HLD)"
    )


def _weights(tensors: Tensors, array: NDArray[Any], label: str) -> list[NDArray[Any]]:
    batch, heads, queries, keys = tensors.shape
    wanted: tuple[int, ...] = {"LD": (queries, keys), "HLD": (heads, queries, keys)}.get(
        tensors.layout, (batch, heads, queries, keys)
    )
    if tensors.layout == "THD":
        raise ProblemError(f"{label}: weights of packed sequences (THD) have no layout that is read")
    if array.shape != wanted:
        raise ProblemError(f"{label} has shape {array.shape}, wanted {wanted}: a row of weights for each query")
    return list(array.reshape(batch * heads, queries, keys))


def sampled(tensors: Tensors, count: int | None, seed: int) -> list[Rows]:
    """Some query rows of each head: `count` of all rows of all heads, drawn without repeats; None for every row."""
    lengths = [head.lengths[0] for head in tensors.heads]
    total = sum(lengths)
    if count is None or count >= total:
        return [np.arange(n) for n in lengths]
    drawn = np.array(sorted(random.Random(seed).sample(range(total), count)), dtype=np.intp)  # noqa: S311 - no secret
    ends = np.cumsum(lengths)
    cuts = np.searchsorted(drawn, ends)
    starts = ends - np.array(lengths)
    return [part - start for part, start in zip(np.split(drawn, cuts[:-1]), starts, strict=True)]

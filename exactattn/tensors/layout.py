"""How numbers lie in bytes: the types that are read, and arrays over bytes without copying them."""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from exactattn.numbers.formats import FORMATS
from exactattn.tensors.source import Source

MOST_AXES = 32  # as in every version of NumPy
MOST_NAME = 500  # characters of the name of a tensor
_ROOM = 2**63  # bytes that a shape may span when its axes of length 0 are left out, as NumPy counts them

PLAIN = (
    *("float64", "float32", "float16", "bool"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
SHORT = ("bfloat16", "float8_e4m3fn", "float8_e5m2")  # of ml_dtypes
READ = "float64, float32, float16, bfloat16, float8_e4m3fn, float8_e5m2, bool, or integers of 8 to 64 bits"


def dtype_named(name: str) -> np.dtype[Any]:
    """A type of `PLAIN` or `SHORT` by its name."""
    if name in PLAIN:
        return np.dtype(name)
    import ml_dtypes

    short: DTypeLike = getattr(ml_dtypes, name)
    return np.dtype(short)


def check_name(source: Source, name: str) -> None:
    """Errors: TensorError for a name that nobody can type or see."""
    if not name or len(name) > MOST_NAME or not name.isprintable():
        wanted = f"wanted 1 to {MOST_NAME} printable characters"
        raise source.error(f"found a tensor named {name[:60]!r}, {wanted}", "give it another name")


def size_of(source: Source, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    """How many bytes a tensor has; no product overflows. Errors: TensorError for a shape that no array can have."""
    if len(shape) > MOST_AXES:
        raise source.error(f"found {len(shape)} axes, wanted at most {MOST_AXES}", "save it in fewer axes", name)
    if any(length < 0 for length in shape):
        raise source.error(f"found the shape {shape}, wanted no negative length", "save the tensor again", name)
    if prod(max(length, 1) for length in shape) * dtype.itemsize >= _ROOM:
        raise source.error(f"found the shape {shape}, which no memory holds", "save the tensor again", name)
    return prod(shape) * dtype.itemsize


def array_over(
    source: Source, name: str, data: memoryview, dtype: np.dtype[Any], shape: tuple[int, ...], fortran: bool = False
) -> NDArray[Any]:
    """The array whose bytes are `data`, of exactly its size; read-only, in the machine's byte order.

    Bytes are copied once where they are in the other byte order or lie at odd places, else not at all.
    Exact value: bit by bit what the file holds. Errors: TensorError for truth values that are neither 0 nor 1.
    """
    array = (np.frombuffer(data, dtype) if len(data) else np.empty(0, dtype)).reshape(
        shape, order="F" if fortran else "C"
    )
    if dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        found = f"found the byte {array.view(np.uint8).max()} as a truth value, wanted 0 or 1"
        raise source.error(found, "save the tensor again, as booleans or as integers", name)
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    elif not array.flags.aligned:
        array = array.copy(order="K")
    array.flags.writeable = False
    return array


def little(name: str) -> np.dtype[Any]:
    """A type in the byte order of formats that fix it, least byte first."""
    dtype = dtype_named(name)
    return dtype if sys.byteorder == "little" else dtype.newbyteorder("<")


def as_meant(source: Source, name: str, array: NDArray[Any]) -> NDArray[Any]:
    """A tensor as the type that the caller says it has: bare bits of 8 or 16 as that format, others unchanged.

    Errors: TensorError when the file says another type, or the caller names one that is not among `PLAIN`, `SHORT`.
    """
    said = source.meant.get(name)
    if said is None:
        return array
    fmt = FORMATS.get(said)
    wanted = said if fmt is None or fmt.dtype is None else fmt.dtype
    if wanted not in PLAIN + SHORT:
        raise source.error(f"{said[:60]!r} is no type of tensors", f"types are {READ}", name)
    dtype = dtype_named(wanted)
    if array.dtype == dtype:
        return array
    if wanted in SHORT and array.dtype.kind == "u" and array.dtype.itemsize == dtype.itemsize:
        return array.view(dtype)
    found = f"the file holds {array.dtype}, and {wanted} was said"
    raise source.error(found, "leave out the type: only bare bits of its size are read as another one", name)

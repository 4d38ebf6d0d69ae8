"""Files of `numpy.save`: one array, named by the stem of the file.

The header is read by a grammar of its own and never evaluated; what holds Python objects is refused.
Source: the docstring of numpy.lib.format, "Format Version 1.0" to "3.0".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.tensors.layout import READ, array_over, size_of
from exactattn.tensors.source import Source

MAGIC = b"\x93NUMPY"
MOST_HEADER = 10_000  # bytes; a header of plain numbers has about a hundred
AGAIN = "save the array again with numpy.save"

_SPACE = " \t\r\n"
_ITEM = re.compile(
    r"[ \t\r\n]*+(?P<quote>['\"])(?P<key>[a-z_]+)(?P=quote)[ \t\r\n]*+:[ \t\r\n]*+"
    r"(?P<value>'[^'\\]*+'|\"[^\"\\]*+\"|True|False|\([-0-9L, \t\r\n]*+\)|\[)[ \t\r\n]*+(?P<end>,|(?=}))?+"
)
_LENGTH = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?=L?$)")
_TYPE = re.compile(r"(?P<order>[<>|=]?)(?P<kind>[A-Za-z?])(?P<size>[0-9]{0,3})")
_SIZES = {"f": (2, 4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "b": (1,), "?": (0,)}


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the numbers of an array; `start` is where they begin."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int


class NpyReader:
    """One array."""

    name = "npy"
    suffixes = (".npy",)

    def begins(self, head: bytes) -> bool:
        """Whether a file may begin so."""
        return head.startswith(MAGIC)

    def read(self, source: Source) -> Iterator[tuple[str, NDArray[Any]]]:
        """The array."""
        name = Path(source.path).stem
        source.take(len(source.data), name)
        yield name, array_in(source, name, source.data)


def array_in(source: Source, name: str, data: memoryview) -> NDArray[Any]:
    """The array of one file of `numpy.save`, or of one member of an archive. Errors: TensorError."""
    header = read_header(source, name, data)
    size = size_of(source, name, header.dtype, header.shape)
    held = len(data) - header.start
    if held != size:
        what = "more than one array, or an array cut short" if held > size else "an array cut short"
        found = f"the header declares {size} bytes of numbers (shape {header.shape}), found {held}"
        raise source.error(found, f"this is {what}: {AGAIN}", name)
    return array_over(source, name, data[header.start :], header.dtype, header.shape, header.fortran)


def read_header(source: Source, name: str, data: memoryview) -> Header:
    """The header. Errors: TensorError with what is wrong in it."""
    if not bytes(data[:6]) == MAGIC or len(data) < 10:
        raise source.error("found no header of an array", AGAIN, name)
    version = data[6], data[7]
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise source.error(f"found format version {version[0]}.{version[1]}, wanted 1.0, 2.0 or 3.0", AGAIN, name)
    begin = 10 if version == (1, 0) else 12
    length = int.from_bytes(data[8:begin], "little")
    if length > MOST_HEADER or begin + length > len(data):
        most = min(MOST_HEADER, max(len(data) - begin, 0))
        raise source.error(f"found a header of {length} bytes, wanted at most {most}", AGAIN, name)
    items = _items(source, name, bytes(data[begin : begin + length]).decode("latin-1"))
    dtype = _dtype(source, name, items["descr"][1:-1])
    return Header(dtype, _shape(source, name, items["shape"]), items["fortran_order"] == "True", begin + length)


def _items(source: Source, name: str, text: str) -> dict[str, str]:
    """The entries of the header, as their texts: a quoted type, a shape in brackets, True or False."""
    bad = source.error(f"the header cannot be read: found {text[:80]!r}", AGAIN, name)
    place = text.find("{") + 1
    items: dict[str, str] = {}
    while match := _ITEM.match(text, place):
        if match["key"] in items:
            raise bad
        if match["key"] == "descr" and match["value"][0] not in "'\"":
            hint = "save each column as an array of its own"
            raise source.error(f"found a structured type, wanted {READ}", hint, name)
        items[match["key"]] = match["value"]
        place = match.end()
        if match["end"] is None:
            break
    starts = {"descr": "'\"", "shape": "(", "fortran_order": "TF"}
    fits = items.keys() == starts.keys() and all(items[key][0] in starts[key] for key in starts)
    if text[: text.find("{") + 1].strip(" ") != "{" or text[place:].strip(_SPACE) != "}" or not fits:
        raise bad
    return items


def _shape(source: Source, name: str, text: str) -> tuple[int, ...]:
    parts = [part.strip(_SPACE) for part in text[1:-1].split(",")]
    last = parts.pop() if len(parts) > 1 and not parts[-1] else None
    if parts == [""] and last is None:
        return ()
    found = [_LENGTH.match(part) for part in parts]
    if not all(found) or (len(parts) == 1 and last is None):
        raise source.error(f"found the shape {text[:80]!r}, wanted a tuple of integers", AGAIN, name)
    return tuple(int(match[0]) for match in found if match)


def _dtype(source: Source, name: str, text: str) -> np.dtype[Any]:
    """The type of a header. Bytes without a number format are unsigned integers, if the caller says what they are."""
    match = _TYPE.fullmatch(text)
    order, kind, digits = match.group("order", "kind", "size") if match else ("", "", "")
    size = int(digits or 0)
    if kind == "O":
        hint = "save numbers, not Python objects; a mixed list becomes numbers by numpy.array(..., dtype=float)"
        why = "which only pickle reads, and reading a pickle may run code: it is never done"
        raise source.error(f"found Python objects, {why}", hint, name)
    if (kind, size) in (("V", 1), ("V", 2), ("f", 1)) and order != ">":
        if name not in source.meant:
            options = ("bfloat16",) if size == 2 else ("float8_e4m3fn", "float8_e5m2")
            said = " or ".join(f"dtypes={{{name!r}: {option!r}}}" for option in options)
            hint = f"numpy.save writes types of ml_dtypes this way and forgets which; say it: {said}"
            raise source.error(f"found the type {text!r}, bytes without a number format", hint, name)
        return np.dtype(f"<u{size}")
    if size not in _SIZES.get(kind, ()) or (size > 1 and order not in ("<", ">")):
        raise source.error(f"found the type {text[:60]!r}, wanted {READ}", "convert the array before saving it", name)
    return np.dtype(text)


READER = NpyReader()

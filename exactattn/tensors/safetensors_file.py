"""Files of safetensors: eight bytes with the size of a JSON header, the header, and all numbers without a gap.

Read here and not by the package of that name, whose NumPy side knows neither bfloat16 nor 8-bit floats (0.8.0), copies
every tensor and lets a repeated name go; tests compare both.
Source: the README of github.com/huggingface/safetensors, "Format".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactattn.tensors.layout import READ, array_over, check_name, little, size_of
from exactattn.tensors.source import Source

MOST_HEADER = 2**22  # bytes
METADATA = "__metadata__"
AGAIN = "save it again with safetensors"
TYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "BOOL": "bool",
    **{f"{letter}{bits}": f"{sign}int{bits}" for letter, sign in (("I", ""), ("U", "u")) for bits in (8, 16, 32, 64)},
}


@dataclass(frozen=True, slots=True)
class Entry:
    """What the header says of one tensor; its bytes are those from `start` to `end` behind the header."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    end: int


class SafetensorsReader:
    """Named tensors behind a JSON header."""

    name = "safetensors"
    suffixes = (".safetensors",)

    def begins(self, head: bytes) -> bool:
        """Whether a file may begin so: a size, then the brace of the header."""
        return head[8:9] == b"{"

    def read(self, source: Source) -> Iterator[tuple[str, NDArray[Any]]]:
        """The tensors in the order of the header."""
        length = int.from_bytes(source.data[:8], "little")
        data = source.data[8 + length :]
        if length > MOST_HEADER:
            raise source.error(f"found a header of {length} bytes, wanted at most {MOST_HEADER}", AGAIN)
        if 8 + length > len(source.data):
            found = f"the header declares {length} bytes, found {len(source.data) - 8}"
            raise source.error(found, "the file was cut short: copy or save it again")
        entries = [_entry(source, *item) for item in _header(source, length).items() if item[0] != METADATA]
        _without_gaps(source, entries, len(data))
        for entry in entries:
            source.take(entry.end - entry.start, entry.name)
            part = data[entry.start : entry.end]
            yield entry.name, array_over(source, entry.name, part, entry.dtype, entry.shape)


def _header(source: Source, length: int) -> dict[str, Any]:
    """The JSON object of the header. Errors: TensorError, also for a name that stands there twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                raise source.error(f"found the name {name[:60]!r} twice in the header", AGAIN)
            found[name] = value
        return found

    try:
        header = json.loads(bytes(source.data[8 : 8 + length]).decode("utf-8"), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise source.error(f"the header is no JSON: {error}", AGAIN) from error
    assert isinstance(header, dict)  # it begins with a brace
    return header


def _entry(source: Source, name: str, said: Any) -> Entry:
    """One entry of the header. Errors: TensorError with what is wrong in it."""
    check_name(source, name)
    if not isinstance(said, dict) or said.keys() != {"dtype", "shape", "data_offsets"}:
        raise source.error("wanted dtype, shape and data_offsets in the header, and nothing else", AGAIN, name)
    shape, offsets = said["shape"], said["data_offsets"]
    if not _naturals(shape) or not _naturals(offsets) or len(offsets) != 2:
        found = "wanted integers from 0 as the shape, and two as data_offsets"
        raise source.error(found, AGAIN, name)
    if not isinstance(said["dtype"], str) or said["dtype"] not in TYPES:
        found = f"found the type {str(said['dtype'])[:60]!r}, wanted one of {', '.join(TYPES)}"
        raise source.error(found, f"convert it first; what is read is {READ}", name)
    entry = Entry(name, little(TYPES[said["dtype"]]), tuple(shape), *offsets)
    size = size_of(source, name, entry.dtype, entry.shape)
    if entry.end - entry.start != size:
        found = f"type and shape {list(shape)} need {size} bytes, data_offsets {offsets} hold {entry.end - entry.start}"
        raise source.error(found, AGAIN, name)
    return entry


def _naturals(value: Any) -> bool:
    return isinstance(value, list) and all(type(x) is int and 0 <= x < 2**63 for x in value)


def _without_gaps(source: Source, entries: list[Entry], held: int) -> None:
    """Errors: TensorError unless the tensors, one after the other, are all that is behind the header."""
    place = 0
    for entry in sorted(entries, key=lambda entry: (entry.start, entry.end)):
        if entry.start != place:
            found = "overlaps the tensor before it" if entry.start < place else "leaves a gap before it"
            raise source.error(f"its part of the file, from byte {entry.start}, {found}", AGAIN, entry.name)
        place = entry.end
        if place > held:
            found = f"its part of the file ends at byte {place}, and {held} bytes are there"
            raise source.error(found, "the file was cut short: copy or save it again", entry.name)
    if place != held:
        raise source.error(f"{held - place} bytes behind the last tensor belong to none", AGAIN)


READER = SafetensorsReader()

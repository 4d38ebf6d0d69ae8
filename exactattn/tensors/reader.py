"""What a reader of a format of files offers. Each module with a `READER` is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from numpy.typing import NDArray

from exactattn.tensors.source import Source


class Reader(Protocol):
    """One format of files: the ends of their names, how they begin, and their tensors."""

    name: str
    suffixes: tuple[str, ...]

    def begins(self, head: bytes) -> bool:
        """Whether a file of this format may begin with these bytes, its first `HEAD` or all."""
        ...

    def read(self, source: Source) -> Iterator[tuple[str, NDArray[Any]]]:
        """Name and array of every tensor. Errors: TensorError."""
        ...


HEAD = 16  # bytes that `begins` is handed
ZIP = b"PK\x03\x04"  # how .npz and .pt begin

"""Files of `numpy.savez` and `numpy.savez_compressed`: an archive of arrays, named by its members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from exactattn.tensors.archive import content, members
from exactattn.tensors.npy import array_in
from exactattn.tensors.reader import ZIP
from exactattn.tensors.source import Source


class NpzReader:
    """An archive of arrays."""

    name = "npz"
    suffixes = (".npz",)

    def begins(self, head: bytes) -> bool:
        """Whether a file may begin so."""
        return head.startswith(ZIP)

    def read(self, source: Source) -> Iterator[tuple[str, NDArray[Any]]]:
        """The arrays in the order of the archive."""
        found = members(source)
        for member in found:
            if not member.name.endswith(".npy"):
                torch = member.name.endswith("/data.pkl")
                hint = "it looks like a file of torch.save: name it .pt" if torch else "save arrays with numpy.savez"
                raise source.error("this member is no array of NumPy", hint, member.name)
        for member in found:
            name = member.name.removesuffix(".npy")
            yield name, array_in(source, name, content(source, member))


READER = NpzReader()

"""Tensors of a file, by name: the reader is chosen by how the name of the file ends, and checked by how it begins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from exactattn import plugins
from exactattn.errors import close
from exactattn.tensors.layout import as_meant, check_name
from exactattn.tensors.reader import HEAD, Reader
from exactattn.tensors.source import MOST_BYTES, Source, open_source

PICKLE = "as old versions of torch.save write too; reading one may run code, so it is never read: save it again"
OTHERS = (  # what else a file may begin with, for the hint
    (b"\x89HDF", "HDF5: read it with h5py and save arrays with numpy.savez"),
    (b"GGUF", "GGUF: its tensors are packed, convert them first"),
    (b"\x1f\x8b", "gzip: unpack it first"),
    *((bytes((0x80, protocol)), f"a pickle, {PICKLE}") for protocol in range(2, 6)),
    (b"version https://git-lfs", "a pointer of Git LFS: fetch the file itself by git lfs pull"),
)


def read_tensors(
    path: str | Path,
    inside: str | Path | None = None,
    *,
    dtypes: Mapping[str, str] | None = None,
    most: int = MOST_BYTES,
) -> dict[str, NDArray[Any]]:
    """All tensors of a .npy, .npz, .safetensors, .pt or .pth file, by their names, in the order of the file.

    `inside` is a folder that the file must lie in, links resolved. `dtypes` says which type a tensor has whose file
    does not: bfloat16 and 8-bit floats in files of NumPy, or their bits as unsigned integers. `most` bounds the bytes
    of all tensors together.
    Shapes: as saved, axes of length 0 and none at all among them.
    Exact value: bit by bit what the file holds, in the type that it holds, in the byte order of the machine. The arrays
    are read-only; those of large files are parts of the file itself, which must not change while they are used.
    Errors: TensorError with what was found and wanted, where, and what to do; Unavailable for .pt without PyTorch.
    """
    source = open_source(path, inside, most, dtypes or {})
    found: dict[str, NDArray[Any]] = {}
    try:
        for name, array in _reader(source).read(source):
            check_name(source, name)
            if name in found:
                raise source.error("found two tensors of this name", "save it again, each tensor once", name)
            found[name] = as_meant(source, name, array)
    except MemoryError as error:
        raise source.error("there is not enough memory for its tensors", "save fewer of them, uncompressed") from error
    if not found:
        raise source.error("the file holds no tensor", "save it again")
    for name in source.meant:
        if name not in found:
            raise source.error(f"a type is said of {name[:60]!r}, which is not there{close(name[:60], found)}")
    return found


def _reader(source: Source) -> Reader:
    """The reader of a file. Errors: TensorError with what the file seems to be."""
    readers: list[Reader] = list(plugins.found("tensors").values())
    suffix = Path(source.path).suffix.lower()
    known = [suffix for reader in readers for suffix in reader.suffixes]
    head = bytes(source.data[:HEAD])
    chosen = next((reader for reader in readers if suffix in reader.suffixes), None)
    if chosen is None:
        wanted = ", ".join(sorted(known))
        raise source.error(f"found a name that ends with {suffix!r}, wanted one of {wanted}", _guess(readers, source))
    if not chosen.begins(head):
        found = f"the name ends with {suffix}, and the file begins with {head[:8]!r}, as no such file does"
        raise source.error(found, _guess(readers, source))
    return chosen


def _guess(readers: list[Reader], source: Source) -> str:
    """What a file is by how it begins, as a hint."""
    head = bytes(source.data[: max(len(begins) for begins, _ in OTHERS)])
    names = [suffix for reader in readers if reader.begins(head[:HEAD]) for suffix in reader.suffixes]
    if names:
        return f"it begins like {' or '.join(names)}: name it so"
    other = next((text for begins, text in OTHERS if head.startswith(begins)), None)
    return "save it with numpy.savez or safetensors" if other is None else f"it begins like {other}"

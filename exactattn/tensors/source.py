"""A file of tensors as bytes: opened with care, bounded, mapped when it is large.

A file is data of others: nothing of it is run, no pipe or device is waited for, no link leads out of a folder that was
given as the limit, and what a file declares is compared with what it holds before anything is allocated.
"""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from io import FileIO
from pathlib import Path

from exactattn.errors import TensorError

MOST_BYTES = 8 * 2**30  # of all tensors of a file together, unless the caller asks for more
MAPPED_FROM = 2**24  # a file of fewer bytes is read at once, so that changing it later changes nothing

# A pipe without a writer must not be waited for, and the last link has been resolved already.
_FLAGS = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))


@dataclass(slots=True)
class Source:
    """The bytes of a file, where they come from, and how many bytes of tensors may still be read.

    `meant` are the types that the caller says tensors have, by name.
    """

    path: str
    data: memoryview
    most: int
    meant: Mapping[str, str]
    taken: int = 0

    def error(self, message: str, hint: str | None = None, tensor: str | None = None) -> TensorError:
        """The error to raise about this file, or about a tensor of it."""
        return TensorError(shown(self.path), shown(message), tensor, hint)

    def take(self, size: int, tensor: str | None = None) -> None:
        """Counts bytes that a tensor needs, before they are allocated. Errors: TensorError past the limit."""
        self.taken += size
        if self.taken > self.most:
            hint = "leave out what is not needed, or ask for more (most=...)"
            found = f"found {self.taken} bytes of tensors up to here, wanted at most {self.most}"
            raise self.error(found, hint, tensor)


def open_source(path: str | Path, inside: str | Path | None, most: int, meant: Mapping[str, str]) -> Source:
    """The bytes of a file; large files are mapped, not read.

    `inside` is a folder that the file must lie in after links are resolved.
    Errors: TensorError for what is no regular file, is outside, is empty, or cannot be read.
    """
    try:
        real = _real(str(path), inside)
        _regular(str(path), real, real.stat())
        descriptor = os.open(real, _FLAGS)
        with open(descriptor, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor, not a path
            status = os.fstat(descriptor)
            _regular(str(path), real, status)  # again: it may have been exchanged
            if status.st_size < MAPPED_FROM:
                data = _read(file, status.st_size)
            else:
                data = memoryview(mmap.mmap(descriptor, status.st_size, access=mmap.ACCESS_READ))
    except FileNotFoundError:
        raise TensorError(shown(path), "there is no such file", None, _similar(Path(path))) from None
    except (OSError, ValueError, RuntimeError) as error:  # a ring of links is a RuntimeError before Python 3.13
        reason = getattr(error, "strerror", None) or shown(error)
        raise TensorError(shown(path), f"the file cannot be read: {reason}") from error
    source = Source(str(path), data, most, meant)
    if not data:
        raise source.error("the file is empty, wanted a file of tensors", "write it again")
    return source


def shown(text: object) -> str:
    """A path or a message fit for a line: what is not printable becomes an escape."""
    line = str(text)
    return line if line.isprintable() else repr(line)[1:-1]


def _real(path: str, inside: str | Path | None) -> Path:
    """The file itself, all links resolved. Errors: TensorError when it is outside the folder `inside`."""
    real = Path(path).resolve()
    if inside is not None and not real.is_relative_to(Path(inside).resolve()):
        hint = "copy the file into that folder"
        message = f"this is {shown(real)!r}, outside the folder {shown(inside)!r}; only files in it are read"
        raise TensorError(shown(path), message, None, hint)
    return real


def _regular(path: str, real: Path, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise TensorError(shown(path), "this is a directory, wanted a file of tensors", None, _example(real))
    kinds = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
    kind = kinds.get(stat.S_IFMT(status.st_mode), "no regular file")
    raise TensorError(shown(path), f"this is {kind}, wanted a file of tensors", None, "write the tensors to a file")


def _read(file: FileIO, size: int) -> memoryview:
    """At most `size` bytes; fewer when the file has become shorter."""
    data = bytearray(size)
    view, filled = memoryview(data), 0
    while filled < size and (more := file.readinto(view[filled:])):
        filled += more
    return view[:filled].toreadonly()


def _names(folder: Path) -> list[str]:
    with suppress(OSError):
        return sorted(entry.name for entry in folder.iterdir() if entry.is_file() and entry.name.isprintable())
    return []


def _similar(place: Path) -> str | None:
    """The name of a file beside the missing one that looks like it."""
    near = get_close_matches(place.name, _names(place.parent), n=1, cutoff=0.75)
    return f"did you mean {str(place.parent / near[0])!r}?" if near else None


def _example(folder: Path) -> str:
    names = [name for name in _names(folder) if Path(name).suffix in (".npy", ".npz", ".safetensors", ".pt")]
    return f"name a file in it, for example {names[0]!r}" if names else "name a file"

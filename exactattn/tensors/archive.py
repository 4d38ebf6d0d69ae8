"""ZIP archives, in which .npz and .pt keep their tensors: the list of members, checked, and their bytes.

The list is read by Python's zipfile, over a window that hands out few bytes at a time; the bytes of a member are taken
from the file itself, without a copy where they are stored as they are, and its checksum is compared.
Source: PKWARE, .ZIP File Format Specification 6.3.10, 4.3.7 (local file header), 4.3.16 (end of the archive), 4.4.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from exactattn.tensors.layout import check_name
from exactattn.tensors.source import Source

MOST_DIRECTORY = 2**22  # bytes of the list of members
MOST_MEMBERS = 20_000
FREE_BYTES = 2**26  # unpacked, before the ratio counts
MOST_RATIO = 100  # unpacked bytes to bytes of the file; above, only what unpacks numbers nobody needs does this
CHUNK = 2**16
_ENDS = b"PK\x05\x06"
_BEGINS = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Member:
    """One member: its name, the checksum of its bytes, how many there are, and the bytes as the archive has them."""

    name: str
    checksum: int
    size: int
    stored: bool
    packed: memoryview


class Window(io.RawIOBase):
    """A file over bytes, which are not copied; it reads at most `most` of them at once."""

    def __init__(self, data: memoryview, most: int) -> None:
        self.data = data
        self.most = most
        self.place = 0

    def seekable(self) -> bool:
        """It is."""
        return True

    def readable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """The new place."""
        self.place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: len(self.data)}[whence]
        if self.place < 0:
            raise OSError("a place before the beginning")
        return self.place

    def read(self, size: int = -1) -> bytes:
        """The next bytes. Errors: OSError for too many."""
        end = len(self.data) if size < 0 else min(self.place + size, len(self.data))
        if end - self.place > self.most:
            raise OSError(f"it has more than {self.most} bytes")
        found = bytes(self.data[self.place : end])
        self.place = max(end, self.place)
        return found

    def readinto(self, buffer: Any) -> int:
        """How many bytes now fill the beginning of a buffer."""
        view = memoryview(buffer).cast("B")
        found = self.data[self.place : self.place + len(view)]
        view[: len(found)] = found
        self.place += len(found)
        return len(found)


def members(source: Source) -> list[Member]:
    """The members in the order of the archive. Errors: TensorError for an archive that is damaged or made to harm."""
    if bytes(source.data[-22:-18]) != _ENDS:  # both zipfile and PyTorch then take the same end
        hint = "copy or save it again; an archive with a comment is not read"
        raise source.error("the archive does not end with its list of members, as one cut short", hint)
    try:
        with zipfile.ZipFile(Window(source.data, MOST_DIRECTORY)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, RuntimeError, OverflowError, struct.error) as error:
        raise source.error(f"the list of members of the archive cannot be read: {error}", "save it again") from error
    if len(entries) > MOST_MEMBERS:
        raise source.error(f"found {len(entries)} members, wanted at most {MOST_MEMBERS}", "save them in several files")
    found = [_member(source, entry) for entry in entries]
    seen: set[str] = set()
    for member in found:
        if member.name in seen:
            raise source.error("found two members of this name", "save it again, each tensor once", member.name)
        seen.add(member.name)
    _bounded(source, found)
    return found


def _bounded(source: Source, found: list[Member]) -> None:
    """Errors: TensorError for members that together unpack to far more than the file has."""
    total = sum(member.size for member in found)
    if total > FREE_BYTES and total > MOST_RATIO * len(source.data):
        message = f"{len(source.data)} bytes declare to hold {total}, more than {MOST_RATIO} times as many"
        raise source.error(message, "save it without compression")


def _member(source: Source, entry: zipfile.ZipInfo) -> Member:
    """One member, its place in the file checked. Errors: TensorError."""
    name = entry.orig_filename
    check_name(source, name)
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or name.endswith("/"):
        raise source.error("found a name that leads out of the archive, or a folder", "save it again", name)
    if entry.flag_bits & 1:
        raise source.error("this member is encrypted", "save it without a password", name)
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        found = f"found compression method {entry.compress_type}, wanted stored (0) or deflated (8)"
        raise source.error(found, "save it again with numpy.savez or numpy.savez_compressed", name)
    stored = entry.compress_type == zipfile.ZIP_STORED
    start = entry.header_offset + 30
    head = bytes(source.data[entry.header_offset : start]) if entry.header_offset >= 0 else b""
    if len(head) < 30 or not head.startswith(_BEGINS):
        raise source.error("the archive has no such member where its list says", "save it again", name)
    start += sum(struct.unpack("<HH", head[26:30]))  # the name and the extra field, which may differ from the list's
    packed = source.data[start : start + entry.compress_size]
    if len(packed) != entry.compress_size or (stored and entry.file_size != entry.compress_size):
        found = f"the list of members declares {entry.compress_size} bytes, found {len(packed)}"
        raise source.error(found, "save it again", name)
    return Member(name, entry.CRC, entry.file_size, stored, packed)


def content(source: Source, member: Member) -> memoryview:
    """The bytes of a member: part of the file where it is stored, else unpacked, never more than declared.

    Errors: TensorError when they are not those that the archive declares, or past the limit of all tensors.
    """
    source.take(member.size, member.name)
    data = member.packed if member.stored else _unpacked(source, member)
    if zlib.crc32(data) != member.checksum:
        raise source.error("the bytes do not have the checksum of the archive", "copy or save it again", member.name)
    return data


def _unpacked(source: Source, member: Member) -> memoryview:
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    out, filled = np.empty(member.size, np.uint8), 0
    try:
        for begin in range(0, len(member.packed), CHUNK):
            # one byte more than is left shows a lie; a limit of 0 would mean none
            piece = inflate.decompress(member.packed[begin : begin + CHUNK], member.size - filled + 1)
            if filled + len(piece) > member.size:
                break
            out[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
            filled += len(piece)
    except zlib.error as error:
        raise source.error(f"the compressed bytes are damaged: {error}", "save it again", member.name) from error
    if filled != member.size or not inflate.eof or inflate.unused_data:
        found = f"the archive declares {member.size} bytes, and holds more or fewer"
        raise source.error(found, "save it again", member.name)
    return out.data.toreadonly()

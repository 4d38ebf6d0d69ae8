"""The bytes of a case file, bounded before they are read, and their text."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path

from exactattn.documents.nodes import Mistakes

MAX_BYTES = 2_000_000
STDIN = "-"


def case_files(path: str) -> list[str]:
    """The files that a path stands for: those of a folder that are cases by their names, in order; else itself."""
    place = Path(path)
    try:
        cases = _cases(place) if path != STDIN and place.is_dir() else []
    except (OSError, ValueError):
        cases = []
    return [str(place / name) for name in cases] or [path]


def folder_of(path: str) -> str | None:
    """The folder of a file, which is all that a case may read files of tensors from; none for standard input."""
    return None if path == STDIN else str(Path(path).parent)


def read_bytes(path: str, mistakes: Mistakes) -> bytes:
    """The content of a file, or of standard input for `-`. Errors: CaseError."""
    if path == STDIN:
        if sys.stdin is None:
            mistakes.stop("standard input is closed", None, "name a file, or send a case to standard input")
        return _bounded(sys.stdin.buffer.read(MAX_BYTES + 1), mistakes)
    place = Path(path)
    try:
        if place.is_dir():
            mistakes.stop("this is a directory, wanted a case file", None, _cases_in(place))
        if place.is_file() and place.stat().st_size > MAX_BYTES:
            _too_large(place.stat().st_size, mistakes)
        with place.open("rb") as file:
            return _bounded(file.read(MAX_BYTES + 1), mistakes)
    except FileNotFoundError:
        mistakes.stop("there is no such file", None, _similar(place))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        mistakes.stop(f"the file cannot be read: {reason}")


def decode(data: bytes, mistakes: Mistakes) -> str:
    """The text of a file in UTF-8, with or without a byte-order mark. Errors: CaseError, with the byte."""
    if len(data) > MAX_BYTES:
        _too_large(len(data), mistakes)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        mistakes.stop("found UTF-16 text at byte offset 0, wanted UTF-8", None, "save the file as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"found the byte 0x{data[error.start]:02x} at byte offset {error.start}, which is not UTF-8 text"
        mistakes.stop(message, None, "save the file as UTF-8, or give a case file: this one may be binary")


def _bounded(data: bytes, mistakes: Mistakes) -> bytes:
    if len(data) > MAX_BYTES:
        _too_large(None, mistakes)
    return data


def _too_large(size: int | None, mistakes: Mistakes) -> None:
    found = "more" if size is None else f"{size} bytes"
    hint = "a case is written by hand; leave out what is not judged"
    mistakes.stop(f"the file is too large: found {found}, wanted at most {MAX_BYTES} bytes", None, hint)


def _similar(place: Path) -> str | None:
    """The name of a file beside the missing one that looks like it."""
    try:
        names = [entry.name for entry in place.parent.iterdir() if entry.is_file()]
    except OSError:
        return f"the folder {str(place.parent)!r} is not there either"
    near = get_close_matches(place.name, names, n=1, cutoff=0.75)
    return f"did you mean {str(place.parent / near[0])!r}?" if near else None


def _cases(folder: Path) -> list[str]:
    """The names in a folder that are those of cases, in order; hidden ones are left out."""
    return sorted(e.name for e in folder.iterdir() if e.suffix in (".yaml", ".yml") and not e.name.startswith("."))


def _cases_in(folder: Path) -> str:
    names = _cases(folder)
    if not names:
        return "it holds no case (*.yaml): name one"
    return f"name the files in it, for example {str(folder / names[0])!r}"

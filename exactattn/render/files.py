"""Where a rendered text goes: a file, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from exactattn.errors import UsageError


def write_whole(path: str | Path, text: str) -> None:
    """Writes UTF-8 text to a file so that nobody ever sees half of it.

    It is written beside the target and then put in its place; a link is followed, and a device or a pipe written
    to as it is. Errors: UsageError with the cause and the next step; the old file is then untouched.
    """
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"cannot write {target}: it is a folder; name a file inside it")
    if target.exists() and not target.is_file():
        _directly(target, text)
        return
    target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise UsageError(f"cannot write {target}: there is no folder {target.parent}; make it first")
    part = target.with_name(f".exactattn-{os.getpid()}.part")
    try:
        _replace(target, part, text)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UsageError(f"cannot write {target}: {error.strerror or error}; choose another place") from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _replace(target: Path, part: Path, text: str) -> None:
    with part.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)
    if target.exists():
        if not os.access(target, os.W_OK):
            raise PermissionError(13, "Permission denied")
        part.chmod(target.stat().st_mode & 0o7777)
    part.replace(target)


def _directly(target: Path, text: str) -> None:
    try:
        with target.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror or error}; choose another place") from error

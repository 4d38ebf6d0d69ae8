"""Finds plug-ins: each file of a plug-in folder exports one object under the folder's one name.

A new engine, generator, reader of tensors, law, check or renderer is one new file there. Installed packages add theirs
through entry points of the group `exactattn.FOLDER`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any

from exactattn.errors import UsageError, close

EXPORTS = {
    "engines": "ENGINE",
    "generators": "GENERATOR",
    "tensors": "READER",
    "laws": "LAW",
    "checks": "CHECK",
    "render": "RENDERER",
}


@cache
def modules(folder: str) -> tuple[str, ...]:
    """The module names of a plug-in folder, sorted, without importing them."""
    package = importlib.import_module(f"exactattn.{folder}")
    return tuple(sorted(info.name for info in pkgutil.iter_modules(package.__path__)))


def _entry_points(folder: str) -> list[Any]:
    """What installed packages add. Importing the reader of package data takes a while, so only when it is needed."""
    from importlib.metadata import entry_points

    return list(entry_points(group=f"exactattn.{folder}"))


@cache
def found(folder: str) -> Mapping[str, Any]:
    """Every plug-in of a folder by its name, in the order of names.

    Errors: TypeError when two plug-ins share a name.
    """
    objects = [
        getattr(module, EXPORTS[folder])
        for module in (importlib.import_module(f"exactattn.{folder}.{name}") for name in modules(folder))
        if hasattr(module, EXPORTS[folder])
    ]
    objects += [entry.load() for entry in _entry_points(folder)]
    by_name = {str(item.name): item for item in objects}
    if len(by_name) != len(objects):
        raise TypeError(f"two plug-ins of {folder} have one name: {sorted(str(item.name) for item in objects)}")
    return dict(sorted(by_name.items()))


@cache
def get(folder: str, name: str) -> Any:
    """One plug-in by name, the file of that name first, so that its neighbours stay unread.

    Errors: UsageError with the closest names.
    """
    module = name.replace("-", "_")
    if module in modules(folder):
        own = getattr(importlib.import_module(f"exactattn.{folder}.{module}"), EXPORTS[folder], None)
        if own is not None and own.name == name:
            return own
    known = found(folder)
    if name not in known:
        raise UsageError(f"there is no {folder.removesuffix('s')} named {name!r}{close(name, known)}")
    return known[name]

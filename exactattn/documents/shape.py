"""Checks the shape of a case or a spec file against its model: what is wrong, in the user's words and places."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from exactattn.documents.model import CasePart
from exactattn.documents.model_parts import ALTERNATIVES, tidied_schema
from exactattn.documents.nodes import LIST, MAPPING, TEXT, Mapping, Mistakes, Node, Sequence, nearest, plain, quoted

NUMBERS = "numbers: rows `[[..], [..]]`, a list for one row, or a mapping with `values`"
_WANTED = {
    "string_type": TEXT,
    "dict_type": MAPPING,
    "model_type": MAPPING,
    "model_attributes_type": MAPPING,
    "list_type": LIST,
    "union_tag_invalid": NUMBERS,
}


def check_shape(root: Node, mistakes: Mistakes, part: type[BaseModel] = CasePart) -> None:
    """Notes every unknown key, missing key and value of a wrong kind."""
    try:
        part.model_validate(plain(root))
    except ValidationError as error:
        for item in error.errors(include_url=False, include_input=False, include_context=False):
            _note(item["type"], item["loc"], root, mistakes, part)


_HINTS = {
    "rounded": "inputs known to their last digit stand under `inputs:`, and formulas (`of:`) say what is printed",
}
_MISSING = {
    "version": "write `version: 1` at the top",
    "values": "write the numbers under `values:`",
    "verdict": "write `verdict: fails`, `undecided` or `not_run`",
}


def _note(kind: str, loc: tuple[Any, ...], root: Node, mistakes: Mistakes, part: type[BaseModel]) -> None:
    """One error of pydantic as a mistake."""
    path = _path(root, loc)
    if kind == "extra_forbidden":
        owner, key = _at(root, path[:-1]), str(path[-1])
        place = owner.keys.get(key, owner) if isinstance(owner, Mapping) else owner
        mistakes.add(f"unknown key {quoted(key)}", place, _HINTS.get(key) or nearest(key, _known(path[:-1], part)))
    elif kind == "missing":
        key = str(path[-1])
        name = f"{str(path[-2])!r}" if len(path) > 1 else "the case"
        mistakes.add(f"{name} has no key {key!r}", _at(root, path[:-1]), _MISSING.get(key, f"add `{key}:`"))
    else:
        mistakes.wrong_kind(_at(root, path), _WANTED.get(kind, kind))


def _path(root: Node, loc: tuple[Any, ...]) -> list[Any]:
    """The keys and indices of a place of pydantic's, without its names of alternatives (which may also be keys)."""
    path: list[Any] = []
    for part in loc:
        here = _at(root, path)
        if part not in ALTERNATIVES or (isinstance(here, Mapping) and part in here.values):
            path.append(part)
    return path


def _at(root: Node, path: list[Any]) -> Node:
    """The node at a place, as far as the place can be followed."""
    node = root
    for part in path:
        if isinstance(node, Mapping) and part in node.values:
            node = node.values[part]
        elif isinstance(node, Sequence) and isinstance(part, int):
            node = node.items[part]
    return node


@cache
def _schema(part: type[BaseModel]) -> dict[str, Any]:
    return tidied_schema(part)


def _known(path: list[Any], model: type[BaseModel]) -> list[str]:
    """The keys that the mapping at a place may have, read from the JSON Schema."""
    schema = _schema(model)
    part: dict[str, Any] = schema
    for step in path:
        part = _with_keys(part, schema)
        if isinstance(step, int):
            part = part.get("items", {})
        else:
            part = part.get("properties", {}).get(step) or part.get("additionalProperties") or {}
    return list(_with_keys(part, schema).get("properties", {}))


def _with_keys(part: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """The part itself, its references followed; of alternatives the one that is a mapping."""
    while "$ref" in part:
        part = schema["$defs"][part["$ref"].rsplit("/", 1)[1]]
    for other in part.get("oneOf", ()) if "properties" not in part else ():
        inner = _with_keys(other, schema)
        if "properties" in inner:
            return inner
    return part

"""Inputs that a document says to be the same: `W^K_1 = W^Q_1`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from exactattn.documents.notes.model import Block, Role
from exactattn.documents.notes.names import role_of
from exactattn.documents.notes.statements import Statement

_INPUTS = ("W_Q", "W_K", "W_V", "q", "k", "v")


def aliases(blocks: Iterable[Block], known: Iterable[Statement]) -> list[Block]:
    """For each name that is said to equal one with numbers, and has none of its own: those numbers."""
    given = {_key(block.role): block for block in blocks if block.role.name in _INPUTS and block.role.row is None}
    out = list[Block]()
    for statement in known:
        roles = [role for side in statement.sides if (role := role_of(side.strip(" $`.,;"))) is not None]
        if len(roles) != len(statement.sides) or "~" in statement.relations:
            continue
        source = next((given[_key(role)] for role in roles if _key(role) in given), None)
        if source is None or any(role.name not in _INPUTS or role.row is not None for role in roles):
            continue
        for role in roles:
            if _key(role) not in given:
                by = f"line {statement.place.line}, which says '{statement.text[:60]}'"
                given[_key(role)] = replace(source, role=role, by=by, derived=False)
                out.append(given[_key(role)])
    return out


def _key(role: Role) -> tuple[str, int | None]:
    return role.name, role.head

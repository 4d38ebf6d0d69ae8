"""What a law is: one statement about all inputs, decided by exact algebra at stated shapes.

A law file exports `LAW`, an instance of a class whose docstring is the statement and its derivation in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from exactattn.findings import Verdict

Algebra = Callable[..., Any]  # () or (free_shifts=True) -> a fresh symbolic Arithmetic


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a derivation: what is shown, and how it was decided ("SymPy: difference cancels to 0", ...)."""

    text: str
    by: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a law.

    verdict   HOLDS only for what was decided; `shapes` says for which sizes, and `scope` in words, never more
    steps     the derivation, line by line, each with what decided it
    counterexample  the smallest one found, when it fails
    """

    verdict: Verdict
    statement: str
    shapes: tuple[str, ...]
    scope: str
    steps: tuple[Step, ...]
    counterexample: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)


class Law(Protocol):
    """One statement about all inputs."""

    name: str
    statement: str

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides the law. `algebra` makes a fresh symbolic arithmetic (see engines/symbolic.py).

        `options` are the other keys of a claim (assumptions, shapes), as text.
        """

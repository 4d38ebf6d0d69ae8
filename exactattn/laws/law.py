"""What a law is: one statement about all inputs, decided by exact algebra at stated shapes.

A law file exports `LAW`, an instance of a class whose docstring is the statement and its derivation in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from exactattn.errors import UsageError, close
from exactattn.findings import Verdict
from exactattn.numbers.enclosure import Answer

Algebra = Callable[..., Any]  # () or (free_shifts=True) -> a fresh symbolic Arithmetic


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a derivation: what is shown, by what it was decided ("SymPy: ..."), the outcome."""

    text: str
    by: str
    answer: Answer = Answer.YES


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a law.

    verdict   HOLDS only for what was decided; `shapes` says for which sizes, and `scope` in words, never more
    steps     the derivation, line by line, each with what decided it
    counterexample  the smallest one found, when it fails
    values    the decisive formulas, as text
    corrected what is right instead, when it fails
    """

    verdict: Verdict
    statement: str
    shapes: tuple[str, ...]
    scope: str
    steps: tuple[Step, ...]
    counterexample: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    corrected: str | None = None


class Law(Protocol):
    """One statement about all inputs."""

    name: str
    statement: str

    @property
    def options(self) -> Mapping[str, str]:
        """Each option with what it means."""

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides the law. `algebra` makes a fresh symbolic arithmetic (see engines/symbolic.py).

        `options` are the other keys of a claim (assumptions, shapes), as text.
        """


THOROUGH = {"thorough": "true: larger shapes too"}


def only_its_own(law: Law, options: Mapping[str, str]) -> None:
    """Errors: UsageError for an option that the law does not take."""
    for option in options:
        if option not in law.options:
            raise UsageError(f"the law {law.name} has no option {option!r}{close(option, law.options)}")


def is_thorough(law: Law, options: Mapping[str, str]) -> bool:
    """Are larger shapes wanted? Errors: UsageError for an option that the law does not take."""
    only_its_own(law, options)
    return choice(options, "thorough", "false", "true") == "true"


def choice(options: Mapping[str, str], option: str, *known: str) -> str:
    """The value of an option, one of `known`; the first when it is not given. Errors: UsageError."""
    value = str(options.get(option, known[0])).strip()
    value = value.lower() if value.lower() in known else value
    if value not in known:
        raise UsageError(f"found {option} {value!r}, wanted one of: {', '.join(known)}{close(value, known)}")
    return value

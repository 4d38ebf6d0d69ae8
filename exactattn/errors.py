"""The exceptions of the project, one small tree.

    ExactattnError            anything a user can cause and mend
    ├── NumeralError          a text is not a number of our language, or too large to compute
    ├── CaseError             a case file cannot be used; carries every mistake found in it
    ├── ProblemError          a combination of inputs and options that makes no sense
    ├── TensorError           a file of tensors cannot be used; carries the file and the tensor
    ├── Unavailable           an engine or a library that is needed is not there, or cannot do this
    └── UsageError            a name or an option on the command line that does not exist

The outcome of a check is never an exception: it is a `Finding` with a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

MOST_NAMES = 12  # known names that a hint lists


class ExactattnError(Exception):
    """Anything a user can cause and mend; its text is for people."""


class NumeralError(ExactattnError):
    """A text that is not a number of our language.

    `offset` is the place in the text, counted from 0, or None when the whole text is meant.
    """

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True)
class Mistake:
    """One mistake of a case file: where it is, what was found, what was wanted, what to do.

    Lines and columns count from 1; None where there is no place.
    """

    message: str
    line: int | None = None
    column: int | None = None
    hint: str | None = None

    def __str__(self) -> str:
        """One line for people: place, message, hint."""
        place = "" if self.line is None else f"line {self.line}, column {self.column}: "
        hint = "" if self.hint is None else f" ({self.hint})"
        return f"{place}{self.message}{hint}"


class CaseError(ExactattnError):
    """A case file that cannot be used, with every mistake found in it."""

    def __init__(self, path: str, mistakes: list[Mistake]) -> None:
        super().__init__("\n".join(f"{path}: {mistake}" for mistake in mistakes))
        self.path = path
        self.mistakes = tuple(mistakes)


class ProblemError(ExactattnError):
    """Inputs and options that make no sense together."""


class TensorError(ExactattnError):
    """A file of tensors that cannot be used: where it is, what was found and wanted, what to do.

    `tensor` is the name of the tensor that is meant, or None where it is the file.
    """

    def __init__(self, path: str, message: str, tensor: str | None = None, hint: str | None = None) -> None:
        place = "" if tensor is None else f"tensor {tensor!r}: "
        advice = "" if hint is None else f" ({hint})"
        super().__init__(f"{path}: {place}{message}{advice}")
        self.path = path
        self.message = message
        self.tensor = tensor
        self.hint = hint


class Unavailable(ExactattnError):
    """An engine or library that is not there, or cannot do what was asked."""


class UsageError(ExactattnError):
    """A name or an option that does not exist."""


def close(found: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name: the closest known one, or the first `MOST_NAMES` of them."""
    names = sorted(known)
    near = get_close_matches(found, names, n=1)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"; did you mean {near[0]!r}?" if near else f"; known are: {', '.join(names[:MOST_NAMES])}{more}"

"""What every generator is: a name, the seeds it takes, and functions that are planned before anything is drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, Generic, TypeAlias, TypeVar

from exactattn.errors import NumeralError, UsageError, close
from exactattn.generators.arguments import MAX_NUMBERS
from exactattn.generators.calls import Call, parse
from exactattn.numbers.tokens import shorten

MAX_CALLS = 100

S = TypeVar("S")
Drawn: TypeAlias = "Fraction | tuple[Drawn, ...]"
Shape: TypeAlias = "tuple[int, ...] | None"


class CallError(NumeralError):
    """A call that cannot be read or drawn: which one, counted from 0, and `offset`, the place in its text."""

    def __init__(self, message: str, offset: int | None, call: int) -> None:
        super().__init__(f"call {call + 1}: {message}", offset)
        self.call = call


@dataclass(frozen=True)
class Plan(Generic[S]):
    """A call that has been read: how many numbers it draws, and the drawing, which is handed the stream."""

    numbers: int
    run: Callable[[S], Drawn]


def plan(size: Shape, run: Callable[[S], Any]) -> Plan[S]:
    """The plan of an array of a shape, None for one number, that a library draws."""
    return Plan(prod(size or ()), lambda stream: exact(run(stream)))


def exact(drawn: Any) -> Drawn:
    """An array of a library as nested tuples, a number as a Fraction. Exact value: each double as it is."""
    if hasattr(drawn, "tolist"):
        drawn = drawn.tolist()
    return tuple(exact(part) for part in drawn) if isinstance(drawn, list) else Fraction(drawn)


class Generator(ABC, Generic[S]):
    """One stream of random numbers that a name and a seed determine.

    `seeds` are the seeds it takes; `prefixes` may stand before the name of a function.
    """

    name: str
    text: str
    seeds: range
    prefixes: tuple[str, ...] = ()

    @property
    @abstractmethod
    def functions(self) -> Mapping[str, Callable[[Call], Plan[S]]]:
        """How each function's call is read, by name."""

    @abstractmethod
    def stream(self, seed: int) -> S:
        """The stream at its start. Errors: Unavailable when a library is not there."""

    def draw(self, seed: int, calls: Sequence[str]) -> list[Drawn]:
        """What the calls draw, one after the other from one stream.

        Shapes: as each call says; a single number without a size, where the tool gives one. Everything is read and
        counted before the first number is drawn.
        Exact value: the doubles (float32 for torch) and integers that the tool gives.
        Errors: CallError, a NumeralError, with the call and the place; UsageError for the seed or too many calls.
        """
        if seed not in self.seeds:
            first, last = self.seeds[0], self.seeds[-1]
            raise UsageError(f"{self.name} does not take this seed; wanted an integer from {first} to {last}")
        if len(calls) > MAX_CALLS:
            raise UsageError(f"found {len(calls)} calls, at most {MAX_CALLS} are drawn; split them into several draws")
        plans = self._plans(calls)
        stream = self.stream(seed)
        return [each.run(stream) for each in plans]

    def _plans(self, calls: Sequence[str]) -> list[Plan[S]]:
        plans: list[Plan[S]] = []
        left = MAX_NUMBERS
        for index, text in enumerate(calls):
            try:
                each = self.planned(parse(text))
                left -= each.numbers
                if left < 0:
                    raise NumeralError(f"more than {MAX_NUMBERS} numbers are drawn up to here; draw fewer", 0)
            except NumeralError as error:
                raise CallError(str(error), error.offset, index) from error
            plans.append(each)
        return plans

    def planned(self, call: Call) -> Plan[S]:
        """The plan of one call. Errors: NumeralError with the closest function."""
        prefix = next((prefix for prefix in self.prefixes if call.function.startswith(prefix)), "")
        name = call.function.removeprefix(prefix)
        if name not in self.functions:
            hint = close(name[:60].rpartition(".")[2], self.functions)
            raise NumeralError(f"{self.name} draws no {shorten(call.function)!r}{hint}", call.offset)
        return self.functions[name](call)

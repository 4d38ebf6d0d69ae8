"""The calls that both streams of NumPy have, read the same way and drawn by the method of the same name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exactattn.errors import NumeralError
from exactattn.generators.arguments import PYTHON, Arguments
from exactattn.generators.calls import Call
from exactattn.generators.generator import Plan, plan

LOW, HIGH = -(2**63), 2**63  # the integers of 64 bits, the end left out


def sized(method: str) -> Callable[[Call], Plan[Any]]:
    """A function that takes a size and nothing else."""

    def read(call: Call) -> Plan[Any]:
        size = Arguments(call, "size", PYTHON).size()
        return plan(size, lambda stream: getattr(stream, method)(size))

    return read


def uniform(call: Call) -> Plan[Any]:
    """uniform(low, high, size). Rounding: low + (high - low) times a uniform double, as NumPy computes it."""
    given = Arguments(call, "low high size", PYTHON)
    low, high, size = given.real("low", 0.0), given.real("high", 1.0), given.size()
    if low > high:
        raise NumeralError("wanted 'low' at most 'high'", call.offset)
    return plan(size, lambda stream: stream.uniform(low, high, size))


def normal(call: Call) -> Plan[Any]:
    """normal(loc, scale, size). Rounding: loc + scale times a standard normal double, as NumPy computes it."""
    given = Arguments(call, "loc scale size", PYTHON)
    loc, scale, size = given.real("loc", 0.0), given.real("scale", 1.0), given.size()
    if scale < 0:
        raise NumeralError("wanted a standard deviation of at least 0 as 'scale'", given.value("scale").offset)
    return plan(size, lambda stream: stream.normal(loc, scale, size))


def bounds(given: Arguments, endpoint: bool = False) -> tuple[int, int]:
    """(low, high) of integers from low to high - 1, or to high with `endpoint`; one bound alone is the high one."""
    two = given.has("high")
    low = given.integer("low", LOW, HIGH - 1) if two else 0
    return low, given.integer("high" if two else "low", low + (not endpoint), HIGH - endpoint)

"""Generator `torch`: torch.manual_seed(seed), then rand, randn, randint on the CPU, in float32 and int64.

PyTorch promises no stream across versions and platforms: what is drawn is what the version installed draws on this
machine, and 16 normal numbers or more go another way than fewer. PyTorch draws; it is no requirement of this project.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from exactattn.errors import NumeralError, Unavailable
from exactattn.generators.arguments import PYTHON, Arguments, dimensions, shape
from exactattn.generators.calls import Call, Sequence
from exactattn.generators.generator import Generator, Plan, plan

LOW, HIGH = -(2**63), 2**63 - 1


class TorchGenerator(Generator[Any]):
    """torch.manual_seed(seed), as the PyTorch installed draws it."""

    name = "torch"
    text = "torch.manual_seed, then rand, randn, randint; as the PyTorch installed draws in float32 on the CPU"
    seeds = range(2**64)
    prefixes = ("torch.",)

    @property
    def functions(self) -> Mapping[str, Callable[[Call], Plan[Any]]]:
        """How each function's call is read."""
        return {"rand": _floats("rand"), "randint": _randint, "randn": _floats("randn")}

    def stream(self, seed: int) -> Any:
        """A generator of the CPU of its own; the one that PyTorch shares stays as it is."""
        return _torch().Generator().manual_seed(seed)


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise Unavailable(
            "the generator torch needs PyTorch, which is not there; install it: pip install torch"
        ) from error


def _floats(function: str) -> Callable[[Call], Plan[Any]]:
    """rand(3, 4), rand((3, 4)) or rand(size=(3, 4)); rand(()) is not read."""

    def read(call: Call) -> Plan[Any]:
        size = _size(call)
        return plan(
            size,
            lambda stream: getattr(_torch(), function)(size, generator=stream, dtype=_torch().float32, device="cpu"),
        )

    return read


def _size(call: Call) -> tuple[int, ...]:
    first = call.arguments[0] if call.arguments else None
    if first is not None and (first.keyword is not None or isinstance(first.value, Sequence)):
        return _listed(Arguments(call, "size", PYTHON))
    size = dimensions(call)
    if size is None:
        raise NumeralError(f"{call.function} needs a size, such as (3, 4)", call.offset)
    return size


def _listed(given: Arguments) -> tuple[int, ...]:
    """A size that PyTorch wants as a tuple or a list, of one axis too."""
    value = given.value("size")
    if not isinstance(value, Sequence):
        raise NumeralError("wanted a tuple as 'size', such as (3,)", value.offset)
    return shape(value)


def _randint(call: Call) -> Plan[Any]:
    """randint(high, size) or randint(low, high, size): integers from low to high - 1."""
    two = len(call.arguments) > 2 or any(argument.keyword == "low" for argument in call.arguments)
    given = Arguments(call, "low high size" if two else "high size", PYTHON)
    low = given.integer("low", LOW, HIGH - 1) if two else 0
    high = given.integer("high", low + 1, HIGH)
    size = _listed(given)
    return plan(
        size,
        lambda stream: _torch().randint(low, high, size, generator=stream, dtype=_torch().int64, device="cpu"),
    )


GENERATOR = TorchGenerator()

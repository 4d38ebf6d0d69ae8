"""Generator `numpy-legacy`: np.random.seed and the functions of np.random, the Mersenne Twister of RandomState.

NumPy has frozen this stream: it promises the same numbers for ever, but for the last bits that the `log` of the
platform decides in normal numbers. Integers are those of a platform where NumPy's own have 64 bits. NumPy draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from exactattn.errors import NumeralError
from exactattn.generators.arguments import MAX_NUMBERS, PYTHON, Arguments, dimensions, integer
from exactattn.generators.calls import Call, Sequence
from exactattn.generators.generator import Generator, Plan, exact, plan
from exactattn.generators.numpy_arrays import HIGH, LOW, bounds, normal, sized, uniform


class NumpyLegacyGenerator(Generator[Any]):
    """np.random.seed(...) and the functions of np.random."""

    name = "numpy-legacy"
    text = "np.random.seed, then rand, randn, random, randint, uniform, normal, choice, permutation; frozen by NumPy"
    seeds = range(2**32)
    prefixes = ("np.random.", "numpy.random.", "rng.")

    @property
    def functions(self) -> Mapping[str, Callable[[Call], Plan[Any]]]:
        """How each function's call is read."""
        return {
            "choice": _choice,
            "normal": normal,
            "permutation": _permutation,
            "rand": _rand,
            "randint": _randint,
            "randn": _randn,
            "random": sized("random_sample"),
            "random_sample": sized("random_sample"),
            "standard_normal": sized("standard_normal"),
            "uniform": uniform,
        }

    def stream(self, seed: int) -> Any:
        """A RandomState of its own; the one that np.random shares stays as it is."""
        from numpy.random import RandomState

        return RandomState(seed)


def _rand(call: Call) -> Plan[Any]:
    size = dimensions(call)
    return plan(size, lambda stream: stream.random_sample(size))


def _randn(call: Call) -> Plan[Any]:
    size = dimensions(call)
    return plan(size, lambda stream: stream.standard_normal(size))


def _randint(call: Call) -> Plan[Any]:
    given = Arguments(call, "low high size", PYTHON)
    (low, high), size = bounds(given), given.size()
    return plan(size, lambda stream: stream.randint(low, high, size, dtype="int64"))


def _items(given: Arguments, name: str) -> list[int]:
    """0, ..., n - 1 for an integer n; the integers of a list."""
    value = given.value(name)
    if not isinstance(value, Sequence):
        return list(range(integer(value, name, 1, MAX_NUMBERS)))
    if not value.items:
        raise NumeralError(f"wanted at least one integer in {name!r}", value.offset)
    return [integer(item, name, LOW, HIGH - 1) for item in value.items]


def _choice(call: Call) -> Plan[Any]:
    """Every item as likely as another: `p` is not read."""
    given = Arguments(call, "a size replace", PYTHON)
    items, size, replace = _items(given, "a"), given.size(), given.flag("replace", True)
    if not replace and prod(size or ()) > len(items):
        raise NumeralError(f"wanted at most {len(items)} numbers, as none is drawn twice", call.offset)
    return plan(size, lambda stream: stream.choice(items, size, replace))


def _permutation(call: Call) -> Plan[Any]:
    items = _items(Arguments(call, "x", PYTHON), "x")
    return Plan(len(items), lambda stream: exact(stream.permutation(items)))


GENERATOR = NumpyLegacyGenerator()

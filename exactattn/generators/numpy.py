"""Generator `numpy`: np.random.default_rng(seed) and the methods of its Generator, over PCG64.

NumPy does not promise this stream for ever: a new version may draw other numbers from the same seed, so what is drawn
is what the version installed draws. NumPy draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exactattn.errors import NumeralError
from exactattn.generators.arguments import PYTHON, Arguments
from exactattn.generators.calls import Call
from exactattn.generators.generator import Generator, Plan, plan
from exactattn.generators.numpy_arrays import bounds, normal, sized, uniform


class NumpyGenerator(Generator[Any]):
    """np.random.default_rng(seed), as the NumPy installed draws it."""

    name = "numpy"
    text = (
        "np.random.default_rng, then random, standard_normal, integers, uniform, normal; as the NumPy installed draws"
    )
    seeds = range(2**128)
    prefixes = ("rng.",)

    @property
    def functions(self) -> Mapping[str, Callable[[Call], Plan[Any]]]:
        """How each method's call is read."""
        return {
            "integers": _integers,
            "normal": normal,
            "random": sized("random"),
            "standard_normal": sized("standard_normal"),
            "uniform": uniform,
        }

    def stream(self, seed: int) -> Any:
        """The stream over PCG64, named so that another default of NumPy would change nothing."""
        from numpy.random import PCG64
        from numpy.random import Generator as Stream

        return Stream(PCG64(seed))

    def planned(self, call: Call) -> Plan[Any]:
        """The plan of one call. Errors: NumeralError, also for np.random.NAME, which draws from another stream."""
        if call.function.startswith(("np.random.", "numpy.random.")):
            raise NumeralError(
                "np.random.NAME draws from NumPy's older stream; give the generator 'numpy-legacy'", call.offset
            )
        return super().planned(call)


def _integers(call: Call) -> Plan[Any]:
    """What is drawn is int64: `dtype` is not read."""
    given = Arguments(call, "low high size endpoint", PYTHON)
    endpoint, size = given.flag("endpoint", False), given.size()
    low, high = bounds(given, endpoint)
    return plan(size, lambda stream: stream.integers(low, high, size, endpoint=endpoint))


GENERATOR = NumpyGenerator()

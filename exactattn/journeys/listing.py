"""What there is: the names that commands and case files take, each with one line about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from exactattn import plugins
from exactattn.errors import UsageError, close

Rows = list[tuple[str, str]]


def listing(kind: str) -> Rows:
    """(name, one line) of everything of a kind. Errors: UsageError with the closest kind."""
    if kind not in KINDS:
        raise UsageError(f"there is nothing called {kind!r} to list{close(kind, KINDS)}")
    return KINDS[kind]()


def _engines() -> Rows:
    return [(name, engine.guarantee) for name, engine in plugins.found("engines").items()]


def _laws() -> Rows:
    return [(name, law.statement) for name, law in plugins.found("laws").items()]


def _checks() -> Rows:
    return [(name, f"{_sentence(check)} ({', '.join(check.CODES)})") for name, check in plugins.found("checks").items()]


def _conventions() -> Rows:
    from exactattn.attention.conventions import BASES, SCALES

    return [(name, text) for name, text, _ in (*SCALES, *BASES)]


def _formats() -> Rows:
    from exactattn.numbers.enclosure import significant
    from exactattn.numbers.formats import FORMATS

    def largest(x: Fraction) -> str:
        return str(x) if x < 10**6 else significant(x, 6)

    return [
        (
            fmt.name,
            f"{fmt.precision} significant bits, unit roundoff 2**-{fmt.precision}, largest {largest(fmt.max)}, "
            f"smallest normal 2**{fmt.emin}, overflow gives {fmt.overflow}",
        )
        for fmt in FORMATS.values()
    ]


def _stages() -> Rows:
    from exactattn.attention.spec import Stage

    return [(str(stage), "one for each head" if stage.per_head else "all heads together") for stage in Stage]


def _algorithms() -> Rows:
    from exactattn.attention.algorithms import ALGORITHMS

    return [(name, _sentence(algorithm)) for name, algorithm in ALGORITHMS.items()]


def _renderers() -> Rows:
    return [(name, _sentence(renderer)) for name, renderer in plugins.found("render").items()]


def _sentence(thing: Any) -> str:
    """The first line of a docstring."""
    text = (thing if callable(thing) else type(thing)).__doc__ or ""
    return text.strip().partition("\n")[0]


KINDS: Mapping[str, Callable[[], Rows]] = {
    "algorithms": _algorithms,
    "checks": _checks,
    "conventions": _conventions,
    "engines": _engines,
    "formats": _formats,
    "laws": _laws,
    "renderers": _renderers,
    "stages": _stages,
}

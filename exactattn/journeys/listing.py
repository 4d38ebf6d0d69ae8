"""What there is: the names that commands and case files take, each with one line about it."""

from __future__ import annotations

import sys
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


def titled(kind: str) -> Rows:
    """The same under the titles of its columns. Errors: UsageError with the closest kind."""
    rows = listing(kind)
    return [TITLES[kind], *rows]


def _engines() -> Rows:
    engines = plugins.found("engines").items()
    return [(name, f"{_about(engine)} Guarantee: {engine.guarantee}.") for name, engine in engines]


def _about(thing: Any) -> str:
    """The first line about the module of a plug-in, without its name; else about its class."""
    text = (sys.modules[type(thing).__module__].__doc__ or "").strip().partition("\n")[0].partition("`: ")[2]
    return text or _sentence(thing)


def _generators() -> Rows:
    return [(name, generator.text) for name, generator in plugins.found("generators").items()]


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

    return [(str(stage), f"{STAGES[stage]} ({_whose(stage.per_head)})") for stage in Stage]


def _whose(per_head: bool) -> str:
    return "one for each head" if per_head else "all heads together"


def _algorithms() -> Rows:
    from exactattn.attention.algorithms import ALGORITHMS

    return [(name, _sentence(algorithm)) for name, algorithm in ALGORITHMS.items()]


def _renderers() -> Rows:
    return [(name, _sentence(renderer)) for name, renderer in plugins.found("render").items()]


def _sentence(thing: Any) -> str:
    """The first line of a docstring."""
    text = (thing if callable(thing) else type(thing)).__doc__ or ""
    return text.strip().partition("\n")[0]


STAGES = {
    "q": "the queries X W_Q, queries x d_k",
    "k": "the keys X W_K, keys x d_k",
    "v": "the values X W_V, keys x d_v",
    "q_ready": "the queries after their norm and rotation, where the problem has one",
    "k_ready": "the keys after their norm and rotation, where the problem has one",
    "scores": "q k^T, queries x keys",
    "scaled": "the scores times the scale",
    "capped": "c tanh(scaled / c) for a softcap c, where the problem has one",
    "masked": "scaled plus the bias, -inf where a key is not allowed",
    "weights": "the softmax of each row of masked, queries x keys",
    "lse": "the logarithm of the sum of exponentials of each row of masked, one number a query",
    "context": "weights v, queries x d_v",
    "concat": "the contexts of all heads side by side, queries x H*d_v",
    "output": "concat W_O, or concat itself where there is no W_O",
}
TITLES = {
    "algorithms": ("ALGORITHM", "WHAT IT DOES"),
    "checks": ("CHECK", "WHAT IT ASKS (CODES)"),
    "conventions": ("CONVENTION", "WHAT IT MEANS"),
    "engines": ("ENGINE", "WHAT IT DOES, WHAT IT GUARANTEES"),
    "formats": ("FORMAT", "PRECISION AND RANGE"),
    "generators": ("GENERATOR", "WHAT IT DRAWS"),
    "laws": ("LAW", "STATEMENT"),
    "renderers": ("RENDERER", "WHAT IT GIVES"),
    "stages": ("STAGE", "WHAT IT IS"),
}
KINDS: Mapping[str, Callable[[], Rows]] = {
    "algorithms": _algorithms,
    "checks": _checks,
    "conventions": _conventions,
    "engines": _engines,
    "formats": _formats,
    "generators": _generators,
    "laws": _laws,
    "renderers": _renderers,
    "stages": _stages,
}

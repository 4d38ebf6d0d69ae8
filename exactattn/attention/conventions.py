"""The catalogue of alternative readings: each a named change of a spec that an author may have meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from exactattn.attention.spec import Problem
from exactattn.numbers.exact import ONE, Exact, log, mul, power

HALF = Fraction(-1, 2)


@dataclass(frozen=True, slots=True)
class Reading:
    """One other reading of a problem: its name as shown, what it says, and the problem under it.

    `factor` is the factor on the scores inside a natural exponential, scale * ln(base): weights depend on nothing
    else, so two readings of one factor cannot be told apart by weights.
    """

    name: str
    text: str
    problem: Problem
    factor: Exact


SCALES = (
    ("scale=1", "no scale", lambda _: ONE),
    ("scale=1/sqrt(d_k)", "divided by the square root of the key size", lambda names: power(names["d_k"], HALF)),
    ("scale=1/d_k", "divided by the key size", lambda names: 1 / names["d_k"]),
    ("scale=1/sqrt(n)", "divided by the square root of the number of keys", lambda names: power(names["n"], HALF)),
    ("scale=1/sqrt(d_model)", "divided by the square root of d_model", lambda names: power(names["d_model"], HALF)),
)
BASES = (("base=2", "2 as the base of the exponential", Fraction(2)), ("base=10", "10 as the base", Fraction(10)))


def readings(problem: Problem) -> Iterator[Reading]:
    """The other readings of scale and base that make sense for a problem, one change at a time.

    A scale that needs an unknown size is left out; so is the reading that the problem states.
    """
    names = problem.names
    for name, text, make in SCALES:
        try:
            scale = make(names)
        except KeyError:
            continue
        if scale != problem.scale:
            yield Reading(name, text, problem.with_spec(scale=scale), mul(scale, _log_base(problem.spec.base)))
    for name, text, base in BASES:
        if base != problem.spec.base:
            yield Reading(name, text, problem.with_spec(base=base), mul(problem.scale, log(base)))
    if problem.spec.base is not None:
        yield Reading("base=e", "e as the base of the exponential", problem.with_spec(base=None), problem.scale)


def _log_base(base: Exact | None) -> Exact:
    return ONE if base is None else log(base)

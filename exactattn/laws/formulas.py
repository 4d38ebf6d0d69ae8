"""Formulas in sizes and moments that a claim states, compared with what a law computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from exactattn.errors import UsageError
from exactattn.laws.proof import Proof
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import Exact, name
from exactattn.numbers.numerals import parse_exact

# Names that formulas may use, with the values at which counterexamples are sought.
SIZES: Mapping[str, tuple[int, ...]] = {
    "d_k": (2, 4, 1),
    "d_v": (2, 3, 1),
    "d_model": (8, 12, 4),
    "d": (8, 2),
    "H": (2, 3, 1),
    "n": (3, 2),
}
SPREADS: Mapping[str, tuple[int, ...]] = {"sigma": (2,), "sigma_q": (2,), "sigma_k": (3,)}
MEANS: Mapping[str, tuple[int, ...]] = {"mu": (1,), "mu_q": (1,), "mu_k": (2,)}
VALUES: Mapping[str, tuple[int, ...]] = {**SIZES, **SPREADS, **MEANS}


def read(proof: Proof, text: str, known: Mapping[str, Exact] | None = None) -> Any:
    """A formula as a SymPy expression; sizes and standard deviations are > 0. Errors: NumeralError with the place."""
    names: dict[str, Exact] = {label: name(label) for label in VALUES}
    names.update(known or {})
    return at_home(proof, proof.ar.scalar(parse_exact(str(text), names)))


def at_home(proof: Proof, expression: Any) -> Any:
    """The expression with its sizes and standard deviations known to be > 0."""
    swaps = {proof.ar.algebra.name(label): variable(proof, label) for label in VALUES}
    return proof.ar.algebra.sp.sympify(expression).xreplace(swaps)


def variable(proof: Proof, label: str) -> Any:
    """The SymPy variable of a name of formulas."""
    sp = proof.ar.algebra.sp
    return sp.Symbol(label, real=True) if label in MEANS else sp.Symbol(label, positive=True)


def size(options: Mapping[str, str], option: str) -> Mapping[str, Exact]:
    """A size that a claim fixes to a number. Errors: UsageError."""
    text = str(options.get(option, option)).strip()
    if text == option:
        return {}
    if not text.isdecimal() or not 0 < len(text) < 10 or int(text) == 0:
        raise UsageError(f"found {option} {text!r}, wanted a whole number from 1")
    return {option: Fraction(int(text))}


def compare(proof: Proof, what: str, computed: Any, claimed: Any) -> str | None:
    """Adds the step computed = claimed; where it is not proven, looks for a counterexample and returns it as text."""
    answer = proof.ar.equal(computed, claimed)
    found = None if answer is Answer.YES else _counterexample(proof, computed, claimed)
    answer = answer if found is None else Answer.NO
    by = "SymPy: the difference cancels to 0" if found is None else "SymPy: different at a counterexample"
    proof.add(f"{what}: {computed} = {claimed}", by, answer)
    return found


def _counterexample(proof: Proof, computed: Any, claimed: Any) -> str | None:
    """The first small sizes at which the two differ, decided exactly by SymPy."""
    if (whole := proof.ar.closed(claimed)) is not None:
        claimed = at_home(proof, whole)
    for values in _points(proof, (computed - claimed).free_symbols):
        true, said = computed.xreplace(values), claimed.xreplace(values)
        if (true - said).is_zero is False and (true - said).is_finite:
            where = ", ".join(f"{variable} = {value}" for variable, value in values.items())
            return f"{where or 'always'}: it is {true}, not {said}"
    return None


def _points(proof: Proof, used: set[Any]) -> Iterator[dict[Any, Any]]:
    labels = sorted((symbol for symbol in used if str(symbol) in VALUES), key=str)
    for values in product(*(VALUES[str(label)] for label in labels)):
        yield {label: proof.ar.algebra.sp.Integer(value) for label, value in zip(labels, values, strict=True)}

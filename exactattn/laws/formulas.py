"""Formulas in sizes and moments that a claim states, compared with what a law computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

from exactattn.errors import UsageError
from exactattn.laws.proof import Proof
from exactattn.laws.smallest import whole_numbers
from exactattn.numbers.enclosure import Answer, Interval, outward
from exactattn.numbers.exact import Exact, name
from exactattn.numbers.numerals import parse_exact
from exactattn.numbers.rational_functions import as_fraction, terms
from exactattn.numbers.tokens import shorten

# Names that formulas may use: sizes are whole numbers from 1, standard deviations > 0, means any real.
SIZES = ("d_k", "d_v", "d_model", "d", "H", "n", "k")
SPREADS = ("sigma", "sigma_q", "sigma_k")
MEANS = ("mu", "mu_q", "mu_k")
VALUES = (*SIZES, *SPREADS, *MEANS)
RELATIONS: Mapping[str, str] = {
    "=": "",
    "<=": "at most ",
    ">=": "at least ",
    "<": "below ",
    ">": "above ",
    "!=": "other than ",
}
MOST_EXPONENT = 24  # of a name or a sum in a formula
MOST_FORMULA = 100  # terms of a formula, multiplied out
MOST_POINTS = 200  # at which a counterexample is sought
ORDER = "whole numbers, means from 0 and all others from 1, the smallest sum first"


def read(proof: Proof, text: str, known: Mapping[str, Exact] | None = None) -> Any:
    """A formula as a SymPy expression; sizes and standard deviations are > 0.

    Errors: NumeralError with the place; UsageError for what SymPy would work on for long.
    """
    names: dict[str, Exact] = {label: name(label) for label in VALUES}
    names.update(known or {})
    found = at_home(proof, proof.ar.scalar(parse_exact(str(text), names)))
    powers = (power for power in found.atoms(proof.ar.algebra.sp.Pow) if power.free_symbols)
    if any(max(abs(power.exp.p), power.exp.q) > MOST_EXPONENT for power in powers) or terms(found) > MOST_FORMULA:
        limits = f"wanted exponents up to {MOST_EXPONENT} and at most {MOST_FORMULA} terms when multiplied out"
        raise UsageError(f"found the formula {shorten(str(text))!r}, {limits}")
    return found


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


def compare(
    proof: Proof, what: str, computed: Any, claimed: Any, relation: str = "=", whole: Sequence[Any] = ()
) -> str | None:
    """Adds the step computed = claimed; where it is not proven, looks for a counterexample and returns it as text.

    `relation` may be any of `RELATIONS`; the expressions of `whole` must be whole numbers from 1 in a counterexample.
    """
    answer = proof.ar.equal(computed, claimed)
    if relation != "=" and answer is not Answer.YES:
        answer = ordered(proof, computed, claimed, relation)
    elif relation in ("<", ">", "!="):
        answer = Answer.CANNOT_TELL  # equal for all values, so neither below nor above
    found = None if answer is Answer.YES else counterexample(proof, computed, claimed, relation, whole)
    answer = answer if found is None else Answer.NO
    proven = "SymPy: the difference cancels to 0" if relation == "=" else "SymPy: the sign of the difference"
    by = proven if found is None else "SymPy: otherwise at a counterexample"
    proof.add(f"{what}: {computed} {relation} {claimed}", by, answer)
    return found


def ordered(proof: Proof, computed: Any, claimed: Any, relation: str) -> Answer:
    """Is one side below the other for all values? YES is proven, NO never claimed.

    Proof: with every size written 1 + t, t >= 0, numerator and denominator of the difference are polynomials in the t,
    in standard deviations > 0 and in means. Coefficients >= 0 on even powers of means alone make a polynomial >= 0;
    a term with neither t nor mean makes it > 0, at every point.
    """
    if relation == "!=":
        below, above = (ordered(proof, computed, claimed, each) is Answer.YES for each in "<>")
        return Answer.known(below or above, False)
    difference = claimed - computed if "<" in relation else computed - claimed
    sp = proof.ar.algebra.sp
    from_one = {variable(proof, label): 1 + sp.Dummy("t", nonnegative=True) for label in SIZES}
    difference = sp.sympify(difference).xreplace(from_one)
    parts = as_fraction(difference) if difference.free_symbols else None
    if parts is None:
        return Answer.known(bool(difference.is_nonnegative if "=" in relation else difference.is_positive), False)
    top, bottom = (_sign(part) for part in parts)
    return Answer.known(bottom > 0 and top >= (0 if "=" in relation else 1), False)


def _sign(polynomial: Any) -> int:
    """1 when a polynomial is > 0 by its coefficients, 0 when it is >= 0, -1 when that cannot be seen."""
    symbols, strict = polynomial.ring.symbols, False
    for powers, coefficient in polynomial.terms():
        used = [(symbol, power) for symbol, power in zip(symbols, powers, strict=True) if power]
        if coefficient < 0 or any(not symbol.is_nonnegative and power % 2 for symbol, power in used):
            return -1
        strict |= all(symbol.is_positive for symbol, _ in used)
    return int(strict)


def counterexample(proof: Proof, computed: Any, claimed: Any, relation: str, whole: Sequence[Any]) -> str | None:
    """The first point, in the order of `ORDER`, at which it is not so, decided exactly by SymPy."""
    computed, claimed = (_closed(proof, x) for x in (computed, claimed))
    used = (computed - claimed).free_symbols.union(*(x.free_symbols for x in whole))
    for values in _points(proof, used):
        sizes = [x.xreplace(values) for x in whole]
        if not all(size.is_Integer and size > 0 for size in sizes):
            continue
        true, said = computed.xreplace(values), claimed.xreplace(values)
        if (true - said).is_finite and _differs(true - said, relation):
            where = ", ".join(f"{variable} = {value}" for variable, value in values.items())
            return f"{where or 'whatever the sizes are'}: it is {true}, not {RELATIONS[relation]}{said}"
    return None


def _closed(proof: Proof, x: Any) -> Any:
    """With its exponentials written out, where that is short."""
    found = proof.ar.closed(proof.ar.algebra.sp.sympify(x))
    return x if found is None else at_home(proof, found)


def _differs(difference: Any, relation: str) -> bool:
    """Is it certain that a number does not stand in the relation to 0?"""
    match relation:
        case "=":
            return difference.is_zero is False
        case "<=":
            return difference.is_positive is True
        case ">=":
            return difference.is_negative is True
        case "<":
            return difference.is_nonnegative is True
        case "!=":
            return difference.is_zero is True
    return difference.is_nonpositive is True


def _points(proof: Proof, used: set[Any]) -> Iterator[dict[Any, Any]]:
    """Values of the names: the smallest sum first, then in the order of names; so the first hit is the smallest."""
    labels = sorted((symbol for symbol in used if str(symbol) in VALUES), key=str)
    least = [int(str(label) not in MEANS) for label in labels]
    totals = range(MOST_POINTS) if labels else range(1)
    parts = (part for total in totals for part in whole_numbers(total, len(labels)))
    for part in islice(parts, MOST_POINTS):
        yield {
            label: proof.ar.algebra.sp.Integer(low + more) for label, low, more in zip(labels, least, part, strict=True)
        }


def shown(x: Interval, digits: int = 6) -> str:
    """A number for people: a short rational as it is, else so many significant digits."""
    if x.lower == x.upper and x.lower.denominator < 10**digits > abs(x.lower.numerator):
        return str(x.lower)
    return x.decimal(digits) or "[{}, {}]".format(*outward(x, digits))

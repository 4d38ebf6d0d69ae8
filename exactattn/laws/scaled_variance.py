"""Law `scaled-variance`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from exactattn.errors import UsageError
from exactattn.laws.formulas import ORDER, compare, read
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.prints import closed, compare_number, listed, number, told
from exactattn.laws.proof import Proof
from exactattn.numbers.exact import Exact, add, mul, names_in, sub
from exactattn.numbers.numerals import parse_exact
from exactattn.numbers.tokens import shorten
from exactattn.truth.spread import square

FREE = {"factor", "divides_by"}
GIVEN = {"factor", "numbers", "expected", "kind"}


class ScaledVariance:
    """A factor c multiplies any variance by c^2, and makes it 1 only where it was 1/c^2.

    Statement: for any numbers x_1, ..., x_N, each equally likely, Var(c x) = c^2 Var(x), with
    Var(x) = (1/N^2) sum_(i<j) (x_i - x_j)^2 >= 0. So dividing by n divides the variance by n^2, dividing by sqrt(d_k)
    divides it by d_k, whatever the numbers are; it becomes 1 only where it was d_k.
    Derivation: c^2 is a factor of every term (c x_i - c x_j)^2. For a random variable the same with expectations.
    What it is not: a statement that the variance of the scores of one matrix is d_k; that is their expected variance
    under the assumptions of `score-variance`. Claim a variance of given numbers with `numbers` and `expected`.
    """

    name = "scaled-variance"
    statement = "Var(c x) = c^2 Var(x) for any numbers x and any factor c"
    options = THOROUGH | {
        "factor": "the factor on the numbers, in sizes, such as 1/n or 1/sqrt(d_k); with `numbers` a number",
        "divides_by": "what the variance is claimed to be divided by, in sizes",
        "numbers": "given numbers, a list or rows",
        "expected": "the variance of the given numbers after the factor that is claimed",
        "kind": "population (divide by N) or sample (divide by N - 1)",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for two and three free numbers (thorough: five), then what is claimed of given ones."""
        sizes = range(2, 6 if is_thorough(self, options) else 4)
        proof = Proof(algebra())
        for size in sizes:
            _show(proof, size)
        shapes = [f"N={size}" for size in sizes]
        given = options.keys() - {"thorough"}
        if "numbers" in given:
            _only(given, GIVEN, "numbers")
            return _of_numbers(proof, options, shapes)
        _only(given, FREE, "divides_by")
        if given and not given >= FREE:
            raise UsageError("found one of `factor` and `divides_by`, wanted both, or `numbers` with `expected`")
        factor, claimed = options.get("factor", "c"), options.get("divides_by", "")
        counterexample, right = None, ""
        if given:
            scale = read(proof, factor)
            if scale == 0:
                raise UsageError("found the factor 0, wanted another: nothing is divided")
            true = 1 / scale**2
            counterexample = compare(proof, "the variance is divided by", true, read(proof, claimed))
            right = f"the factor {factor} divides the variance by {true}"
        return proof.decision(
            f"the factor {factor} divides the variance by {claimed}" if given else self.statement,
            shapes,
            "for any numbers and any factor at the stated sizes, by algebra; for every N as c^2 is a factor of every "
            "term" + (f"; the counterexample is the first among {ORDER}" if counterexample else ""),
            {"Var(c x)": "c**2*Var(x)", "Var(x)": "sum_(i<j) (x_i - x_j)**2/N**2"},
            counterexample,
            right,
        )


def _only(given: set[str], known: set[str], because: str) -> None:
    """Errors: UsageError for options that do not go together."""
    if others := sorted(given - known):
        raise UsageError(
            f"found {others[0]!r}, which does not go with `{because}`; that takes {', '.join(sorted(known))}"
        )


def _show(proof: Proof, size: int) -> None:
    """The steps for one number of numbers."""
    ar, c, what = proof.ar, proof.ar.algebra.name("c"), f"{size} numbers"
    x = ar.symbols("x", 1, size)
    proof.equal(f"{what}: Var(c x) = c^2 Var(x)", _variance(ar, c * x), c**2 * _variance(ar, x))
    pairs = sum((x[0, i] - x[0, j]) ** 2 for i in range(size) for j in range(i + 1, size))
    proof.equal(f"{what}: Var(x) = (1/N^2) sum_(i<j) (x_i - x_j)^2", _variance(ar, x), pairs / size**2)


def _variance(ar: Any, x: Any) -> Any:
    """Of one row of numbers, each equally likely."""
    size = x.shape[1]
    return (ar.row_sum(x**2) / size)[0, 0] - (ar.row_sum(x) / size)[0, 0] ** 2


def variance_of(numbers: list[Exact], kind: str) -> Exact:
    """Exact value: the sum of squared distances from the mean over N, or over N - 1 for a sample."""
    size = len(numbers)
    mean = mul(Fraction(1, size), _total(numbers))
    squares = [square(sub(x, mean)) for x in numbers]
    return mul(Fraction(1, size - (kind == "sample")), _total(squares))


def _total(terms: list[Exact]) -> Exact:
    """The sum, in pairs, so that a long sum is not a high tree."""
    while len(terms) > 1:
        odd = terms[len(terms) & ~1 :]
        terms = [add(a, b) for a, b in zip(terms[::2], terms[1::2], strict=False)] + odd
    return terms[0]


def _of_numbers(proof: Proof, options: Mapping[str, str], shapes: list[str]) -> Decision:
    """The variance of given numbers after a factor, against what is claimed."""
    if "expected" not in options:
        raise UsageError("found `numbers` without a claim, wanted `expected` with their variance")
    numbers, kind = listed(options, "numbers"), choice(options, "kind", "population", "sample")
    if kind == "sample" and len(numbers) == 1:
        raise UsageError("found one number, wanted at least two for a sample variance")
    text = str(options.get("factor", "1"))
    factor = parse_exact(text)
    if names_in(factor):
        raise UsageError(f"found the factor {text[:60]!r} with names, wanted a number beside `numbers`")
    before = variance_of(numbers, kind)
    after = closed(mul(before, square(factor)))
    what = f"the {kind} variance of the {len(numbers)} numbers" + (f" times {shorten(text)}" if text != "1" else "")
    by = "exact rationals" if isinstance(before, Fraction) else "balls"
    wrong = compare_number(proof, what, number(options, "expected"), after, by)
    return proof.decision(
        f"{what} is {shorten(str(options['expected']))}",
        [*shapes, f"the {len(numbers)} given numbers"],
        "for every N as c^2 is a factor of every term; the variance of the given numbers exactly, no distribution "
        "assumed",
        {
            "variance": told(closed(before)),
            "after the factor": told(after),
            "sample size": str(len(numbers)),
        },
        f"the given numbers: {wrong}" if wrong else None,
        f"{what} is {told(after)}; a factor c multiplies the variance by c^2, whatever the numbers are",
    )


LAW = ScaledVariance()

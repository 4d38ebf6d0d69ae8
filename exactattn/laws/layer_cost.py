"""Law `layer-cost`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from exactattn.attention.definition import stages
from exactattn.attention.spec import Head, Problem
from exactattn.errors import UsageError
from exactattn.laws.counting import CountingArithmetic, Shape
from exactattn.laws.formulas import ORDER, compare, read, variable
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.proof import Proof, named, self_attention
from exactattn.laws.smallest import whole_numbers
from exactattn.numbers.enclosure import Answer

SIZES = ("n", "d", "k")
CONE = ((1, 0, 1), (0, 1, 0), (1, 0, 0))  # every way to grow with 1 <= k <= n is made of these, each with a factor >= 0
MOST_STEPS = 6  # of them in a counterexample
Monomials = list[tuple[Fraction, ...]]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a layer takes: multiplications of its products, and steps from the first input to the last output.

    `path` is exact where it is a formula; `path_growth` is a formula that it equals up to constant factors.
    """

    multiplications: str
    path: str
    path_growth: str


COSTS: Mapping[str, Cost] = {
    "attention": Cost("2*n**2*d", "1", "1"),
    "attention with projections": Cost("2*n**2*d + 4*n*d**2", "1", "1"),
    "convolution": Cost("k*n*d**2", "ceil((n - 1)/(k - 1))", "n/k"),
    "recurrent": Cost("2*n*d**2", "n", "n"),
}


class LayerCost:
    """Multiplications and paths: attention 2 n^2 d and 1, a convolution k n d^2 and n/k, a recurrent layer 2 n d^2, n.

    Statement: for n positions of width d: the core of self-attention takes 2 n^2 d multiplications, with its
    projections 2 n^2 d + 4 n d^2; a convolution of width k (padding counted) k n d^2; a recurrent layer 2 n d^2.
    From the first input to the last output it takes 1 step of attention, n of a recurrent layer, and
    ceil((n - 1)/(k - 1)) convolutions of width k >= 2, which lies between n/k and 3 n/k for 2 <= k <= n.
    Derivation: counting products; following what each output depends on. A cost is O(f) when cost <= C f for some C
    and all sizes from 1 with k <= n: so when each of its terms is at most a term of f, and not when on some path of
    growing sizes it grows faster than every term of f.
    What it is not: with projections attention is not O(n^2 d), as d may grow faster than n.
    Source: Vaswani et al. 2017 (arXiv 1706.03762), table 1.
    """

    name = "layer-cost"
    statement = "attention 2 n^2 d multiplications, path 1; convolution k n d^2, path of n/k; recurrent 2 n d^2, path n"
    options = THOROUGH | {
        "layer": ", ".join(COSTS),
        "counts": "multiplications, or path: steps from the first input to the last output",
        "growth": "f when O(f) is claimed, in n, d and k",
        "expected": "the count itself that is claimed, in n, d and k",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Counts at small sizes, then compares growth, or the count, with what is claimed."""
        most = 4 if is_thorough(self, options) else 3
        proof = Proof(algebra())
        _show_counts(proof, most)
        _show_paths(proof, 2 * most)
        shapes = [f"n, k = 1, ..., {most}; d = 1, ..., {most}", f"paths: n = 1, ..., {2 * most}; k = 2, ..., {most}"]
        scope = (
            "for every n, d and k: counts are sums of products of sizes, of degree at most 2 in each, which three "
            "sizes of each determine; paths by the derivation"
        )
        values = {name: f"{cost.multiplications}; path {cost.path}" for name, cost in COSTS.items()}
        asked = options.keys() - {"thorough"}
        if not asked:
            return proof.decision(self.statement, shapes, scope, values)
        if "layer" not in asked or len(asked & {"growth", "expected"}) != 1:
            raise UsageError("wanted `layer` with one of `growth` and `expected`")
        layer, counts = choice(options, "layer", *COSTS), choice(options, "counts", "multiplications", "path")
        cost = COSTS[layer]
        true = cost.multiplications if counts == "multiplications" else cost.path
        if "expected" in asked:
            if true.startswith("ceil"):
                raise UsageError(f"the path of a convolution is {true}, which no formula here says: claim its `growth`")
            found = compare(proof, f"{counts} of {layer}", read(proof, true), read(proof, options["expected"]))
            statement = f"{counts} of {layer}: {options['expected']}"
            sought = f"; the counterexample is the first among {ORDER}" if found else ""
        else:
            grows = cost.multiplications if counts == "multiplications" else cost.path_growth
            found = _growth(proof, f"{counts} of {layer}", grows, options["growth"])
            statement = f"{counts} of {layer}: O({options['growth']})"
            sought = f"; for all sizes from 1 with {'2 <= ' if true.startswith('ceil') else ''}k <= n"
        return proof.decision(statement, shapes, scope + sought, values, found, f"{counts} of {layer}: {true}")


def _show_counts(proof: Proof, most: int) -> None:
    """Counts at a grid of sizes against the formulas."""
    right: dict[str, list[bool]] = {name: [] for name in COSTS}
    for n, d, k in product(range(1, most + 1), repeat=3):
        alone = Head(q=named("q", n, d), k=named("k", n, d), v=named("v", n, d))
        runs = {
            "attention": _attention(Problem((alone,))),
            "attention with projections": _attention(self_attention(n, d, d, d)),
            "convolution": _convolution(n, d, k),
            "recurrent": _recurrent(n, d),
        }
        sizes = {variable(proof, label): value for label, value in zip(SIZES, (n, d, k), strict=True)}
        for name, count in runs.items():
            right[name].append(bool(read(proof, COSTS[name].multiplications).xreplace(sizes) == count))
    for name, answers in right.items():
        text = f"{name}: {COSTS[name].multiplications} multiplications"
        proof.checked(text, f"counting while it runs, at {len(answers)} sizes", all(answers))


def _attention(problem: Problem) -> int:
    counting = CountingArithmetic()
    stages(problem, counting)
    return counting.counts["product"]


def _convolution(n: int, d: int, k: int) -> int:
    """Each of n outputs is a sum over k inputs, each times a d x d matrix."""
    counting, x, W = CountingArithmetic(), (1, d), (d, d)
    for _ in range(n):
        total = counting.matmul(x, W)
        for _ in range(k - 1):
            total = counting.add(total, counting.matmul(x, W))
    return counting.counts["product"]


def _recurrent(n: int, d: int) -> int:
    """Each of n states is the one before times a d x d matrix plus the input times another."""
    counting = CountingArithmetic()
    state: Shape = (1, d)
    for _ in range(n):
        state = counting.add(counting.matmul(state, (d, d)), counting.matmul((1, d), (d, d)))
    return counting.counts["product"]


def _show_paths(proof: Proof, most: int) -> None:
    """Steps from the first input to the last output, by following what each output depends on."""
    by = "following the dependences"
    sizes = range(1, most + 1)
    attention = all(_layers(n, lambda _, n=n: range(n)) == 1 for n in sizes)
    proof.checked(f"attention, n <= {most}: 1 step", by, attention)
    recurrent = all(_chain(n) == n for n in sizes)
    proof.checked(f"recurrent, n <= {most}: n steps", by, recurrent)
    wide = [(n, k) for n in range(2, most + 1) for k in range(2, most // 2 + 1)]
    right = all(_layers(n, lambda i, k=k: range(max(0, i - k + 1), i + 1)) == -(-(n - 1) // (k - 1)) for n, k in wide)
    proof.checked(f"convolution of width k >= 2, n <= {most}: ceil((n - 1)/(k - 1)) layers", by, right)
    sp = proof.ar.algebra.sp
    k, more = (least + sp.Dummy(positive=True) for least in (1, 0))
    n = k + more
    ratio = (n - 1) / (k - 1)
    proof.positive("1 < k < n: n/k < (n - 1)/(k - 1)", [ratio - n / k])
    k = 2 + sp.Dummy(positive=True)
    n = k + more
    proof.positive(
        "2 < k < n: (n - 1)/(k - 1) + 1 < 3 n/k; so for k = 2, and 1 for k = n", [3 * n / k - (n - 1) / (k - 1) - 1]
    )


def _layers(n: int, inputs: Any) -> int:
    """How many layers it takes until the last output depends on the first input."""
    reached, layers = {n - 1}, 0
    while layers == 0 or 0 not in reached:
        reached, layers = {j for i in reached for j in inputs(i)}, layers + 1
    return layers


def _chain(n: int) -> int:
    """How many states lie between the first input and the last state, that one included."""
    steps, state = 0, n - 1
    while state >= 0:  # a state depends on the one before it and on its own input
        steps, state = steps + 1, state - 1
    return steps


def _growth(proof: Proof, what: str, true: str, claimed: str) -> str | None:
    """Adds the step that a cost is O(claimed); a way to grow on which it is not, as text.

    Proof: with every size t^a, a in the cone, a monomial is t^(its exponents . a), and `.` is linear: a term at most
    another on the generators is so on the cone, hence for all sizes; a direction in which the largest term of the cost
    has the larger exponent refutes it for every C.
    """
    terms, bounds = (_monomials(proof, text) for text in (true, claimed))
    held = all(any(all(_dot(m, g) <= _dot(f, g) for g in CONE) for f in bounds) for m in terms)
    found = None if held else _direction(terms, bounds)
    answer = Answer.known(held, found is not None)
    proof.add(f"{what}: {true} = O({claimed})", "comparing the exponents of all terms", answer)
    return found


def _monomials(proof: Proof, text: str) -> Monomials:
    """The exponents of n, d, k in each term. Errors: UsageError for what is no sum of monomials."""
    sp = proof.ar.algebra.sp
    names = [variable(proof, label) for label in SIZES]
    found: Monomials = []
    for term in sp.Add.make_args(sp.expand(read(proof, text))):
        coefficient, rest = term.as_coeff_Mul()
        powers = rest.as_powers_dict()
        if not (coefficient.is_positive and all(x in names and p.is_Rational for x, p in powers.items() if x != 1)):
            raise UsageError(f"found {text[:60]!r}, wanted a sum of terms such as n**2*d with factors above 0")
        found.append(tuple(Fraction(int(powers[x].p), int(powers[x].q)) if x in powers else Fraction(0) for x in names))
    return found


def _dot(exponents: Sequence[Fraction], direction: Sequence[int]) -> Fraction:
    return sum((e * a for e, a in zip(exponents, direction, strict=True)), Fraction(0))


def _direction(terms: Monomials, bounds: Monomials) -> str | None:
    """The smallest way to grow on which a cost outgrows its bound."""
    for total in range(1, MOST_STEPS + 1):
        for factors in whole_numbers(total, len(CONE)):
            a = [sum(f * g[i] for f, g in zip(factors, CONE, strict=True)) for i in range(len(SIZES))]
            cost, bound = (max(_dot(m, a) for m in each) for each in (terms, bounds))
            if cost > bound:
                sizes = ", ".join(f"{label} = {_power(Fraction(x))}" for label, x in zip(SIZES, a, strict=True) if x)
                return f"{sizes}, t growing, all else fixed: it grows as {_power(cost)}, the bound as {_power(bound)}"
    return None


def _power(exponent: Fraction) -> str:
    return (
        "1"
        if exponent == 0
        else "t"
        if exponent == 1
        else f"t**{exponent}"
        if exponent.denominator == 1
        else f"t**({exponent})"
    )


LAW = LayerCost()

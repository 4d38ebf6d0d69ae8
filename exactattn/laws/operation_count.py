"""Law `operation-count`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from exactattn.attention.definition import stages
from exactattn.attention.spec import Head, Problem, Stage
from exactattn.errors import NumeralError, UsageError
from exactattn.laws.counting import CountingArithmetic
from exactattn.laws.formulas import ORDER, compare, read, size
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.prints import closed, compare_number
from exactattn.laws.proof import Proof, depends_on, named, self_attention
from exactattn.numbers.exact import Exact
from exactattn.numbers.numerals import parse_numeral

PARTS = {"scores": "n**2", "core": "2*n**2*d", "projections": "4*n*d**2", "all": "2*n**2*d + 4*n*d**2"}


class OperationCount:
    """Self-attention of n tokens of width d takes 2 n^2 d multiplications for its core and 4 n d^2 for projections.

    Statement: with H heads of d_k = d_v = d/H, the matrix products take 2 n^2 d multiplications (scores and context)
    plus 4 n d^2 (W_Q, W_K, W_V, W_O), for every H: quadratic in n. Besides, the H n^2 scores are each scaled, put
    through exp and divided. Row i of the context depends on query i, all keys and all values, and on no other query
    and no other row: there is no sequential dependence over positions.
    Derivation: a product of n x k and k x m takes n k m multiplications. Scores: H times n (d/H) n; context the same;
    each projection n d d. As textbooks count: without mask (a causal mask may skip half of the core).
    """

    name = "operation-count"
    statement = "2 n^2 d multiplications for scores and context, 4 n d^2 for projections; no row waits for another"
    options = THOROUGH | {
        "part": "all, core, projections (multiplications), or scores (the entries of one score matrix)",
        "expected": "the number that is claimed, in n and d",
        "n": "a number of tokens, when the claim is about one",
        "d": "a width, when the claim is about one",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Counts while the definition runs, at three sizes of n and of d, for one and two heads (thorough: four)."""
        all_heads = (1, 2, 4) if is_thorough(self, options) else (1, 2)
        proof, part = Proof(algebra()), choice(options, "part", *reversed(PARTS))
        for heads in all_heads:
            _show_counts(proof, heads)
        _show_parallel(proof)
        counterexample, right, what = None, None, "score entries" if part == "scores" else f"multiplications ({part})"
        known = dict(size(options, "n")) | dict(size(options, "d"))
        true = read(proof, PARTS[part], known)
        where = "".join(f", {label} = {value}" for label, value in known.items())
        if "expected" in options:
            counterexample = _compared(proof, what + where, true, options["expected"], known)
            right = f"{what}{where}: {PARTS[part]}" + (f" = {true}" if known else "")
        elif options.keys() - {"thorough"}:
            raise UsageError("found what to count without a claim, wanted `expected` with the number")
        return proof.decision(
            f"{what}{where} = {options['expected']}" if "expected" in options else self.statement,
            [f"n=1, 2, 3; d={heads}, {2 * heads}, {3 * heads}; H={heads}" for heads in all_heads],
            "for every n and d at the stated H: a count is a sum of products of sizes, so a polynomial of degree at "
            "most 2 in n and in d, which three sizes of each determine; for every H by the derivation"
            + (f"; the counterexample is the first among {ORDER}" if counterexample else ""),
            {**PARTS, "exponentials": "H*n**2", "divisions": "H*n**2"},
            counterexample,
            right,
        )


def _compared(proof: Proof, what: str, true: Any, expected: str, known: Mapping[str, Exact]) -> str | None:
    """The counterexample to a claimed count; a decimal for a count that is one number is right to its digits."""
    with suppress(NumeralError):
        stated = parse_numeral(str(expected))
        if stated.form == "decimal" and true.is_Rational:
            exact = Fraction(int(true.p), int(true.q))
            return compare_number(proof, what, stated, closed(exact), "the exact count")
    return compare(proof, what, true, read(proof, expected, known))


def _show_counts(proof: Proof, heads: int) -> None:
    """Counts at a grid of sizes against the formulas."""
    core, every, powers, scores = [], [], [], []
    for n in (1, 2, 3):
        for width in (1, 2, 3):
            d = heads * width
            count = _count(self_attention(n, d, width, width, heads))
            alone = Head(q=named("q", n, width), k=named("k", n, width), v=named("v", n, width))
            inner = _count(Problem((alone,) * heads))
            core.append(inner["product"] == 2 * n * n * d)
            every.append(count["product"] == 2 * n * n * d + 4 * n * d * d)
            scores.append(_entries(n, width) == n * n)
            powers.append(count["exp"] == count["divide"] == heads * n * n)
    by = "counting while the definition runs, at 9 sizes"
    proof.checked(f"H={heads}: scores and context take 2 n^2 d multiplications", by, all(core))
    proof.checked(f"H={heads}: with projections 2 n^2 d + 4 n d^2", by, all(every))
    proof.checked(f"H={heads}: each head has n^2 scores", "the size of the matrix, at 9 sizes", all(scores))
    proof.checked(f"H={heads}: H n^2 exponentials and H n^2 divisions", by, all(powers))


def _count(problem: Problem) -> dict[str, int]:
    counting = CountingArithmetic()
    stages(problem, counting)
    return counting.counts


def _entries(n: int, width: int) -> int:
    """How many scores one head has."""
    head = Head(q=named("q", n, width), k=named("k", n, width), v=named("v", n, width))
    rows, columns = stages(Problem((head,)), CountingArithmetic(), until=Stage.SCORES)[Stage.SCORES, 0]
    return int(rows * columns)


def _show_parallel(proof: Proof) -> None:
    """What each row of the context contains."""
    ar, n = proof.ar, 3
    head = Head(q=named("q", n, 1), k=named("k", n, 1), v=named("v", n, 1))
    context = stages(replace(self_attention(n, 1, 1, 1), heads=(head,), X=None, W_O=None), ar)[Stage.CONTEXT, 0]
    inputs = {f"{label}{j}0" for label in "kv" for j in range(n)}
    alone = all(depends_on(ar, context[i]) == inputs | {f"q{i}0"} for i in range(n))
    text = "3 tokens: row i of the context contains query i, all keys and values, and no other query"
    proof.checked(text, "the symbols it contains", alone)


LAW = OperationCount()

"""Law `permutation-equivariance`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from typing import Any

from exactattn import plugins
from exactattn.attention.definition import stages
from exactattn.attention.spec import AttentionSpec, Head, Problem, Stage
from exactattn.laws.formulas import shown
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.proof import Proof, depends_on, named, self_attention
from exactattn.laws.smallest import whole_numbers
from exactattn.numbers.balls import FIRST_BITS, interval
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.exact import Matrix

OUTPUT = (Stage.OUTPUT, 0)
MOST_SUM = 4  # of the entries of a counterexample
ORDER = "entries that are whole numbers from 0, fewest tokens first, then smallest sum"
CLAIMS: Mapping[str, str] = {
    "equivariant": "f(PX) = P f(X)",
    "invariant": "f(PX) = f(X)",
    "pooled": "mean of the rows of f(PX) = mean of the rows of f(X)",
    "fixed query": "o(q, PK, PV) = o(q, K, V)",
}


class PermutationEquivariance:
    """Self-attention without mask and positions does not know the order of its tokens: f(PX) = P f(X).

    Statement: for every permutation P of the tokens, f(PX) = P f(X), for all X and all projections. The score of a
    pair depends on its two tokens only and not on |i - j|, so distance costs nothing: every pair is one step apart.
    Derivation: q, k, v are computed row by row, so a permutation of X permutes them; the scores become P S P^T; the
    softmax works on rows, so the weights become P A P^T; and P A P^T P V = P (A V), as P^T P = I.
    What breaks it: a causal mask (claim it with `mask: causal` and it fails), or positions added to X or to the scores.
    What it is not: invariance. f(PX) = f(X) fails (`claims: invariant`), as the rows move with the tokens; invariant
    are the sum of the rows (`claims: pooled`) and the output of one query when keys and values are permuted together
    (`claims: fixed query`).
    Source: Lee et al. 2019, Set Transformer (arXiv 1810.00825), property 1.
    """

    name = "permutation-equivariance"
    statement = "f(PX) = P f(X) for every permutation P of the tokens; scores do not depend on |i - j|"
    options = THOROUGH | {
        "mask": "none, or causal: is it so under a causal mask too?",
        "claims": "equivariant, invariant (f(PX) = f(X)), pooled (mean of the rows), or fixed query (K, V permuted)",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for all permutations of two and three tokens (thorough: wider, two heads), or looks for a case."""
        shapes = [(2, 2, 1, 1), (3, 1, 1, 1)]
        if is_thorough(self, options):
            shapes += [(3, 2, 2, 1), (2, 2, 1, 2)]
        claim = choice(options, "claims", *CLAIMS)
        mask = choice(options, "mask", "none", "causal")
        spec = AttentionSpec(causal="none" if mask == "none" else "top-left")
        proof = Proof(algebra())
        for n, d_model, d_k, heads in shapes:
            _show(proof, claim, _free(claim, n, d_model, d_k, heads, spec))
        counterexample = None
        if any(step.answer is not Answer.YES for step in proof.steps):
            counterexample = _search(proof, claim, spec)
        statement = CLAIMS[claim] + ("" if mask == "none" else " under a causal mask")
        return proof.decision(
            self.statement if statement == CLAIMS["equivariant"] else statement,
            [f"n={n}, d_model={d_model}, d_k=d_v={d_k}, H={heads}" for n, d_model, d_k, heads in shapes]
            if counterexample is None
            else ["n=2, d_model=d_k=d_v=1" + ("" if mask == "none" else ", causal")],
            "for all X and projections and all permutations at the stated sizes, by algebra; for every size by the "
            "derivation, P^T P = I; no mask, no positions"
            if counterexample is None
            else f"one counterexample is enough, the first among {ORDER}",
            {
                "f(PX)": "P f(X)" if mask == "none" else "not P f(X)",
                "scores": "s_ij = q_i . k_j, of tokens i and j only",
            },
            counterexample,
            _corrected(mask),
        )


def _corrected(mask: str) -> str:
    if mask == "causal":
        return "under a causal mask the order of the tokens matters; without a mask f(PX) = P f(X)"
    return "f(PX) = P f(X): the same rows in permuted order; invariant are the mean of the rows and a fixed query"


def _free(claim: str, n: int, d_model: int, d_k: int, heads: int, spec: AttentionSpec) -> Problem:
    """Every input a free variable: tokens and projections, or one query with n keys and values."""
    if claim != "fixed query":
        return self_attention(n, d_model, d_k, d_k, heads, spec)
    free = (Head(q=named(f"q{h}_", 1, d_k), k=named(f"k{h}_", n, d_k), v=named(f"v{h}_", n, d_k)) for h in range(heads))
    return Problem(tuple(free), spec=spec)


def _permuted(problem: Problem, order: tuple[int, ...]) -> Problem:
    """The same problem with its tokens, or its keys and values, in another order."""

    def move(rows: Matrix | None) -> Matrix | None:
        return None if rows is None else tuple(rows[i] for i in order)

    heads = tuple(replace(head, k=move(head.k), v=move(head.v)) for head in problem.heads)
    return replace(problem, heads=heads, X=move(problem.X))


def _sides(ar: Any, claim: str, problem: Problem, order: tuple[int, ...]) -> tuple[Any, Any]:
    """What a claim says to be equal, of one problem and one permutation."""
    plain, moved = stages(problem, ar)[OUTPUT], stages(_permuted(problem, order), ar)[OUTPUT]
    if claim == "pooled":
        return moved.sum(axis=0) / len(order), plain.sum(axis=0) / len(order)
    return moved, plain[list(order)] if claim == "equivariant" else plain


def _orders(n: int) -> list[tuple[int, ...]]:
    return [order for order in permutations(range(n)) if order != tuple(range(n))]


def _show(proof: Proof, claim: str, problem: Problem) -> None:
    """The steps for one problem of free variables."""
    n = problem.lengths[1]
    for order in _orders(n):
        proof.equal(f"n={n}, tokens in the order {order}: {CLAIMS[claim]}", *_sides(proof.ar, claim, problem, order))
    if claim == "equivariant":
        scores = stages(problem, proof.ar, until=Stage.SCORES)[Stage.SCORES, 0]
        alone = all(_tokens(proof.ar, scores[i, j]) == {i, j} for i in range(n) for j in range(n))
        proof.checked(f"n={n}: score ij contains the tokens i and j and no other", "the symbols it contains", alone)


def _tokens(ar: Any, score: Any) -> set[int]:
    """The tokens whose elements X_ij occur in a score."""
    return {int(name[1]) for name in depends_on(ar, [score]) if name.startswith("X")}


def _search(proof: Proof, claim: str, spec: AttentionSpec) -> str | None:
    """The first case in which it is not so, told apart by balls; its step takes the place of those left open."""
    balls = plugins.get("engines", "ball")
    with balls.precision(FIRST_BITS):
        for n, text, problem in _candidates(claim, spec):
            for order in _orders(n):
                sides = _sides(balls.arithmetic(), claim, problem, order)
                left, right = ([interval(x) for x in side.flat] for side in sides)
                if not any(x.disjoint(y) is Answer.YES for x, y in zip(left, right, strict=True)):
                    continue
                proof.steps.clear()
                proof.checked(f"{text}: {CLAIMS[claim]}", "balls, 128 bits: the two sides are apart", False)
                sides_text = CLAIMS[claim].split(" = ")
                shown = ", ".join(
                    f"{name} = {_spell(side)}" for name, side in zip(sides_text, (left, right), strict=True)
                )
                return f"{text}, the tokens in the order {order}: {shown}"
    return None


def _candidates(claim: str, spec: AttentionSpec) -> Iterator[tuple[int, str, Problem]]:
    """Small problems of width 1 in the order of `ORDER`."""
    causal = "" if spec.causal == "none" else ", causal"
    for n, total in product((2, 3), range(MOST_SUM + 1)):
        for numbers in whole_numbers(total, n + 3 if claim != "fixed query" else 2 * n + 1):
            columns = tuple((Fraction(x),) for x in numbers)
            if claim == "fixed query":
                head, X = Head(q=columns[:1], k=columns[1 : n + 1], v=columns[n + 1 :]), None
                text = f"q = {_text(columns[:1])}, K = {_text(head.k)}, V = {_text(head.v)}"
            else:
                *tokens, W_Q, W_K, W_V = columns
                head, X = Head(W_Q=(W_Q,), W_K=(W_K,), W_V=(W_V,)), tuple(tokens)
                text = f"X = {_text(X)}, W_Q = {_text((W_Q,))}, W_K = {_text((W_K,))}, W_V = {_text((W_V,))}"
            yield n, text + causal, Problem((head,), X=X, spec=spec)


def _text(rows: Matrix | None) -> str:
    return f"[{', '.join(f'[{row[0]}]' for row in rows or ())}]"


def _spell(values: list[Interval]) -> str:
    return f"[{', '.join(shown(x) for x in values)}]"


LAW = PermutationEquivariance()

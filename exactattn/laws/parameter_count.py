"""Law `parameter-count`."""

from __future__ import annotations

from itertools import product
from typing import Any

from exactattn.attention.spec import Problem
from exactattn.laws.formulas import compare, read
from exactattn.laws.law import THOROUGH, Algebra, Decision, is_thorough
from exactattn.laws.proof import Proof, self_attention
from exactattn.numbers.exact import names_in

COUNT = "H*d_model*(2*d_k + 2*d_v)"
MATRICES = ("W_Q", "W_K", "W_V")


class ParameterCount:
    """There are H d_model (2 d_k + 2 d_v) parameters: 4 d_model^2 for every H when d_k = d_v = d_model/H.

    Statement: W_Q, W_K of each head are d_model x d_k, W_V is d_model x d_v, W_O is H d_v x d_model; together
    H d_model (2 d_k + 2 d_v) numbers, without biases. With d_k = d_v = d_model/H that is 4 d_model^2: more heads do not
    mean more parameters. With d_k and d_v fixed it grows in proportion to H.
    Derivation: adding up the sizes. Claim it with `d_k: d_model/H`, `d_v: d_model/H` and `expected`.
    """

    name = "parameter-count"
    statement = "H d_model (2 d_k + 2 d_v) parameters; with d_k = d_v = d_model/H that is 4 d_model^2 for every H"
    options = THOROUGH | {
        "d_k": "the width of a key, in d_model and H; d_k if not given",
        "d_v": "the width of a value, in d_model and H; d_v if not given",
        "expected": "the number of parameters that is claimed, in d_model, H, d_k, d_v",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Counts at two sizes of each of H, d_model, d_k, d_v (thorough: three)."""
        sizes = (1, 2, 3) if is_thorough(self, options) else (1, 2)
        proof = Proof(algebra())
        right = [_parameters(*each) == _formula(*each) for each in product(sizes, repeat=4)]
        by = f"counting the elements at {len(right)} sizes"
        proof.checked(f"the number of parameters is {COUNT}", by, all(right))
        split = {label: read(proof, "d_model/H") for label in ("d_k", "d_v")}
        same = _with(proof, split)
        proof.equal("d_k = d_v = d_model/H: it is 4*d_model**2 for every H", same, read(proof, "4*d_model**2"))
        more = _with(proof, {"H": read(proof, "H + 1")}) - _with(proof, {})
        per_head = read(proof, "d_model*(2*d_k + 2*d_v)")
        proof.equal("d_k and d_v fixed: one more head adds d_model*(2*d_k + 2*d_v)", more, per_head)
        counterexample, statement = None, self.statement
        widths = {label: read(proof, options.get(label, label)) for label in ("d_k", "d_v")}
        computed = _with(proof, widths)
        if "expected" in options:
            statement = f"the number of parameters is {options['expected']}"
            counterexample = compare(
                proof, "as claimed", computed, read(proof, options["expected"]), whole=tuple(widths.values())
            )
        return proof.decision(
            statement,
            [f"H, d_model, d_k, d_v = {', '.join(map(str, sizes))}"],
            "for every size: the count is of degree 1 in each of H, d_model, d_k, d_v, so two sizes of each determine "
            "it; one key and value matrix a head, no biases",
            {"general": COUNT, "d_k = d_v = d_model/H": "4*d_model**2", "computed": str(computed)},
            counterexample,
            f"the number of parameters is {computed}",
        )


def _formula(H: int, d_model: int, d_k: int, d_v: int) -> int:
    return H * d_model * (2 * d_k + 2 * d_v)


def _with(proof: Proof, sizes: dict[str, Any]) -> Any:
    """The number of parameters with some sizes replaced."""
    sp = proof.ar.algebra.sp
    swaps = {sp.Symbol(label, positive=True): value for label, value in sizes.items()}
    return sp.cancel(read(proof, COUNT).xreplace(swaps))


def _parameters(H: int, d_model: int, d_k: int, d_v: int) -> int:
    """How many numbers the matrices of a problem hold."""
    problem: Problem = self_attention(2, d_model, d_k, d_v, H)
    matrices = [getattr(head, part) for head in problem.heads for part in MATRICES] + [problem.W_O]
    return len({name for matrix in matrices for row in matrix for x in row for name in names_in(x)})


LAW = ParameterCount()

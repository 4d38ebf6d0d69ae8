"""Law `concat-output`."""

from __future__ import annotations

from typing import Any

from exactattn.attention.definition import stages
from exactattn.attention.spec import Stage
from exactattn.laws.law import THOROUGH, Algebra, Decision, is_thorough
from exactattn.laws.proof import Proof, depends_on, self_attention


class ConcatOutput:
    """Concatenating the heads and multiplying by W_O is a sum over heads; no head depends on another.

    Statement: [C_1, ..., C_H] W_O = sum_h C_h W_O[h], where W_O[h] are the rows of W_O that meet head h; and context
    C_h contains X and the projections of head h only, so heads can be computed in any order, or at once.
    Derivation: a product with a matrix cut into blocks: the sum over the H d_v columns of the concatenation is the sum
    over heads of the sums over each head's d_v columns. Independence is read off the formula of C_h.
    Shapes: C_h is n x d_v, the concatenation n x H d_v, W_O is H d_v x d_model. H d_v = d_model only if so chosen.
    Source: Vaswani et al. 2017 (arXiv 1706.03762), section 3.2.2.
    """

    name = "concat-output"
    statement = "[C_1, ..., C_H] W_O = sum_h C_h W_O[rows of head h]; heads do not depend on each other"
    options = THOROUGH

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides it for two and three heads of any contexts, and for two heads of attention."""
        shapes = [(2, 2, 2), (3, 1, 2)] + ([(4, 2, 2), (3, 3, 3)] if is_thorough(self, options) else [])
        proof = Proof(algebra())
        for heads, d_v, d_model in shapes:
            _show_blocks(proof, heads, d_v, d_model)
        _show_independent(proof)
        return proof.decision(
            self.statement,
            [f"H={H}, n=2, d_v={d_v}, d_model={d_model}" for H, d_v, d_model in shapes]
            + ["attention: H=2, n=2, d_model=2, d_k=d_v=1"],
            "for all contexts and W_O at the stated sizes, by algebra; for every size by cutting the sum at the heads",
            {"output": "sum_h C_h W_O[h*d_v:(h + 1)*d_v]"},
        )


def _show_blocks(proof: Proof, heads: int, d_v: int, d_model: int) -> None:
    """The sum over heads for any contexts."""
    ar = proof.ar
    contexts = [ar.symbols(f"C{h}_", 2, d_v) for h in range(heads)]
    W = ar.symbols("W", heads * d_v, d_model)
    what = f"{heads} heads, d_v={d_v}, d_model={d_model}"
    proof.equal(f"{what}: concat W_O = sum_h C_h W_O[h]", ar.matmul(ar.join(contexts), W), _by_head(ar, contexts, W))


def _by_head(ar: Any, contexts: list[Any], W: Any) -> Any:
    """sum_h C_h W_O[h]."""
    total, start = None, 0
    for context in contexts:
        part = ar.matmul(context, ar.rows(W, start, start + context.shape[1]))
        total, start = part if total is None else ar.add(total, part), start + context.shape[1]
    return total


def _show_independent(proof: Proof) -> None:
    """Attention with two heads: the output is the sum over heads; what each context contains."""
    ar = proof.ar
    out = stages(self_attention(2, 2, 1, 1, heads=2), ar)
    contexts = [out[Stage.CONTEXT, h] for h in range(2)]
    by_head = _by_head(ar, contexts, ar.symbols("O", 2, 2))
    proof.equal("attention, 2 heads: output = sum_h C_h W_O[h]", out[Stage.OUTPUT, 0], by_head)
    for own in range(2):
        heads = {name[1] for name in depends_on(ar, contexts[own].flat) if "_" in name}
        text = f"attention, 2 heads: the context of head {own} contains the projections of head {own} and no other"
        proof.checked(text, "the symbols it contains", heads == {str(own)})


LAW = ConcatOutput()

"""Law `orientation`."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.proof import Proof


class Orientation:
    """C W_O and W_O C are different formulas: they force different shapes, and differ even where both have a value.

    Statement: let C be a row, 1 x m. C W_O has a value only for W_O of shape m x d and is 1 x d. W_O C has a value only
    for W_O with one column and is then d x m: for m > 1 no output vector. With the column C^T, W_O C^T needs d x m
    and is d x 1; it is the output (as a column) of C W_O^T. For square W_O both have a value; W_O C^T = (C W_O)^T for
    all C exactly when W_O is symmetric, as for the identity.
    Derivation: shapes: a x b times c x d needs b = c. (C W)^T = W^T C^T. The difference (W - W^T) C^T has as its
    coefficients at C_j column j of W - W^T; it is 0 for all C exactly when W = W^T.
    """

    name = "orientation"
    statement = "C W_O and W_O C^T differ unless W_O is symmetric; W_O C with a row C needs W_O with one column"
    options = THOROUGH | {"reading": "C W_O, or W_O C: is that the output of a row C under a W_O of shape m x d?"}

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Decides shapes up to 3 by trying them, the identity for 2 x 2 and 2 x 3 (thorough: 3 x 3)."""
        shapes = [(2, 2), (2, 3)] + ([(3, 3)] if is_thorough(self, options) else [])
        proof = Proof(algebra())
        _show_shapes(proof)
        for m, d in shapes:
            C, W = proof.ar.symbols("C", 1, m), proof.ar.symbols("W", m, d)
            proof.equal(f"W_O {m} x {d}: (C W_O)^T = W_O^T C^T", proof.ar.matmul(C, W).T, proof.ar.matmul(W.T, C.T))
        _show_symmetric(proof)
        row, column = _counterexample(proof)
        text = f"C = [1, 2], W_O = [[0, 1], [0, 0]]: C W_O = {row}, W_O C^T = {column}^T"
        wrong = choice(options, "reading", "C W_O", "W_O C") == "W_O C"
        return proof.decision(
            "the output of a row C is W_O C" if wrong else self.statement,
            ["shapes 1 x m, a x b for m, a, b <= 3"] + [f"m={m}, d={d}" for m, d in shapes],
            "for all C and W_O at the stated sizes, by algebra; for every size by the rule of shapes "
            "and (C W)^T = W^T C^T",
            {
                "C W_O": "1 x m times m x d = 1 x d",
                "W_O C": "d x 1 times 1 x m = d x m",
                "W_O C^T": "d x m times m x 1 = d x 1",
                "counterexample": text,
            },
            f"a row C of 1 x m, m > 1, and W_O of m x d: W_O C has no value; with the column C^T, {text}"
            if wrong and row != column
            else None,
            "the output of a row C is C W_O; as a column it is W_O^T C^T",
        )


def _show_shapes(proof: Proof) -> None:
    """Which products have a value, by trying all shapes up to 3."""
    ar, by = proof.ar, "trying all shapes up to 3"
    after, before = [], []
    for m, a, b in product(range(1, 4), repeat=3):
        C, W = ar.symbols("C", 1, m), ar.symbols("W", a, b)
        after.append(_shape(ar, C, W) == ((1, b) if a == m else None))
        before.append(_shape(ar, W, C) == ((a, m) if b == 1 else None))
    proof.checked("C 1 x m: C W_O has a value exactly when W_O has m rows, and is a row", by, all(after))
    proof.checked("C 1 x m: W_O C has a value exactly when W_O has one column; it is d x m", by, all(before))


def _shape(ar: object, a: object, b: object) -> tuple[int, ...] | None:
    """The shape of a product, None when there is none."""
    try:
        return tuple(ar.matmul(a, b).shape)  # type: ignore[attr-defined]
    except ValueError:
        return None


def _show_symmetric(proof: Proof) -> None:
    """For which 2 x 2 W_O both readings agree for all C."""
    ar, sp = proof.ar, proof.ar.algebra.sp
    C, W = ar.symbols("C", 1, 2), ar.symbols("W", 2, 2)
    difference = (ar.matmul(W, C.T) - ar.matmul(C, W).T)[:, 0]
    coefficients = np.array([[sp.expand(x).coeff(c) for c in C[0]] for x in difference], dtype=object)
    proof.equal("2 x 2: W_O C^T - (C W_O)^T has the coefficients W_O - W_O^T in C", coefficients, W - W.T)
    symmetric = {W[1, 0]: W[0, 1]}
    zero = np.array([sp.sympify(x).xreplace(symmetric) for x in difference], dtype=object)
    proof.equal("2 x 2: it is 0 for all C when W_O is symmetric", zero, 0)


def _counterexample(proof: Proof) -> tuple[list[int], list[int]]:
    """C W_O and W_O C^T for C = [1, 2], W_O = [[0, 1], [0, 0]]."""
    ar = proof.ar
    zero, one, two = (Fraction(i) for i in range(3))
    C, W = ar.lift(((one, two),)), ar.lift(((zero, one), (zero, zero)))
    row, column = [int(x) for x in ar.matmul(C, W)[0]], [int(x) for x in ar.matmul(W, C.T)[:, 0]]
    proof.checked("C = [1, 2], W_O = [[0, 1], [0, 0]]: the readings differ", "exact rationals", row != column)
    return row, column


LAW = Orientation()

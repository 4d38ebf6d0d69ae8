"""Check `formulas`: do the shapes of a claimed formula fit for all sizes, and does it compute what it names?"""

from __future__ import annotations

from collections.abc import Iterable

from exactattn.bench import Bench
from exactattn.claims import UNREADABLE, UNREADABLE_TEXT
from exactattn.findings import Finding


class Formulas:
    """`formula: C_i = sum_j a_ij V_j`, with shapes, means and other ways to read it as further keys."""

    name = "formulas"
    CODES = {
        "EA205": "A formula whose shapes do not fit: a product (a x b)(c x d) needs b = c, a sum and an equation equal "
        "shapes, for all sizes at once. The evidence says what the sizes would be forced to be, which near formula "
        "fits (another order, a transpose, a missing index) and computes the right thing, and shows with small "
        "integers that the orders differ.",
        "EA206": "What a formula computes, compared element by element with the definition of attention. It holds when "
        "SymPy shows that the difference cancels to 0 at the stated small sizes, for all inputs and every d_k in the "
        "scale; it fails with the smallest example of integers that was found; a formula that names no stage of "
        "attention is not compared.",
        "EA207": "One symbol is given two formulas with different values (or shapes) in one text, so what later "
        "formulas mean by it depends on which one is read.",
        UNREADABLE: UNREADABLE_TEXT,
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding a claim, and one more where a symbol is defined again."""
        if not any(bench.claims_of("formula")):
            return ()
        from exactattn.claims.formulas import FormulaClaims  # the language of formulas is read only where one stands

        return FormulaClaims(self).run(bench)


CHECK = Formulas()

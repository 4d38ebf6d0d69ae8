"""Law `scale-convention`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exactattn.errors import UsageError
from exactattn.laws.formulas import ORDER, compare, counterexample, ordered, read, size, variable
from exactattn.laws.law import THOROUGH, Algebra, Decision, choice, is_thorough
from exactattn.laws.proof import Proof
from exactattn.numbers.enclosure import Answer

ROOT_HEAD, ROOT_MODEL = "1/sqrt(d_k)", "1/sqrt(d_model)"


class ScaleConvention:
    """1/sqrt(d_model) is 1/sqrt(d_k) only for one head; which scale is right is what the document declares.

    Statement: with d_model = H d_k, 1/sqrt(d_k) = sqrt(H) * 1/sqrt(d_model): the two scales are equal for one head
    only. 1/d_k = 1/sqrt(d_k) * 1/sqrt(d_k): equal for d_k = 1 only. A scale is a convention: a document that declares
    1/d_k and uses 1/d_k is right by its own declaration, and one that declares 1/sqrt(d_k) and uses 1/d_k is not.
    Derivation: sqrt(H d_k) = sqrt(H) sqrt(d_k).
    """

    name = "scale-convention"
    statement = "1/sqrt(d_k) is sqrt(H) times 1/sqrt(d_model) for H heads of d_model = H d_k; equal for one head only"
    options = THOROUGH | {
        "declared": "the scale that the document declares, in sizes; 1/sqrt(d_k) if not given",
        "used": "the scale that is used, in sizes; d_model is H d_k",
        "heads": "how many heads: a number, or several (two or more); any number if not given",
        "claims": "same, or differ (for all sizes): how the two are said to be",
        "factor": "what declared divided by used is claimed to be, in sizes",
    }

    def decide(self, algebra: Algebra, **options: str) -> Decision:
        """Compares declared and used scale by algebra, for all sizes or at stated ones."""
        proof, _ = Proof(algebra()), is_thorough(self, options)
        ratio = _scale(proof, ROOT_HEAD, {}) / _scale(proof, ROOT_MODEL, {})
        proof.equal("d_model = H d_k: 1/sqrt(d_k) = sqrt(H) * 1/sqrt(d_model)", ratio, read(proof, "sqrt(H)"))
        shapes, scope = (
            ["every d_k and H"],
            "for every size, by algebra; d_model = H d_k",
        )
        asked = options.keys() - {"thorough"}
        if not asked:
            return proof.decision(self.statement, shapes, scope, {"1/sqrt(d_k)": "sqrt(H)/sqrt(d_model)"})
        if "used" not in asked:
            raise UsageError("found no scale that is used, wanted `used: 1/sqrt(d_model)` or another")
        declared, used = str(options.get("declared", ROOT_HEAD)), str(options["used"])
        several = str(options.get("heads", "")).strip() == "several"
        heads = {} if several or "heads" not in options else dict(size({"H": options["heads"]}, "H"))
        sides = [_scale(proof, text, heads) for text in (used, declared)]
        factor = read(proof, options.get("factor", "1"), heads)
        if 0 in (*sides, factor):
            raise UsageError("found 0 as a scale or factor, wanted one above 0")
        if several:
            H = variable(proof, "H")
            sides, factor = [side.xreplace({H: H + 1}) for side in sides], factor.xreplace({H: H + 1})
        claim = choice(options, "claims", "same", "differ")
        about = ", several heads" if several else f", H = {options['heads']}" if "heads" in options else ""
        ratio = proof.ar.algebra.sp.cancel(sides[1] / sides[0])
        if "factor" in options:
            text = f"the declared scale {declared} divided by {used} is {options['factor']}{about}"
            found = compare(proof, text, ratio, factor)
        elif claim == "same":
            text = f"the scale {used} is the declared {declared}{about}"
            found = compare(proof, text, *sides)
        else:
            text = f"the scale {used} differs from the declared {declared} for all sizes{about}"
            found = _differ(proof, text, sides, ratio)
        right = f"the declared scale {declared} is {ratio} times {used}{about}{' (H + 1 of them)' if several else ''}"
        scope += f"; the counterexample is the first among {ORDER}" if found else ""
        return proof.decision(text, shapes, scope, {"declared/used": str(ratio)}, found, right)


def _scale(proof: Proof, text: str, heads: Mapping[str, Any]) -> Any:
    """A scale as a SymPy expression in d_k and H."""
    product = read(proof, "H*d_k", heads)
    return read(proof, text, heads).xreplace({variable(proof, "d_model"): product})


def _differ(proof: Proof, text: str, sides: list[Any], ratio: Any) -> str | None:
    """Adds the step that two scales differ for all sizes; the smallest sizes at which they do not, as text.

    Proof: two numbers differ where the square of their quotient is not 1.
    """
    answer = ordered(proof, proof.ar.algebra.sp.cancel(ratio**2), 1, "!=")
    found = None if answer is Answer.YES else counterexample(proof, sides[0], sides[1], "!=", ())
    answer = answer if found is None else Answer.NO
    proof.add(text, "SymPy: the square of their quotient is above 1 or below 1 for all sizes", answer)
    return found


LAW = ScaleConvention()

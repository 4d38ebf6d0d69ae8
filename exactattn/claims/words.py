"""How claims of the kind `reading` are judged: words about scale, base or mask against the stated formula."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from exactattn.attention.formula_tree import Symbol
from exactattn.attention.spec import AttentionSpec, Problem
from exactattn.bench import Bench, Check
from exactattn.claims import judged, only
from exactattn.errors import ExactattnError, UsageError, close
from exactattn.findings import Claim, Finding, Verdict
from exactattn.numbers.enclosure import Answer, significant
from exactattn.numbers.exact import Exact, name, names_in, power
from exactattn.truth.formula_claims import read_claim, spec_of
from exactattn.truth.readings import (
    EXAMPLE_SIZES,
    EXAMPLE_TEXT,
    USUAL_SCALE,
    agreeing_widths,
    same_base,
    same_scale,
    scale_of,
    under,
    variance,
    weights_and_entropies,
)
from exactattn.truth.statements import STAGES

MOST_SCORES = 400  # of a problem whose weights are evidence; of a larger one the stated example is
_FIELDS = ("scale", "base", "causal", "against")


class WordClaims:
    """`reading: WORDS`, with what they say (`scale`, `base`, `causal`) and `against`: a stage, a claim or a formula."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding a claim."""
        return judged(self.check, bench, "reading", lambda claim: self._judge(bench, claim))

    def _judge(self, bench: Bench, claim: Claim) -> Iterator[Finding]:
        only(claim, "reading", _FIELDS)
        if not {"scale", "base", "causal"} & claim.fields.keys():
            raise UsageError("a reading needs what the words say: scale, base or causal")
        stated, source = _stated(bench, claim)
        said = replace(stated, **_said(bench, claim))
        answers = _compared(bench, stated, said)
        same = Answer.every(*answers.values())
        verdict = {Answer.YES: Verdict.HOLDS, Answer.NO: Verdict.FAILS}.get(same, Verdict.UNDECIDED)
        evidence = _evidence(bench, stated, said) if verdict is not Verdict.HOLDS else {}
        yield bench.finding(
            self.check,
            "EA204",
            claim.id,
            verdict,
            _message(bench, claim, (stated, said), source, same, evidence),
            reason={Verdict.HOLDS: "same", Verdict.FAILS: "contradiction"}.get(verdict),
            where=claim.where,
            words=claim.text,
            said=_spell(said),
            stated=_spell(stated),
            stated_by=source,
            same={key: answer.value for key, answer in answers.items()},
            **evidence,
        )


def _said(bench: Bench, claim: Claim) -> dict[str, Any]:
    """What the words change."""
    fields = {key: claim.fields[key] for key in ("scale", "base", "causal") if key in claim.fields}
    natural = str(fields.get("base")) == "e"
    spec = spec_of({key: x for key, x in fields.items() if not (key == "base" and natural)}, bench.the_problem)
    return {key: None if key == "base" and natural else getattr(spec, key) for key in fields}


def _stated(bench: Bench, claim: Claim) -> tuple[AttentionSpec, str]:
    """The spec that the words are held against, and who states it."""
    against = str(claim.fields.get("against", "scaled"))
    formulas = {other.id: other for other in bench.claims_of("formula")}
    spec = spec_of({}, bench.the_problem)
    if against in formulas:
        return _by_formula(bench, formulas[against]), f"claim {against}"
    if "=" in against:
        return _by_formula(bench, Claim(claim.id, "formula", {"formula": against})), against
    if against not in STAGES:
        raise UsageError(f"against: {against!r} is no stage and no formula claim{close(against, [*STAGES, *formulas])}")
    if bench.the_problem is not None:
        return spec, "the problem"
    for other in reversed(list(formulas.values())):
        try:
            found = _by_formula(bench, other)
        except ExactattnError:
            continue
        if found.scale is not None and names_in(found.scale):
            return found, f"claim {other.id}"
    return spec, "the usual definition"


def _by_formula(bench: Bench, claim: Claim) -> AttentionSpec:
    """The spec whose scale a formula for scores states."""
    formula, notation, spec = read_claim(claim.fields, bench.the_problem)
    if not isinstance(formula.left, Symbol) or notation.source(formula.left.base) not in ("scaled", "scores"):
        raise UsageError(f"{formula.plain} is not a formula for scores")
    return replace(spec, scale=scale_of(formula, notation, spec))


def _compared(bench: Bench, stated: AttentionSpec, said: AttentionSpec) -> dict[str, Answer]:
    sizes: dict[str, Exact] = {} if bench.the_problem is None else dict(bench.the_problem.names)
    return {
        "scale": same_scale(_scale(said), _scale(stated), sizes),
        "base": same_base(said.base, stated.base),
        "causal": Answer.known(said.causal == stated.causal, said.causal != stated.causal),
    }


def _scale(spec: AttentionSpec) -> Exact:
    return USUAL_SCALE if spec.scale is None else spec.scale


def _spell(spec: AttentionSpec) -> dict[str, str]:
    scale = "1/sqrt(d_k)" if spec.scale is None else _plain(spec.scale)
    return {"scale": scale, "base": "e" if spec.base is None else str(spec.base), "causal": spec.causal}


def _plain(scale: Exact) -> str:
    """A scale as people write it."""
    known = {USUAL_SCALE: "1/sqrt(d_k)", power(name("d_k"), Fraction(-1)): "1/d_k"}
    return known.get(scale, str(scale))


def _evidence(bench: Bench, stated: AttentionSpec, said: AttentionSpec) -> dict[str, Any]:
    """Weights and entropies under both, and the variances when the scales differ."""
    data = _data(bench)
    found: dict[str, Any] = {"data": "the problem" if data is not None else EXAMPLE_TEXT}
    try:
        problems = {"said": under(data, said), "stated": under(data, stated)}
    except UsageError:  # a scale in sizes that are not known here
        problems = {}
    rows = {key: weights_and_entropies(problem, bench.digits) for key, problem in problems.items()}
    found["weights"] = {key: weights for key, (weights, _) in rows.items()}
    found["entropy"] = {key: entropy for key, (_, entropy) in rows.items()}
    a, b = _scale(said), _scale(stated)
    if names_in(a) <= {"d_k"} and names_in(b) <= {"d_k"} and same_scale(a, b, EXAMPLE_SIZES) is not Answer.YES:
        found["variance"] = {"said": variance(a), "stated": variance(b), "unscaled": str(name("d_k"))}
        found["law"] = "score-variance"
        if names_in(a) or names_in(b):
            found["agree_for_d_k"] = agreeing_widths(a, b)
    return found


def _data(bench: Bench) -> Problem | None:
    """The problem whose weights are evidence; None for the stated example."""
    problem = bench.the_problem
    if problem is None or problem.lengths[0] * problem.lengths[1] * len(problem.heads) > MOST_SCORES:
        return None
    return problem


def _message(
    bench: Bench,
    claim: Claim,
    specs: tuple[AttentionSpec, AttentionSpec],
    source: str,
    same: Answer,
    evidence: dict[str, Any],
) -> str:
    stated, said = (_spell(spec) for spec in specs)
    keys = [key for key in said if said[key] != stated[key]] or [k for k in said if k in claim.fields]
    says = ", ".join(f"{key} {said[key]}" for key in keys)
    other = ", ".join(f"{key} {stated[key]}" for key in keys)
    start = f"{claim.text!r} ({says}) against {source} ({other})"
    if same is Answer.YES:
        return f"{start}: the same function"
    if same is Answer.CANNOT_TELL:
        return f"{start}: could not be decided"
    parts = [f"{start}: not the same function"]
    if "agree_for_d_k" in evidence:
        widths = ", ".join(map(str, evidence["agree_for_d_k"])) or "none"
        parts[0] += f" (equal for d_k = {widths} of 1 to 64)"
    if "variance" in evidence:
        variances = evidence["variance"]
        parts.append(f"it makes Var(q.k) = d_k into {variances['said']} instead of {variances['stated']}")
    return "; ".join([*parts, _numbers(bench, evidence)])


def _numbers(bench: Bench, evidence: dict[str, Any]) -> str:
    """The first row whose weights differ."""
    said, stated = (evidence["weights"].get(key, []) for key in ("said", "stated"))
    row = next((i for i, (a, b) in enumerate(zip(said, stated, strict=False)) if a != b), None)
    if row is None:
        return f"the weights of {evidence['data']} do not differ" if said else "the sizes it names are not known here"
    a, b = (", ".join(_short(x, 8) for x in rows[row]) for rows in (said, stated))
    entropies = [_short(evidence["entropy"][key][row], 5) for key in ("said", "stated")]
    where = f"row {row} of the weights" if _data(bench) is not None else f"for {evidence['data']} the weights"
    return f"{where} would be {a} instead of {b}, the entropy {entropies[0]} instead of {entropies[1]}"


def _short(text: str, digits: int) -> str:
    """A number of the evidence in fewer digits."""
    short = text if text == "?" else significant(Fraction(text), digits)
    return short.rstrip("0").rstrip(".") if "." in short and "e" not in short else short

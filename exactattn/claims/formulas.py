"""How claims of the kind `formula` are judged: do the shapes fit for all sizes, and is it what it names?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from exactattn.attention.dimensions import Shape, spell_shape
from exactattn.attention.formula_tree import Formula, Symbol, spell, symbols
from exactattn.attention.shapes import Misfit, fit
from exactattn.attention.spec import AttentionSpec
from exactattn.attention.symbols import Notation
from exactattn.bench import Bench, Check
from exactattn.claims import only, unreadable
from exactattn.errors import ExactattnError
from exactattn.findings import Claim, Finding, Level, Verdict
from exactattn.truth.formula_claims import FIELDS, read_claim
from exactattn.truth.formula_repairs import Repair, forced, missing_indices, numbers, other_orders, repairs
from exactattn.truth.formulas import Outcome, compare


@dataclass(frozen=True, slots=True)
class _Done:
    """One formula and what became of it, or of the nearest one that fits (verdict None: none does).

    `meant` is the stage that its left side was compared with.
    """

    claim: Claim
    formula: Formula
    shape: Shape | None
    verdict: Verdict | None
    meant: str | None


class FormulaClaims:
    """`formula: C_i = sum_j a_ij V_j`, with shapes, means and other ways to read it as further keys."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def run(self, bench: Bench) -> Iterator[Finding]:
        """One finding a claim, and one more where a symbol is defined again."""
        done: list[_Done] = []
        for claim in bench.claims_of("formula"):
            try:
                finding, result = self._judge(bench, claim)
            except ExactattnError as error:
                yield unreadable(self.check, bench, claim, error)
                continue
            yield finding
            yield from self._again(bench, result, done)
            done.append(result)

    def _judge(self, bench: Bench, claim: Claim) -> tuple[Finding, _Done]:
        only(claim, "formula", FIELDS)
        formula, notation, spec = read_claim(claim.fields, bench.the_problem)
        found = fit(formula, notation)
        if isinstance(found, Misfit):
            return self._misfit(bench, claim, formula, found, notation, spec)
        outcome, meant = compare(formula, notation, spec)
        finding = bench.finding(
            self.check,
            "EA206",
            claim.id,
            outcome.verdict,
            _says(formula, outcome, meant),
            level=Level.NOTE if outcome.verdict is Verdict.NOT_RUN else Level.ERROR,
            reason={Verdict.HOLDS: "proven", Verdict.FAILS: "meaning"}.get(outcome.verdict),
            where=claim.where,
            formula=formula.text,
            shape=spell_shape(found),
            shapes=_shapes(formula, meant),
            means=_means(formula, meant),
            spec={"scale": str(spec.scale or "1/sqrt(d_k)"), "base": str(spec.base or "e"), "causal": spec.causal},
            sizes=dict(outcome.sizes),
            by=outcome.how,
            counterexample=outcome.example,
        )
        return finding, _Done(claim, formula, found, outcome.verdict, _left_means(formula, meant))

    def _misfit(
        self, bench: Bench, claim: Claim, formula: Formula, misfit: Misfit, notation: Notation, spec: AttentionSpec
    ) -> tuple[Finding, _Done]:
        near = repairs(formula, misfit, notation, spec)
        missing = missing_indices(formula, notation)
        finding = bench.finding(
            self.check,
            "EA205",
            claim.id,
            Verdict.FAILS,
            _misfit_says(formula, misfit, missing, near),
            reason="shape",
            where=claim.where,
            formula=formula.text,
            shapes=_shapes(formula, notation),
            misfit={"left": _part(misfit.left), "right": _part(misfit.right), "kind": misfit.kind},
            needs=misfit.needs,
            forced=forced(misfit),
            missing_indices=missing,
            orders=other_orders(misfit, notation),
            repairs=[_repair(repair) for repair in near],
            numbers=numbers(misfit),
        )
        best = near[0] if near else None
        shape = None if best is None else fit(best.formula, best.notation)
        return finding, _Done(
            claim,
            formula,
            None if isinstance(shape, Misfit) else shape,
            None if best is None else best.outcome.verdict,
            _left_means(formula, notation if best is None else best.notation),
        )

    def _again(self, bench: Bench, now: _Done, before: list[_Done]) -> Iterator[Finding]:
        """The note on a symbol that has another formula already."""
        for earlier in before:
            if not isinstance(now.formula.left, Symbol) or earlier.formula.left != now.formula.left:
                continue
            how = _differ(earlier, now)
            if how is None:
                continue
            name = spell(now.formula.left)
            yield bench.finding(
                self.check,
                "EA207",
                f"{now.claim.id}:again",
                Verdict.FAILS,
                f"{name} is defined twice, {how}: {earlier.formula.plain} ({earlier.claim.id}) and {now.formula.plain} "
                f"({now.claim.id}); what later formulas mean by {name} depends on which one is read",
                level=Level.NOTE,
                reason="defined-twice",
                where=now.claim.where,
                symbol=name,
                formulas={earlier.claim.id: earlier.formula.text, now.claim.id: now.formula.text},
            )
            return


def _differ(a: _Done, b: _Done) -> str | None:
    """How two formulas for one symbol differ; None when they are known to agree, or not known to differ."""
    if a.formula.right == b.formula.right:
        return None
    if a.shape is not None and b.shape is not None and a.shape != b.shape:
        return f"once {spell_shape(a.shape)} and once {spell_shape(b.shape)}"
    if (a.verdict, b.verdict) == (Verdict.HOLDS, Verdict.HOLDS):
        return None if a.meant == b.meant else f"with different values (the stages {a.meant} and {b.meant})"
    one_right = {a.verdict, b.verdict} == {Verdict.HOLDS, Verdict.FAILS} and a.meant == b.meant
    return "with different values" if one_right else None


def _says(formula: Formula, outcome: Outcome, notation: Notation) -> str:
    sizes = ", ".join(f"{size}={value}" for size, value in outcome.sizes.items())
    meant = _left_means(formula, notation)
    what = formula.plain + ("" if meant is None else f" (compared with stage {meant})")
    if outcome.verdict is Verdict.HOLDS:
        return f"{what}: holds for all inputs at {sizes}, by {outcome.how}"
    if outcome.verdict is Verdict.FAILS and outcome.example is not None:
        return f"{what}: fails: {_example(outcome.example)}"
    if outcome.verdict is Verdict.NOT_RUN:
        return f"{formula.plain}: the shapes fit; the meaning was not compared: {outcome.how}"
    return f"{what}: {outcome.how}"


def _example(example: Mapping[str, Any]) -> str:
    inputs = ", ".join(f"{name} = {_matrix(rows)}" for name, rows in example["inputs"].items())
    places = [f"{letter} = {place}" for letter, place in example["at"].items()]
    if example["component"]:
        places.append(f"element ({', '.join(map(str, example['component']))})")
    at = f" at {', '.join(places)}" if places else ""
    return f"with {inputs} the left side{at} is {example['left']}, the right side {example['right']}"


def _matrix(rows: list[list[str]]) -> str:
    return "[" + ", ".join(f"[{', '.join(row)}]" for row in rows) + "]"


def _misfit_says(formula: Formula, misfit: Misfit, missing: list[str], near: list[Repair]) -> str:
    parts = [f"{formula.plain}: {misfit.message}"]
    if misfit.kind == "result" and misfit.needs:
        parts[0] += f" (needs {misfit.needs})"
    if forced(misfit):
        parts[0] += f", and then it is {forced(misfit)}"
    for index in missing:
        parts.append(f"the index {index} does not occur on the right side")
    if near:
        best = near[0]
        verdict = "and computes it" if best.right else "but does not compute it"
        parts.append(f"{best.formula.text} ({best.what}) fits the left side {verdict}")
    shown = numbers(misfit)
    if shown is not None:
        given, results = list(shown.items())[:2], list(shown.items())[2:]
        parts.append(
            f"with {' and '.join(f'{k} = {v}' for k, v in given)}: {results[0][0]} = {results[0][1]}, "
            f"{results[1][0]} = {results[1][1]}^T"
        )
    return "; ".join(parts)


def _repair(repair: Repair) -> dict[str, Any]:
    return {"formula": repair.formula.text, "what": repair.what, "verdict": str(repair.outcome.verdict)}


def _part(part: tuple[str, Shape]) -> dict[str, str]:
    return {"text": part[0], "shape": spell_shape(part[1])}


def _used(formula: Formula) -> list[Symbol]:
    return list(dict.fromkeys([*symbols(formula.left), *symbols(formula.right)]))


def _shapes(formula: Formula, notation: Notation) -> dict[str, str]:
    slots = [(symbol, notation.slot(symbol)) for symbol in _used(formula)]
    return {spell(symbol): spell_shape(slot.shape) for symbol, slot in slots if not slot.is_size}


def _means(formula: Formula, notation: Notation) -> dict[str, str]:
    slots = [(symbol, notation.slot(symbol)) for symbol in _used(formula)]
    return {spell(symbol): slot.source for symbol, slot in slots if slot.source is not None and not slot.is_size}


def _left_means(formula: Formula, notation: Notation) -> str | None:
    return notation.slot(formula.left).source if isinstance(formula.left, Symbol) else None

"""Claims of the kind `law`: one of the statements about all inputs, decided by exact algebra at stated shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from exactattn import plugins
from exactattn.bench import Bench
from exactattn.claims import OWN_FIELDS, UNREADABLE, UNREADABLE_TEXT, judged
from exactattn.errors import UsageError
from exactattn.findings import Claim, Finding, Verdict
from exactattn.laws.law import Step, only_its_own
from exactattn.numbers.enclosure import Answer


class ClaimedLaws:
    """`law: NAME`, with the options of the law as further keys."""

    name = "claimed-laws"
    CODES = {
        "EA201": "A law: one statement about all inputs. It was decided by exact algebra (SymPy) for the shapes and in "
        "the scope that the evidence states, and for nothing more. When it fails, the counterexample is the smallest "
        "one that was found, and `corrected` says what is right instead. `exactattn prove NAME` prints the derivation.",
        UNREADABLE: UNREADABLE_TEXT,
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding a claim."""
        return judged(self, bench, "law", lambda claim: self._judge(bench, claim))

    def _judge(self, bench: Bench, claim: Claim) -> Iterator[Finding]:
        law = bench.law(claim.text)
        assumptions = _assumptions(claim)
        own = {key: x for key, x in claim.fields.items() if key not in (*OWN_FIELDS, "law", "assumptions")}
        if twice := sorted(own.keys() & assumptions.keys()):
            raise UsageError(f"found {twice[0]!r} beside the assumptions and among them, wanted it once")
        options, assumed = ({key: _as_text(x) for key, x in part.items()} for part in (own, assumptions))
        only_its_own(law, options | assumed)
        if (against := _against(bench, law.name)) is not None:
            yield bench.finding(
                self, "EA201", claim.id, Verdict.FAILS, f"{claim.text}: fails for this problem: {against}",
                reason="counterexample", where=claim.where, law=law.name, options=options, assumptions=assumed,
            )  # fmt: skip
            return
        decision = law.decide(plugins.get("engines", "symbolic").arithmetic, **options, **assumed)
        verb = {Verdict.HOLDS: "holds", Verdict.FAILS: "fails"}.get(decision.verdict, "could not be decided")
        message = f"{decision.statement}: {verb} ({decision.scope})"
        reason = "law" if decision.verdict is Verdict.HOLDS else None
        if decision.counterexample is not None:
            message += f"; counterexample: {decision.counterexample}"
            reason = "counterexample"
        if decision.corrected is not None:
            message += f"; right is: {decision.corrected}"
        yield bench.finding(
            self,
            "EA201",
            claim.id,
            decision.verdict,
            message,
            reason=reason,
            where=claim.where,
            law=law.name,
            options=options,
            assumptions=assumed,
            statement=decision.statement,
            shapes=list(decision.shapes),
            scope=decision.scope,
            by=list(dict.fromkeys(step.by for step in decision.steps)),
            steps=[_told(step) for step in decision.steps],
            counterexample=decision.counterexample,
            corrected=decision.corrected,
            values=dict(decision.values),
        )


SUNK = {
    "rows-sum-to-one": "it has sinks, which take a part of the sum and have no value: the weights of a row sum to less "
    "than 1, as every exponential is above 0",
    "convex-hull": "it has sinks, and weights of a sum below 1: with equal values v other than 0 the context is less "
    "than v, outside their hull",
    "shift-invariance": "it has sinks, which do not shift with the scores: a constant added to all scores of a row "
    "changes the share of the sink",
}


def _against(bench: Bench, law: str) -> str | None:
    """Why a law of plain attention fails for the options of this problem; None where none of them touches it."""
    problem = bench.the_problem
    return None if problem is None or problem.sinks is None else SUNK.get(law)


def _assumptions(claim: Claim) -> dict[str, Any]:
    """The options that stand under `assumptions`: under which the claim is made. Errors: UsageError when in words."""
    stated = claim.fields.get("assumptions", {})
    if not isinstance(stated, Mapping):
        raise UsageError(
            "found assumptions in words, wanted options of the law with their values, such as "
            "`assumptions: {mean_q: 0, variance_q: 1}`; words go under `says`"
        )
    return {str(key): x for key, x in stated.items()}


def _told(step: Step) -> str:
    """A step, with its answer where it is not yes."""
    return step.text if step.answer is Answer.YES else f"{step.text}: {step.answer.value}"


def _as_text(value: Any) -> str:
    """The value of an option as text; a list is written as statements write it: [1, 2]."""
    return f"[{', '.join(map(_as_text, value))}]" if isinstance(value, (list, tuple)) else str(value)


CHECK = ClaimedLaws()

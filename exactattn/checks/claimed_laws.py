"""Claims of the kind `law`: one of the statements about all inputs, decided by exact algebra at stated shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exactattn import plugins
from exactattn.bench import Bench
from exactattn.claims import OWN_FIELDS, UNREADABLE, UNREADABLE_TEXT, judged
from exactattn.findings import Claim, Finding, Verdict


class ClaimedLaws:
    """`law: NAME`, with the options of the law as further keys."""

    name = "claimed-laws"
    CODES = {
        "EA201": "A law: one statement about all inputs. It was decided by exact algebra (SymPy) for the shapes and in "
        "the scope that the evidence states, and for nothing more. When it fails, the counterexample is the smallest "
        "one that was found. `exactattn prove NAME` prints the derivation.",
        UNREADABLE: UNREADABLE_TEXT,
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding a claim."""
        return judged(self, bench, "law", lambda claim: self._judge(bench, claim))

    def _judge(self, bench: Bench, claim: Claim) -> Iterator[Finding]:
        law = bench.law(claim.text)
        options = {key: str(x) for key, x in claim.fields.items() if key not in (*OWN_FIELDS, "law")}
        decision = law.decide(plugins.get("engines", "symbolic").arithmetic, **options)
        verb = {Verdict.HOLDS: "holds", Verdict.FAILS: "fails"}.get(decision.verdict, "could not be decided")
        message = f"{decision.statement}: {verb} ({decision.scope})"
        reason = "law" if decision.verdict is Verdict.HOLDS else None
        if decision.counterexample is not None:
            message += f"; counterexample: {decision.counterexample}"
            reason = "counterexample"
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
            statement=decision.statement,
            shapes=list(decision.shapes),
            scope=decision.scope,
            by=list(dict.fromkeys(step.by for step in decision.steps)),
            steps=[step.text for step in decision.steps],
            counterexample=decision.counterexample,
            values=dict(decision.values),
        )


CHECK = ClaimedLaws()

"""Claims of the kind `uncheckable`: sentences that state nothing to check, listed with the reason, not left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exactattn.bench import Bench
from exactattn.claims import UNREADABLE, UNREADABLE_TEXT, judged
from exactattn.findings import Claim, Finding, Level, Verdict


class Uncheckable:
    """`uncheckable: SENTENCE`, with `why: REASON`."""

    name = "uncheckable"
    CODES = {
        "EA208": "A sentence of the source that no computation can confirm or refute, with the reason. It is listed "
        "so that nothing is left out in silence; it counts as not run.",
        UNREADABLE: UNREADABLE_TEXT,
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding a claim."""
        return judged(self, bench, "uncheckable", lambda claim: self._list(bench, claim))

    def _list(self, bench: Bench, claim: Claim) -> Iterator[Finding]:
        why = str(claim.fields.get("why", "no reason is given"))
        message = f"not checkable: {claim.text}: {why}"
        yield bench.finding(
            self,
            "EA208",
            claim.id,
            Verdict.NOT_RUN,
            message,
            level=Level.NOTE,
            reason="uncheckable",
            where=claim.where,
            claim=claim.text,
            why=why,
        )


CHECK = Uncheckable()

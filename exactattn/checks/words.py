"""Check `words`: claims of the kind `reading`: words about scale, base or mask against the formula stated elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from exactattn.bench import Bench
from exactattn.claims import UNREADABLE, UNREADABLE_TEXT
from exactattn.findings import Finding


class Words:
    """`reading: WORDS`, with what they say (`scale`, `base`, `causal`) and `against`: a stage, a claim or a formula."""

    name = "words"
    CODES = {
        "EA204": "Words about the formula, read as a scale, a base or a mask, against the formula that the same source "
        "states. They hold when both are the same function. When they are not, the evidence has the weights and the "
        "entropy under both, for the problem's own data or else for scores (1, 0, 1) at d_k = 2, and what each does to "
        "the variance of the scores (law score-variance).",
        UNREADABLE: UNREADABLE_TEXT,
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding a claim."""
        if not any(bench.claims_of("reading")):
            return ()
        from exactattn.claims.words import WordClaims  # the language of formulas is read only where one stands

        return WordClaims(self).run(bench)


CHECK = Words()

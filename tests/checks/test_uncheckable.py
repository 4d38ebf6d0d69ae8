"""Sentences with nothing to check are listed with the reason."""

from __future__ import annotations

from samples import by_id

from exactattn.bench import Bench
from exactattn.checks.uncheckable import CHECK
from exactattn.findings import Claim, Verdict


def test_it_is_listed_not_left_out():
    claim = Claim("s47", "uncheckable", {"uncheckable": "generalisation", "why": "no quantity is stated"})
    found = by_id(CHECK, Bench(claims=(claim,)))["s47"]
    assert (found.code, found.verdict, found.level) == ("EA208", Verdict.NOT_RUN, "note")
    assert "no quantity is stated" in found.message

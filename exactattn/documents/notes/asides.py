"""Sentences that set numbers apart from the problem (`another head`, `would be`), and those that look like claims."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import islice

from exactattn.documents.notes.model import DraftClaim, Noted
from exactattn.documents.notes.sentences import Sentence

MOST_LISTED = 100
_ASIDE = re.compile(
    r"\b(?:an)?other head\w*|\bdifferent head\w*|\brandom\w*|\buniform\w*|\btemperature\b|\bdropout\b"
    r"|\bwould (?:be|have|give|get)\b"
    r"|\bif (?:we|you) (?:had|did|were|do not|don't|use|add|drop|remove|forget)\b|\bhad we\b|\binstead of\b|\bwithout\b"
    r"|\blayer ?norm\w*|\bresidual\w*|\bskip connection|\bfeed-?forward|\bunscaled\b|\bunmasked\b"
    r"|\bcompare (?:this |it )?(?:with|to)\b|\bfor comparison\b"
    r"|\bhypothetical\w*|\bincorrect\w*|\bwrong\w*"
    r"|\bmistake\w*|\bnaively\b|\bcounter-?example\w*|\bTemperatur\b|\banderer Kopf|\bzufällig\w*|温度|随机|另一个头",
    re.IGNORECASE,
)
_CLAIM = re.compile(
    r"(?:permutation|order|translation|scale)[- ](?:in|equi)variant|\b(?:in|equi)variant\b|\bvariance\b"
    r"|\bVar\b|\bunbiased\b"
    r"|\bO\(|\\mathcal\{?O|\bcomplexity\b|\bquadratic\w*|\blinear(?:ly)? in\b|\bcosts?\b|\bFLOPs?\b"
    r"|\bmultiplications?\b|\bparameters\b"
    r"|\bmemory\b|\bdividing by\b|\bproportional\b|\bconverges?\b|\bbounded\b|\bat (?:most|least)\b"
    r"|\balways\b|\bnever\b|\bmonoton\w+"
    r"|\bthe same as\b|\bequivalent\b|\bdoes not (?:change|depend|affect)\b|\bconvex\b|\bgradient\b"
    r"|\bsaturat\w+|\bentropy\b"
    r"|\b(?:Varianz|Komplexität|quadratisch|proportional|äquivalent)\b|方差|复杂度|平方级|排列不变|等价",
    re.IGNORECASE,
)


def aside(sentence: Sentence | None) -> str | None:
    """The words of a sentence that set the numbers in it apart from the problem."""
    found = None if sentence is None else _ASIDE.search(sentence.text)
    return None if found is None else found[0]


def sentence_of(all_: Sequence[Sentence], offset: int) -> Sentence | None:
    """The sentence that a place belongs to; for a display or code, the unfinished one before it."""
    number = bisect_right(all_, offset, key=lambda sentence: sentence.low) - 1
    if number < 0:
        return None
    if offset < all_[number].high and not all_[number].prose:
        number -= 1
    before = all_[number] if number >= 0 else None
    if before is None or not before.prose:
        return None
    return before if offset < before.high or not before.text.rstrip().endswith((".", "。")) else None


def unread_claims(all_: Iterable[Sentence], claims: Iterable[DraftClaim]) -> list[Noted]:
    """The sentences that look like claims and became none."""
    places, offsets, out = [claim.place for claim in claims], list[int](), list[Noted]()
    for sentence in all_:
        if not offsets:
            starts = sentence.source.starts
            offsets = sorted(starts[place.line - 1] + place.column - 1 for place in places)
        found = _CLAIM.search(sentence.text) if sentence.prose else None
        if found is None:
            continue
        if bisect_left(offsets, sentence.low) == bisect_left(offsets, sentence.high):
            text = " ".join(sentence.text.split())
            says = f"it may be a claim ({found[0]!r}), and is of no kind that is read"
            out.append(Noted(sentence.at(0), f"the sentence '{text[:160]}'", says, understood=False))
    return list(islice(out, MOST_LISTED))

"""Sentences about attention that are claims of a known kind: rows that sum to 1, the scale told in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from exactattn.documents.notes.model import DraftClaim
from exactattn.documents.pasted.source import Source
from exactattn.findings import Place

_SUM = re.compile(
    r"(?:weights?|rows?|probabilit\w+|each row|they)[^.\n]{0,60}?"
    r"\b(?:sums?|adds?)(?: up)? to (?:1|one|unity)\b(?!\.[0-9])"
    r"|(?:权重|行)[^。\n]{0,20}和(?:为|等于|是)\s?1(?![.0-9])"
    r"|(?:Gewichte|Zeilen?)[^.\n]{0,60}"
    r"(?:summieren sich zu|ergeben zusammen|Summe)[^.\n]{0,12}(?:1|eins)\b(?![,.][0-9])",
    re.IGNORECASE,
)
_INVERSE_SIZE = re.compile(
    r"(?:键向量维度|d_k\$?)的倒数|(?:reciprocal|inverse) of (?:the )?(?:key dimension|dimension of the keys?|d_k)"
    r"|Kehrwert der Schlüsseldimension",
    re.IGNORECASE,
)
_ROOT = re.compile(
    r"键向量维度的(?:平方)?根号?|square[- ]root of (?:the )?(?:key dimension|dimension(?:ality)? of the keys?|d_k)"
    r"|(?:Quadratw|W)urzel (?:aus )?der Schlüsseldimension",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|never|don't|doesn't|nicht|without|unlike)\b|不", re.IGNORECASE)
MOST_SENTENCES = 20_000


def claims_in_words(source: Source, scaled: str | None) -> Iterator[DraftClaim]:
    """The claims that sentences make. `scaled` is what a scale in words is held against: a formula, or a stage."""
    kinds = ("sum", _SUM), ("1/d_k", _INVERSE_SIZE), ("1/sqrt(d_k)", _ROOT)
    seen: set[str] = set()
    for low, high in source.lines(0, len(source.text)):
        line = source.text[low : min(high, low + 4_000)]
        for kind, pattern in kinds:
            found = pattern.search(line)
            if found is None or kind in seen or _NOT.search(line[max(0, found.start() - 40) : found.end()]):
                continue
            says, place = _sentence(line, found), Place(*source.place(low + found.start()))
            if kind == "sum":
                seen.add(kind)
                yield DraftClaim({"law": "rows-sum-to-one", "says": says}, place)
            elif scaled is not None:
                seen.add(kind)
                fields = {"reading": found[0], "scale": kind, "against": scaled, "says": says}
                yield DraftClaim(fields, place)


def _sentence(line: str, found: re.Match[str]) -> str:
    begin = max(line.rfind(sign, 0, found.start()) for sign in ("。", ". ", "：", ": ")) + 1
    ends = [end for sign in ("。", ". ") if (end := line.find(sign, found.end())) >= 0]
    return " ".join(line[begin : min(ends, default=len(line))].split())[:200]

"""The words and marks around a number, and what they say.

Every phrase is peeled from one end of the text, longest first; a phrase of letters ends where its letters end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

APPROXIMATE = "~"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase: its mark, whether it means "about", and which decimal sign its language writes, where it tells."""

    mark: str
    approximate: bool = False
    decimal: str | None = None


def _phrases(mark: str, approximate: bool, decimal: str | None, *texts: str) -> dict[str, Phrase]:
    return dict.fromkeys(texts, Phrase(mark, approximate, decimal))


_BEFORE_WORDS: Mapping[str, Phrase] = {
    **_phrases("~", True, "point", "about", "around", "approximately", "approx.", "approx", "roughly", "some"),
    **_phrases("~", True, "point", "close to", "in the region of", "somewhere around", "more or less", "an estimated"),
    **_phrases("~", True, None, "circa", "ca.", "ca", "c.", "environ"),
    **_phrases(
        "<", True, "point", "just under", "just below", "slightly under", "slightly less than", "a little under"
    ),
    **_phrases("<", True, "point", "nearly", "almost", "slightly below", "a bit under", "a little less than"),
    **_phrases(">", True, "point", "just over", "just above", "slightly over", "slightly more than", "a little over"),
    **_phrases("<", False, "point", "less than", "fewer than", "under", "below"),
    **_phrases(">", False, "point", "more than", "greater than", "over", "above"),
    **_phrases("<=", False, "point", "at most", "up to", "no more than", "not more than"),
    **_phrases(">=", False, "point", "at least", "no less than", "not less than"),
    **_phrases("=", False, "point", "exactly", "equals", "is"),
    **_phrases("~", True, "point", "约等于", "约为", "大约为", "大约是", "大约", "大概", "大致", "大约等于", "约"),
    **_phrases("~", True, "point", "近似为", "近似", "接近", "差不多", "約", "約為", "大約", "約等於"),
    **_phrases("~", True, "point", "(approx.)", "(about)"),
    **_phrases("<", True, "point", "将近", "略低于", "略小于", "不到"),
    **_phrases(">", True, "point", "略高于", "略大于"),
    **_phrases("<", False, "point", "小于", "低于"),
    **_phrases(">", False, "point", "大于", "超过", "高于"),
    **_phrases("<=", False, "point", "至多", "最多", "不超过"),
    **_phrases(">=", False, "point", "至少", "不少于", "不低于"),
    **_phrases("=", False, "point", "等于", "为", "是"),
    **_phrases("~", True, "comma", "etwa", "ungefähr", "rund", "zirka", "in etwa"),
    **_phrases("<", True, "comma", "knapp", "fast", "beinahe", "knapp unter"),
    **_phrases(">", True, "comma", "gut", "etwas mehr als", "knapp über"),
    **_phrases("<", False, "comma", "weniger als", "unter"),
    **_phrases(">", False, "comma", "mehr als", "über"),
    **_phrases("<=", False, "comma", "höchstens", "maximal"),
    **_phrases(">=", False, "comma", "mindestens", "wenigstens"),
    **_phrases("=", False, "comma", "genau", "gleich"),
    **_phrases("~", True, "comma", "à peu près"),
}
_SIGNS: Mapping[str, Phrase] = {
    **_phrases("=", False, None, "==", "="),
    **_phrases("~", True, None, "≈", "~=", "~"),
    **_phrases("<=", False, None, "<=", "=<", "≤"),
    **_phrases(">=", False, None, ">=", "≥"),
    **_phrases("<", False, None, "<"),
    **_phrases("<", True, None, "≲"),
    **_phrases(">", True, None, "≳"),
    **_phrases(">", False, None, ">"),
}
_AFTER: Mapping[str, Phrase] = {
    **_phrases(
        "~", True, "point", "or so", "approximately", "approx.", "approx", "or thereabouts", "roughly", "左右", "上下"
    ),
    **_phrases("~", True, "point", "(approx.)", "(approximately)", "(rounded)", "-ish"),
    **_phrases(">=", False, "point", "or more", "以上"),
    **_phrases("<=", False, "point", "or less", "以下"),
}
BEFORE: Mapping[str, Phrase] = {**_BEFORE_WORDS, **_SIGNS}

SCALES: Mapping[str, int] = {
    **dict.fromkeys(("k", "K", "thousand", "thousands", "Tausend", "tausend", "千"), 10**3),
    **dict.fromkeys(("M", "million", "millions", "mln", "mn", "mio", "Mio", "Mio.", "Million", "Millionen"), 10**6),
    **dict.fromkeys(("billion", "billions", "bn", "Bn", "Milliarde", "Milliarden", "Mrd", "Mrd.", "milliard"), 10**9),
    **dict.fromkeys(("trillion", "trillions", "Billionen"), 10**12),
    "hundred": 100,
    "百": 100,
    "万": 10**4,
    "百万": 10**6,
    "千万": 10**7,
    "亿": 10**8,
    "十亿": 10**9,
    "百亿": 10**10,
    "千亿": 10**11,
    "万亿": 10**12,
    "million million": 10**12,
    "thousand million": 10**9,
}
UNITS: Mapping[str, int] = {
    **{f"{letter}B": 1000**power for power, letter in enumerate("KMGTP", 1)},
    **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGTP", 1)},
    **{f"{name}bytes": 1000**power for power, name in enumerate(("kilo", "mega", "giga", "tera", "peta"), 1)},
    **{f"{name}bytes": 1024**power for power, name in enumerate(("kibi", "mebi", "gibi", "tebi", "pebi"), 1)},
    **dict.fromkeys(("kB",), 1000),
    **dict.fromkeys(("byte", "bytes", "Bytes", "字节", "token", "tokens", "Tokens", "Token", "bit", "bits"), 1),
    **dict.fromkeys(("parameter", "parameters", "params", "Parameter", "weights", "ops", "operations", "entries"), 1),
    **dict.fromkeys(("multiplications", "additions", "FLOPs", "FLOPS", "flops", "numbers", "values", "words"), 1),
    **dict.fromkeys(("个参数", "参数", "个词", "个", "次", "次乘法", "次运算"), 1),
}
PERCENTS = ("per cent", "percent", "pct", "Prozent", "pour cent", "por ciento")
TWO_READINGS: Mapping[str, str] = {
    "B": "billion, or bytes; write `billion` or `bytes`",
    "Billion": "10^9 in English, 10^12 in German; write the number out",
    "兆": "10^6 or 10^12; write the number out",
    "G": "10^9, or gigabytes; write `billion` or `GB`",
    "T": "10^12, or terabytes; write `trillion` or `TB`",
    "Gb": "gigabits, or gigabytes; write `GB`",
    "Mb": "megabits, or megabytes; write `MB`",
    "kb": "kilobits, or kilobytes; write `kB`",
}


ByLast: TypeAlias = Mapping[str, tuple[str, ...]]


class Ends:
    """The range of a text that is left after phrases were peeled from its ends."""

    def __init__(self, text: str) -> None:
        self.text, self.low, self.high = text, 0, len(text)
        self.folded = text.casefold() if len(text.casefold()) == len(text) else text
        self.strip()

    def strip(self) -> None:
        """Drops white space at both ends."""
        while self.low < self.high and self.text[self.low].isspace():
            self.low += 1
        while self.low < self.high and self.text[self.high - 1].isspace():
            self.high -= 1

    @property
    def rest(self) -> str:
        """What is left."""
        return self.text[self.low : self.high]

    def before(self) -> Phrase | None:
        """Peels one phrase from the front."""
        for text, phrase in _BY_FIRST.get(self.folded[self.low : self.low + 1], ()):
            if self.folded.startswith(text, self.low, self.high) and not self._letters(text, self.low + len(text)):
                self.low += len(text)
                self.strip()
                return phrase
        return None

    def after(self) -> Phrase | None:
        """Peels one phrase from the back."""
        found = self.word(_LONGEST_AFTER, self.folded)
        return None if found is None else _AFTER[found]

    def word(self, known: ByLast, where: str | None = None) -> str | None:
        """Peels one of the words, longest first, from the back."""
        where = self.text if where is None else where
        for text in known.get(where[self.high - 1 : self.high], ()):
            start = self.high - len(text)
            if start > self.low and where.startswith(text, start, self.high) and not self._inside(text, start):
                self.high = start
                self.strip()
                return text
        return None

    def _letters(self, phrase: str, after: int) -> bool:
        """Does the word go on after the phrase?"""
        letter = phrase[-1]
        return letter.isascii() and letter.isalpha() and after < self.high and self.text[after].isalpha()

    def _inside(self, phrase: str, start: int) -> bool:
        """Is the phrase the end of a longer word?"""
        before = self.text[start - 1]
        return phrase[0].isascii() and phrase[0].isalpha() and before.isascii() and (before.isalpha() or before == "_")


def longest_first(words: Mapping[str, object] | tuple[str, ...]) -> tuple[str, ...]:
    """Longer words first, so that none hides another."""
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


def by_last(words: Mapping[str, object] | tuple[str, ...]) -> ByLast:
    """The words under their last characters."""
    out: dict[str, list[str]] = {}
    for word in longest_first(words):
        out.setdefault(word[-1], []).append(word)
    return {last: tuple(found) for last, found in out.items()}


_BY_FIRST: dict[str, list[tuple[str, Phrase]]] = {}
for _text in longest_first(BEFORE):
    _BY_FIRST.setdefault(_text[0], []).append((_text, BEFORE[_text]))
_LONGEST_AFTER = by_last(_AFTER)

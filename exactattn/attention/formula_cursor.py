"""A place among the words of a formula, and the small things that are read there: indices, bounds, exponents."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from exactattn.attention.formula_tokens import WORDS, Word, tokenize
from exactattn.errors import NumeralError
from exactattn.numbers.tokens import shorten

MAX_DEPTH = 25
MAX_EXPONENT = 4
CLOSING = {"(": ")", "[": "]", "{": "}"}
ENDS = ("n", "N", "L", "S", "T", "H", "h", "m", "d_k", "d_v")  # upper ends of whole ranges


class Cursor:
    """One pass over the words of one text."""

    def __init__(self, text: str, known: Iterable[str]) -> None:
        self.words = tokenize(text)
        self.known = {*WORDS, *known}
        self.place = 0
        self.depth = 0

    @property
    def now(self) -> Word:
        """The word at the place."""
        return self.words[self.place]

    def take(self) -> Word:
        """The word at the place, which moves on."""
        word = self.now
        self.place += word.kind != "end"
        return word

    def at(self, *texts: str) -> bool:
        """Is the word one of these?"""
        return self.now.kind != "end" and self.now.text in texts

    def want(self, text: str) -> None:
        """Takes this word. Errors: NumeralError for another one."""
        if not self.at(text):
            raise self.unexpected(repr(text))
        self.take()

    def end(self) -> None:
        """Nothing may be left. Errors: NumeralError."""
        if self.now.kind != "end":
            raise self.unexpected("the end of the formula")

    def unexpected(self, wanted: str) -> NumeralError:
        """What to raise: what was found, what was wanted, where."""
        found = "the end" if self.now.kind == "end" else repr(shorten(self.now.text))
        return NumeralError(f"found {found}, wanted {wanted}", self.now.offset)

    def one_index(self) -> tuple[str]:
        """The single letter after "_" of softmax_j."""
        place = self.now.offset
        subs = self.below()
        if len(subs) != 1 or len(subs[0]) != 1 or not subs[0].isalpha():
            raise NumeralError("wanted one letter as the index", place)
        return (subs[0],)

    def lower_bound(self) -> None:
        """ "=1" of sum_{j=1}."""
        self.take()
        if not self.at("1", "0"):
            raise self.unexpected("1, as sums here are over the whole range; write sum_{j <= i} for a part")
        self.take()

    def upper_bound(self) -> None:
        """What stands after "^" of a sum: the end of a whole range."""
        place = self.now.offset
        end = "_".join(part for part in (self.group_text() if self.at("{") else [self.take().text]) if part != "_")
        if end not in ENDS:
            raise NumeralError(f"found the upper end {shorten(end)!r}, wanted one of {', '.join(ENDS)}", place)

    def group_text(self) -> list[str]:
        """The words of a group { }."""
        self.take()
        parts = []
        while not self.at("}") and self.now.kind != "end":
            parts.append(self.take().text)
        self.want("}")
        return parts

    def below(self, whole: bool = False) -> list[str]:
        """The indices after "_"."""
        if self.at("{"):
            texts = [text for text in self.group_text() if text not in (",", "(", ")")]
        else:
            if self.now.kind not in ("name", "number"):
                raise self.unexpected("an index")
            texts, end = [], self.now.offset
            while self.now.kind in ("name", "number") and (not texts or self.now.offset == end):
                last = self.take()
                end = last.offset + len(last.text)
                texts.append(last.text)
        if any(not text.isalnum() for text in texts) or not texts:
            found = shorten(" ".join(texts))
            raise NumeralError(f"found the indices {found!r}, wanted letters or numbers", self.now.offset)
        return [part for text in texts for part in ([text] if whole or text.isdigit() else text)]

    def in_round(self) -> list[str]:
        """The one word of a group ( )."""
        self.take()
        parts = [self.take().text]
        self.want(")")
        return parts

    def exponent(self) -> Fraction:
        """A rational exponent: 2, -1, {1/2}, (-1/2)."""
        place = self.now.offset
        closing = CLOSING[self.take().text] if self.at("{", "(") else None
        sign = -1 if self.at("-") else 1
        if sign < 0:
            self.take()
        parts: list[Fraction] = []
        while self.now.kind == "number" and len(parts) < 2:
            parts.append(Fraction(self.take().text))
            if len(parts) == 2 or closing is None or not self.at("/"):
                break
            self.take()
        if not parts or 0 in parts[1:] or max(parts) > MAX_EXPONENT:
            raise NumeralError(f"wanted T, a label, or an exponent up to {MAX_EXPONENT} such as 2 or {{-1/2}}", place)
        if closing is not None:
            self.want(closing)
        return sign * (parts[0] if len(parts) == 1 else parts[0] / parts[1])

    def skip_arguments(self) -> None:
        """Passes over ( ... ), as in Attention(Q, K, V)."""
        depth = 0
        while self.now.kind != "end":
            depth += {"(": 1, ")": -1}.get(self.take().text, 0)
            if depth == 0:
                return
        raise self.unexpected("')'")

    def descend(self) -> None:
        """Counts one more level of nesting. Errors: NumeralError when it is too deep."""
        self.depth += 1
        if self.depth > 2 * MAX_DEPTH:
            raise NumeralError(f"brackets nested more than {MAX_DEPTH} deep; write it flatter", self.now.offset)

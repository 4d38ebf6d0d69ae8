"""Text -> formula. The language is what people write, in plain text or LaTeX:

    formula = sum "=" sum
    sum     = ["-"] term (("+" | "-") term)*
    term    = factor (["*" | "·"] factor | "/" factor)*          left to right: a b / c d is ((a b) / c) d
    factor  = NUMBER | symbol | FUNCTION factor | "sum" "_" index term | "(" sum ")" | "[" sum ("," sum)* "]"
    symbol  = NAME ("_" index | "^" (label | "T" | exponent))*

Beside each other stand factors of a matrix product. Letters run together are separate symbols (QK^T), those below a
symbol separate indices (a_ij). After "/" a sum reaches as far as its index occurs. No code is ever run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from exactattn.attention.formula_cursor import CLOSING, ENDS, Cursor
from exactattn.attention.formula_tokens import FUNCTIONS, Word
from exactattn.attention.formula_tree import (
    FRESH,
    FRESH_ROW,
    Apply,
    Dot,
    Formula,
    Joined,
    Minus,
    Num,
    Plus,
    Product,
    Quotient,
    Raised,
    Symbol,
    Total,
    Transposed,
    Tree,
    indices_in,
    rebuilt,
    symbols,
)
from exactattn.errors import NumeralError
from exactattn.numbers.tokens import shorten

_LABELS = {letter: letter.upper() for letter in "qkvoQKVO"}


def parse_formula(text: str, known: Iterable[str] = ()) -> Formula:
    """left = right. `known` are words of several letters that are one symbol. Errors: NumeralError with the place."""
    parser = _Parser(text, known)
    left = parser.sum()
    if not parser.at("="):
        raise parser.unexpected("'=' and a right side")
    parser.take()
    right = parser.sum()
    parser.end()
    return Formula(" ".join(text.split()), left, right)


def parse_tree(text: str, known: Iterable[str] = ()) -> Tree:
    """One expression, for a dimension (`H*d_v`) or a name with its indices (`C_{i,h}`)."""
    parser = _Parser(text, known)
    tree = parser.sum()
    parser.end()
    return tree


class _Parser(Cursor):
    """Recursive descent over the words of one text."""

    def sum(self) -> Tree:
        self.descend()
        terms = [self._signed()]
        while self.at("+", "-"):
            terms.append(self._signed())
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Plus(tuple(terms))

    def _signed(self) -> Tree:
        negative = False
        while self.at("+", "-"):
            negative ^= self.take().text == "-"
        term = self._term()
        return Minus(term) if negative else term

    def _term(self) -> Tree:
        factors = [self._factor()]
        while True:
            if self.at("/"):
                self.take()
                divisor, behind = self._divisor()
                factors = [Quotient(_product(factors), divisor), *behind]
            elif self.at("·"):
                self.take()
                factors = [Dot(_product(factors), self._factor())]
            elif self.at("*"):
                self.take()
                factors.append(self._factor())
            elif self._starts_factor():
                factors.append(self._factor())
            else:
                return _product(factors)

    def _starts_factor(self) -> bool:
        return self.now.kind in ("name", "number") or self.at("(", "[", "{")

    def _divisor(self) -> tuple[Tree, list[Tree]]:
        """What stands below: one factor, and after a sum those further ones that its index occurs in.

        Also the factor read last, when it does not belong there.
        """
        if not self.at("sum"):
            return self._factor(), []
        index, relation, other = self._sum_sign()
        body: list[Tree] = [self._factor()]
        behind: list[Tree] = []
        while self._starts_factor() and not behind:
            factor = self._factor()
            (body if index in indices_in(factor) else behind).append(factor)
        return Total(index, _product(body), relation, other), behind

    def _factor(self) -> Tree:
        self.descend()
        tree = self._atom()
        while self.at("^") and not isinstance(tree, Symbol):
            self.take()
            tree = self._raised(tree)
        self.depth -= 1
        return tree

    def _atom(self) -> Tree:
        if self.now.kind == "number":
            return Num(Fraction(self.take().text))
        if self.at("(", "{"):
            return self._group()
        if self.at("["):
            self.take()
            return self._joined("]")
        if self.now.kind != "name":
            raise self.unexpected("a name, a number, '(' or '['")
        if self.at("sum"):
            index, relation, other = self._sum_sign()
            return Total(index, self._term(), relation, other)
        if self.at("frac"):
            self.take()
            top = self._group()
            return Quotient(top, self._group())
        if self.at("Concat", "concat") and self.words[self.place + 1].text == "(":
            self.place += 2
            return self._joined(")")
        if self.at(*FUNCTIONS):
            return self._applied()
        return self._symbol()

    def _group(self) -> Tree:
        if not self.at("(", "{"):
            raise self.unexpected("'(' or '{'")
        closing = CLOSING[self.take().text]
        tree = self.sum()
        self.want(closing)
        return tree

    def _applied(self) -> Tree:
        function = self.take().text
        index = None
        if self.at("_"):
            self.take()
            (index,) = self.one_index()
        return Apply("log" if function == "ln" else function, self._factor(), index)

    def _sum_sign(self) -> tuple[str, str | None, str | None]:
        """sum_j, sum_{j=1}^{n}, sum_{k != i}: the index, and its relation to another one."""
        self.take()
        if not self.at("_"):
            raise self.unexpected("the index of the sum, as in sum_j")
        self.take()
        relation = other = None
        if self.at("{"):
            self.take()
            index = self.take().text
            if self.at("="):
                self.lower_bound()
            elif self.now.kind == "relation":
                relation, other = self.take().text, self.take().text
            self.want("}")
        else:
            index = self.below()[0]
        if not (len(index) == 1 and index.isalpha()):
            raise NumeralError(f"found the index {shorten(index)!r} of a sum, wanted one letter", self.now.offset)
        if self.at("^"):
            self.take()
            self.upper_bound()
        return index, relation, other

    def _joined(self, closing: str) -> Tree:
        """[a, b], or a family [C_{i,1}, ..., C_{i,H}]; one thing in brackets is only grouped."""
        items: list[Tree] = [self.sum()]
        family = False
        while self.at(","):
            self.take()
            if self.now.kind == "dots":
                self.take()
                family = True
            else:
                items.append(self.sum())
        place = self.now.offset
        self.want(closing)
        if not family:
            return items[0] if len(items) == 1 else Joined(tuple(items))
        return _family(items[0], items[-1], place)

    def _symbol(self) -> Tree:
        word = self.take()
        name = word.text
        if name not in self.known and len(name) > 1:  # letters run together: the rest is read next
            self.place -= 1
            self.words[self.place] = Word("name", name[1:], word.offset + 1)
            name = name[0]
            if not name.isalpha():
                raise NumeralError(f"found {shorten(name)!r}, wanted a letter", word.offset)
            return Symbol(name, (), word.offset)
        if name in ("Attention", "MultiHead") and self.at("("):
            self.skip_arguments()
            return Symbol("C" if name == "Attention" else "O", (), word.offset)
        if name == "e" and self.at("^"):
            self.take()
            return Apply("exp", self._group() if self.at("(", "{") else self._factor())
        return self._with_scripts(name, word.offset)

    def _with_scripts(self, name: str, offset: int) -> Tree:
        subs: list[str] = []
        outer: list[Fraction | None] = []  # None for a transpose
        while self.at("_", "^"):
            if self.take().text == "_":
                subs.extend(self.below(whole=name == "d"))
            else:
                name, subs, power = self._above(name, subs)
                outer.extend(power)
        name, subs = _labelled(name, subs)
        tree: Tree = Symbol(name, tuple(subs), offset)
        for exponent in outer:
            tree = Transposed(tree) if exponent is None else Raised(tree, exponent)
        return tree

    def _above(self, name: str, subs: list[str]) -> tuple[str, list[str], list[Fraction | None]]:
        """What stands after "^" of a symbol: T, a label as in W^Q, a head as in Q^{(h)}, or an exponent."""
        if self.at("{") or (self.at("(") and self.words[self.place + 1].kind == "name"):
            place, opening = self.place, self.now.text
            texts = self.group_text() if opening == "{" else self.in_round()
            inner = [text for text in texts if text not in ("(", ")", ",")]
        elif self.now.kind == "name":
            place = self.place
            word = self.take()
            if len(word.text) > 1:
                self.place -= 1
                self.words[self.place] = Word("name", word.text[1:], word.offset + 1)
            inner = [word.text[0]]
        else:
            return name, subs, [self.exponent()]
        if inner == ["T"]:
            return name, subs, [None]
        if inner and all(text.isalpha() and len(text) == 1 for text in inner):
            labels = [text for text in inner if name == "W" and text in _LABELS]
            return (f"W_{_LABELS[labels[0]]}" if labels else name), [*(t for t in inner if t not in labels), *subs], []
        self.place = place
        return name, subs, [self.exponent()]

    def _raised(self, tree: Tree) -> Tree:
        """A bracket or a function with "^" behind it."""
        texts = [word.text for word in self.words[self.place : self.place + 3]]
        if texts[0] == "T":
            self.take()
            return Transposed(tree)
        if texts == ["{", "T", "}"]:
            self.place += 3
            return Transposed(tree)
        if self.now.kind == "name" and self.now.text.startswith("T"):
            self.words[self.place] = Word("name", self.now.text[1:], self.now.offset + 1)
            return Transposed(tree)
        return Raised(tree, self.exponent())


def _product(factors: list[Tree]) -> Tree:
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _labelled(name: str, subs: list[str]) -> tuple[str, list[str]]:
    """d_model and W_Q are names, not indexed symbols."""
    if name == "d" and len(subs) == 1:
        return f"d_{subs[0]}", []
    if name == "W":
        labels = [sub for sub in subs if sub in _LABELS]
        if labels:
            return f"W_{_LABELS[labels[0]]}", [sub for sub in subs if sub != labels[0]]
    return name, subs


def _family(first: Tree, last: Tree, place: int) -> Joined:
    """[first, ..., last] as one tree over the index that counts from 1 to the end."""
    changes = {
        (a.base, number): FRESH if y in ("H", "h") else FRESH_ROW
        for a, b in zip(symbols(first), symbols(last), strict=False)
        for number, (x, y) in enumerate(zip(a.subs, b.subs, strict=False))
        if x == "1" and y in ENDS
    }
    if len(set(changes.values())) != 1:
        raise NumeralError("wanted a family that counts from 1 to its end, as in [C_{i,1}, ..., C_{i,H}]", place)

    def renamed(tree: Tree) -> Tree:
        if isinstance(tree, Symbol):
            subs = [changes.get((tree.base, n), sub) if sub == "1" else sub for n, sub in enumerate(tree.subs)]
            return replace(tree, subs=tuple(subs))
        return rebuilt(tree, renamed)

    return Joined((renamed(first),), next(iter(changes.values())))

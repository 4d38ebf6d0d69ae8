r"""The links of a chain of equations: what a matrix in it is called, and which factor stands beside it.

`\text{Attention} = A = \frac{1}{\sqrt{2}} M` calls M Attention and A, with the factor 1/sqrt(2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from exactattn.documents.cells import ANY_SIZES
from exactattn.documents.pasted.brackets import Group
from exactattn.documents.pasted.latex import Matrix
from exactattn.documents.pasted.mathtext import one_call, spell
from exactattn.documents.pasted.source import Source
from exactattn.errors import NumeralError
from exactattn.numbers.numerals import parse_exact

MAX_FACTOR = 300  # characters
MAX_LABEL = 200  # characters
_SCRIPTS = r"(?:[_^](?:\w|\{[^{}]{1,40}\}|\\top))*'?"
_SYMBOL = re.compile(
    r"(?:\\(?:text|mathbf|mathrm|boldsymbol|bm|operatorname)\{[^{}]{1,80}\}|\{?[A-Za-z]\}?|\\[a-z]{2,8})" + _SCRIPTS
)
_IDENTIFIER = re.compile(r"[^\W\d]\w*" + _SCRIPTS)
_TIMES = ("*", "/", "\\cdot", "\\times", "×", "·")
_AFTER = (*_TIMES, "+", "-", "@", "\\otimes", "\\oplus", "\\odot", "^", "_", "∘", "[", "{")
_JOINS = (*_AFTER, "(")
_WORDS_IN_MATHEMATICS = re.compile(r"\\(?:text|mathrm|tag)\{[^{}]{0,100}\}")
_DASH_OR_METHOD = re.compile(r"-\s+[^\W\d]{2}|\.[a-z_]+\(")


@dataclass
class Value:
    """A matrix or list in a text."""

    start: int
    end: int
    what: Matrix | Group
    caller: str = ""
    options: str = ""
    transposed: bool = False


@dataclass
class Link:
    """A part of a chain: the range of its text, and the values in it; `colon` says that a colon stands before it."""

    start: int
    end: int
    values: list[Value] = field(default_factory=list)
    colon: bool = False


def labels(source: Source, chain: list[Link], mathematics: bool) -> tuple[str | None, str | None]:
    """The left side of a statement, and the label of its row where a colon stands before the row."""
    sides: list[str] = []
    rows: list[str] = []
    for link, following in pairwise(chain):
        text = _side(source, link) if link.values else _label_text(source.text[link.start : link.end], following.colon)
        if not text or (link.values and sides):
            break
        (rows if following.colon else sides).append(text)
        if link.values or following.values or not (following.colon or _is_name(text, mathematics)):
            break
    if not sides:
        return (rows[0] if rows else None), (rows[-1] if rows else None)
    names = [side for side in sides if _is_name(side, mathematics)]
    return "=".join(names) if len(names) > 1 and _is_name(sides[0], mathematics) else sides[0], None


def _side(source: Source, link: Link) -> str:
    """A left side that holds lists, such as `softmax([6, 4])`, as it is written; nothing for a matrix."""
    if any(isinstance(value.what, Matrix) for value in link.values):
        return ""
    text = " ".join(source.text[link.start : link.end].replace("&", " ").strip(" $").split())
    return re.sub(r"\A\\begin\{[a-z]{1,12}\*?\}\s*", "", text)[:MAX_LABEL]


def _is_name(text: str, mathematics: bool) -> bool:
    r"""Is this one thing: `\text{...}`, or a word, of mathematics one letter, with its indices?"""
    return (_SYMBOL if mathematics else _IDENTIFIER).fullmatch(text) is not None


def _label_text(text: str, colon: bool) -> str:
    """A left side without bullets, markup and the lines before it."""
    whole = bare(text).strip("*# \t\n")
    whole = re.sub(r"\A(?:[-*•·>]|[0-9]{1,3}[.)])\s+", "", whole).strip("* ")
    if "\\" not in whole:
        whole = whole.rpartition("\n")[2]
    words = whole.split()
    return " ".join(words if colon else _last_words(words))[:MAX_LABEL]


def _last_words(words: list[str]) -> list[str]:
    """A name in mathematics without the words of a sentence before it: `the weights are W_Q` gives `W_Q`."""
    if not words or not (any(c in words[-1] for c in "_^(\\") or (len(words[-1]) < 4 and words[-1][:1].isupper())):
        return words
    plain = [number for number, word in enumerate(words[:-1]) if word.isascii() and word.isalpha() and len(word) > 1]
    after = plain[-1] + 1 if plain else 0
    rest = " ".join(words[after:])
    return words[after:] if rest.count("(") == rest.count(")") and rest.count("{") == rest.count("}") else words


def factor(source: Source, link: Link, mathematics: bool) -> str | None:
    """The factor of the only value of a link, `""` for none; None when it stands in a product or sum of matrices."""
    value = link.values[0]
    before = bare(source.text[link.start : value.start])
    after = bare(source.text[value.end : link.end])
    if mathematics:
        after = _WORDS_IN_MATHEMATICS.sub("", after).strip()
    dash = _DASH_OR_METHOD.match(after)
    if dash is not None and dash[0][0] == ".":
        return None  # a method: what it makes of the list is not written here
    if not after.startswith(_TIMES):
        if after.rstrip(" .:)") and (mathematics or (dash is None and after.startswith(_AFTER))):
            return None
        after = ""
    times = _number(before, after)
    if times is not None:
        return times
    return None if (mathematics and "\\text" not in before) or before.endswith(_JOINS) or after else ""


def _number(before: str, after: str) -> str | None:
    """`1/√2 *` and `/ √2` as one factor, or None when they are no numbers."""
    if len(before) + len(after) > MAX_FACTOR:
        return None
    if not any(c.isdigit() or c == "√" for c in before + after) and before.strip("+-") + after:
        return None
    try:
        front, back = spell(before)[0].strip().rstrip("*×· ").strip(), spell(after)[0].strip()
    except NumeralError:
        return None
    if front in ("", "+", "-"):
        front = {"": "", "+": "", "-": "-1"}[front]
    elif before.rstrip().endswith(("/", "+", "-", "^")):
        return None
    if not back:
        text = front
    elif back.startswith(("*", "×", "·")):
        back = back[1:].strip()
        text = f"{front}*{back}" if front else back
    else:
        text = (front or "1") + back[:1] + back[1:].strip()
    if not text:
        return ""
    if front.startswith("(") and front.endswith(")") and not back and one_call(front):
        text = front[1:-1]
    try:
        parse_exact(text, ANY_SIZES)
    except NumeralError:
        return None
    return text


def bare(text: str) -> str:
    r"""A piece of text without what only arranges it: `&`, `\left[` and the like, dollars, markup."""
    text = re.sub(r"\\(?:begin|end)\{[a-zA-Z]+\*?\}(?:\{[^{}]{0,20}\})?", " ", text)
    text = re.sub(r"\\(?:left|right|[bB]igg?[lr]?)\s?(?:\\?[\[\](){}|.])|\\[\[\]()]|\$", " ", text)
    text = re.sub(r"\\(?:displaystyle|boxed\s?\{?|quad|qquad|,|;|!|:)", " ", text)
    text = text.replace("&", " ").strip(" \t\n`|").removeprefix("**").strip()
    text = text.strip("[] ") if text.count("[") != text.count("]") else text
    return text.rstrip("} ") if text.count("{") < text.count("}") and text.endswith("}") else text

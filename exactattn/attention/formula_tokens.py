"""The words of a formula: letters, numbers, signs; LaTeX commands are put in plain spelling first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from exactattn.errors import NumeralError
from exactattn.numbers.tokens import shorten

MAX_TEXT = 2_000
MAX_TOKENS = 500
FUNCTIONS = ("exp", "log", "ln", "sqrt", "softmax")
WORDS = (
    *FUNCTIONS,
    "sum",
    "frac",
    "Concat",
    "concat",
    "head",
    "Attention",
    "MultiHead",
    "output",
    "Output",
    "lse",
    "scores",
    "weights",
    "model",
)
_COMMANDS = {
    "cdot": "·", "times": "*", "top": "T", "intercal": "T", "ne": "≠", "neq": "≠", "le": "≤", "leq": "≤", "lt": "<",
    "dots": "…", "ldots": "…", "cdots": "…", "alpha": "α", "left": "", "right": "", "quad": "", "qquad": "",
    "displaystyle": "", "big": "", "Big": "", "bigl": "", "bigr": "",
}  # fmt: skip
_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\\[,;:!\ ]|&|~|\$|\\[()\[\]])+)
    | \\(?:mathbf|mathrm|mathit|text|textrm|textit|operatorname|boldsymbol|bm)\s*\{\s*(?P<styled>[^\W\d_]+)\s*\}
    | (?P<command>\\[A-Za-z]+)
    | (?P<number>[0-9]+(?:\.[0-9]+)?)
    | (?P<dots>\.\.\.|…|⋯)
    | (?P<name>[^\W\d_]+)
    | (?P<relation><=|!=|[=≠≤<])
    | (?P<sign>\*\*|[-+*/^_(){}\[\],|·×⋅∑⊤−√])""",
    re.VERBOSE,
)
_SAME = {"×": "*", "⋅": "·", "∑": "sum", "Σ": "sum", "⊤": "T", "−": "-", "!=": "≠", "<=": "≤", "**": "^", "√": "sqrt",
         "⋯": "…", "...": "…"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Word:
    """One word: kind is name, number, relation, sign, dots or end."""

    kind: str
    text: str
    offset: int


def tokenize(text: str) -> list[Word]:
    """The words of a formula, the last of kind `end`. Errors: NumeralError with the place."""
    if len(text) > MAX_TEXT:
        raise NumeralError(f"found a formula of {len(text)} characters; at most {MAX_TEXT} are read", MAX_TEXT)
    words: list[Word] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise NumeralError(
                f"found {shorten(text[place])!r}, which is not part of a formula; wanted names with _ and ^, numbers, "
                "+ - * / ( ) [ ], exp, sqrt, log, softmax, sum_j, [a, ..., z]",
                place,
            )
        kind = str(match.lastgroup)
        written = match.group(kind)
        if kind != "space":
            words.extend(_words(kind, written, place))
        if len(words) > MAX_TOKENS:
            raise NumeralError(f"more than {MAX_TOKENS} names, numbers and signs; split the formula", place)
        place = match.end()
    return [*words, Word("end", "", len(text))]


def _words(kind: str, written: str, place: int) -> list[Word]:
    if kind == "command":
        return _command(written[1:], place)
    same = _SAME.get(written, written)
    if kind in ("name", "styled") or same.isalpha():
        return [Word("name", same, place)]
    return [Word("dots" if same == "…" else kind, same, place)]


def _command(name: str, place: int) -> list[Word]:
    plain = _COMMANDS.get(name, name)
    if plain == "":
        return []
    if plain == "…":
        return [Word("dots", plain, place)]
    if plain in "≠≤<":
        return [Word("relation", plain, place)]
    if plain in "·*":
        return [Word("sign", plain, place)]
    if name in _COMMANDS or name in WORDS:
        return [Word("name", plain, place)]
    raise NumeralError(f"found the command \\{shorten(name)}, which is not read here; write it in plain text", place)

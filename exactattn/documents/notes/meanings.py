"""What the right side of a formula makes: `softmax(QK^T/sqrt(d_k))` the weights, with the scale that it states."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from exactattn.documents.cells import ANY_SIZES, sign
from exactattn.documents.notes.flat import compact, flat
from exactattn.documents.notes.model import Role
from exactattn.documents.notes.names import role_of
from exactattn.documents.notes.prompts import without_prompt
from exactattn.errors import NumeralError
from exactattn.numbers.numerals import parse_exact

_Q, _K = r"[Qq](?:_?\w)?", r"[Kk](?:_?\w)?"
_SCORES = rf"\(*(?:{_Q}\(*{_K}\)*\^T|matmul\({_Q},{_K}\^T\)|dot\({_Q},{_K}\^T\)|{_Q}\({_K}\^T\))\)*"
_TURNED_FIRST = re.compile(rf"{_Q}\^T\*?{_K}|{_K}\^T\*?{_Q}")  # tokens are columns
_SCORED = re.compile(_SCORES)
_TURNED = r"\(*K(?:_?\w)?\^T\*?Q(?:_?\w)?\)*"  # tokens and queries are columns
_DIVIDED = re.compile(rf"(?P<what>{_SCORES}|{_TURNED}|\w+'*)/(?P<by>.+)")
_FACTOR = re.compile(rf"(?P<by>.+?)[*]?(?P<what>{_SCORES})")
_SOFTMAX = re.compile(r"(?:row_?)?[Ss]oft[Mm]ax(?:_(?:\w+|\(\w+\)))?\(")
_OPTIONS = re.compile(r",(?:dim=|axis=)?(?:-1|[12])\Z")  # the softmax of each row
_VALUES = re.compile(r"\*?\(*[Vv](?:_?\w)?\)*")
_PROJECTED = re.compile(r"\(*[Xx](?:_?\w)?\)*\(?W[_^]?\(?([QKVqkv])\)?\)?")
_PROJECTION_FIRST = re.compile(r"W[_^]?\(?([QKVqkv])\)?\(*[Xx](?:_?\w)?\)*")
_WEIGHTED_SUM = re.compile(r"sum_?\(?\w*\)?\(?(?P<weights>[a-zA-Zα]+)_?\(?\w+\)?\(?[Vv]_\w+\)?")
_SCORE_LIKE = re.compile(r"[A-Za-z](?:_\w+)?'*|\w*(?:score|logit|mask|attn|sim|energ)\w*'*")
_SIZE = {"d": "d_k", "dk": "d_k", "D_k": "d_k", "d_head": "d_k", "head_dim": "d_k", "d_q": "d_k", "dim_k": "d_k"}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a side makes, the scale it states (None: it states none), and whether projections stand first."""

    name: str
    scale: str | None = None
    columns: bool = False
    unclear: str | None = None  # an argument of a softmax that is not understood
    argument: tuple[str, str] | None = None  # a softmax of a name times a factor: the name and the factor


MOST_TERMS = 8
MOST_NESTED = 12  # brackets
MOST_SOFTMAX = 3  # in one side
SAME = "Q=K=V=X"  # a key of the names of a document that says so
ARGUMENTS = ("scores", "scaled", "masked")


def meaning_of(text: str, defined: dict[str, Role] | None = None) -> Meaning | None:
    """What a side of an equation makes of other things, or None where it is not recognised."""
    spelled = flat(without_prompt(text).strip(" \t`:,;."))
    if spelled is None or spelled.lower().count("softmax") > MOST_SOFTMAX:
        return None
    side = _stripped(compact(spelled))
    if _depth(side) > MOST_NESTED:
        return None
    if defined is not None and SAME in defined:
        side = re.sub(r"(?<=[\w)])X\Z", "V", side.replace("XX^T", "QK^T"))
    return _made(side, defined or {})


def _made(side: str, defined: dict[str, Role]) -> Meaning | None:
    soft = _SOFTMAX.match(side)
    if soft is not None:
        return _soft(side, soft.end(), defined)
    projected = _PROJECTED.fullmatch(side) or _PROJECTION_FIRST.fullmatch(side)
    if projected is not None:
        return Meaning(projected[1].lower(), columns=side.startswith("W"))
    if _SCORED.fullmatch(side):
        return Meaning("scores")
    if _TURNED_FIRST.fullmatch(side):
        return Meaning("scores", columns=True)
    if side[:1] == "V" and (side[1:].lstrip("*") in _weights(defined) or _is_softmax(side[1:].lstrip("*"), defined)):
        return Meaning("output", columns=True)
    weights = next((name for name in _weights(defined) if side.startswith(name)), None)
    if weights is not None and _VALUES.fullmatch(side[len(weights) :]):
        return Meaning("output")
    total = _WEIGHTED_SUM.fullmatch(side)
    if total is not None and total["weights"] in _weights(defined):
        return Meaning("output")
    return _scaled(side, defined) or _sum(side, defined)


def _sum(side: str, defined: dict[str, Role]) -> Meaning | None:
    """Scores and a mask are masked scores; what else is added to a stage is not understood."""
    parts = _terms(side)
    if len(parts) < 2:
        return None
    made = [_made(_stripped(part), defined) for part in parts]
    roles = [role_of(part, defined) for part in parts]
    names = [x.name if x is not None else "" if r is None else r.name for x, r in zip(made, roles, strict=True)]
    known = next((x for x in made if x is not None), None)
    if len(parts) == 2 and names[1] == "mask" and names[0] in ("scores", "scaled"):
        scale = None if known is None else "1" if known.name == "scores" else known.scale
        return Meaning("masked", scale)
    return None if known is None else Meaning(known.name, unclear=side)


def _terms(side: str) -> list[str]:
    """The terms of a sum."""
    depth, begin, out = 0, 0, list[str]()
    for at, char in enumerate(side):
        depth += (char in "([") - (char in ")]")
        if char == "+" and depth == 0:
            out.append(side[begin:at])
            begin = at + 1
    return [*out, side[begin:]] if len(out) < MOST_TERMS else []


def _weights(defined: dict[str, Role]) -> list[str]:
    """The names of the weights, longest first."""
    usual = ["attention_weights", "attn_weights", "weights", "alpha", "α", "attn", "A", "P", "a"]
    own = [name for name, role in defined.items() if role.name == "weights"]
    other = {name for name, role in defined.items() if role.name != "weights"}
    return sorted({*own, *(name for name in usual if name not in other)}, key=len, reverse=True)


def _soft(side: str, begin: int, defined: dict[str, Role]) -> Meaning | None:
    """`softmax(...)` alone, or times the values."""
    depth, at = 1, begin
    while at < len(side) and depth:
        depth += (side[at] == "(") - (side[at] == ")")
        at += 1
    if depth:
        return None
    argument = _stripped(_OPTIONS.sub("", side[begin : at - 1]))
    inner = _made(argument, defined)
    scale = None if inner is None else inner.scale
    if inner is not None and inner.name == "scores":
        scale = "1"
    turned = inner is not None and inner.columns
    known = inner is not None and inner.name in ARGUMENTS
    unclear = inner.unclear if inner is not None and known else _unclear(argument, defined)
    times = None if inner is None else inner.argument
    if side[at:] and not _VALUES.fullmatch(side[at:]):
        return None
    return Meaning("output" if side[at:] else "weights", scale, turned, unclear, times)


def _is_softmax(side: str, defined: dict[str, Role]) -> bool:
    soft = _SOFTMAX.match(side)
    meaning = None if soft is None else _soft(side, soft.end(), defined)
    return meaning is not None and meaning.name == "weights"


def _unclear(argument: str, defined: dict[str, Role]) -> str | None:
    """An argument of a softmax, if it is not scores by name, a sum of scores and a mask, or numbers."""
    parts = _terms(argument)
    if parts and all(part and _is_argument(part, defined) for part in parts):
        return None
    return argument


def _is_argument(part: str, defined: dict[str, Role]) -> bool:
    if not re.search(r"[^\W\d_]", part) or any(0xE000 <= ord(char) <= 0xF8FF for char in part):
        return True  # numbers
    role = role_of(part, defined)
    if role is not None and role.name in (*ARGUMENTS, "mask"):
        return True
    made = _made(_stripped(part), defined)
    return (role is None and _SCORE_LIKE.fullmatch(part) is not None) or (made is not None and made.name in ARGUMENTS)


def _scaled(side: str, defined: dict[str, Role]) -> Meaning | None:
    """Scores divided by something, or with a factor in front."""
    divided = _DIVIDED.fullmatch(side)
    if divided is not None:
        what = divided["what"]
        turned = re.fullmatch(_TURNED, what) is not None
        known = turned or _SCORED.fullmatch(what)
        role = None if known else role_of(what, defined)
        scale = scale_of(f"1/({_stripped(divided['by'])})") if known or role is not None else None
        if scale is None or (role is not None and role.name not in ("scores", "scaled")):
            return None
        if role is not None and role.name == "scaled":
            return Meaning("scaled", unclear=side)
        return Meaning("scaled", scale, turned, argument=None if known else (what, scale))
    factor = _FACTOR.fullmatch(side)
    scale = None if factor is None else scale_of(_stripped(factor["by"].rstrip("*")))
    return None if scale is None else Meaning("scaled", scale)


def scale_of(text: str) -> str | None:
    """A factor on the scores in the language of cases, if it is a positive number over the sizes of a problem."""
    text = re.sub(r"[A-Za-z]\w*", lambda match: _SIZE.get(match[0], match[0]), text.replace("√", "sqrt"))
    text = re.sub(r"sqrt(?=[0-9a-z_])(\w+)", r"sqrt(\1)", text)
    text = re.sub(r"1/\((sqrt\([^()]*\)|[\w.]+)\)", r"1/\1", text)
    try:
        value = parse_exact(text, ANY_SIZES)
    except (NumeralError, ZeroDivisionError):
        return None
    return text if (isinstance(value, Fraction) and value > 0) or sign(value) == 1 else None


def _depth(side: str) -> int:
    """How deep brackets are nested."""
    return max(accumulate((char == "(") - (char == ")") for char in side), default=0)


def _stripped(side: str) -> str:
    """A side without brackets around all of it."""
    while side.startswith("(") and side.endswith(")"):
        depth = 0
        for at, char in enumerate(side):
            depth += (char == "(") - (char == ")")
            if depth == 0 and at < len(side) - 1:
                return side
        side = side[1:-1]
    return side

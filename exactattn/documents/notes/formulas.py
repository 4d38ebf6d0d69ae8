"""Formulas of a document -> claims of the kind `formula`, where the language of formulas reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from exactattn.attention.formula_tree import Formula, symbols
from exactattn.attention.symbols import SIZES, USUAL, Notation
from exactattn.documents.notes.flat import compact, flat
from exactattn.documents.notes.meanings import meaning_of
from exactattn.documents.notes.model import DraftClaim, Noted
from exactattn.documents.notes.recognise import Definitions, name_of
from exactattn.documents.notes.statements import Statement
from exactattn.errors import ExactattnError
from exactattn.truth.formula_claims import read_claim

MOST_CHARACTERS = 500
_SCORED = {"q", "k", "scores", "scaled", "masked"}
# a stage -> what a formula of it may use, and of what it needs at least one
MADE_FROM: Mapping[str, tuple[set[str], set[str]]] = {
    "q": ({"X", "W_Q"}, {"W_Q"}),
    "k": ({"X", "W_K"}, {"W_K"}),
    "v": ({"X", "W_V"}, {"W_V"}),
    "scores": ({"q", "k"}, {"k"}),
    "scaled": (_SCORED, {"k", "scores", "scaled"}),
    "masked": (_SCORED, _SCORED),
    "weights": (_SCORED, _SCORED),
    "context": (_SCORED | {"weights", "v", "context"}, {"v", "context"}),
    "concat": ({"context", "concat"}, {"context"}),
    "output": (_SCORED | {"weights", "v", "context", "concat", "W_O"}, {"v", "context", "concat", "W_O"}),
}
_FUNCTION = re.compile(
    r"(?:\\(?:text|mathrm|operatorname)\s?\{)?\s*(?:Self|Multi-?[Hh]ead)?-?\s?(?:[Aa]ttention|MultiHead|MHA)\}?\s?(?:\\left)?\([^()=]{1,40}\)\Z"
)
_MATRIX = re.compile("[\ue000-\uf8ff]")
_BRACED = re.compile(r"(?<![_^a-z}\\])\{([A-Za-z])\}(?=\s*[_^])")
_COMMAND = re.compile(r"\\(?!text|mathrm|operatorname)[a-zA-Z]+|\\(?:text|mathrm|operatorname)")
_LETTERS = re.compile(r"\\(?:mathbf|mathrm|boldsymbol|bm|mathit|mathsf)\s?\{([^{}]*)\}")


def formula_of(statement: Statement, defined: Definitions) -> tuple[list[DraftClaim], list[Noted]]:
    """The formula claims of one statement, and what was not understood of it."""
    claims, left = list[DraftClaim](), list[Noted]()
    first = _FUNCTION.sub("Output", statement.sides[0].replace("&", "").strip())
    if not statement.mathematics or not _is_symbol(first):
        return claims, left
    for (a, b), relation in zip(pairwise(statement.sides), statement.relations, strict=True):
        if relation != "=" or not _is_formula(b):
            continue
        left_side = a if _is_symbol(a) else first  # A = B C = D E: both are formulas of A
        text = " ".join(f"{_tidy(left_side)} = {_tidy(b)}".split())
        fields: dict[str, object] = {"formula": text, **_beside(left_side, b, defined)}
        if left_side == first != statement.sides[0].replace("&", "").strip():
            fields["says"] = statement.text[:200]
        why = _why_not(fields)
        if why is None:
            claims.append(DraftClaim(fields, statement.place))
        else:
            left.append(Noted(statement.place, f"the formula {text[:120]}", why, understood=False))
    return claims, left


def _tidy(side: str) -> str:
    return _BRACED.sub(r"\1", _LETTERS.sub(r"\1 ", side)).replace("&", " ").strip(" ,.;")


def _is_symbol(side: str, word: str = "[A-Za-z]{1,20}") -> bool:
    """One name, with indices or without; on a right side one letter, as letters beside each other are a product."""
    name = (
        rf"(?:\\(?:text|mathrm|mathbf|operatorname|boldsymbol|bm|mathit)\s?\{{[^{{}}]{{1,40}}\}}|{word}|\\[a-z]{{2,8}})"
    )
    return (
        re.fullmatch(rf"[{{\s]*{name}[}}\s]*(?:[_^]\s?(?:\{{[^{{}}]{{1,40}}\}}|\w)\s*)*", side.replace("&", ""))
        is not None
    )


def _is_formula(side: str) -> bool:
    """Something made of names, and no matrix of numbers."""
    if _MATRIX.search(side) is not None or len(side) > MOST_CHARACTERS or _is_symbol(side, "[A-Za-z]"):
        return False
    return re.search(r"[A-Za-z]", _COMMAND.sub("", side)) is not None


def _beside(left: str, right: str, defined: Definitions) -> dict[str, object]:
    """The keys beside a formula that the document itself gives."""
    out: dict[str, object] = {}
    meaning, name = meaning_of(right, defined.names), name_of(left)
    usual = USUAL.get(name or "")
    if meaning is not None and name is not None:
        if meaning.name == "output" and usual not in ("output", "context"):
            out["means"] = {name: "context"}
        elif meaning.name == "weights" and usual != "weights":
            out["means"] = {name: "weights"}
        if meaning.scale is not None and "d_" not in meaning.scale and meaning.name != "q":
            out["scale"] = meaning.scale
    means = _means(right, defined)
    if means:
        out["means"] = {**means, **out.get("means", {})}  # type: ignore[dict-item]
    if defined.columns is not None and defined.rows is None:
        out["orientation"] = "columns"
    return out


def _means(right: str, defined: Definitions) -> dict[str, str]:
    """The letters of a right side that the document itself uses for something else than is usual."""
    spelled = flat(right)
    names = set(re.findall(r"(?<![A-Za-z_])[A-Za-z]\w*", "" if spelled is None else compact(spelled)))
    known = {name: defined.names[name].name for name in sorted(names) if name in defined.names}
    return {name: role for name, role in known.items() if len(name) == 1 and USUAL.get(name) not in (None, role)}


def _why_not(fields: dict[str, object]) -> str | None:
    """Why the language of formulas does not read this; None when it does."""
    try:
        formula, notation, _ = read_claim(fields, None)
        used = [*symbols(formula.left), *symbols(formula.right)]
        if formula.left in used and used[0].base in SIZES:
            return "it is about sizes alone"
        for symbol in used:
            notation.slot(symbol)
        return _foreign(formula, notation)
    except (ExactattnError, RecursionError) as error:
        return str(error).partition("; known are:")[0]


def _foreign(formula: Formula, notation: Notation) -> str | None:
    """Why a formula may be about something else than attention, whatever its letters usually mean."""
    left = next(iter(symbols(formula.left)), None)
    source = None if left is None or notation.slot(left).is_size else notation.source(left.base)
    if source is None or source not in MADE_FROM or "ttention" in formula.text.partition("=")[2]:
        return "its left side is no stage of attention that a formula makes"
    allowed, needed = MADE_FROM[source]
    used = {
        notation.source(symbol.base) or "" for symbol in symbols(formula.right) if not notation.slot(symbol).is_size
    }
    if used - allowed or not used & needed:
        meant = ", ".join(sorted(used)) or "nothing"
        return f"as its letters are usually meant it makes {source} from {meant}, so they may mean something else here"
    return None

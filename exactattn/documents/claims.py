"""Text -> Claim: one checkable sentence, with whatever stands beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from exactattn.documents.cells import Reader
from exactattn.documents.formulas import check_formula, check_law
from exactattn.documents.model import ClaimPart
from exactattn.documents.nodes import Mapping, Node, Scalar, plain, quoted
from exactattn.documents.statements import PRINTED, Scope
from exactattn.documents.words import KINDS
from exactattn.errors import NumeralError
from exactattn.findings import Claim
from exactattn.numbers.expressions import Call, ListNode, Name, Reference, parse_statement
from exactattn.numbers.expressions import Node as Tree
from exactattn.numbers.folding import CONSTANTS, fold
from exactattn.numbers.trees import parts_of

ID = re.compile(r"[\w.-]+")
ID_WORDS = "letters, digits, and the signs _ - ."
MIN_LIKENESS = 0.8
_PRINTED = re.compile(r"\bprinted\.(?=[^\W\d])")  # printed.NAME is a name of statements, of the same length
FUNCTIONS = ("sqrt", "exp", "log", "ln")


def read_claim(node: Node, number: dict[str, int], scope: Scope | None, reader: Reader) -> tuple[Claim, bool] | None:
    """A claim, and whether it speaks about the elements of a problem; None after noting every mistake in it.

    `number` counts the claims of each kind, for those without an id. `scope` is what a statement can name, None
    where that is not known.
    """
    body = reader.mistakes.mapping(node)
    if body is None:
        return None
    kind = _kind(body, reader)
    if kind is None:
        return None
    if kind not in ("formula", "reading"):  # which know all their keys
        _misspelt(body, reader)
    number[kind] = number.get(kind, 0) + 1
    text = reader.mistakes.text(body.values[kind])
    id = _id(body, reader) or f"{kind}:{number[kind]}"
    if kind == "uncheckable" and "why" not in body.values:
        reader.mistakes.add("an uncheckable claim needs a reason", body.keys[kind], "add `why: ...`")
    if text is None:
        return None
    needs = False
    match body.values[kind]:
        case Scalar() as said if kind in ("equation", "order"):
            needs = _statement(said, text, scope, reader)
        case Scalar() as said if kind == "law":
            check_law(said, reader.mistakes)
        case Scalar() as said if kind == "formula":
            reader.count(said)
            check_formula(body, said, reader.mistakes, reader.note)
    return Claim(id, kind, plain(body), body.place), needs


def _kind(body: Mapping, reader: Reader) -> str | None:
    """The one key that says what kind of claim this is."""
    kinds = [key for key in body.values if key in KINDS]
    if len(kinds) == 1:
        return kinds[0]
    known = ", ".join(KINDS)
    if kinds:
        message = f"found the kinds {' and '.join(map(repr, kinds))} in one claim, wanted one"
        reader.mistakes.add(message, body.keys[kinds[1]], "write one claim for each")
        return None
    near = {key: like[0] for key in body.values if (like := get_close_matches(key[:60], KINDS, n=1))}
    for key, likely in near.items():
        reader.mistakes.add(f"unknown key {quoted(key)}", body.keys[key], f"did you mean {likely!r}?")
    if not near:
        reader.mistakes.add("this claim has no kind", body, f"give it one of the keys {known}")
    return None


def _misspelt(body: Mapping, reader: Reader) -> None:
    """Other keys are free, but not one that is nearly a known key."""
    known = list(ClaimPart.model_fields)
    for key in body.values:
        if key not in known and (near := _like(key, known)):
            hint = f"did you mean {near!r}? otherwise choose a key that is less like it"
            reader.mistakes.add(f"unknown key {quoted(key)}", body.keys[key], hint)


def _like(word: str, known: Iterable[str]) -> str | None:
    near = get_close_matches(word[:60], list(known), n=1, cutoff=MIN_LIKENESS)
    return near[0] if near else None


def _id(body: Mapping, reader: Reader) -> str | None:
    node = body.values.get("id")
    if node is None:
        return None
    text = reader.mistakes.text(node)
    if text is not None and not ID.fullmatch(text):
        reader.mistakes.add(f"found the id {quoted(text)}", node, f"use {ID_WORDS}")
    return text


def _statement(node: Scalar, text: str, scope: Scope | None, reader: Reader) -> bool:
    """Reads an equation or order for its mistakes, and says whether it names anything of a problem."""
    reader.count(node)
    try:
        chain = parse_statement(_PRINTED.sub(PRINTED, text))
        for operand in chain.operands:
            _compute(operand)
    except NumeralError as error:
        reader.note(error, node)
        return False
    if scope is not None:
        scope.check(chain.operands, lambda error: reader.note(error, node))
    return any(map(_names, chain.operands))


def _compute(tree: Tree) -> None:
    """Computes the parts that are plain arithmetic, to find those that cannot be. Errors: NumeralError."""
    if _is_arithmetic(tree):
        fold(tree)
    else:
        for part in parts_of(tree):
            _compute(part)


def _is_arithmetic(tree: Tree) -> bool:
    if isinstance(tree, Name):
        return tree.label in CONSTANTS
    if isinstance(tree, Reference | ListNode) or (isinstance(tree, Call) and tree.function not in FUNCTIONS):
        return False
    return all(map(_is_arithmetic, parts_of(tree)))


def _names(tree: Tree) -> bool:
    """Does an expression name anything of a problem?"""
    if isinstance(tree, Name):
        return tree.label not in CONSTANTS
    return isinstance(tree, Reference) or any(map(_names, parts_of(tree)))

"""Chains of numbers in a document -> claims of the kind `equation`, in the language of cases.

A link between two things that are both computed is claimed only when it holds: the author may have computed one of
them from numbers that were rounded before. What is left out is listed.
"""

from __future__ import annotations

import re
from itertools import pairwise

from exactattn.documents.notes.flat import flat
from exactattn.documents.notes.slack import agree
from exactattn.documents.notes.statements import Statement
from exactattn.errors import ExactattnError, NumeralError
from exactattn.findings import Verdict
from exactattn.numbers.expressions import Call, ListNode, Name, Node, Number, Reference, Unary, parse_expression
from exactattn.numbers.trees import parts_below
from exactattn.truth.relations import judge
from exactattn.truth.statements import Scope

MOST_CHARACTERS = 1_000  # of one equation
MOST_TRIES = 12
_FUNCTIONS = ("sqrt", "exp", "log", "ln", "matmul", "transpose")
_BESIDE = re.compile(r"(?<=[0-9)])\s*(?=[\[(\ue000-\uf8ff])|(?<=[\ue000-\uf8ff\])])\s*(?=[0-9(])")
_MATRICES = re.compile(r"[\ue000-\uf8ff](?:\s*\^\s*\(?T\)?)?(?:[\s*]*[\ue000-\uf8ff](?:\s*\^\s*\(?T\)?)?)*")
_DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_OPERATOR = re.compile(r"[*/+×·^]|\\(?:times|cdot)")
_DOTTED = re.compile(r"(\[[^\[\]]*\])\s*\*\s*(\[[^\[\]]*\])")  # the inner product of two vectors
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_ROUND = re.compile(r"(?<![\w)\]])\(([^()\[\],]+(?:,[^()\[\],]+)+)\)")  # a vector in round brackets
_ELEMENT = re.compile(r"(?:\\alpha|(?<![A-Za-z\\])[A-Za-zα])\}?_\{?\s?[0-9]|[qk]_?[0-9].{0,20}[qk]_?[0-9]")
_ENDS = " \t.,;:*`$"
_START = re.compile(r"(?<![\w.])(?=[-0-9(\[√]|(?:sqrt|exp|ln|log)\()")


def equations_of(statement: Statement, comma: bool) -> tuple[list[str], list[str]]:
    """The equations that a statement makes between numbers, and why others are left out."""
    texts = [numeric(side, statement, comma) for side in statement.sides]
    if not statement.mathematics:
        texts[0] = texts[0] or _behind(statement.sides[0], statement, comma)
        texts[-1] = texts[-1] or _front(statement.sides[-1], statement, comma)
    claims, left, run = list[str](), list[str](), ""
    for relation, (a, b) in zip(statement.relations, pairwise(texts), strict=True):
        if a is None or b is None or a == b or len(run) + len(a) + len(b) > MOST_CHARACTERS:
            reason = None if a is None or b is None or a == b else "it is too long"
        else:
            reason = _why_not(a, relation, b)
            if reason is None:
                run = f"{run or a} {relation} {b}"
                continue
        left += [f"{a} {relation} {b}: {reason}"] if reason else []
        claims += [run] if run else []
        run = ""
    return [*claims, *([run] if run else [])], left


def is_of_one_element(statement: Statement, comma: bool) -> bool:
    """Does it say which number a name with numbers below it is, such as `q_3 · k_1 = 1`?"""
    texts = [numeric(side, statement, comma) for side in statement.sides]
    named = any(text is None and _ELEMENT.search(side) for text, side in zip(texts, statement.sides, strict=True))
    return named and any(text is not None and "[" not in text for text in texts)


def numeric(side: str, statement: Statement, comma: bool) -> str | None:
    """A side that is nothing but numbers, in the language of cases; None for any other."""
    if not any(c.isdigit() or c in statement.matrices for c in side):
        return None
    text = flat(side)
    if text is None:
        return None
    text = text.strip(_ENDS).replace("·", "*").replace("×", "*")
    if comma:
        text = _DECIMAL_COMMA.sub(".", text).replace(";", ",")
    if not comma and _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    text = _ROUND.sub(r"[\1]", text)
    text = _expanded(_BESIDE.sub("*", text), statement, comma)
    text = None if text is None else _DOTTED.sub(r"matmul(\1, \2)", text)
    if text is None or not is_numeric(text):
        return None
    return re.sub(r"\s*([*/])\s*", r"\1", re.sub(r",\s*", ", ", text))


def is_numeric(text: str) -> bool:
    """Is this an expression of numbers alone?"""
    try:
        tree = parse_expression(text)
    except NumeralError:
        return False
    below = list(parts_below(tree))
    known = all(node.label == "pi" for node in below if isinstance(node, Name))
    calls = all(node.function in _FUNCTIONS for node in below if isinstance(node, Call))
    return known and calls and not any(isinstance(node, Reference) for node in below)


def _expanded(text: str, statement: Statement, comma: bool) -> str | None:
    """The text with its matrices written out; beside each other they are a matrix product."""
    if len(text) > MOST_CHARACTERS:
        return None
    failed = False

    def written(match: re.Match[str]) -> str:
        nonlocal failed
        out = ""
        for found in re.finditer(r"([\ue000-\uf8ff])(\s*\^\s*\(?T\)?)?", match[0]):
            one = _matrix(statement.matrices.get(found[1], ()), comma)
            failed |= one is None
            turned = f"transpose({one})" if found[2] else str(one)
            out = f"matmul({out}, {turned})" if out else turned
        return out

    text = _MATRICES.sub(written, text)
    return None if failed or len(text) > 2 * MOST_CHARACTERS else text


def _matrix(rows: tuple[tuple[str, ...], ...], comma: bool) -> str | None:
    out = []
    for row in rows:
        cells = [flat(cell) for cell in row]
        if any(cell is None for cell in cells):
            return None
        texts = [_DECIMAL_COMMA.sub(".", str(cell)) if comma else str(cell) for cell in cells]
        if any("," in text for text in texts):
            return None
        out.append(f"[{', '.join(texts)}]")
    return f"[{', '.join(out)}]" if out else None


def _behind(side: str, statement: Statement, comma: bool) -> str | None:
    """The arithmetic at the end of a line of words: `so the output is 0.4*[1, 0] + ...`."""
    for tries, found in enumerate(_START.finditer(side)):
        if tries >= MOST_TRIES:
            return None
        before = side[: found.start()].rstrip()
        if side[found.start()] in "([" and before and (before[-1].isalnum() or before[-1] in "_)]"):
            return None
        if before and before[-1] in "+*/^·×":
            return None
        text = numeric(side[found.start() :], statement, comma)
        if text is not None:
            return text if not isinstance(parse_expression(text), Number) else None
    return None


def _front(side: str, statement: Statement, comma: bool) -> str | None:
    """The numbers at the start of what goes on in words: `[0.8, 0.6], which means`."""
    ends = [found.end() for found in re.finditer(r"[0-9\])%](?=[\s;:(]|[.,](?![0-9])|\Z)", side)][:MOST_TRIES]
    for end in reversed(ends):
        if _OPERATOR.search(side[end:]):
            continue
        if side[end : end + 2].strip()[:1] in ("+", "*", "/", "·", "×", "-"):
            continue
        text = numeric(side[:end], statement, comma)
        if text is not None:
            return text
    return None


def _why_not(a: str, relation: str, b: str) -> str | None:
    """Why a link is no claim: it is no number, or it fails where rounding before may be the reason."""
    try:
        (link,) = judge(Scope(None, {}).values, Scope(None, {}).read(f"{a} {relation} {b}"))
    except (ExactattnError, ZeroDivisionError) as error:
        return str(error)
    if link.verdict is not Verdict.FAILS:
        return None
    if not (_printed(parse_expression(a)) or _printed(parse_expression(b))):
        return "both sides are computed and differ, which rounding before may explain"
    if agree(parse_expression(a), parse_expression(b)):
        return "as written it is not right; it is if the numbers in it were rounded before"
    return None


def _printed(node: Node) -> bool:
    """Is this a number or list of numbers as printed, nothing computed?"""
    if isinstance(node, ListNode):
        return all(map(_printed, node.items))
    return isinstance(node, Number) or (isinstance(node, Unary) and isinstance(node.operand, Number))

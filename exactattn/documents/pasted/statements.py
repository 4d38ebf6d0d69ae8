r"""Text with matrices and lists in it -> blocks: `W_Q = [[1, 0], [0, 1]]`, `Row 1: [0.4, 0.2]`, `A = \frac12 M = M'`.

A statement is a chain of links between relations. A matrix that is a whole link, perhaps with a factor, is what the
statement says; the others stand in products and sums, and are marked as joined.
"""

from __future__ import annotations

import re

from exactattn.documents.pasted import tables
from exactattn.documents.pasted.block import Block
from exactattn.documents.pasted.brackets import Group, Lists
from exactattn.documents.pasted.latex import Matrix, matrices
from exactattn.documents.pasted.links import Link, Value, bare, factor, labels
from exactattn.documents.pasted.source import Source
from exactattn.documents.pasted.vectors import blocks_of

ARRAYS = ("array", "tensor", "asarray", "Matrix", "matrix", "Tensor", "FloatTensor", "vec", "Vector", "c", "Parameter")
_WORDS = re.compile(
    r"""(?P<relation>(?<=\w)\s(?:is|are|equals)\s(?=\s?\Z)|:=|==|=>|->|→|⇒|⟹|=|≈
        |\\(?:approx|simeq|sim|to|rightarrow|Rightarrow|implies|Longrightarrow|iff)(?![a-zA-Z]))
    | (?P<row>\\\\(?:\[[-0-9.]+[a-z]{2}\])?|\\(?:quad|qquad)(?![a-zA-Z])|。|\\newline)
    | (?P<edge>\\(?:begin|end)\{[a-zA-Z]+\*?\}|\\\[|\\\]|\\\(|\\\)|\$\$?|&)
    | (?P<command>\\[a-zA-Z]+|\\.)
    | (?P<also>(?<=\s)(?:and|und)(?=\s)|和|以及|及)
    | (?P<newline>\n)
    | (?P<colon>:(?=\s|\[|\(|\$|\Z))
    | (?P<comma>[,;])
    | (?P<open>[(\[{]) | (?P<close>[)\]}])""",
    re.VERBOSE,
)
_CALLER = re.compile(r"([A-Za-z_][A-Za-z_0-9.]{0,60})\s?\(\s*\Z")
_TRANSPOSED = re.compile(
    r"\s*(?:\^\s*\{?\s*(?:T|\\top|\\mathsf\{T\}|\\mathrm\{T\}|\\intercal|⊤)\s*\}?|ᵀ|\.T(?![a-zA-Z]))"
)


def blocks(
    source: Source, low: int, high: int, form: str | None, decimal: str | None, lenient: bool = False
) -> list[Block]:
    """Every matrix and list of a range, in order. Errors: PastedError; `lenient` passes over brackets left open."""
    found = matrices(source, low, high, lenient)
    lists = Lists(source, low, high, [(matrix.start, matrix.end) for matrix in found], lenient)
    values = [Value(x.start, x.end, x) for x in found] + [_called(source, lists, x) for x in lists.found]
    values.sort(key=lambda value: value.start)
    mathematics = bool(found) or "\\" in source.text[low:high]
    out: list[Block] = []
    for number, chain in enumerate(_chains(source, low, high, values, mathematics)):
        out += _told(source, chain, form, decimal, mathematics, number)
    return out


def _called(source: Source, lists: Lists, group: Group) -> Value:
    """A list with the call around it that makes an array of it, and the options behind."""
    text = source.text
    before = _CALLER.search(text, max(0, group.start - 80), group.start)
    if before is None or before[1].rsplit(".", 1)[-1] not in ARRAYS:
        start = group.start - (text[group.start] == "(" and text[max(group.start - 1, 0)] == "c")  # c(1, 2) of R
        return Value(start, group.end, group)
    opening = text.rindex("(", 0, group.start)
    end = lists.pairs.get(opening, group.end - 1) + 1
    return Value(before.start(), end, group, before[1], text[group.end : end])


def _chains(source: Source, low: int, high: int, values: list[Value], mathematics: bool) -> list[list[Link]]:
    """The statements of a range, each as its links."""
    text = source.text
    ends = ("relation", "colon", "row", "comma", "also", *(() if mathematics else ("newline",)))
    out, chain = list[list[Link]](), [Link(low, high)]
    depth, at = 0, low
    for value in [*values, None]:
        limit = high if value is None else value.start
        for word in _WORDS.finditer(text, at, limit):
            kind, last = word.lastgroup, chain[-1]
            depth = max(0, depth + (kind == "open") - (kind == "close"))
            if kind == "newline" and not mathematics:
                depth = 0
            if depth or kind not in ends or (kind == "also" and not last.values):
                continue
            blank = not last.values and not bare(text[last.start : word.start()])
            if kind in ("relation", "colon"):
                if kind == "relation" and blank and len(chain) == 1 and out and _goes_on(text, out[-1], word.start()):
                    chain = out.pop()
                else:
                    last.end = word.start()
                chain.append(Link(word.end(), high, colon=kind == "colon"))
            elif not blank:
                last.end = word.start()
                out.append(chain)
                chain = [Link(word.end(), high)]
            else:
                last.start = word.end()
        if value is not None:
            turned = _TRANSPOSED.match(text, value.end, min(high, value.end + 40))
            value.transposed, value.end = turned is not None, value.end if turned is None else turned.end()
            chain[-1].values.append(value)
            at = value.end
    return [*out, chain]


def _goes_on(text: str, chain: list[Link], at: int) -> bool:
    r"""Does a relation at the start of a line go on with the chain of the line before, `A = B \\ = C`?"""
    return "," not in text[chain[-1].end : at] and "。" not in text[chain[-1].end : at]


def _told(
    source: Source, chain: list[Link], form: str | None, decimal: str | None, mathematics: bool, number: int
) -> list[Block]:
    """The blocks of one statement. Matrices of one list are not equal: each counts as a statement of its own."""
    out: list[Block] = []
    label, row = labels(source, chain, mathematics)
    for position, link in enumerate(chain):
        times = factor(source, link, mathematics) if len(link.values) == 1 else None
        for value in link.values:
            told = _blocks_of(source, value, form, decimal)
            for part, block in enumerate(told):
                block.chain = number if len(told) == 1 else -1 - value.start - part
                block.joined = times is None
                block.times = times or None
                block.label = label if times is not None and position > 0 else None
                if row is not None and times is not None and block.vector:
                    block.row_labels = [row]
                out.append(block)
    return out


def _blocks_of(source: Source, value: Value, form: str | None, decimal: str | None) -> list[Block]:
    if isinstance(value.what, Matrix):
        span, rows = (value.start, value.end), value.what.rows
        labelled = value.what.tabular or (rows and rows[0][0][0] == rows[0][0][1])
        out = tables.labelled(source, rows, "latex", decimal, span) if labelled else [Block("latex", rows, span=span)]
    else:
        out = blocks_of(source, value.what, value.caller, value.options, form, decimal)
    for block in out:
        block.span = (value.start, value.end) if len(out) == 1 else block.span
        if value.transposed and not block.vector and len({len(row) for row in block.rows}) == 1:
            block.rows = [list(column) for column in zip(*block.rows, strict=True)]
        if source.text[value.start] == "\\" or form == "latex":
            block.form = "latex"
    return out

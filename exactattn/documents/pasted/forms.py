"""Which form a paste has, and its reader."""

from __future__ import annotations

import re

from exactattn.documents.pasted import latex, lines, rprints, tables
from exactattn.documents.pasted.block import Block, Span
from exactattn.documents.pasted.brackets import Lists
from exactattn.documents.pasted.digits import COMMA
from exactattn.documents.pasted.source import Source
from exactattn.documents.pasted.statements import blocks

FORMS = ("latex", "list", "markdown", "ascii", "torch", "numpy", "r", "spreadsheet", "julia", "matlab", "csv")
BRACKETED = ("latex", "list", "torch", "numpy", "julia", "matlab")
_FENCE = re.compile(r"\s*(?:```|~~~)[^\n]*\n")
_NUMBERED = re.compile(r"\s*([0-9]{1,6})(?:[:|.)]?\s+|(?=[\[(]))")


def inner(source: Source, low: int, high: int) -> Span:
    """The range inside a code fence, and without the numbers of its lines."""
    fence = _FENCE.match(source.text, low, high)
    if fence is not None:
        low = fence.end()
        close = source.text.rfind("\n", low, source.trim(low, high)[1])
        if close >= 0 and source.text[close:high].strip().startswith(("```", "~~~")):
            high = close
    _drop_line_numbers(source, low, high)
    _drop_comments(source, low, high)
    return source.trim(low, high)


def _drop_line_numbers(source: Source, low: int, high: int) -> None:
    """Blanks the running number in front of every line of code, when every line has one and lists follow."""
    found = [_NUMBERED.match(source.text, *line) for line in source.lines(low, high)]
    numbers = [match for match in found if match is not None]
    if len(numbers) < 2 or len(numbers) != len(found):
        return
    first = int(numbers[0][1])
    rest = source.text[numbers[0].end() : numbers[0].end() + 200].split("\n")[0]
    running = [int(match[1]) for match in numbers] == list(range(first, first + len(numbers)))
    if not running or not any(sign in rest for sign in ("[", "((", "\\begin")):
        return
    parts, at = [], 0
    for match in numbers:
        parts += [source.text[at : match.start(1)], " " * (match.end() - match.start(1))]
        at = match.end()
    source.text = "".join([*parts, source.text[at:]])


def _drop_comments(source: Source, low: int, high: int) -> None:
    """Blanks comments of code inside of brackets: from # or // to the end of the line."""
    text = source.text
    if "\\" in text[low:high] or not ("#" in text[low:high] or "//" in text[low:high]):
        return
    depth, parts, at = 0, [], 0
    for sign in re.finditer(r"[\[({]|[\])}]|(?:#|//)[^\n]*", text[low:high]):
        if sign[0][0] in "#/":
            if depth > 0:
                parts += [text[at : low + sign.start()], " " * len(sign[0])]
                at = low + sign.end()
        else:
            depth = max(0, depth + (1 if sign[0] in "[({" else -1))
    source.text = "".join([*parts, text[at:]])


def recognised(source: Source, low: int, high: int) -> str:
    """The form that a text has by its looks: one of FORMS, or "lines"."""
    text = source.text[low:high]
    if latex.matrices(source, low, high, lenient=True) or re.search(r"\\(?:begin|end)\s?\{\w*(?:matrix|array)", text):
        return "latex"
    if rprints.looks_like_r(source, low, high):
        return "r"
    rows = [source.text[slice(*line)] for line in source.lines(low, high)]
    if tables.is_barred(rows):
        return "markdown" if any(tables.is_rule(row) and "|" in row and "+" not in row for row in rows) else "ascii"
    if "&" in text and "\\\\" in text:
        return "latex"
    if "\t" in text:
        return "spreadsheet"
    if (
        (re.search(r"[\[({]", text) and Lists(source, low, high, lenient=True).found)
        or text[:1] in "[{"
        or text[-1:] in "]}"
    ):
        return "list"
    if lines.labels_of(source, low, high) is not None:
        return "lines"
    if len(rows) > 1 and all(lines.COMMA_NUMBER.fullmatch(row) for row in rows):
        return "lines"  # one number or two in a line: said there
    commas = sum("," in row or ";" in row for row in rows)
    if commas == len(rows) > 1 and not all(
        re.search(r"\S\s+\S", row) and not re.search(r"[,;]\s", row) for row in rows
    ):
        return "csv"
    return "lines" if commas else "ascii"


def read_blocks(source: Source, span: Span, form: str | None, decimal: str | None) -> list[Block]:
    """The blocks of a text in a form, or in the one it looks to have. Errors: PastedError."""
    low, high = inner(source, *span)
    if low == high:
        raise source.error("found nothing, wanted numbers", low, "paste a matrix, a table or a list of numbers")
    seen = recognised(source, low, high)
    if (form in BRACKETED and seen in ("latex", "list")) or (form is None and seen in BRACKETED):
        found = blocks(source, low, high, form, decimal)
        if found:
            return found
    if form == "latex" or (form is None and seen == "latex"):
        return [_body(source, low, high)]
    if form == "r" or (form is None and seen == "r"):
        return rprints.read_r(source, low, high)
    if (
        form in ("markdown", "ascii")
        and seen in ("markdown", "ascii")
        and any(c in tables.BARS for c in source.text[low:high])
    ):
        return tables.barred(source, low, high, form, decimal)
    if form is None and seen in ("markdown", "ascii") and any(c in tables.BARS for c in source.text[low:high]):
        return tables.barred(source, low, high, seen, decimal)
    if form == "spreadsheet" or (form is None and seen == "spreadsheet"):
        return tables.separated(source, low, high, "\t", "spreadsheet", decimal)
    if form == "csv" or (form is None and seen == "csv"):
        return _csv(source, low, high, decimal)
    return _plain(source, low, high, form, seen, decimal)


def _body(source: Source, low: int, high: int) -> Block:
    r"""Cells between `&` and `\\` without their environment."""
    return Block("latex", latex.body(source, low, high), span=(low, high))


def _csv(source: Source, low: int, high: int, decimal: str | None) -> list[Block]:
    """Cells between semicolons where there are any, else between commas."""
    text = source.text[low:high]
    sign = ";" if ";" in text else "\t" if "\t" in text else ","
    if sign == "," and decimal == COMMA:
        raise source.error("found commas between the cells and `decimal: comma`", low, "set cells apart by semicolons")
    return tables.separated(source, low, high, sign, "csv", decimal)


def _plain(source: Source, low: int, high: int, form: str | None, seen: str, decimal: str | None) -> list[Block]:
    """Lines of numbers: with labels before a colon, or columns under each other."""
    begin, said = lines.headed(source, low, high)
    labelled = lines.labels_of(source, begin, high) if seen == "lines" or form in (None, "list") else None
    name = form or said.form or ("list" if seen == "lines" else "ascii")
    if labelled is not None:
        rows = [lines.numbers(source, start, end, decimal) for _, start, end in labelled]
        found = [Block(name, rows, row_labels=[label for label, _, _ in labelled], span=(low, high))]
        found[0].vector, found[0].label = len(rows) == 1, labelled[0][0] if len(rows) == 1 else None
    elif seen == "lines":
        rows = [lines.numbers(source, start, end, decimal) for start, end in source.lines(begin, high)]
        found = [Block(name, rows, vector=len(rows) == 1, span=(low, high))]
    else:
        found = tables.aligned(source, begin, high, name, decimal)
        if len(found) == 1 and len(found[0].rows) == 1 and found[0].row_labels is None:
            found[0].vector = found[0].column_labels is None
    for block in found:
        block.label, block.times, block.dtype = block.label or said.label, said.times, said.dtype
        block.trims = "numpy" if form == "numpy" else "plain"
    return found

"""Tables -> blocks: Markdown, boxes of | + -, columns set apart by spaces or tabs, comma separated values.

A first row or column of words is labels. A column whose cells are vectors is a matrix of its own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile

from exactattn.documents.pasted.block import Block, Span, bound, looks_like_number
from exactattn.documents.pasted.brackets import Group, Lists
from exactattn.documents.pasted.model import PastedError
from exactattn.documents.pasted.source import Source
from exactattn.documents.pasted.vectors import blocks_of, pieces

BOX = "|+-=:─│┌┐└┘├┤┬┴┼═║╔╗╚╝╠╣╦╩╬╪╫╞╡┃━┏┓┗┛┣┫┳┻╋╭╮╰╯ \t"
BARS = "|│║┃"


def is_rule(text: str) -> bool:
    """Is a line only drawn, with no words in it?"""
    return bool(text) and all(c in BOX for c in text) and any(c in "-=─═━" for c in text)


def is_barred(rows: list[str]) -> bool:
    """Do bars set the cells of all lines apart?"""
    rules = [is_rule(row) for row in rows]
    drawn = all(rule or any(bar in row for bar in BARS) for rule, row in zip(rules, rows, strict=True))
    edged = any(rules) or any(row[0] in BARS for row in rows) or not any(c in row for row in rows for c in "[({=")
    return drawn and edged and not all(rules)


def barred(source: Source, low: int, high: int, form: str, decimal: str | None) -> list[Block]:
    """A table whose cells stand between bars. Errors: PastedError."""
    rows: list[list[Span]] = []
    headed = None
    for start, end in source.lines(low, high):
        if not is_rule(source.text[start:end]):
            rows.append(_cells(source, start, end))
        elif form == "markdown" and headed is None:
            headed = len(rows) == 1
    return labelled(source, rows, form, decimal, (low, high), bool(headed))


def _cells(source: Source, low: int, high: int) -> list[Span]:
    """The cells of a line: its bars, except in `code` and behind a backslash, set them apart."""
    text, out = source.text, list[Span]()
    low += text[low] in BARS
    high -= text[high - 1] in BARS and high > low
    begin, code = low, False
    for at in range(low, high):
        code ^= text[at] == "`"
        if text[at] in BARS and not code and text[at - 1] != "\\":
            out.append(source.trim(begin, at))
            begin = at + 1
    return [*out, source.trim(begin, high)]


def separated(source: Source, low: int, high: int, sign: str, form: str, decimal: str | None) -> list[Block]:
    """Lines whose cells stand between tabs, commas or semicolons. Errors: PastedError."""
    rows = []
    for start, end in source.lines(low, high):
        line = (source.text.rfind("\n", 0, start) + 1, end) if sign == "\t" else (start, end)
        begin, cells = max(line[0], low), list[Span]()
        for at in range(begin, end):
            if source.text[at] == sign:
                cells.append(_unquoted(source, begin, at))
                begin = at + 1
        rows.append([*cells, _unquoted(source, begin, end)])
    found = labelled(source, rows, form, decimal, (low, high))
    for block in found:
        block.trims = "spreadsheet" if form == "spreadsheet" else "plain"
    return found


def _unquoted(source: Source, low: int, high: int) -> Span:
    low, high = source.trim(low, high)
    quoted = high - low > 1 and source.text[low] == source.text[high - 1] == '"'
    return (low + 1, high - 1) if quoted else (low, high)


def aligned(source: Source, low: int, high: int, form: str, decimal: str | None) -> list[Block]:
    """Lines whose cells are set apart by spaces: by two or more where the words of a label have one between them."""
    rows = [pieces(source, *line) for line in source.lines(low, high) if not is_rule(source.text[slice(*line)])]
    bound(source, rows)
    for number, row in enumerate(rows):
        start, end = row[0][0], row[-1][1]
        words = [not looks_like_number(source.text[slice(*piece)]) for piece in row]
        label = next((place for place, word in enumerate(words) if not word), len(row))
        wide = [source.trim(*cell) for cell in _wide(source, start, end)] if any(words) else []
        if len(wide) > 1 and (label == len(row) or any(words[label:]) or _label_and_numbers(source, wide)):
            rows[number] = wide
        elif 1 < label < len(row):
            rows[number] = [(row[0][0], row[label - 1][1]), *row[label:]]
    return labelled(source, rows, form, decimal, (low, high))


def _label_and_numbers(source: Source, cells: list[Span]) -> bool:
    """Is the first cell a label, perhaps with an index, and every other one a number?"""
    texts = [source.text[slice(*cell)] for cell in cells]
    decimals = any("." in part and looks_like_number(part) for part in texts[0].split())
    return not decimals and all(map(looks_like_number, texts[1:]))


def _wide(source: Source, low: int, high: int) -> list[Span]:
    out, begin = list[Span](), low
    for gap in re.finditer(r"\t|[ ]{2,}", source.text[low:high]):
        out.append((begin, low + gap.start()))
        begin = low + gap.end()
    return [*out, (begin, high)]


def labelled(
    source: Source, rows: list[list[Span]], form: str, decimal: str | None, span: Span, headed: bool = False
) -> list[Block]:
    """The blocks of a table: labels taken off, columns of vectors set apart; `headed` says that the first row is drawn
    as a header. Errors: PastedError.
    """
    rows = [row for row in rows if any(low < high for low, high in row)]
    if not rows:
        raise source.error("found a table without numbers", span[0])
    bound(source, rows)
    texts = [[source.text[slice(*cell)] for cell in row] for row in rows]
    vectors = {id(row): [_vector(source, cell) for cell in row] for row in rows}
    header = _is_header(texts, [any(vectors[id(row)]) for row in rows]) or (headed and _counts(texts[0]))
    head = texts[0] if header else None
    rows = rows[1:] if header else rows
    texts = texts[1:] if header else texts
    if not rows:
        raise source.error("found a table with a header and no rows", span[0])
    width = max(map(len, rows))
    labels, apart = _labels(source, rows, texts, head)
    if labels is not None:
        rows = [[cell for column, cell in enumerate(row) if column not in apart] for row in rows]
        if head is not None and len(head) == width:
            head = [text for column, text in enumerate(head) if column not in apart]
    out = _columns(source, rows, head, form, decimal)
    for number, block in enumerate(out):
        block.chain, block.form, block.span = number, form, span
        block.row_labels = None if labels is None else [label.strip("*`$ ") for label in labels]
        if block.column_labels is not None:
            block.column_labels = [name.strip("*`$ ") for name in block.column_labels]
    return out


def _columns(
    source: Source, rows: list[list[Span]], head: list[str] | None, form: str, decimal: str | None
) -> list[Block]:
    """A block for each column of vectors, and one for all columns of numbers."""
    width = max(map(len, rows))
    vectors = {column for row in rows for column, cell in enumerate(row) if _vector(source, cell)}
    short = next((row for row in rows if len(row) < width), None)
    if vectors and short is not None:
        message = f"found a row of {len(short)} cells, wanted {width}"
        raise source.error(message, short[0][0] if short else 0, "write ... for what was not printed")
    names = [""] * width if head is None else [*head, *[""] * width]
    out = [
        _of_vectors(source, [row[column] for row in rows], form, decimal, names[column].strip("*`$ ") or None)
        for column in sorted(vectors)
    ]
    numbers = [[cell for column, cell in enumerate(row) if column not in vectors] for row in rows]
    if any(numbers):
        rest = None if head is None else [name for column, name in enumerate(head) if column not in vectors]
        out.append(Block(form, numbers, column_labels=rest))
    return out


def _vector(source: Source, cell: Span) -> bool:
    """Is a cell a list of numbers in brackets?"""
    return _is_vector(source.text[slice(*cell)])


@lru_cache(maxsize=4096)
def _is_vector(text: str) -> bool:
    if len(text) < 3 or text.strip("$`* ")[:1] not in ("[", "("):
        return False
    try:
        return _group(Source(text), (0, len(text))) is not None
    except PastedError:
        return True  # one with a mistake, said with its place when it is read


def _group(source: Source, cell: Span) -> Group | None:
    found = Lists(source, *cell, lenient=True).found
    text = source.text
    if len(found) != 1 or text[cell[0] : found[0].start].strip("$`* ") or text[found[0].end : cell[1]].strip("$`* "):
        return None
    return found[0]


def _of_vectors(source: Source, cells: list[Span], form: str, decimal: str | None, name: str | None) -> Block:
    """The matrix whose rows are the vectors of a column."""
    rows: list[list[Span]] = []
    commas = False
    for cell in cells:
        group = _group(source, cell)
        if group is None:
            raise source.error("found a cell that is no vector in a column of vectors", cell[0], "write it in brackets")
        block = blocks_of(source, group, "", "", "list", decimal)[0]
        rows += block.rows
        commas = commas or block.commas_are_decimal
    return Block(form, rows, label=name, commas_are_decimal=commas)


def _is_header(texts: list[list[str]], vectors: list[bool]) -> bool:
    """Is the first row words, or the numbers of columns behind an empty corner, where a later one has numbers?"""
    if len(texts) < 2 or vectors[0]:
        return False
    corner = texts[0][0] == "" or len(texts[0]) == len(texts[1]) - 1
    if corner and _counts(texts[0]):
        return True
    first = [text for text in texts[0] if text]
    numbers = sum(looks_like_number(text) for text in first[-len(texts[1]) :])
    later = sum(looks_like_number(text) for text in texts[1])
    return numbers == 0 and (later > 0 or vectors[1])


def _counts(texts: list[str]) -> bool:
    """Are these the numbers of columns, 0 1 2 or 1 2 3, behind a corner or not?"""
    last = [text.strip("[](),.: *") for text in texts]
    last = last[1:] if last and not last[0].isdigit() else last
    numbers = [int(text) if text.isdigit() and len(text) < 6 else -1 for text in last]
    return len(numbers) > 1 and numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _labels(
    source: Source, rows: list[list[Span]], texts: list[list[str]], head: list[str] | None
) -> tuple[list[str] | None, set[int]]:
    """The labels of the rows and their columns: every column of words, else a first one that counts under a corner."""
    width = min(map(len, rows))
    words = {
        column
        for column in range(width)
        if not any(looks_like_number(row[column]) for row in texts)
        and not any(_vector(source, row[column]) for row in rows)
    }
    if head is None:  # without a header only what stands in front is a label
        words = set(takewhile(words.__contains__, range(width)))
    if words and len(words) < width:
        return [", ".join(row[column] for column in sorted(words) if row[column]) for row in texts], words
    first = [row[0] for row in texts]
    corner = head is not None and (
        len(head) == len(rows[0]) - 1 or (len(head) == len(rows[0]) and head[0] in ("", "#"))
    )
    return (first, {0}) if width > 1 and corner and (_counts(first) or len(first) == 1) else (None, set())

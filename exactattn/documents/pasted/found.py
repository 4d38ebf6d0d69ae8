r"""A whole document -> every block of numbers in it, with the left side of its equation or the words before it.

The document is cut into pieces first: code fences, mathematics between `$$`, `\[ \]` or in environments, tables,
and paragraphs with mathematics inside their lines. A list of words or symbols is no block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from exactattn.documents.pasted import lines, rprints, tables
from exactattn.documents.pasted.block import Block, Span, finish, is_ellipsis, looks_like_number
from exactattn.documents.pasted.forms import BRACKETED, inner, read_blocks, recognised
from exactattn.documents.pasted.model import MAX_CELLS, Found, PastedError
from exactattn.documents.pasted.reading import rows_joined
from exactattn.documents.pasted.said import known_decimal
from exactattn.documents.pasted.source import Source
from exactattn.documents.pasted.statements import blocks

MAX_BEFORE = 200  # characters of the words before a block
_MATHEMATICS = re.compile(
    r"\$\$|(?<!\\)\\\[|\\begin\{(equation|align|aligned|gather|multline|eqnarray|displaymath|alignat|flalign|split|math)\*?\}"
)
_INLINE = re.compile(r"(?<![\\$])\$(?!\$)[^$\n]{1,2000}\$(?!\$)|\\\((?:[^\n\\]|\\[^()\n])*+\\\)")
_FENCE = re.compile(r"[ \t>]*(```+|~~~+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document: `code`, `mathematics`, `table` or `prose`."""

    kind: str
    low: int
    high: int


def find_pasted(
    document: str, decimal: str | None = None, mistakes: list[PastedError] | None = None
) -> tuple[Found, ...]:
    """Every block of numbers of a Markdown or LaTeX document, in order; lines and columns are those of the document.

    What looks like numbers and cannot be read is left out, and its mistake added to `mistakes`.
    Errors: PastedError for a document that is too long or has too many numbers.
    """
    source = Source(document)
    known_decimal(decimal)
    seen: list[PastedError] = [] if mistakes is None else mistakes
    out: list[Found] = []
    cells = 0
    for piece in pieces(source):
        for block in _blocks(source, piece, decimal, seen):
            cells += sum(map(len, block.rows))
            if cells > MAX_CELLS:
                message = f"more than {MAX_CELLS:,} numbers in one document"
                raise source.error(message, block.span[0], "give a part of it")
            found = _found(source, piece, block, decimal, seen)
            out += [] if found is None else [found]
    return tuple(sorted(out, key=lambda found: (found.start_line, found.pasted.rows[0][0].column)))


def pieces(source: Source) -> Iterator[Piece]:
    """The parts of a document, in order."""
    text, end = source.text, len(source.text)
    at = begin = stop = 0
    missing: set[str] = set()
    while at < end:
        fence = None
        if at >= stop:
            stop = text.find("\n", at) + 1 or end
            fence = _FENCE.match(text, at, stop) if at == 0 or text[at - 1] == "\n" else None
        opening = None if fence is not None else _MATHEMATICS.search(text, at, stop)
        if fence is not None:
            yield from _prose(source, begin, at)
            begin = at = _fence_end(text, stop, fence[1])
            yield Piece("code", fence.start(), at)
        elif opening is not None:
            yield from _prose(source, begin, opening.start())
            close = _closing(opening)
            last = -1 if close in missing else text.find(close, opening.end())
            if last < 0:
                missing.add(close)
                begin = at = opening.end()
            else:
                yield Piece("mathematics", opening.start(), last + len(close))
                begin = at = last + len(close)
        elif not text[at:stop].strip():
            yield from _prose(source, begin, at)
            begin = at = stop
        else:
            at = stop
    yield from _prose(source, begin, end)


def _fence_end(text: str, at: int, fence: str) -> int:
    """Past the line that closes a fence, or the end of the text."""
    close = re.compile(r"^[ \t>]*" + re.escape(fence[0]) + "{" + str(min(len(fence), 9)) + r",}[ \t]*$", re.MULTILINE)
    found = close.search(text, at)
    return len(text) if found is None else found.end()


def _closing(opening: re.Match[str]) -> str:
    if opening[1] is not None:
        return opening[0].replace("\\begin", "\\end", 1)
    return "$$" if opening[0] == "$$" else "\\]"


def _prose(source: Source, low: int, high: int) -> Iterator[Piece]:
    """A paragraph: a table, prints without brackets, lines with labels, or sentences; each run of lines is a piece."""
    run: list[Span] = []
    kind = ""
    for line in source.lines(low, high):
        now = _kind(source, line)
        if now == "columns" and kind == "prose" and _heads(source, run[-1], line):
            head = run.pop()
            if run:
                yield Piece(kind, run[0][0], run[-1][1])
            kind, run = now, [head]
        if now != kind and run:
            yield Piece(_checked(kind, run), run[0][0], run[-1][1])
            run = []
        kind = now
        run.append(line)
    if run:
        yield Piece(_checked(kind, run), run[0][0], run[-1][1])


def _checked(kind: str, run: list[Span]) -> str:
    return "prose" if len(run) < 2 else kind


def _kind(source: Source, line: Span) -> str:
    """The kind of a line outside of code and mathematics."""
    text = source.text[slice(*line)]
    if (text[0] in tables.BARS and text.count(text[0]) > 1) or tables.is_rule(text):
        return "table"
    if "\t" in text or rprints.looks_like_r(source, *line):
        return "print"
    label = lines.labels_of(source, *line)
    if label is not None and all(looks_like_number(source.text[slice(*x)]) for x in _simple(source, label[0][1:])):
        return "labelled"
    row = text.split()[:100]
    columns = len(row) > 2 and all(looks_like_number(part) for part in row[1:])
    return "columns" if columns or (len(row) == 2 and all(map(looks_like_number, row))) else "prose"


def _heads(source: Source, line: Span, below: Span) -> bool:
    """Could a line be the header of the columns below it?"""
    words, numbers = (len(source.text[slice(*span)].split()) for span in (line, below))
    return words in (numbers, numbers - 1)


def _simple(source: Source, span: Span) -> list[Span]:
    text = source.text[slice(*span)]
    if len(text) > MAX_BEFORE or "[" in text or "=" in text:
        return [(span[0], span[0])]
    try:
        return lines.numbers(source, *span, None)
    except PastedError:
        return [span]


def _blocks(source: Source, piece: Piece, decimal: str | None, mistakes: list[PastedError]) -> list[Block]:
    """The blocks of a piece. What is wrong with it is a mistake only where it has a number in it."""
    if not any(c.isdigit() for c in source.text[piece.low : piece.high]):
        return []
    try:
        if piece.kind == "prose":
            return [block for span in _ranges(source, piece) for block in blocks(source, *span, None, decimal, True)]
        if piece.kind == "mathematics":
            return blocks(source, piece.low, piece.high, None, decimal, True)
        if piece.kind == "code":
            low, high = inner(source, piece.low, piece.high)
            if low == high:
                return []
            if recognised(source, low, high) in BRACKETED:
                return rows_joined(source, blocks(source, low, high, None, decimal, True))
        return read_blocks(source, (piece.low, piece.high), None, decimal)
    except PastedError as error:
        if piece.kind != "code":
            mistakes.append(error)
        return []


def _ranges(source: Source, piece: Piece) -> list[Span]:
    """The sentences of a paragraph and the mathematics in its lines."""
    out, at = list[Span](), piece.low
    for inline in _INLINE.finditer(source.text, piece.low, piece.high):
        out += [(at, inline.start()), inline.span()]
        at = inline.end()
    return [span for span in [*out, (at, piece.high)] if _has_list(source.text[slice(*span)])]


def _has_list(text: str) -> bool:
    """Can there be a list or a matrix in a text?"""
    return any(sign in text for sign in "[({") and any(c.isdigit() for c in text)


def _found(
    source: Source, piece: Piece, block: Block, decimal: str | None, mistakes: list[PastedError]
) -> Found | None:
    """The block with its numbers read, if they are numbers."""
    texts = [source.text[low:high] for row in block.rows for low, high in row]
    lonely = block.vector and len(texts) < 2 and (block.label is None or (piece.kind == "prose" and texts[0].isdigit()))
    if lonely or not any(c.isdigit() for text in texts for c in text):
        return None
    try:
        pasted = finish(source, block, decimal)
    except PastedError as error:
        numbers = sum(looks_like_number(text) and not is_ellipsis(text) for text in texts)
        if numbers and 2 * numbers >= len(texts):
            mistakes.append(error)
        return None
    if all(cell.said is None for row in pasted.rows for cell in row):
        return None
    low, high = source.trim(*block.span)
    before = None if block.label else _before(source, piece.low if piece.kind == "mathematics" else low)
    return Found(source.place(low)[0], source.place(high - 1)[0], block.label, pasted, before)


def _before(source: Source, at: int) -> str | None:
    """The words before a place: of its line, or where there are none of the line before."""
    text = source.text
    end = at
    for _ in range(20):
        start = text.rfind("\n", max(0, end - 10 * MAX_BEFORE), end) + 1
        words = text[start:end].strip(" \t$*`#>|-·:(")
        if any(c.isalpha() for c in words):
            return source.original[start:end].strip(" \t\n\r$")[-MAX_BEFORE:]
        if start == 0:
            return None
        end = start - 1
    return None

"""Ranges of a text that should be the numbers of one block -> Pasted.

The work is bounded before it is done: how many numbers; equal texts are read once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from exactattn.documents.pasted.digits import COMMA, POINT, runs, told
from exactattn.documents.pasted.model import MAX_CELLS, MINUS_INFINITY, Cell, Pasted, Said
from exactattn.documents.pasted.said import ELLIPSES, said
from exactattn.documents.pasted.source import FILL, Source
from exactattn.errors import NumeralError
from exactattn.numbers.tokens import shorten

Span = tuple[int, int]  # from an offset to past the last character
_INFINITIES = (*MINUS_INFINITY, r"-\infty", "-np.inf", "-math.inf", "-torch.inf", 'float("-inf")', "float('-inf')")
_NO_NUMBER = ("nan", "inf", "+inf", "infinity", "∞", r"\infty", "+∞", "na", "none", "null", "true", "false")
_SIMPLE = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]*)?(?:[eE][-+]?[0-9]{1,3})?%?")
_NAME = re.compile(r"[A-Za-z]\w*")
_DOTS = (*ELLIPSES, *(f"\\{name}" for name in ("ldots", "dots", "cdots", "vdots", "ddots")), "⋮", "⋱", ":", "⋯")


@dataclass
class Block:
    """What a reader found: the ranges of the cells row by row, and what it knows of the form."""

    form: str
    rows: list[list[Span]]
    vector: bool = False
    times: str | None = None
    dtype: str | None = None
    trims: str | None = "plain"
    row_labels: list[str] | None = None
    column_labels: list[str] | None = None
    label: str | None = None
    commas_are_decimal: bool = False  # the form shows it: components are set apart by semicolons
    chain: int = 0  # blocks of one equation have one number
    joined: bool = False  # stands in a product or sum: an operand, not what an equation says
    span: Span = field(default=(0, 0))


def finish(source: Source, block: Block, decimal: str | None) -> Pasted:
    """The block with its numbers read. Errors: PastedError with the place of the first mistake."""
    rows = _rectangular(source, block)
    decimal = decimal or (COMMA if block.commas_are_decimal else _decimal_of(source, rows))
    known: dict[str, Said] = {}
    cells = tuple(tuple(_cell(source, span, decimal, known) for span in row) for row in rows)
    return Pasted(
        block.form,
        cells,
        block.vector,
        block.times,
        block.dtype,
        block.trims,
        None if block.row_labels is None else tuple(block.row_labels),
        None if block.column_labels is None else tuple(block.column_labels),
        block.label,
        block.joined,
    )


def is_ellipsis(text: str) -> bool:
    """Does the text stand for numbers that were not printed?"""
    return text.strip() in _DOTS


def is_minus_infinity(text: str) -> bool:
    """Is this minus infinity, in one of its spellings?"""
    bare = text.strip().strip(FILL + "${}*").replace(" ", "").lower()
    return bare in _INFINITIES


@lru_cache(maxsize=4096)
def looks_like_number(text: str) -> bool:
    """Could a cell be a number rather than a label? It has a digit, or says infinity or that something is left out."""
    bare = text.strip()
    if _SIMPLE.fullmatch(bare):
        return True
    if _NAME.fullmatch(bare):
        return bare.lower() in _NO_NUMBER
    if is_ellipsis(bare) or is_minus_infinity(bare) or bare.lower() in _NO_NUMBER:
        return True
    if not any(c.isdigit() for c in bare) or len(bare) > 200:
        return False
    try:
        said(bare, POINT)
    except NumeralError:
        try:
            said(bare, COMMA)
        except NumeralError:
            return False
    return True


def bound(source: Source, rows: list[list[Span]]) -> None:
    """Errors: PastedError for more numbers than are read."""
    count = sum(map(len, rows))
    if count > MAX_CELLS:
        raise source.error(f"{count:,} numbers: at most {MAX_CELLS:,} are read", rows[0][0][0], "paste a part")


def _rectangular(source: Source, block: Block) -> list[list[Span]]:
    """The rows, equally long: a row that is one ellipsis is as long as the others."""
    rows = [row for row in block.rows if row]
    if not rows:
        raise source.error("found no numbers", block.span[0], "paste the numbers with their brackets, one block")
    bound(source, rows)
    ellipses = [len(row) == 1 and is_ellipsis(source.text[row[0][0] : row[0][1]]) for row in rows]
    first = next((number for number, dots in enumerate(ellipses) if not dots), 0)
    width = len(rows[first])
    for number, row in enumerate(rows):
        if len(row) != width and not ellipses[number]:
            size = f"{len(row)} {'number' if len(row) == 1 else 'numbers'}"
            message = f"row {number + 1} has {size}, row {first + 1} has {width}"
            hint = "every row needs equally many; write ... for a number that was not printed"
            raise source.error(message, row[0][0], hint)
    if width * len(rows) > MAX_CELLS:
        raise source.error(
            f"{width * len(rows):,} numbers: at most {MAX_CELLS:,} are read", rows[0][0][0], "paste a part"
        )
    return [row * width if dots else row for row, dots in zip(rows, ellipses, strict=True)]


def _decimal_of(source: Source, rows: list[list[Span]]) -> str | None:
    """The decimal sign that some number of the block shows. Errors: PastedError when two show different ones."""
    first: dict[str, tuple[str, int]] = {}
    texts = {source.text[low:high]: low for row in reversed(rows) for low, high in reversed(row)}
    for text, place in texts.items():
        if "," not in text and "." not in text:
            continue
        for run in runs(text):
            try:
                shown = told(run)
            except NumeralError:
                continue  # said again, with its place, when the number is read
            if shown is not None:
                first.setdefault(shown, (run.text.rstrip("."), place + run.start))
    if len(first) == 2 and not any("," in text for text, _ in first.values()):
        first.pop(COMMA)  # points group digits in one number and are decimal points in another: read, refused there
    if len(first) == 2:
        (point, _), (comma, place) = first[POINT], first[COMMA]
        message = f"found {point!r}, which has a decimal point, and {comma!r}, which has a decimal comma, in one block"
        raise source.error(message, place, "correct one, or write `decimal: comma` or `decimal: point` beside it")
    return next(iter(first), None)


def _cell(source: Source, span: Span, decimal: str | None, known: dict[str, Said]) -> Cell:
    low, high = source.trim(*span)
    text, place = source.text[low:high], source.place(low)
    original = source.original[low:high]
    if is_ellipsis(text):
        return Cell(original, None, *place)
    if is_minus_infinity(text):
        return Cell(original, None, *place, True)
    if text.lower() in _NO_NUMBER:
        hint = "write ... for a number that was not printed"
        raise source.error(f"found {shorten(text)!r}, wanted a finite number or -inf", low, hint)
    if text not in known:
        try:
            known[text] = said(text, decimal)
        except NumeralError as error:
            raise source.error(str(error), low + min(error.offset or 0, len(text))) from None
    return Cell(original, known[text], *place)

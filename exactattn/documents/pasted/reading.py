"""A paste -> its blocks: the first door of the package."""

from __future__ import annotations

from fractions import Fraction

from exactattn.documents.pasted.block import Block, bound, finish
from exactattn.documents.pasted.forms import FORMS, read_blocks
from exactattn.documents.pasted.model import Pasted, PastedError
from exactattn.documents.pasted.said import known_decimal
from exactattn.documents.pasted.source import Source
from exactattn.errors import close
from exactattn.numbers.tokens import SHOWN, shorten


def read_pasted(text: str, form: str | None = None, decimal: str | None = None) -> Pasted:
    """The one block of a text, recognised by its looks, or read as the named form.

    Of a chain of equal matrices it is the last; lines with a vector each are the rows of one matrix.
    Errors: PastedError with the place.
    """
    source, found = _read(text, form, decimal)
    alone = [block for block in found if not block.joined]
    if not alone:
        hint = "paste it alone, with no more than a number in front of it"
        raise source.error("found matrices only as parts of a product, a sum or a call", found[0].span[0], hint)
    if len({block.chain for block in alone}) == 1:
        return finish(source, alone[-1], decimal)
    lines = {source.place(block.span[0])[0] for block in alone}
    rows = merged(source, [block for block in alone if block.vector]) if len(lines) == len(alone) else []
    if len(rows) == 1 and all(block.vector for block in alone):
        return finish(source, rows[0], decimal)
    names = ", ".join(shorten(block.label) for block in alone if block.label) or "none has a name"
    message = f"found {len(alone)} blocks of numbers, wanted one; their names: {names}"
    raise source.error(message, alone[1].span[0], "paste one of them, or rows of one length on lines of their own")


def read_all(text: str, form: str | None = None, decimal: str | None = None) -> tuple[Pasted, ...]:
    """Every block of a text in order: all matrices of a chain, the factors of products too.

    Errors: PastedError with the place.
    """
    source, found = _read(text, form, decimal)
    bound(source, [row for block in found for row in block.rows if row])
    return tuple(finish(source, block, decimal) for block in rows_joined(source, found))


def _read(text: str, form: str | None, decimal: str | None) -> tuple[Source, list[Block]]:
    source = Source(text)
    known_decimal(decimal)
    if form is not None and form not in FORMS:
        raise PastedError(f"found the form {form[:SHOWN]!r}, wanted a known form{close(form[:SHOWN], FORMS)}", 1, 1)
    return source, read_blocks(source, (0, len(text)), form, decimal)


def rows_joined(source: Source, found: list[Block]) -> list[Block]:
    """The blocks, with vectors on lines after each other, labelled by `Row 1:` or not at all, as one matrix."""
    out: list[Block] = []
    run: list[Block] = []
    for block in [*found, None]:
        if block is not None and _is_row(block) and (not run or _follows(source, run[-1], block)):
            run.append(block)
            continue
        out += merged(source, run) if len({block.chain for block in run}) == len(run) > 1 else run
        run = []
        if block is not None:
            (run if _is_row(block) else out).append(block)
    return out


def _is_row(block: Block) -> bool:
    return block.vector and not block.joined and (block.label is None or block.row_labels is not None)


def _follows(source: Source, before: Block, block: Block) -> bool:
    """Does a row stand on the line after another, without another heading, and equally long?"""
    lines = source.text.count("\n", before.span[1], block.span[0])
    heading = block.row_labels is not None and block.label not in (None, block.row_labels[0])
    return lines == 1 and not heading and len(block.rows[0]) == len(before.rows[0])


def merged(source: Source, rows: list[Block]) -> list[Block]:
    """Vectors as the rows of one matrix; as they are when each was printed with its own number of decimals."""
    if len(rows) < 2:
        return rows
    first = rows[0]
    if first.trims == "numpy" and len({_finest(source, block) for block in rows}) > 1:
        return rows
    label = first.label if first.row_labels is not None and first.label != first.row_labels[0] else None
    labels = [block.row_labels[0] if block.row_labels else block.label or "" for block in rows]
    out = Block(first.form, [block.rows[0] for block in rows], False, None, first.dtype, first.trims)
    out.row_labels, out.label, out.chain = labels if any(labels) else None, label, first.chain
    out.commas_are_decimal = any(block.commas_are_decimal for block in rows)
    out.span = (first.span[0], rows[-1].span[1])
    return [out]


def _finest(source: Source, block: Block) -> Fraction:
    decimals = [source.text[low:high].lower().partition("e")[0].partition(".")[2] for low, high in block.rows[0]]
    return Fraction(1, 10 ** max(map(len, decimals)))

"""A bracket group -> blocks: nested lists, NumPy and torch prints, `[1 2; 3 4]`, components set apart by semicolons."""

from __future__ import annotations

import re
from itertools import pairwise

from exactattn.documents.pasted.block import Block, is_ellipsis
from exactattn.documents.pasted.brackets import Group, Span
from exactattn.documents.pasted.digits import COMMA, HINT, POINT
from exactattn.documents.pasted.source import Source
from exactattn.numbers.tokens import shorten

WRAPPED = 50  # characters; a line that a program wraps is longer
_PIECE = re.compile(r"[^\s]+")
_COMMA_DECIMAL = re.compile(r"[-+]?[0-9]+,[0-9]+%?")
_GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")
_SURELY_COMMA = re.compile(r"[-+]?[0-9]+,0[0-9]+|-0,[0-9]+")  # 0,05 is not the two numbers 0 and 05, -0,5 not -0 and 5
_DTYPE = re.compile(r"dtype\s*=\s*(?:torch\.|np\.|numpy\.|jnp\.)?['\"]?([a-z]+[0-9]*)")
_DTYPES = {"double": "float64", "float": "float32", "half": "float16"}


def blocks_of(
    source: Source, group: Group, caller: str, options: str, form: str | None, decimal: str | None
) -> list[Block]:
    """The matrices of one list: one, or for a list of matrices each of them. Errors: PastedError.

    `caller` is the name of the call that it is the argument of (`tensor`, `np.array`), `options` what stands behind it.
    """
    if group.leaf:
        return [_settled(source, _flat(source, group, form, decimal), caller, options, form, [group])]
    inner = group.groups
    if all(item.leaf for item in inner):
        return [_settled(source, _nested(source, group, decimal), caller, options, form, inner)]
    stray = next(iter(group.spans), None)
    if stray is not None and not is_ellipsis(source.text[slice(*stray)]):
        raise source.error("found a number beside lists of lists, wanted a list", stray[0], "paste one matrix")
    return [block for item in inner for block in blocks_of(source, item, caller, options, form, decimal)]


def _nested(source: Source, group: Group, decimal: str | None) -> Block:
    """A list of rows."""
    rows: list[list[Span]] = []
    commas = 0
    for item in group.items:
        if not isinstance(item, Group):
            if not is_ellipsis(source.text[slice(*item)]):
                raise source.error(
                    "found a number beside a row, wanted a row in brackets", item[0], "write [[...], [...]]"
                )
            rows.append([item])
            continue
        if item.semicolons or (group.semicolons and _one_with_a_comma(source, item, group, decimal)):
            rows.append(_parts(item))
            commas += any("," in source.text[slice(*part)] for part in rows[-1])
        else:
            rows.append(spaced(source, item, decimal))
        if not rows[-1]:
            raise source.error("found an empty row, wanted numbers", item.start, "write ... for numbers not printed")
    block = Block("list", rows, span=(group.start, group.end))
    block.commas_are_decimal = commas > 0 and decimal is None
    return block


def _one_with_a_comma(source: Source, item: Group, group: Group, decimal: str | None) -> bool:
    """Is a row between semicolons one number with a decimal comma, as in `[[0,4]; [0,3]]`, and not two numbers?

    Errors: PastedError where both can be meant.
    """
    if decimal == POINT or not item.leaf or len(item.items) != 2 or item.semicolons:
        return False
    text = source.text[slice(*_parts(item)[0])]
    if _COMMA_DECIMAL.fullmatch(text) is None:
        return False
    if decimal == COMMA or any(_SURELY_COMMA.fullmatch(source.text[slice(*_parts(one)[0])]) for one in group.groups):
        return True
    message = f"found {shorten(source.text[item.start : item.end])!r}: one number with a decimal comma, or two numbers"
    raise source.error(message, item.start, f"{HINT}, or put a space behind the commas of a row")


def spaced(source: Source, group: Group, decimal: str | None) -> list[Span]:
    """The numbers of a flat list: set apart by commas, or where there are none by white space.

    Errors: PastedError where a comma in digits could be more than the end of a number.
    """
    if not group.commas:
        return [piece for span in group.spans for piece in pieces(source, *span)]
    text, spans = source.text, group.spans
    tight = [after[0] == before[1] + 1 for before, after in pairwise(spans)]
    if all(tight) or not any(tight):
        return spans
    out = spans[:1]
    commas = any(
        text.count(".", *span) > 1 for span in spans
    )  # points that group digits: the comma is the decimal sign
    for close, span in zip(tight, spans[1:], strict=True):
        whole = text[out[-1][0] : span[1]]
        number = close and _COMMA_DECIMAL.fullmatch(whole) is not None
        grouped = number and _GROUPED.fullmatch(whole) is not None
        if decimal is None and (grouped or (number and commas)):
            message = f"found {whole!r} among numbers with a space behind their commas: one number, or two"
            raise source.error(message, out[-1][0], f"{HINT}, or put a space between two numbers")
        if (number and decimal == COMMA) or (grouped and decimal == POINT):
            out[-1] = (out[-1][0], span[1])
        else:
            out.append(span)
    return out


def pieces(source: Source, low: int, high: int) -> list[Span]:
    """The parts of a range between white space; an ellipsis of spaced points stays as it is."""
    return [match.span() for match in _PIECE.finditer(source.text, low, high)]


def _parts(group: Group) -> list[Span]:
    """What stands between the semicolons of a flat list."""
    spans, ends = group.spans, [*group.semicolons, len(group.items)]
    out, first = [], 0
    for end in ends:
        if end > first:
            out.append((spans[first][0], spans[end - 1][1]))
        first = end
    return out


def _flat(source: Source, group: Group, form: str | None, decimal: str | None) -> Block:
    """A vector, or a matrix whose rows end in semicolons."""
    span = (group.start, group.end)
    if not group.semicolons:
        cells = spaced(source, group, decimal)
        if not cells:
            raise source.error("found an empty list, wanted numbers", group.start)
        rows = _by_lines(source, group, cells, form)
        if rows is not None:
            return Block("matlab", rows, span=span)
        return Block("list", [cells], vector=True, span=span)
    parts = _parts(group)
    if _is_comma_decimal(source, group, parts, form, decimal):
        return Block("list", [parts], vector=True, span=span, commas_are_decimal=decimal is None)
    if source.text[group.start] != "[" and all(len(pieces(source, *part)) == 1 for part in parts):
        return Block("list", [parts], vector=True, span=span)
    rows = []
    for low, high in parts:
        inside = [item for item in group.spans if low <= item[0] < high]
        rows.append(inside if "," in source.text[low:high] else [x for item in inside for x in pieces(source, *item)])
    return Block("matlab", rows, span=span)


def _by_lines(source: Source, group: Group, cells: list[Span], form: str | None) -> list[list[Span]] | None:
    """The rows of a list without commas over several lines, where it is no vector that was wrapped.

    Errors: PastedError where both can be meant.
    """
    if group.commas or source.text[group.start] != "[" or form not in (None, "matlab", "julia"):
        return None
    lines: dict[int, list[Span]] = {}
    for cell in cells:
        lines.setdefault(source.place(cell[0])[0], []).append(cell)
    rows = list(lines.values())
    if len(rows) < 2 or form is not None:
        return rows if len(rows) > 1 else None
    if len({len(row) for row in rows}) > 1 or rows[0][-1][1] - rows[0][0][0] > WRAPPED:
        return None
    message = "found lines of equally many numbers in one pair of brackets: rows, or a vector that was wrapped"
    raise source.error(message, group.start, "name the form: matlab for rows, numpy for a vector")


def _is_comma_decimal(source: Source, group: Group, parts: list[Span], form: str | None, decimal: str | None) -> bool:
    """Are these components with decimal commas, `(0,4; 0,2)`, and not rows, `[0, 4; 0, 2]`?

    Errors: PastedError where both can be meant.
    """
    texts = [source.text[slice(*part)] for part in parts]
    fitting = [_COMMA_DECIMAL.fullmatch(text) is not None for text in texts]
    if not any(fitting) or not all(
        fits or text.lstrip("+-").isdigit() for fits, text in zip(fitting, texts, strict=True)
    ):
        return False
    if decimal is not None or form in ("list", "matlab"):
        return decimal == COMMA or (decimal != POINT and form == "list")
    if not all(fitting) or source.text[group.start] != "[" or any(_SURELY_COMMA.fullmatch(text) for text in texts):
        return True
    message = f"found {shorten(source.text[group.start : group.end])!r}: components with decimal commas, or rows of two"
    raise source.error(message, group.start, f"{HINT}, or put a space behind the commas of a row")


def _settled(source: Source, block: Block, caller: str, options: str, form: str | None, leaves: list[Group]) -> Block:
    """The block with its form, and the precision and padding of the program that printed it."""
    name = caller.rsplit(".", 1)[-1]
    spaces = not any(leaf.commas or leaf.semicolons for leaf in leaves)
    several = sum(map(len, block.rows)) > 1
    found = _DTYPE.search(options)
    dtype = None if found is None else _DTYPES.get(found[1], found[1])
    floats = dtype is None or "float" in dtype
    if block.form == "matlab":
        block.form = form if form in ("julia", "matlab") else "matlab"
    elif (name in ("tensor", "Parameter") and caller != "torch.tensor") or form == "torch":
        block.form = "torch"
        points = any(
            "." in source.text[slice(*span)] and not is_ellipsis(source.text[slice(*span)])
            for row in block.rows
            for span in row
        )
        dtype = dtype or ("float32" if points else None)
    elif form == "numpy" or caller == "array" or (form is None and spaces and several and _padded(source, block)):
        exponents = any("e" in source.text[slice(*span)].lower() for row in block.rows for span in row)
        block.form, block.trims = "numpy", "plain" if exponents else "numpy"  # with exponents it trims nothing
    elif form in ("julia", "matlab") or (form is None and spaces and several):
        block.form = form or "matlab"
    block.dtype = dtype if floats else None
    return block


def _padded(source: Source, block: Block) -> bool:
    """Are the numbers padded as NumPy pads them: as many spaces behind a number as its decimals are fewer?"""
    text = source.text
    most = max(_decimals(text[slice(*span)]) for row in block.rows for span in row)
    for row in block.rows:
        for low, high in row:
            if is_ellipsis(text[low:high]):
                continue
            missing = most - _decimals(text[low:high])
            pad = text[high : high + missing].partition("\n")[0]  # none at the end of a line that is wrapped
            if missing and not (
                pad == " " * missing or ((pad.isspace() or not pad) and "\n" in text[high : high + missing])
            ):
                return False
    return True


def _decimals(text: str) -> int:
    mantissa = text.lower().partition("e")[0]
    return len(mantissa.partition(".")[2]) if not is_ellipsis(text) else 0

"""What is written in a form is read back to the same digits. The writers are our own, NumPy's is NumPy's."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactattn.documents.pasted import find_pasted, read_pasted

_SPEC = importlib.util.spec_from_file_location("writers_of_pastes", Path(__file__).with_name("writers.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
writers = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(writers)

DECIMALS = st.decimals(min_value=-999, max_value=999, places=4, allow_nan=False).map(lambda x: f"{x:.4f}")


@st.composite
def matrices(draw):
    width = draw(st.integers(2, 8))
    return draw(st.lists(st.lists(DECIMALS, min_size=width, max_size=width), min_size=2, max_size=5))


@pytest.mark.parametrize("name", writers.WRITERS)
@settings(max_examples=20)
@given(rows=matrices())
def test_every_form_gives_its_digits_back(name: str, rows: list[list[str]]) -> None:
    pasted = read_pasted(writers.WRITERS[name](rows))
    numerals = [[cell.said.numeral for cell in row if cell.said] for row in pasted.rows]
    assert [[x.value for x in row] for row in numerals] == [[Fraction(text) for text in row] for row in rows]
    assert {x.unit for row in numerals for x in row} == {Fraction(1, 10**4)}
    assert not pasted.vector


@pytest.mark.parametrize("name", writers.WRITERS)
@settings(max_examples=20)
@given(rows=matrices())
def test_every_cell_has_its_place(name: str, rows: list[list[str]]) -> None:
    text = writers.WRITERS[name](rows)
    lines = text.split("\n")
    for row in read_pasted(text).rows:
        for cell in row:
            assert lines[cell.line - 1].startswith(cell.text, cell.column - 1)


@settings(max_examples=60)
@given(
    rows=matrices(),
    decimals=st.integers(1, 8),
    suppress=st.booleans(),
    width=st.integers(20, 90),
    comma=st.booleans(),
)
def test_numpy_prints_come_back(rows, decimals: int, suppress: bool, width: int, comma: bool) -> None:
    block = np.array([[float(text) for text in row] for row in rows])
    separator = ", " if comma else " "
    text = np.array2string(
        block, precision=decimals, suppress_small=suppress, max_line_width=width, separator=separator, threshold=10**6
    )
    pasted = read_pasted(text)
    got = [[cell.said.numeral for cell in row if cell.said] for row in pasted.rows]
    pieces = text.replace("[", " ").replace("]", " ").replace(",", " ").split()
    assert [len(row) for row in got] == [len(row) for row in rows]
    flat = [x for row in got for x in row]
    assert [x.value for x in flat] == [Fraction(piece) for piece in pieces]
    assert pasted.form in ("list", "numpy") if comma else pasted.form == "numpy"


@given(rows=matrices())
def test_python_reprs_come_back(rows) -> None:
    block = np.array([[float(text) for text in row] for row in rows])
    got = read_pasted(repr(block))
    assert (got.form, got.trims) == ("numpy", "plain" if "e" in repr(block) else "numpy")
    assert len(got.rows) == len(rows)
    floats = read_pasted(f"x = {block.tolist()!r}")
    values = [[cell.said.numeral.value for cell in row if cell.said] for row in floats.rows]
    assert values == [[Fraction(repr(x)) for x in row] for row in block.tolist()]


@given(rows=matrices(), name=st.sampled_from(["list", "lines", "torch", "r", "markdown", "latex", "box", "sheet"]))
def test_a_block_is_found_in_a_document(rows: list[list[str]], name: str) -> None:
    text = writers.WRITERS[name](rows)
    fenced = {"latex": f"$$\n{text}\n$$", "markdown": text}.get(name, f"```\n{text}\n```")
    document = f"# A heading\n\nSome words about 3 tokens, see [1] and [2].\n\n{fenced}\n\nThe end.\n"
    (found,) = find_pasted(document)
    got = [[cell.said.numeral.value for cell in row if cell.said] for row in found.pasted.rows]
    assert got == [[Fraction(cell) for cell in row] for row in rows]
    assert found.start_line >= 5
    assert found.end_line <= document.count("\n") - 1

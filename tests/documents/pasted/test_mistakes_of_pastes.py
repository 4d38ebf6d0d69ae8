"""What cannot be read is one error: place, what was found, what to do."""

from __future__ import annotations

import pytest

from exactattn.documents.pasted import PastedError, find_pasted, read_all, read_pasted, read_said
from exactattn.errors import NumeralError


@pytest.mark.parametrize(
    ("text", "line", "column", "part"),
    [
        ("[[1, 2],\n [3, 4, 5]]", 2, 3, "row 2 has 3 numbers, row 1 has 2"),
        ("1 2\n3 4\n5", 3, 1, "row 3 has 1 number, row 1 has 2"),
        ("A =\n\\begin{bmatrix} 1 & 2", 2, 1, r"\\begin\{bmatrix\} on line 2 is not closed"),
        ("\\begin{bmatrix} 1 \\end{pmatrix}", 1, 19, r"without its \\begin\{pmatrix\}"),
        ("\\begin{bmatrix} \\begin{bmatrix} 1 \\end{bmatrix} \\end{bmatrix}", 1, 17, "which is not closed"),
        ("\\begin{bmatrix} 1 & \\alpha \\end{bmatrix}", 1, 21, r"LaTeX command '\\\\alpha'"),
        ("[[1, 2], [3, 4]", 1, 1, "the '\\[' on line 1 is not closed"),
        ("[1, 2)]", 1, 6, "found '\\)' without its '\\('"),
        ("[1, , 2]", 1, 5, "found nothing where a number is wanted"),
        ("[1, nan]", 1, 5, "wanted a finite number or -inf"),
        ("[1, half]", 1, 5, "found 'half', wanted a number"),
        ("[[1, 2], 3]", 1, 10, "found a number beside a row"),
        ("[0.5; 0,25; 1]", 1, 7, "row 2 has 2 numbers, row 1 has 1"),
        ("| a | b |\n|---|---|\n| 0.5 | 0,5 |", 3, 9, "has a decimal comma, in one block"),
        ("0,4\n0,6", 1, 1, "one number with a decimal comma, or two numbers"),
        ("[12,288, 128, 96]", 1, 2, "one number, or two"),
        ("[1] 0.1 0.2\n[4] 0.3", 2, 1, "wanted \\[3\\]"),
        ("[" * 9 + "1" + "]" * 9, 1, 9, "nested more than 8 deep"),
        ("", 1, 1, "found nothing, wanted numbers"),
        ("no numbers", 1, 1, "wanted a number"),
        ("Q = [[1]]\nK = [[2]]", 2, 5, "found 2 blocks of numbers, wanted one; their names: Q, K"),
        ("softmax([1, 2])", 1, 9, "only as parts of a product"),
    ],
)
def test_a_mistake_has_its_place(text: str, line: int, column: int, part: str) -> None:
    with pytest.raises(PastedError, match=part) as caught:
        read_pasted(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert isinstance(caught.value, NumeralError)
    assert str(caught.value).startswith(f"line {line}, column {column}: ")


def test_words_that_are_no_forms() -> None:
    with pytest.raises(PastedError, match="did you mean 'latex'"):
        read_pasted("[1]", form="latec")
    with pytest.raises(PastedError, match="wanted `decimal: comma`"):
        read_pasted("[1]", decimal="dot")


@pytest.mark.parametrize("read", [read_pasted, read_all, read_said, find_pasted])
def test_a_text_that_is_too_long_is_refused_unread(read) -> None:
    with pytest.raises(PastedError, match=r"5.0 million characters: at most 200,000"):
        read("[" * 5_000_000)


def test_more_numbers_than_are_read() -> None:
    with pytest.raises(PastedError, match="20,001 numbers: at most 20,000"):
        read_pasted("[" + "1, " * 20_000 + "1]")


def test_rows_that_were_left_out_do_not_multiply() -> None:
    with pytest.raises(PastedError, match="at most 20,000 are read"):
        read_pasted("[[" + "1," * 9_000 + "1]" + ",..." * 9_000 + "]")


HOSTILE = (
    *("[", "]", "[]", "[1]", "[1,2]\n", "(", "{", "\\", "$", "$1", "\\frac", "\\begin{bmatrix}", "&", "1&2\\\\", ","),
    *("=", "a: ", "a: 1\n", "1 ", "~", "about ", "|", "|1|2|\n", "-", " ", "\t", "1", "```\n", "\\(", "\\[", "√", "e^"),
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_repetitions_end(piece: str) -> None:
    text = (piece * 200_000)[:200_000]
    for read in (read_pasted, read_all, read_said, find_pasted):
        message = ""
        try:
            read(text)
        except PastedError as error:
            message = str(error)
        assert len(message) < 1_000

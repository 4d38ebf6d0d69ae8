"""The forms in which authors state things, one section for each; the numbers are our own."""

from __future__ import annotations

from fractions import Fraction

import pytest

from exactattn.documents.forms import with_units
from exactattn.documents.pasted import Pasted, PastedError, find_pasted, read_all, read_chain, read_pasted, read_said
from exactattn.numbers.exact import spell


def texts(pasted: Pasted) -> list[list[str]]:
    return [[cell.text for cell in row] for row in pasted.rows]


def values(pasted: Pasted) -> list[list[Fraction | str]]:
    out: list[list[Fraction | str]] = []
    for row in pasted.rows:
        out.append([])
        for cell in row:
            if cell.said is None:
                out[-1].append("-inf" if cell.minus_infinity else "...")
            else:
                assert isinstance(cell.said.numeral.value, Fraction)
                out[-1].append(cell.said.numeral.value)
    return out


def exactly(*rows: str) -> list[list[Fraction]]:
    return [[Fraction(text) for text in row.split()] for row in rows]


# 1: LaTeX with a factor, marks, boxes, fractions, closed forms


def test_latex_with_a_factor_in_front() -> None:
    pasted = read_pasted(r"A = \frac{1}{\sqrt{2}} \begin{bmatrix} 3 & 0 \\ 0.5 & -1 \end{bmatrix}")
    assert (pasted.form, pasted.label, pasted.times) == ("latex", "A", "1/sqrt(2)")
    assert values(pasted) == exactly("3 0", "0.5 -1")


@pytest.mark.parametrize(
    "text", ["(1/√2)[[3, 0], [0.5, -1]]", "[[3, 0], [0.5, -1]]/√2", "1/sqrt(2) * [[3, 0], [0.5, -1]]"]
)
def test_factors_beside_lists(text: str) -> None:
    pasted = read_pasted(text)
    assert values(pasted) == exactly("3 0", "0.5 -1")
    assert pasted.times in ("1/√2", "1/sqrt(2)")


def test_of_a_chain_of_matrices_the_last_is_meant_and_all_are_there() -> None:
    text = (
        r"\boxed{P} = \left(\begin{array}{c|c} 1 & 2 \\ \hline 3 & 4 \end{array}\right)"
        "\n"
        r"\begin{pmatrix} 1 \\ 1 \end{pmatrix} \approx \begin{pmatrix} 3.0 \\ 7.0 \end{pmatrix}"
    )
    assert values(read_pasted(text)) == exactly("3.0", "7.0")
    assert [(len(p.rows), len(p.rows[0]), p.joined) for p in read_all(text)] == [
        (2, 2, True),
        (2, 1, True),
        (2, 1, False),
    ]


def test_cells_of_latex_may_be_closed_forms() -> None:
    rows = (r"\dfrac{e^{1/\sqrt{2}}}{e^{1/\sqrt{2}}+1} & \tfrac{1}{3}", r"\mathbf{0.50} & \approx 0.33")
    text = r"\begin{pmatrix}" + r" \\[2pt] ".join(rows) + r"\end{pmatrix}"
    (first, third), (half, near) = read_pasted(text).rows
    assert first.said is not None
    assert "exp(" in spell(first.said.numeral.value)
    assert third.said is not None
    assert third.said.numeral.value == Fraction(1, 3)
    assert half.said is not None
    assert half.said.numeral.unit == Fraction(1, 100)
    assert near.said is not None
    assert near.said.mark == "~"


# 2: lists, fences, lines with labels, tables


@pytest.mark.parametrize(
    "text",
    [
        "[[0.7, 0.3], [0.25, 0.75]]",
        "((0.7, 0.3), (0.25, 0.75))",
        "{{0.7, 0.3}, {0.25, 0.75}}",
        "[0.7, 0.3]\n[0.25, 0.75]",
        "Row 1: [0.7, 0.3]\nRow 2: [0.25, 0.75]",
        "Row 1: 0.7 0.3\nRow 2: 0.25 0.75",
        "Token 1 (cat): [0.7, 0.3]\nToken 2 (mat): [0.25, 0.75]",
        "```python\nA = np.array([[0.7, 0.3],\n              [0.25, 0.75]])\n```",
        "weights = torch.tensor([[0.7, 0.3], [0.25, 0.75]])",
        "| | cat | mat |\n|---|:-:|---|\n| **cat** | 0.7 | 0.3 |\n| mat | 0.25 | 0.75 |",
        "| word | vector |\n|---|---|\n| cat | [0.7, 0.3] |\n| mat | [0.25, 0.75] |",
        "+------+------+\n| 0.7  | 0.3  |\n+------+------+\n| 0.25 | 0.75 |\n+------+------+",
        "┌──────┬──────┐\n│ 0.7  │ 0.3  │\n│ 0.25 │ 0.75 │\n└──────┴──────┘",
        "      cat   mat\ncat   0.7   0.3\nmat   0.25  0.75",
        "0.7  0.3\n0.25 0.75",
        "[0.7 0.3; 0.25 0.75]",
        "0.7,0.3\n0.25,0.75",
        "a;b\n0,7;0,3\n0,25;0,75",
        "0.7\t0.3\n0.25\t0.75",
    ],
)
def test_one_matrix_in_many_forms(text: str) -> None:
    assert values(read_pasted(text)) == exactly("0.7 0.3", "0.25 0.75")


def test_labels_are_kept() -> None:
    pasted = read_pasted("| | cat | mat |\n|---|---|---|\n| **cat** | 0.7 | 0.3 |\n| mat | 0.25 | 0.75 |")
    assert (pasted.row_labels, pasted.column_labels) == (("cat", "mat"), ("cat", "mat"))
    assert read_pasted("Token 1 (cat): [1, 2]\nToken 2 (mat): [3, 4]").row_labels == ("Token 1 (cat)", "Token 2 (mat)")


def test_a_table_with_two_columns_of_vectors_is_two_matrices() -> None:
    text = "| word | q | k |\n|---|---|---|\n| cat | [1, 0] | [2, 5] |\n| mat | [0, 1] | [3, 4] |"
    q, k = read_all(text)
    assert (q.label, values(q), k.label, values(k)) == ("q", exactly("1 0", "0 1"), "k", exactly("2 5", "3 4"))
    with pytest.raises(PastedError, match="found 2 blocks of numbers, wanted one; their names: q, k"):
        read_pasted(text)


def test_the_counts_of_columns_and_rows_are_labels() -> None:
    frame = read_pasted("          0         1\n0  0.401112  0.598888\n1  0.250000  0.750000")
    assert (frame.row_labels, frame.column_labels) == (("0", "1"), ("0", "1"))
    assert values(frame) == exactly("0.401112 0.598888", "0.25 0.75")


def test_labels_in_latex() -> None:
    text = r"\begin{array}{c|cc} & k_1 & k_2 \\ \hline q_1 & 0.5 & 0.5 \\ q_2 & 0.25 & 0.75 \end{array}"
    pasted = read_pasted(text)
    assert (pasted.row_labels, pasted.column_labels) == (("q_1", "q_2"), ("k_1", "k_2"))
    assert values(pasted) == exactly("0.5 0.5", "0.25 0.75")


def test_lines_in_one_pair_of_brackets_have_two_readings() -> None:
    with pytest.raises(PastedError, match="rows, or a vector that was wrapped"):
        read_pasted("[1 2\n 3 4]")
    assert values(read_pasted("[1 2\n 3 4]", form="matlab")) == exactly("1 2", "3 4")
    assert values(read_pasted("[1 2\n 3 4]", form="numpy")) == exactly("1 2 3 4")


def test_comments_of_code_are_no_numbers() -> None:
    assert values(read_pasted("A = [[1, 0],  # cat (the 1st\n     [0, 1]]  # mat")) == exactly("1 0", "0 1")


# 3: what programs print


def test_torch_prints_single_precision() -> None:
    text = "tensor([[6.1000e-02, 4.5000e-01,\n         2.0000e-06],\n        [1., 0., 0.]], grad_fn=<SoftmaxBackward0>)"
    pasted = read_pasted(text.replace(",\n         2", ", 2"))
    assert (pasted.form, pasted.dtype, pasted.trims) == ("torch", "float32", "plain")
    assert texts(pasted)[0] == ["6.1000e-02", "4.5000e-01", "2.0000e-06"]
    assert read_pasted(text) == read_pasted(text)
    assert read_pasted("tensor([1.5000, 2.2500], dtype=torch.float64)").dtype == "float64"
    assert read_pasted("tensor([[1, 0], [0, 1]])").dtype is None


def test_numpy_pads_and_trims() -> None:
    # numpy prints the array [[0.5, 0.25], [1, 10]] so
    pasted = read_pasted("[[ 0.5   0.25]\n [ 1.   10.  ]]")
    assert (pasted.form, pasted.trims) == ("numpy", "numpy")
    numerals = [[cell.said.numeral if cell.said else None for cell in row] for row in pasted.rows]
    units = [numeral.unit for row in with_units(numerals, pasted.trims, None) for numeral in row if numeral]
    assert units == [Fraction(1, 100)] * 4


def test_r_prints_labels_and_columns_in_groups() -> None:
    text = "         [,1]     [,2]\n[1,] 0.083700 0.026300\n[2,] 0.025400 0.080700\n      [,3]\n[1,] 0.89\n[2,] 0.90"
    pasted = read_pasted(text)
    assert (pasted.form, pasted.trims) == ("r", "r")
    assert values(pasted) == exactly("0.0837 0.0263 0.89", "0.0254 0.0807 0.90")
    assert values(read_pasted("[1] 0.1 0.2 0.3\n[4] 0.4")) == exactly("0.1 0.2 0.3 0.4")
    named = read_pasted("       a    b\ncat 0.10 0.90\nmat 0.35 0.65", form="r")
    assert (named.row_labels, named.column_labels, named.trims) == (("cat", "mat"), ("a", "b"), "r")


def test_a_spreadsheet_shows_seventeen_digits() -> None:
    pasted = read_pasted("0,25768992519603773\t7,652050458229058E-2\n1\t0")
    assert (pasted.form, pasted.trims) == ("spreadsheet", "spreadsheet")
    assert values(pasted)[0] == [Fraction("0.25768992519603773"), Fraction("7.652050458229058e-2")]


def test_matlab_and_julia() -> None:
    assert values(read_pasted("A = [1 2; 3 4]")) == exactly("1 2", "3 4")
    assert values(read_pasted("A = [1, 2; 3, 4]")) == exactly("1 2", "3 4")
    shown = read_pasted("A =\n\n   1.0e+03 *\n\n    0.0010    1.2000\n    0.5000    0.0300\n")
    assert (shown.label, shown.times, values(shown)) == ("A", "1.0e+03", exactly("0.001 1.2", "0.5 0.03"))
    julia = read_pasted("2×2 Matrix{Float32}:\n 0.25  0.75\n 0.5   0.5")
    assert (julia.form, julia.dtype, values(julia)) == ("julia", "float32", exactly("0.25 0.75", "0.5 0.5"))


# 4: mixed digits


def test_each_number_keeps_its_own_digits() -> None:
    (row,) = read_pasted("[0.1, 1.041, 0.84, 2]").rows
    assert [cell.said.numeral.unit for cell in row if cell.said] == [
        Fraction(1, 10),
        Fraction(1, 1000),
        Fraction(1, 100),
        Fraction(1),
    ]


# 5: rounding marks


def test_marks_inside_a_block() -> None:
    (row,) = read_pasted("[≈0.33, ~0.3, 0.4011..., about 20]").rows
    said = [cell.said for cell in row]
    assert [x.mark for x in said if x] == ["~", "~", "=", "~"]
    assert [x.truncated for x in said if x] == [False, False, True, False]


# 6: percent, thousands, bytes


def test_percent_and_thousands() -> None:
    assert values(read_pasted("[28.4%, 14.0%, 57.6%]")) == exactly("0.284 0.14 0.576")
    assert values(read_pasted("| a | b |\n|---|---|\n| 12,288 | 0.5 |")) == exactly("12288 0.5")
    assert values(read_pasted("| a | b |\n|---|---|\n| 12,288 | 0,5 |")) == exactly("12.288 0.5")
    assert read_said("39.06 GiB").numeral.value != read_said("39.06 GB").numeral.value


def test_an_ambiguous_comma_is_an_error_with_its_place_until_the_user_decides() -> None:
    text = "| a | b |\n|---|---|\n| 12,288 | 7 |"
    with pytest.raises(PastedError, match=r"12288 with a decimal point, 12\.288 with a decimal comma") as caught:
        read_pasted(text)
    assert (caught.value.line, caught.value.column) == (3, 3)
    assert values(read_pasted(text, decimal="point")) == exactly("12288 7")
    assert values(read_pasted(text, decimal="comma")) == exactly("12.288 7")


# 7: chains


def test_a_chain_is_read_link_by_link() -> None:
    chain = read_chain("4.11/8.22 = 0.5 = 50%")
    assert [said.numeral.value for said in chain] == [Fraction(1, 2)] * 3


def test_products_and_partial_sums() -> None:
    text = r"z = 0.3\cdot [1, 0] + 0.7 \cdot [0, 1] = [0.3, 0] + [0, 0.7] = [0.3, 0.7]"
    blocks = read_all(text)
    assert [block.joined for block in blocks] == [True, True, True, True, False]
    assert (blocks[-1].label, values(blocks[-1])) == ("z", exactly("0.3 0.7"))


# 8: masks


@pytest.mark.parametrize(
    "text", ["[[0, -inf], [0, 0]]", "[[0, -∞], [0.0000, 0]]", r"\begin{bmatrix} 0 & -\infty \\ 0 & 0 \end{bmatrix}"]
)
def test_minus_infinity_is_no_number_and_no_gap(text: str) -> None:
    assert values(read_pasted(text)) == [[0, "-inf"], [0, 0]]


# 9, 10: rounded constants, scales


@pytest.mark.parametrize(
    ("text", "times"),
    [("0.707 * [[1, 2]]", "0.707"), ("[[1, 2]] / 1.414", "1/1.414"), ("[[1, 2]] / 8", "1/8"), ("0.4[1, 2]", "0.4")],
)
def test_a_rounded_constant_stays_as_written(text: str, times: str) -> None:
    assert read_pasted(text).times == times


def test_a_factor_may_name_a_size() -> None:
    assert read_pasted(r"\frac{1}{\sqrt{d_k}} \begin{bmatrix} 1 & 2 \end{bmatrix}").times == "1/sqrt(d_k)"


# 11: rows and columns


def test_a_transposed_matrix_is_turned() -> None:
    pasted = read_pasted(r"X = \begin{bmatrix} 1 & 2 \\ 3 & 4 \\ 5 & 6 \end{bmatrix}^T")
    assert values(pasted) == exactly("1 3 5", "2 4 6")
    assert pasted.rows[0][1].column > pasted.rows[0][0].column


def test_a_column_is_a_matrix_and_a_flat_list_a_vector() -> None:
    assert not read_pasted(r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}").vector
    assert read_pasted("[1, 2]").vector
    assert read_pasted("[1, 2]^T").vector


# 12: heads


def test_a_list_of_matrices_is_several_blocks() -> None:
    first, second = read_all("heads = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]")
    assert (values(first), values(second)) == (exactly("1 2", "3 4"), exactly("5 6", "7 8"))
    with pytest.raises(PastedError, match="found 2 blocks"):
        read_pasted("[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]")


# 13: an ellipsis


def test_an_ellipsis_is_a_gap() -> None:
    assert values(read_pasted("[0.12, -0.5, ..., 0.33]")) == [
        [Fraction("0.12"), Fraction("-0.5"), "...", Fraction("0.33")]
    ]
    summary = "[[0.1 0.2 ... 0.9]\n [0.2 0.3 ... 0.8]\n ...\n [0.3 0.4 ... 0.7]]"
    assert values(read_pasted(summary))[2] == ["..."] * 4


# 14: statements that are no numbers


@pytest.mark.parametrize(
    "text", ["token 3 attends most to itself", "the rows are identical", "[cat, sat, mat]", "O(n²d)"]
)
def test_a_statement_without_numbers_is_no_block(text: str) -> None:
    assert find_pasted(text) == ()
    with pytest.raises(PastedError):
        read_pasted(text)


# 15: a document that says it twice


def test_a_document_with_two_versions_gives_both() -> None:
    second = r"No, wait: $V = \begin{bmatrix} 1 & 0 \\ 0 & 2 \end{bmatrix}$."
    text = f"First we get\n\n```\nV = [[1, 0], [2, 2]]\n```\n\n{second}\n"
    found = find_pasted(text)
    assert [(x.label, x.start_line, values(x.pasted)) for x in found] == [
        ("V", 4, exactly("1 0", "2 2")),
        ("V", 7, exactly("1 0", "0 2")),
    ]


# 16: labels, decimal commas, dropped zeros, wrapped lines, broken encoding, line numbers


def test_decimal_commas_with_semicolons() -> None:
    assert values(read_pasted("(0,45; 0,1; 0,45)")) == exactly("0.45 0.1 0.45")
    assert values(read_pasted("((0,4; 0,6); (0,5; 0,5))")) == exactly("0.4 0.6", "0.5 0.5")
    assert values(read_pasted("[0,05; 0,95]")) == exactly("0.05 0.95")
    with pytest.raises(PastedError, match="components with decimal commas, or rows of two"):
        read_pasted("[0,4; 0,6]")
    assert values(read_pasted("[0,4; 0,6]", decimal="comma")) == exactly("0.4 0.6")
    assert values(read_pasted("[0,4; 0,6]", form="matlab")) == exactly("0 4", "0 6")


def test_dropped_zeros_full_width_and_wrapped_lines() -> None:
    assert values(read_pasted("[.84, -.5]")) == exactly("0.84 -0.5")
    assert values(read_pasted("［０．８４，　−０．５］")) == exactly("0.84 -0.5")
    assert values(read_pasted("[0.1 0.2 0.3\n 0.4 0.5]")) == exactly("0.1 0.2 0.3 0.4 0.5")


def test_broken_utf8_is_repaired_where_it_is_certain() -> None:
    broken = "z = 0.5 × [1, −2] ≈ [0.5, −1.0]".encode().decode("cp1252", "replace")
    assert "Ã—" in broken
    times, last = read_all(broken)
    assert (times.times, values(last)) == ("0.5", exactly("0.5 -1"))
    assert last.rows[0][1].column == broken.index("1.0") - 2
    assert read_said("0.4Â·10").numeral.value == 4


def test_line_numbers_are_dropped_only_where_every_line_has_one() -> None:
    assert values(read_pasted("1 [[2, 0],\n2  [0, 2]]")) == exactly("2 0", "0 2")
    assert values(read_pasted("9[[2, 0],\n10[0, 2]]")) == exactly("2 0", "0 2")
    assert values(read_pasted("1 0.5\n2 0.7")) == exactly("1 0.5", "2 0.7")


def test_labels_in_place_of_positions() -> None:
    pasted = read_pasted("cat: 0.35\nthe: 0.05\nsat: 0.60")
    assert (pasted.row_labels, values(pasted)) == (("cat", "the", "sat"), exactly("0.35", "0.05", "0.60"))


# 17: what the author says about the digits


def test_announced_digits_set_the_unit() -> None:
    assert read_said("2.3395 (5 decimals)").numeral.unit == Fraction(1, 10**5)
    assert read_said("0.25 approximately").approximate


def test_a_row_of_one_decimal_comma_between_semicolons_is_no_row_of_two():
    with pytest.raises(PastedError, match="one number with a decimal comma, or two numbers"):
        read_pasted("[[0,4]; [1,3]]")
    for text, decimal in (("[[0,4]; [1,3]]", "comma"), ("[[0,4]; [1,05]]", None)):
        assert [len(row) for row in read_pasted(text, None, decimal).rows] == [1, 1]
    assert [len(row) for row in read_pasted("[[0,4]; [1,3]]", None, "point").rows] == [2, 2]
    assert [len(row) for row in read_pasted("[[0, 4]; [1, 3]]").rows] == [2, 2]


def test_a_zero_behind_a_comma_shows_no_decimal_comma_by_itself():
    for text in ("[1,0; 0,1]", "[[1,0]; [0,1]]"):
        with pytest.raises(PastedError, match="decimal comma"):
            read_pasted(text)

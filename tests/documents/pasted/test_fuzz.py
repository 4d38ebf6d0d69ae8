"""Whatever is pasted: a block or the one documented error, with a place inside the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from exactattn.documents.pasted import PastedError, find_pasted, read_all, read_chain, read_pasted, read_said
from exactattn.documents.pasted.forms import FORMS

PIECES = (
    *(
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        ",",
        ";",
        " ",
        "  ",
        "\n",
        "\t",
        "|",
        "---",
        "+",
        "-",
        "=",
        "≈",
        ":",
        "&",
        "$",
        "$$",
    ),
    *("0.5", "1", "12,288", "0,4", "1.234", "-inf", "1e-5", "...", "…", "%", "1/3", ".5", "nan", "e^", "√", "²", "⁻"),
    *("\\frac", "\\sqrt", "\\begin{bmatrix}", "\\end{bmatrix}", "\\begin{array}", "{cc}", "\\end{array}", "\\\\"),
    *("\\left", "\\right", "\\[", "\\]", "\\(", "\\)", "\\text{", "\\boxed{", "\\hline", "\\quad", "\\approx", "\\"),
    *("tensor(", "np.array(", "dtype=torch.float64", "[1,]", "[,1]", "[1]", "|---|", "```\n", "2×2 Matrix{Float64}:"),
    *("about ", "million", "GB", "Row 1:", "Token 1 (cat):", "Q", "约", "*", "**", "`", "^T", "(5 decimals)", "\r\n"),
    *("Ã—", "â€¦", "\u00a0", "\u2063", "\x00", "\ufeff", "１", "，"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=60)
DECIMAL = st.sampled_from([None, "comma", "point"])


def failure(read) -> PastedError | None:
    try:
        read()
    except PastedError as error:
        return error
    return None


def check(text: str, read) -> None:
    error = failure(read)
    if error is not None:
        lines = text.replace("\r\n", " \n").replace("\r", "\n").split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1


@given(TEXTS, st.sampled_from([None, *FORMS]), DECIMAL)
def test_a_paste_is_read_or_refused(text: str, form: str | None, decimal: str | None) -> None:
    check(text, lambda: read_pasted(text, form, decimal))
    check(text, lambda: read_all(text, form, decimal))


@given(TEXTS, DECIMAL)
def test_a_number_is_read_or_refused(text: str, decimal: str | None) -> None:
    check(text, lambda: read_said(text, decimal))
    check(text, lambda: read_chain(text, decimal))


@given(TEXTS, DECIMAL)
def test_a_document_is_read(text: str, decimal: str | None) -> None:
    mistakes: list[PastedError] = []
    check(text, lambda: find_pasted(text, decimal, mistakes))
    for mistake in mistakes:
        assert mistake.line >= 1


@given(TEXTS)
def test_cells_are_inside_the_text(text: str) -> None:
    lines = text.replace("\r\n", " \n").replace("\r", "\n").split("\n")
    for found in find_pasted(text):
        assert 1 <= found.start_line <= found.end_line <= len(lines)
        widths = {len(row) for row in found.pasted.rows}
        assert len(widths) == 1
        for row in found.pasted.rows:
            for cell in row:
                assert lines[cell.line - 1].startswith(cell.text.split("\n")[0].rstrip("\r"), cell.column - 1)

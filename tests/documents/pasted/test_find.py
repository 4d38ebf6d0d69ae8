"""Every block of a document, with its name or the words before it. Labels and places are read off by eye."""

from __future__ import annotations

from fractions import Fraction

from exactattn.documents.pasted import Found, PastedError, find_pasted

ARTICLE = r"""# Attention by hand

We use three tokens [1], as in the paper [12](http://example.org/a(1)). Take d_k = 2.

X = [[1, 0],
     [0, 1]]

The weights are W_Q = [[1,0],[0,1]] and W_K = [[1,1],[0,1]], and W_V is [[1,0],[1,1]].

Then softmax(QK^T/\sqrt{d_k}) = [[0.40, 0.60], [0.25, 0.75]].

\begin{align}
Q K^T &= \begin{bmatrix} 1 & 0 \\ 1 & 2 \end{bmatrix} \\
\text{Attention weights} &\approx \begin{bmatrix} 0.4011 & 0.5989 \\ 0.2483 & 0.7517 \end{bmatrix}
\end{align}

- Output_1 = [1.4011, 0.5989]
- Output_2 = [1.5035, 0.7517]

Scores of two pairs:

| Query | Key | Raw | Scaled |
|-------|-----|-----|--------|
| cat   | the | 2.0 | 1.0    |
| cat   | sat | 4.0 | 2.0    |

```python
x = torch.tensor([0.1, -0.2])  # the input
a = x[0] + x[1]
Q = np.zeros((3, 4))
```

```
attn scores:
 tensor([[0.9995, 0.9544],
        [0.9544, 1.4950]])
```

    cat  the
cat 0.40 0.60
the 0.25 0.75

* cat: 0.35
* the: 0.65

The output vector is $[0.8, 0.6]$, close to the mean.
"""


def rows(found: Found) -> list[list[str]]:
    return [[cell.text for cell in row] for row in found.pasted.rows]


def test_an_article() -> None:
    mistakes: list[PastedError] = []
    found = [x for x in find_pasted(ARTICLE, mistakes=mistakes) if not x.pasted.joined]
    assert [(x.start_line, x.end_line, x.label, x.pasted.form) for x in found] == [
        (5, 6, "X", "list"),
        (8, 8, "W_Q", "list"),
        (8, 8, "W_K", "list"),
        (8, 8, "W_V", "list"),
        (10, 10, r"softmax(QK^T/\sqrt{d_k})", "list"),
        (13, 13, "Q K^T", "latex"),
        (14, 14, r"\text{Attention weights}", "latex"),
        (17, 17, "Output_1", "list"),
        (18, 18, "Output_2", "list"),
        (22, 25, None, "markdown"),
        (28, 28, "x", "list"),
        (35, 36, "attn scores", "torch"),
        (39, 41, None, "ascii"),
        (43, 44, None, "list"),
        (46, 46, None, "list"),
    ]
    assert mistakes == []
    table, columns, labelled, inline = (x for x in found if x.label is None)
    assert (table.before, table.pasted.row_labels) == ("Scores of two pairs:", ("cat, the", "cat, sat"))
    assert columns.pasted.column_labels == ("cat", "the")
    assert (labelled.pasted.row_labels, rows(labelled)) == (("cat", "the"), [["0.35"], ["0.65"]])
    assert inline.before == "The output vector is"


def test_places_are_those_of_the_document() -> None:
    lines = ARTICLE.split("\n")
    for found in find_pasted(ARTICLE):
        for row in found.pasted.rows:
            for cell in row:
                assert lines[cell.line - 1].startswith(cell.text, cell.column - 1)


def test_what_only_looks_like_numbers_is_told_and_left_out() -> None:
    mistakes: list[PastedError] = []
    text = "A = [[1, 2], [3]]\n\nB = [[1, 2], [3, 4]]\n\n[see below], [x_1, x_2], [C_{i,1}, ..., C_{i,H}]\n"
    assert [x.label for x in find_pasted(text, mistakes=mistakes)] == ["B"]
    assert [str(mistake) for mistake in mistakes] == [
        "line 1, column 15: row 2 has 1 number, row 1 has 2 "
        "(every row needs equally many; write ... for a number that was not printed)"
    ]


def test_brackets_left_open_in_prose_hide_nothing() -> None:
    text = "a) first ( never closed\n\nb) the interval [0, 1) and\n\nV = [[1, 2], [3, 4]]\n"
    assert [x.label for x in find_pasted(text)] == ["V"]


# The text that document N prints, in the LaTeX it is printed in
DOCUMENT_N = r"""假设权重矩阵$W_Q$、$W_K$和$W_V$均为单位矩阵：

$$W_Q=W_K=W_V=\left[\begin{array}{cc}1& 0\\ 0& 1\end{array}\right]$$

$$\frac{Q{K}^T}{\sqrt{2}}=\frac{1}{\sqrt{2}}\left[\begin{array}{cc}1& 0\\ 0& 1\\ 1& 1\end{array}\right]\left[\begin{array}{ccc}1& 0& 1\\ 0& 1& 1\end{array}\right]=\frac{1}{\sqrt{2}}\left[\begin{array}{ccc}1& 0& 1\\ 0& 1& 1\\ 1& 1& 2\end{array}\right]$$

• 第一个输出向量$[0.8,0.6]$：

$$\text{第一个输出向量}=0.4\cdot [1,0]+0.2\cdot [0,1]+0.4\cdot [1,1]=[0.8,0.6]$$

   $$0.4\cdot [1,0]=[0.4\cdot 1,0.4\cdot 0]=[0.4,0]$$
"""  # noqa: E501


def test_the_lines_of_document_n() -> None:
    found = [x for x in find_pasted(DOCUMENT_N) if not x.pasted.joined]
    assert [(x.label, x.pasted.times, x.pasted.vector) for x in found] == [
        ("W_Q=W_K=W_V", None, False),
        (r"\frac{Q{K}^T}{\sqrt{2}}", "1/sqrt(2)", False),
        (None, None, True),
        (r"\text{第一个输出向量}", None, True),
        (None, "0.4", True),
        (r"0.4\cdot [1,0]", None, True),
        (r"0.4\cdot [1,0]", None, True),
    ]
    assert found[2].before == "• 第一个输出向量"
    partial = [cell.said.numeral.value for cell in found[5].pasted.rows[0] if cell.said]
    assert partial == [Fraction(2, 5), Fraction(0)]

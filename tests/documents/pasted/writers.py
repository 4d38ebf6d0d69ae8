"""Matrices as programs and people write them, by hand, for reading them back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Rows = Sequence[Sequence[str]]  # decimals, as printed


def latex(rows: Rows) -> str:
    body = " \\\\\n".join(" & ".join(row) for row in rows)
    return f"\\begin{{bmatrix}}\n{body}\n\\end{{bmatrix}}"


def array(rows: Rows) -> str:
    columns = "c" * len(rows[0])
    return rf"\left[\begin{{array}}{{{columns}}}" + r"\\ ".join("& ".join(row) for row in rows) + r"\end{array}\right]"


def nested(rows: Rows) -> str:
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"


def lines(rows: Rows) -> str:
    return "\n".join(f"Token {number} (w{number}): [{', '.join(row)}]" for number, row in enumerate(rows, 1))


def torch(rows: Rows) -> str:
    """As torch prints: rows under each other, long ones wrapped after six numbers."""
    out = []
    for row in rows:
        parts = [", ".join(row[at : at + 6]) for at in range(0, len(row), 6)]
        out.append("[" + ",\n         ".join(parts) + "]")
    return "tensor([" + ",\n        ".join(out) + "], grad_fn=<SoftmaxBackward0>)"


def r(rows: Rows) -> str:
    """As R prints a matrix: right aligned, three columns at a time."""
    out = []
    for first in range(0, len(rows[0]), 3):
        columns = range(first, min(first + 3, len(rows[0])))
        widths = [max(len(f"[,{j + 1}]"), *(len(row[j]) for row in rows)) for j in columns]
        margin = len(f"[{len(rows)},]")
        out.append(" ".join([" " * margin, *(f"[,{j + 1}]".rjust(w) for j, w in zip(columns, widths, strict=True))]))
        for i, row in enumerate(rows, 1):
            cells = (row[j].rjust(w) for j, w in zip(columns, widths, strict=True))
            out.append(" ".join([f"[{i},]".rjust(margin), *cells]))
    return "\n".join(out)


def markdown(rows: Rows) -> str:
    width = len(rows[0])
    head = ["| token | " + " | ".join(f"k{j}" for j in range(width)) + " |", "|:--" * (width + 1) + "|"]
    return "\n".join([*head, *(f"| **q{i}** | " + " | ".join(row) + " |" for i, row in enumerate(rows))])


def box(rows: Rows) -> str:
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    rule = "+" + "+".join("-" * (w + 2) for w in widths) + "+"
    out = [rule]
    for row in rows:
        out += ["|" + "|".join(f" {cell.rjust(w)} " for cell, w in zip(row, widths, strict=True)) + "|", rule]
    return "\n".join(out)


def matlab(rows: Rows) -> str:
    return "A = [" + "; ".join(" ".join(row) for row in rows) + "]"


def sheet(rows: Rows) -> str:
    return "\n".join("\t".join(row) for row in rows)


def comma_sheet(rows: Rows) -> str:
    return sheet(rows).replace(".", ",")


def csv(rows: Rows) -> str:
    head = ",".join(f"k{j}" for j in range(len(rows[0])))
    return "\n".join([head, *(",".join(row) for row in rows)])


def semicolons(rows: Rows) -> str:
    return "\n".join(";".join(row).replace(".", ",") for row in rows)


def german(rows: Rows) -> str:
    return "(" + "; ".join("(" + "; ".join(row).replace(".", ",") + ")" for row in rows) + ")"


WRITERS: dict[str, Callable[[Rows], str]] = {
    "latex": latex,
    "array": array,
    "list": nested,
    "lines": lines,
    "torch": torch,
    "r": r,
    "markdown": markdown,
    "box": box,
    "matlab": matlab,
    "sheet": sheet,
    "comma_sheet": comma_sheet,
    "csv": csv,
    "semicolons": semicolons,
    "german": german,
}

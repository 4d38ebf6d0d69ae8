"""Random teaching notes that work one attention example, in the styles people write them: `make(seed)`.

The truth is mpmath's, and nothing of the package is used. Every printed number is the truth rounded once, or carries
the one planted error; a `Spot` says of each on which lines it may stand and whether it is right.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from mpmath import exp, matrix, mp, mpf, nint, sqrt

Rows = list[list[str]]
PLANTED = ("nothing", "weight", "output", "scaled", "scale")
STEPS = ("scores", "scaled", "weights", "output")
MINUS_INFINITY = "-inf"
LANGUAGES = ("en", "en", "en", "de", "zh")
HEADINGS = {
    "en": {"scores": "Scores", "scaled": "Scaled scores", "weights": "Attention weights", "output": "Output"},
    "de": {"scores": "Rohwerte", "scaled": "Skalierte Werte", "weights": "Aufmerksamkeitsgewichte",
           "output": "Ausgabe"},
    "zh": {"scores": "注意力分数", "scaled": "缩放后的分数", "weights": "注意力权重", "output": "输出"},
}  # fmt: skip
MASKED_HEADING = {"en": "Masked scores", "de": "Maskierte Werte", "zh": "掩码后的分数"}
CAUSAL = {
    "en": ("We use a causal mask.", "A token must not look at later tokens.",
           "With a causal mask, the future is hidden."),
    "de": ("Es gilt eine kausale Maske.",),
    "zh": ("这里使用因果掩码。",),
}  # fmt: skip
SCALING = {
    "en": ("We scale by $1/\\sqrt{d_k}$ with $d_k = {d}$.", "The scores are divided by the square root of d_k = {d}.",
           "Here $d_k = {d}$, and $A = \\mathrm{softmax}(QK^T / \\sqrt{d_k})$.",
           "$$\\text{Attention}(Q, K, V) = \\text{softmax}\\left(\\frac{QK^T}{\\sqrt{d_k}}\\right)V$$"),
    "de": ("Wir teilen durch $\\sqrt{d_k}$ mit $d_k = {d}$.", "$$A = \\mathrm{softmax}(QK^T / \\sqrt{d_k})$$"),
    "zh": ("除以 $\\sqrt{d_k}$，其中 $d_k = {d}$。", "$$A = \\mathrm{softmax}(QK^T / \\sqrt{d_k})$$"),
}  # fmt: skip
TITLE = {"en": "# Attention by hand", "de": "# Aufmerksamkeit von Hand", "zh": "# 手算注意力"}
TOKEN = {"en": "Token", "de": "Token", "zh": "词"}
LABELS = {
    "latex": {"scores": "QK^T", "scaled": "\\frac{QK^T}{\\sqrt{d_k}}", "masked": "S_{masked}",
              "weights": "A = \\text{softmax}\\left(\\frac{QK^T}{\\sqrt{d_k}}\\right)", "output": "AV"},
    "plain": {"scores": "scores", "scaled": "scaled", "masked": "masked_scores", "weights": "weights",
              "output": "output"},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spot:
    """One printed number: its stage and place in it, the lines it may stand on, and whether it is the truth."""

    stage: str
    row: int
    column: int
    lines: tuple[int, int]
    text: str
    right: bool


@dataclass
class Notes:
    """A document, and what is so of every number in it."""

    seed: int
    planted: str
    style: str
    language: str
    text: str = ""
    spots: list[Spot] = field(default_factory=list)
    blocks: dict[str, tuple[int, int]] = field(default_factory=dict)
    cells: dict[str, Rows] = field(default_factory=dict)


def rounded(x: mpf, digits: int) -> str:
    """To so many decimals, half to even."""
    whole = int(nint(abs(x) * 10**digits))
    text = str(whole).rjust(digits + 1, "0")
    return ("-" if x < 0 and whole else "") + text[:-digits] + "." + text[-digits:]


def softmax(scores: matrix, causal: bool) -> matrix:
    """Along rows, over the keys that the mask allows."""
    out = matrix(scores.rows, scores.cols)
    for i in range(scores.rows):
        keys = range(i + 1 if causal else scores.cols)
        total = sum(exp(scores[i, j]) for j in keys)
        for j in keys:
            out[i, j] = exp(scores[i, j]) / total
    return out


# -- how a matrix is written: lines of text ---------------------------------------------------------------------------


def latex(label: str, rows: Rows, rng: random.Random) -> list[str]:
    """Inside a line."""
    kind = rng.choice(("bmatrix", "pmatrix"))
    body = r" \\ ".join(" & ".join(row) for row in rows).replace("-inf", r"-\infty")
    dollars = rng.choice(("$", "$$"))
    return [rf"{dollars}{label} = \begin{{{kind}}} {body} \end{{{kind}}}{dollars}"]


def display(label: str, rows: Rows, rng: random.Random) -> list[str]:
    """Over several lines."""
    kind = rng.choice(("bmatrix", "pmatrix"))
    lines = [" & ".join(row).replace("-inf", r"-\infty") + r" \\" for row in rows]
    return ["$$", rf"{label} = \begin{{{kind}}}", *lines, rf"\end{{{kind}}}", "$$"]


def align(label: str, rows: Rows, rng: random.Random) -> list[str]:
    """In an align environment."""
    kind = rng.choice(("bmatrix", "pmatrix"))
    lines = [" & ".join(row).replace("-inf", r"-\infty") + r" \\" for row in rows]
    return [r"\begin{align}", rf"{label} &= \begin{{{kind}}}", *lines, rf"\end{{{kind}}}", r"\end{align}"]


def nested(label: str, rows: Rows, rng: random.Random) -> list[str]:
    """Nested lists on one line; with decimal commas a semicolon between."""
    between = "; " if any("," in x for row in rows for x in row) else ", "
    body = between.join("[" + between.join(row) + "]" for row in rows)
    return [f"{label} = [{body}]"]


def table(label: str, rows: Rows, rng: random.Random) -> list[str]:
    """A Markdown table with numbered rows, or a bare one."""
    heads = [f"k{j + 1}" for j in range(len(rows[0]))]
    if rng.random() < 0.5:
        lines = [["", *heads], ["---"] * (len(heads) + 1), *([f"q{i + 1}", *row] for i, row in enumerate(rows))]
    else:
        lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def numpy(label: str, rows: Rows, rng: random.Random) -> list[str]:
    """What an interactive session shows."""
    bare = [[_trimmed(x) for x in row] for row in rows]
    bare = _padded(bare)
    if rng.random() < 0.5:
        lines = ["[" + ", ".join(row) + "]" for row in bare]
        return ["```python", f">>> {label}", *_hung("array([", lines, "])", ","), "```"]
    lines = ["[" + " ".join(row) + "]" for row in bare]
    return ["```python", f">>> print({label})", *_hung("[", lines, "]", ""), "```"]


def torch(label: str, rows: Rows, rng: random.Random) -> list[str]:
    """A log with a name before each tensor."""
    width = max(len(x) for row in rows for x in row)
    lines = ["[" + ", ".join(x.rjust(width) for x in row) + "]" for row in rows]
    return ["```", *_hung(f"{label}: tensor([", lines, "])", ","), "```"]


def tokens(label: str, rows: Rows, rng: random.Random) -> list[str]:
    """One line a token."""
    between = "; " if any("," in x for row in rows for x in row) else ", "
    return [
        f"{'- ' if rng.random() < 0.5 else ''}{label} {i + 1}: [{between.join(row)}]" + "" for i, row in enumerate(rows)
    ]


def _trimmed(x: str) -> str:
    return x.rstrip("0") if "." in x else x


def _padded(rows: Rows) -> Rows:
    """As NumPy pads: the points below each other, blanks for the zeros that it left out."""
    left = max(len(x.partition(".")[0]) for row in rows for x in row)
    right = max(len(x.partition(".")[2]) for row in rows for x in row)
    if all("." not in x for row in rows for x in row if x != MINUS_INFINITY):
        return [[x.rjust(left) for x in row] for row in rows]
    width = left + right + 1
    return [[x.rjust(width) if "." not in x else (x.partition(".")[0].rjust(left) + "."
             + x.partition(".")[2].ljust(right)) for x in row] for row in rows]  # fmt: skip


def _hung(head: str, lines: list[str], tail: str, comma: str) -> list[str]:
    last = len(lines) - 1
    return [
        (head if i == 0 else " " * len(head)) + line + (comma if i < last else tail) for i, line in enumerate(lines)
    ]


STYLES: dict[str, Callable[[str, Rows, random.Random], list[str]]] = {
    "latex": latex, "display": display, "align": align, "nested": nested, "table": table, "numpy": numpy,
    "torch": torch, "tokens": tokens,
}  # fmt: skip
UNDER_HEADINGS = ("table", "tokens")
DOTS_ONLY = ("numpy", "torch")


# -- the document -----------------------------------------------------------------------------------------------------


class _Writer:
    """Writes one document line by line."""

    def __init__(self, notes: Notes, rng: random.Random, digits: int) -> None:
        self.notes, self.rng, self.digits, self.lines = notes, rng, digits, list[str]()
        self.percent = notes.style not in DOTS_ONLY and rng.random() < 0.15
        self.mixed = rng.random() < 0.3

    def say(self, *lines: str) -> None:
        self.lines += [*lines, ""]

    def block(self, stage: str, truth: Rows, printed: Rows) -> None:
        """One matrix, under a heading, with the spots of its numbers."""
        notes, style = self.notes, self.notes.style
        if self.mixed and notes.language == "en":
            style = self.rng.choice(list(STYLES))
        given = stage in "QKV"
        if given and style in UNDER_HEADINGS:
            style = "nested"
        if not given:
            name = MASKED_HEADING[notes.language] if stage == "masked" else HEADINGS[notes.language][stage]
            if style in UNDER_HEADINGS or self.rng.random() < 0.5:
                self.say(f"## {name}")
        kind = "latex" if style in ("latex", "display", "align") else "plain"
        label = stage if given else TOKEN[notes.language] if style == "tokens" else LABELS[kind][stage]
        shown = [[self.spelled(x, stage, style) for x in row] for row in printed]
        low = len(self.lines) + 1
        self.say(*STYLES[style](label, shown, self.rng))
        high = len(self.lines) - 1
        notes.blocks[stage], notes.cells[stage] = (low, high), printed
        if given:
            return
        for i, row in enumerate(printed):
            for j, x in enumerate(row):
                notes.spots.append(Spot(stage, i, j, (low, high), x, x == truth[i][j]))

    def spelled(self, x: str, stage: str, style: str) -> str:
        if x == MINUS_INFINITY or (stage in "QKV" and "." not in x):
            return x
        if stage == "weights" and self.percent:
            number, decimals = Fraction(x) * 100, len(x.partition(".")[2]) - 2
            x = rounded(mpf(number.numerator) / number.denominator, decimals) if decimals else str(int(number))
            sign = r"\%" if style in ("latex", "display", "align") else "%"
        else:
            sign = ""
        if self.notes.language == "de" and style not in DOTS_ONLY:
            x = x.replace(".", "{,}" if style in ("latex", "display", "align") else ",")
        return x + sign


def make(seed: int) -> Notes:
    """One document."""
    with mp.workprec(300):
        return _make(seed)


def _make(seed: int) -> Notes:
    rng = random.Random(seed)
    notes = Notes(seed, rng.choice(PLANTED), rng.choice(list(STYLES)), rng.choice(LANGUAGES))
    n, d, d_v, digits = rng.randint(2, 4), rng.randint(1, 3), rng.randint(1, 3), rng.randint(2, 5)
    if notes.style == "torch":
        digits = 4
    causal = rng.random() < 0.4
    whole = rng.random() < 0.6
    given = {name: [[_input(rng, whole) for _ in range(wide)] for _ in range(n)]
             for name, wide in (("Q", d), ("K", d), ("V", d_v))}  # fmt: skip
    q, k, v = (matrix([[mpf(Fraction(x).numerator) / Fraction(x).denominator for x in row] for row in given[name]])
               for name in "QKV")  # fmt: skip
    scores = q * k.T
    scaled = scores / sqrt(mpf(d))
    weights = softmax(scaled, causal)
    output = weights * v
    truth = {name: [[rounded(x, digits) for x in row] for row in m.tolist()]
             for name, m in zip(STEPS, (scores, scaled, weights, output), strict=True)}  # fmt: skip
    printed = {name: [row[:] for row in rows] for name, rows in truth.items()}
    show_mask = causal and rng.random() < 0.5
    steps = [s for s in STEPS if s == "weights" or rng.random() < 0.75]
    _plant(notes, printed, steps, scores, v, digits, causal, d, rng)
    if whole:
        for rows in (truth, printed):
            rows["scores"] = [[x.partition(".")[0] for x in row] for row in rows["scores"]]
    writer = _Writer(notes, rng, digits)
    writer.say(TITLE[notes.language])
    for name in "QKV":
        writer.block(name, given[name], given[name])
    writer.say(rng.choice(SCALING[notes.language]).replace("{d}", str(d)))
    if causal:
        writer.say(rng.choice(CAUSAL[notes.language]))
    for stage in steps:
        writer.block(stage, truth[stage], printed[stage])
        if stage == "scaled" and show_mask:
            writer.block("masked", _hidden(truth[stage]), _hidden(printed[stage]))
    notes.text = "\n".join(writer.lines)
    return notes


def _input(rng: random.Random, whole: bool) -> str:
    return str(rng.randint(-2, 4)) if whole else rounded(mpf(rng.randint(-20, 30)) / 10, 1)


def _hidden(rows: Rows) -> Rows:
    return [[x if j <= i else MINUS_INFINITY for j, x in enumerate(row)] for i, row in enumerate(rows)]


def _plant(notes: Notes, printed: dict[str, Rows], steps: list[str], scores: matrix, v: matrix, digits: int,
           causal: bool, d: int, rng: random.Random) -> None:  # fmt: skip
    """One error that no rounding explains."""
    if notes.planted == "scale":
        wrong = softmax(scores / rng.choice((mpf(1), mpf(d))), causal)
        rows = [[rounded(x, digits) for x in row] for row in wrong.tolist()]
        pairs = [(i, j) for i in range(len(rows)) for j in range(len(rows))]
        far = max(abs(Fraction(rows[i][j]) - Fraction(printed["weights"][i][j])) for i, j in pairs)
        if far < Fraction(1, 20):
            notes.planted = "nothing"
            return
        printed["weights"] = rows
        if rng.random() < 0.5:
            printed["output"] = [[rounded(x, digits) for x in row] for row in (wrong * v).tolist()]
        return
    stage = "weights" if notes.planted == "weight" else notes.planted
    if notes.planted == "nothing" or stage not in steps:
        notes.planted = "nothing"
        return
    rows = printed[stage]
    i = rng.randrange(len(rows))
    j = rng.randrange(i + 1 if causal and stage != "output" else len(rows[0]))
    by = Fraction(rng.randint(8, 30), 100) * (1 if stage == "weights" else 3)
    moved = Fraction(rows[i][j]) + (by if stage != "weights" or Fraction(rows[i][j]) < Fraction(1, 2) else -by)
    rows[i][j] = rounded(mpf(moved.numerator) / moved.denominator, digits)

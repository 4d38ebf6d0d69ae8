"""Random worked examples of attention as people print them, right and wrong, for both judges: `make(seed, form)`.

A simulated author goes from step to step with numbers that are kept exact or rounded, makes planted mistakes, and
prints in some form. The same document comes out as a case file and as the steps and prints of `independent`.
"""

from __future__ import annotations

import random
import re
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import Any

from independent import Print, Step
from mpmath import exp as e_to
from mpmath import floor, isnan, mp, mpf, nint
from mpmath import log as ln
from mpmath import sqrt as root

MISTAKES = (
    "scale", "base", "axis", "mask", "transposed", "reversed", "invented", "product", "complement", "slip", "copied",
    "nothing", "nothing",
)  # fmt: skip
FORMS = ("fixed", "fixed", "fixed", "percent", "latex", "list", "fractions", "truncated")
STAGES = ("q", "k", "v", "scores", "scaled", "masked", "weights", "lse", "context", "output")
LARGEST = 60  # of the scores, so that no weight is so small that 100 decimals do not show it
CHAIN = ("q", "k", "v", "scores", "scaled", "exps", "sums", "weights", "output")


def matmul(a: Any, b: Any) -> Any:
    """The product of two matrices by index."""
    n, m, w = 1 + max(i for i, _ in a), 1 + max(j for _, j in b), 1 + max(j for _, j in a)
    return {(i, j): sum((a[i, k] * b[k, j] for k in range(w)), mpf(0)) for i in range(n) for j in range(m)}


def turned(a: Any) -> Any:
    """The transpose."""
    return {(j, i): x for (i, j), x in a.items()}


def softmax(a: Any, allowed: Any, base: Any = None) -> Any:
    """Along rows, over the allowed keys."""
    factor = 1 if base is None else ln(mpf(base))
    powers = {k: e_to(factor * x) if allowed(k) else mpf(0) for k, x in a.items()}
    sums: dict[int, Any] = {}
    for (i, _), x in powers.items():
        sums[i] = sums.get(i, mpf(0)) + x
    return {(i, j): x / sums[i] for (i, j), x in powers.items()}


def everywhere(_: Any) -> bool:
    """No mask."""
    return True


def lower(k: Any) -> bool:
    """The causal mask."""
    return bool(k[1] <= k[0])


def _matrix(rows: Any) -> Any:
    return {(i, j): mpf(x.numerator) / x.denominator for i, row in enumerate(rows) for j, x in enumerate(row)}


@dataclass
class Setup:
    """The inputs and options of one example."""

    rng: random.Random
    n: int = 0
    d_model: int = 0
    d_k: int = 0
    d_v: int = 0
    causal: bool = False
    base: int | None = None
    scale: str = ""
    projected: bool = True
    inputs: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng = self.rng
        self.n, self.d_model = rng.randint(2, 5), rng.randint(1, 4)
        self.d_k, self.d_v = rng.randint(1, 4), rng.randint(1, 3)
        self.causal, self.base = rng.random() < 0.3, rng.choice([None, None, None, 2])
        self.scale = rng.choice(["1/sqrt(d_k)"] * 3 + ["1", "1/d_k", "1/2", "1/4"])
        self.projected = rng.random() < 0.5
        if self.projected:
            shapes = {"X": (self.n, self.d_model), "W_Q": (self.d_model, self.d_k), "W_K": (self.d_model, self.d_k),
                      "W_V": (self.d_model, self.d_v)}  # fmt: skip
        else:
            shapes = {"Q": (self.n, self.d_k), "K": (self.n, self.d_k), "V": (self.n, self.d_v)}
        while not self.inputs or self.largest() > LARGEST:
            self.inputs = {name: self.draw(*size) for name, size in shapes.items()}

    def draw(self, rows: int, columns: int) -> list[list[Fraction]]:
        """Small rationals of one kind: whole, tenths or halves."""
        part = self.rng.choice([1, 1, 10, 2])
        return [[Fraction(self.rng.randint(-2 * part, 3 * part), part if part != 10 else 20) for _ in range(columns)]
                for _ in range(rows)]  # fmt: skip

    def largest(self) -> Any:
        """The largest score."""
        given = {name: _matrix(rows) for name, rows in self.inputs.items()}
        q, k = (matmul(given["X"], given[f"W_{x}"]) if self.projected else given[x] for x in "QK")
        return max(abs(x) for x in matmul(q, turned(k)).values())

    @property
    def allowed(self) -> Any:
        """Which keys each query sees."""
        return lower if self.causal else everywhere

    def scales(self) -> dict[str, Any]:
        """The scales of the catalogue."""
        found = {
            "scale=1": mpf(1),
            "scale=1/sqrt(d_k)": 1 / root(mpf(self.d_k)),
            "scale=1/d_k": mpf(1) / self.d_k,
            "scale=1/sqrt(n)": 1 / root(mpf(self.n)),
        }
        return found | ({"scale=1/sqrt(d_model)": 1 / root(mpf(self.d_model))} if self.projected else {})

    @property
    def factor(self) -> Any:
        """The stated scale."""
        if self.scale == "1/sqrt(d_k)":
            return 1 / root(mpf(self.d_k))
        return {"1": mpf(1), "1/d_k": mpf(1) / self.d_k, "1/2": mpf(1) / 2, "1/4": mpf(1) / 4}[self.scale]


def _rescaled(factor: Any) -> Any:
    return lambda v: {k: x * factor for k, x in v["scores"].items()}


def _weights(allowed: Any, base: Any) -> Any:
    return lambda v: softmax(v["scaled"], allowed, base)


def _base_readings(setup: Setup, weights: str) -> dict[str, Any]:
    """The readings of the softmax by name: base, axis, transpose, order, mask."""
    allowed, base = setup.allowed, setup.base
    out = {f"base={b}": {weights: _weights(allowed, b)} for b in (2, 10) if b != base}
    if base is not None:
        out["base=e"] = {weights: _weights(allowed, None)}
    out["softmax_axis=queries"] = {
        weights: lambda v: turned(softmax(turned(v["scaled"]), lambda k: allowed((k[1], k[0])), base))
    }
    out["weights=reversed"] = {
        weights: lambda v: {(i, setup.n - 1 - j): x for (i, j), x in softmax(v["scaled"], allowed, base).items()}
    }
    out["scores=transposed"] = {weights: lambda v: softmax(turned(v["scaled"]), allowed, base)}
    if setup.causal:
        out["mask=none"] = {weights: _weights(everywhere, base)}
        out["mask=after_softmax"] = {
            weights: lambda v: {k: x if lower(k) else mpf(0) for k, x in softmax(v["scaled"], everywhere, base).items()}
        }
    else:
        out["mask=causal"] = {weights: _weights(lower, base)}
    return out


def problem_steps(setup: Setup) -> list[Step]:
    """The stages of an attention problem; a reading of one is a reading of all that follow."""
    allowed, base = setup.allowed, setup.base
    given = {name: _matrix(rows) for name, rows in setup.inputs.items()}
    spec: dict[str, Any] = {}
    for name, factor in setup.scales().items():
        spec[name] = {"scaled": _rescaled(factor)}
    late = _base_readings(setup, "weights")
    for name in [name for name in late if name.startswith(("base", "mask=none", "mask=causal"))]:
        spec[name] = late.pop(name)
    if setup.causal:
        late.pop("scores=transposed")  # the catalogue has it for scores without a mask

    def log_sum(rows_allowed: Any, b: Any) -> Any:
        def of(v: Any) -> Any:
            factor, scores = mpf(1) if b is None else ln(mpf(b)), _of_masked(v, rows_allowed)
            sums = [sum(e_to(factor * x) for (i, j), x in scores.items() if i == row and rows_allowed((i, j)))
                    for row in range(setup.n)]  # fmt: skip
            return {(i,): ln(x) / factor for i, x in enumerate(sums)}

        return of

    def masked(rows_allowed: Any) -> Any:
        return lambda v: {k: x if rows_allowed(k) else None for k, x in v["scaled"].items()}

    for name in ("base=2", "base=10", "base=e"):
        if name in spec:
            number = None if name == "base=e" else int(name.removeprefix("base="))
            spec[name]["lse"] = log_sum(allowed, number)
    for name, rule in (("mask=none", everywhere), ("mask=causal", lower)):
        if name in spec:
            spec[name] |= {"masked": masked(rule), "lse": log_sum(rule, base)}
    whole = spec | late

    def part(letter: str) -> Any:
        if setup.projected:
            return lambda v: matmul(given["X"], given[f"W_{letter}"])
        return lambda v: given[letter]

    return [
        *(Step(letter.lower(), part(letter), spec) for letter in "QKV"),
        Step("scores", lambda v: matmul(v["q"], turned(v["k"])), spec),
        Step("scaled", _rescaled(setup.factor), spec),
        Step("masked", masked(allowed), spec),
        Step("weights", lambda v: softmax(_of_masked(v, allowed), allowed, base), whole),
        Step("lse", log_sum(allowed, base), spec),
        Step("context", lambda v: matmul(v["weights"], v["v"]), whole),
        Step("output", lambda v: dict(v["context"]), whole),
    ]


def _of_masked(v: Any, allowed: Any) -> Any:
    return {k: (v["masked"][k] if allowed(k) and v["masked"][k] is not None else v["scaled"][k]) for k in v["scaled"]}


def _ratio(x: Any, y: Any) -> Any:
    """x / y; no number where an author printed 0 for y."""
    return x / y if y else mp.nan


def sheet_steps(setup: Setup, by_sums: bool) -> tuple[list[Step], dict[str, str]]:
    """The steps of a sheet and their formulas; the catalogue rereads the softmax of the weights, and what they make."""
    given = {name: _matrix(rows) for name, rows in setup.inputs.items()}
    allowed, base = setup.allowed, setup.base

    def part(letter: str) -> Any:
        if setup.projected:
            return lambda v: matmul(given["X"], given[f"W_{letter}"])
        return lambda v: given[letter]

    factor = setup.scale.replace("sqrt(d_k)", f"sqrt({setup.d_k})").replace("d_k", str(setup.d_k))
    formulas = {f"{x.lower()}": f"matmul(X, W_{x})" if setup.projected else f"1*{x}" for x in "QKV"}
    formulas |= {"scores": "matmul(q, T(k))", "scaled": f"scores*({factor})"}
    steps = [Step(letter.lower(), part(letter)) for letter in "QKV"]
    steps += [Step("scores", lambda v: matmul(v["q"], turned(v["k"]))), Step("scaled", _rescaled(setup.factor))]
    if by_sums:
        formulas["exps"] = "exp(scaled)" if base is None else f"exp(scaled*log({base}))"
        rows = ", ".join(f"total(exps[{i},:])" for i in range(setup.n))
        formulas["sums"] = f"cat({rows})"
        formulas["weights"] = "vstack(" + ", ".join(f"exps[{i},:]/sums[{i}]" for i in range(setup.n)) + ")"
        log_base = mpf(1) if base is None else ln(mpf(base))
        steps += [
            Step("exps", lambda v: {k: e_to(log_base * x) for k, x in v["scaled"].items()}),
            Step("sums", lambda v: {(i,): sum(x for (r, _), x in v["exps"].items() if r == i)
                                    for i in range(setup.n)}),
            Step("weights", lambda v: {(i, j): _ratio(x, v["sums"][i,]) for (i, j), x in v["exps"].items()}),
        ]  # fmt: skip
    else:
        inner = "causal(scaled)" if setup.causal else "scaled"
        formulas["weights"] = f"softmax({inner})" if base is None else f"softmax({inner}, {base})"
        readings = _sheet_readings(setup)
        steps += [Step("weights", _weights(allowed, base), readings)]
    formulas["output"] = "matmul(weights, v)"
    steps += [Step("output", lambda v: matmul(v["weights"], v["v"]), dict(steps[-1].readings))]
    return steps, formulas


def _sheet_readings(setup: Setup) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, factor in (setup.scales() | {"scale=twice": setup.factor**2}).items():
        out[name] = {
            "weights": lambda v, factor=factor: softmax(_rescaled(factor)(v), setup.allowed, setup.base)
        }  # fmt: skip
    if any(abs(setup.factor**2 - x) < mpf(10) ** -45 for x in setup.scales().values()):
        del out["scale=twice"]
    if setup.d_k == 1 and setup.factor == 1:
        del out["scale=1/sqrt(d_k)"], out["scale=1/d_k"]
    return out | _base_readings(setup, "weights")


@dataclass
class Document:
    """One example for both judges."""

    text: str
    steps: list[Step]
    prints: list[Print]
    planted: list[str]


def make(seed: int, form: str) -> Document:
    """A worked example as a `problem` or as a `sheet`."""
    for attempt in count():
        with suppress(ValueError):  # the author went on with 0 for a sum
            return _make(random.Random(f"{form} {seed} {attempt}"), form)
    raise AssertionError


def _make(rng: random.Random, form: str) -> Document:
    setup = Setup(rng)
    formulas: dict[str, str] = {}
    if form == "sheet":
        by_sums = not setup.causal and rng.random() < 0.4
        steps, formulas = sheet_steps(setup, by_sums)
        names = [name for name in CHAIN if name in formulas]
    else:
        steps = problem_steps(setup)
        names = [name for name in STAGES if name != "masked" or setup.causal]
    printed = [name for name in names if rng.random() < 0.75 or name == "exps"] or names[-1:]
    inside = "inlined" if rng.random() < 0.5 else "steps"
    author = _Author(rng, setup, steps, printed)
    author.work()
    text = _case(setup, author, formulas, inside)
    return Document(text, steps, author.prints, author.planted)


@dataclass
class _Author:
    """Who computes, errs and prints."""

    rng: random.Random
    setup: Setup
    steps: list[Step]
    printed: list[str]
    prints: list[Print] = field(default_factory=list)
    blocks: dict[str, Any] = field(default_factory=dict)
    planted: list[str] = field(default_factory=list)

    def work(self) -> None:
        rng = self.rng
        carries_rounding = rng.random() < 0.5
        digits = rng.randint(1, 6)
        style = rng.choice(FORMS)
        planned = [rng.choice(MISTAKES) for _ in range(rng.randint(0, 3))]
        own: dict[str, Any] = {}
        for step in self.steps:
            made = dict(sorted(self.computed(step, own, planned).items()))
            if any(x is not None and isnan(x) for x in made.values()):
                raise ValueError("a division by zero")
            self.err(step, made, planned)
            if step.name in self.printed:
                if rng.random() < 0.2:
                    digits = rng.randint(1, 6)
                shown = self.show(step.name, made, style, digits, planned)
                if carries_rounding:
                    made |= {k: x for k, x in shown.items() if x is not None}
            own[step.name] = made

    def computed(self, step: Step, own: Any, planned: list[str]) -> Any:
        """The step by the stated formula, or by another reading that was planned."""
        kinds = {"scale": "scale", "base": "base", "axis": "softmax_axis", "mask": "mask", "transposed": "scores=",
                 "reversed": "weights="}  # fmt: skip
        for plan in planned:
            names = [n for n, r in step.readings.items() if n.startswith(kinds.get(plan, "?")) and step.name in r]
            if names and step.name in ("weights", "scaled"):
                name = self.rng.choice(names)
                planned.remove(plan)
                self.planted.append(f"{step.name}: {name}")
                return step.readings[name][step.name](own)
        return step.formula(own)

    def err(self, step: Step, made: Any, planned: list[str]) -> None:
        """Planted mistakes in the numbers themselves."""
        rng = self.rng
        targets = {"invented": ("weights",), "product": ("q", "k", "v", "scores", "exps", "sums"),
                   "slip": ("output", "context"), "copied": ("scaled", "weights")}  # fmt: skip
        for plan in list(planned):
            if step.name not in targets.get(plan, ()) or rng.random() < 0.4:
                continue
            planned.remove(plan)
            self.planted.append(f"{step.name}: {plan}")
            keys = [k for k in made if made[k] is not None]
            key = rng.choice(keys)
            if plan == "copied":
                made[key] = made[rng.choice(keys)]
            else:
                made[key] = made[key] + rng.choice([1, -1, mpf(1) / 10, -mpf(1) / 10, mpf(3) / 100])

    def show(self, name: str, made: Any, style: str, digits: int, planned: list[str]) -> Any:
        """Prints a step. Gives the values that the prints have."""
        times, factor = mpf(1), None
        rooted = name == "scaled" and self.setup.scale == "1/sqrt(d_k)" and self.setup.d_k in (2, 3)
        if rooted and self.rng.random() < 0.4:
            factor, times = f"1/sqrt({self.setup.d_k})", 1 / root(mpf(self.setup.d_k))
        style = self.rng.choice([style, style, style, self.rng.choice(FORMS)])
        whole = all(x is None or abs(x / times - nint(x / times)) < mpf(10) ** -40 for x in made.values())
        texts = {}
        for key, x in made.items():
            texts[key] = "-inf" if x is None else self.text(x / times, style, digits, whole, name)
        if "complement" in planned and name == "weights" and style in ("fixed", "list", "latex"):
            planned.remove("complement")
            self.planted.append("weights: complement")
            for row in {k[0] for k in texts}:
                last = (row, self.setup.n - 1)
                rest = sum((Fraction(t) for k, t in texts.items() if k[0] == row and k != last), Fraction(0))
                texts[last] = _decimal(1 - rest, digits)
        self.blocks[name] = (texts, style, factor)
        prints = [Print(name, key, text, times, name) for key, text in texts.items()]
        self.prints += prints
        return {x.index: x.value for x in prints}

    def text(self, x: Any, style: str, digits: int, whole: bool, name: str) -> str:
        if whole and style != "percent" and self.rng.random() < 0.9:
            return str(int(nint(x)))
        if style == "percent" and name == "weights":
            return _fixed(100 * x, max(digits - 2, 0), floor_it=False) + "%"
        if style == "fractions":
            for bottom in (1, 2, 3, 4, 5, 6, 8, 10):
                if abs(x * bottom - nint(x * bottom)) < mpf(10) ** -40:
                    top = int(nint(x * bottom))
                    return str(top) if bottom == 1 else f"{top}/{bottom}"
        return _fixed(x, digits, floor_it=style == "truncated")


def _fixed(x: Any, digits: int, floor_it: bool) -> str:
    """x to so many decimals, to the nearest or cut toward zero."""
    size = abs(x) * mpf(10) ** digits
    whole = int(floor(size + mpf(10) ** -40)) if floor_it else int(floor(size + mpf(1) / 2))
    return _decimal((-1 if x < 0 else 1) * Fraction(whole, 10**digits), digits)


def _decimal(x: Fraction, digits: int) -> str:
    scaled = x * 10**digits
    assert scaled.denominator == 1
    body = str(abs(scaled.numerator)).rjust(digits + 1, "0")
    sign = "-" if x < 0 else ""
    return sign + (f"{body[:-digits]}.{body[-digits:]}" if digits else body)


def _case(setup: Setup, author: _Author, formulas: dict[str, str], inside: str) -> str:
    lines = ["version: 1", "problem:"]
    if formulas:
        lines.append("  inputs:")
        lines += [f"    {name}: {_plain(rows)}" for name, rows in setup.inputs.items()]
        if inside == "steps":
            lines.append("  steps:")
            lines += [f"    {name}: {formula!r}" for name, formula in formulas.items()]
    else:
        lines += [f"  {name}: {_plain(rows)}" for name, rows in setup.inputs.items()]
        lines += [f"  scale: {setup.scale}", f"  causal: {'true' if setup.causal else 'false'}"]
        lines += [] if setup.base is None else [f"  base: {setup.base}"]
    lines.append("printed:")
    names = [step.name for step in author.steps if step.name in author.blocks]
    for name in names:
        texts, style, factor = author.blocks[name]
        lines.append(f"  {name}:")
        if formulas and inside == "inlined":
            lines.append(f"    of: {_inlined(name, formulas, set(names))!r}")
        lines += [] if factor is None else [f"    times: {factor}"]
        lines += _values(texts, style)
    return "\n".join(lines) + "\n"


def _plain(rows: Any) -> str:
    return "[" + ", ".join("[" + ", ".join(str(x) for x in row) + "]" for row in rows) + "]"


def _inlined(name: str, formulas: dict[str, str], printed: set[str]) -> str:
    """The formula of a step with those of steps that are not printed put in."""

    def put(match: re.Match[str]) -> str:
        word = match.group()
        return word if word in printed or word not in formulas else f"({_inlined(word, formulas, printed)})"

    if name == "weights" and "sums" in formulas and "sums" not in printed:
        return "shares(exps)"
    return re.sub(r"[a-z_]+(?![a-z_(])", put, formulas[name])


def _values(texts: Any, style: str) -> list[str]:
    vector = all(len(k) == 1 for k in texts)
    rows: dict[int, list[str]] = {}
    for key, text in texts.items():
        rows.setdefault(0 if vector else key[0], []).append(text)
    if style == "latex" and not vector and "-inf" not in texts.values():
        body = [" & ".join(_latex(t) for t in row) + r" \\" for row in rows.values()]
        return ["    values: |", r"      \begin{bmatrix}", *(f"      {row}" for row in body), r"      \end{bmatrix}"]
    shown = [", ".join(f'"{t}"' for t in row) for row in rows.values()]
    if vector:
        return [f"    values: [{shown[0]}]"]
    if style == "list" and "-inf" not in texts.values():
        body = ["[" + ", ".join(row) + "]" for row in rows.values()]
        return ["    values: |", "      [" + ",\n       ".join(body) + "]"]
    return ["    values: [" + ", ".join(f"[{row}]" for row in shown) + "]"]


def _latex(text: str) -> str:
    if "/" in text:
        top, _, bottom = text.partition("/")
        sign = "-" if top.startswith("-") else ""
        return rf"{sign}\frac{{{top.lstrip('-')}}}{{{bottom}}}"
    return text.replace("%", r"\%")

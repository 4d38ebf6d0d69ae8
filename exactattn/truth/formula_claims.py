"""A formula claim's fields -> the formula, how it is to be read, and the attention it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from exactattn.attention.dimensions import Dim, Shape, read_dim
from exactattn.attention.formula_tree import Formula, Symbol, symbols
from exactattn.attention.formulas import parse_formula, parse_tree
from exactattn.attention.spec import AttentionSpec, Problem
from exactattn.attention.symbols import NATURAL, SIZES, Notation, has_heads
from exactattn.errors import UsageError, close
from exactattn.numbers.exact import Exact, name, power, sub
from exactattn.numbers.numerals import parse_exact
from exactattn.truth.values import Values

FIELDS = ("formula", "shapes", "means", "heads", "head", "sizes", "orientation", "scale", "base", "causal")
_CHOICES = {"orientation": ("rows", "columns"), "causal": ("none", "top-left", "bottom-right")}


def read_claim(fields: Mapping[str, Any], problem: Problem | None) -> tuple[Formula, Notation, AttentionSpec]:
    """The formula, its notation and the spec. Errors: NumeralError, UsageError."""
    shapes, means = _mapping(fields, "shapes"), _mapping(fields, "means")
    known = [word for word in (*shapes, *means) if word.isalpha()]
    formula = parse_formula(str(fields["formula"]), known)
    used = [*symbols(formula.left), *symbols(formula.right)]
    head = str(fields.get("head", "h"))
    stated = {_symbol(key, known): _shape(key, shape) for key, shape in shapes.items()}
    spec = spec_of(fields, problem)
    notation = Notation(
        {_symbol(key, known).base: _source(key, str(source)) for key, source in means.items()},
        stated,
        _flag(fields, "heads", has_heads([*used, *stated], head)),
        head,
        any(symbol.base == "W_O" for symbol in (*used, *stated)),
        spec.orientation,
        {_size(key): _dim(str(text)) for key, text in _mapping(fields, "sizes").items()},
    )
    return formula, notation, replace(spec, orientation="rows")


def spec_of(fields: Mapping[str, Any], problem: Problem | None) -> AttentionSpec:
    """The spec that a claim states, else the problem's; a scale of 1/sqrt(d_k) is left symbolic (None)."""
    spec = AttentionSpec() if problem is None else problem.spec
    if spec.scale is not None and problem is not None and _is_usual(problem):
        spec = replace(spec, scale=None)
    sizes: Mapping[str, Exact] = {size: name(size) for size in SIZES}
    changes: dict[str, Any] = {}
    for key in ("scale", "base"):
        if key in fields:
            changes[key] = parse_exact(str(fields[key]), sizes if key == "scale" else {})
    for key, choices in _CHOICES.items():
        if key in fields:
            if str(fields[key]) not in choices:
                raise UsageError(f"{key} is {fields[key]!r}{close(str(fields[key]), choices)}")
            changes[key] = str(fields[key])
    if isinstance(changes.get("base"), Fraction) and (changes["base"] <= 0 or changes["base"] == 1):
        raise UsageError("the base of an exponential must be above 0 and not 1")
    return replace(spec, **changes)


def _is_usual(problem: Problem) -> bool:
    d_k = problem.names.get("d_k")
    return d_k is not None and Values().sign(sub(problem.scale, power(d_k, Fraction(-1, 2)))) == 0


def _mapping(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = fields.get(key, {})
    if not isinstance(found, Mapping):
        raise UsageError(f"{key} must be a list of names with values, as in {key}: {{C_i: ...}}")
    return {str(label): value for label, value in found.items()}


def _symbol(key: str, known: list[str]) -> Symbol:
    tree = parse_tree(key, known)
    if not isinstance(tree, Symbol):
        raise UsageError(f"found {key!r}, wanted one name with its indices, such as C_i")
    return tree


def _shape(key: str, shape: Any) -> Shape:
    if not isinstance(shape, list | tuple) or len(shape) != 2:
        raise UsageError(f"the shape of {key} must be [rows, columns], such as [1, H*d_v]")
    return _dim(str(shape[0])), _dim(str(shape[1]))


def _dim(text: str) -> Dim:
    """A size; `d_model` and the like are one name."""
    return read_dim(parse_tree(text, SIZES))


def _size(key: str) -> str:
    if key not in SIZES:
        raise UsageError(f"{key!r} is not a size{close(key, SIZES)}")
    return key


def _source(key: str, source: str) -> str:
    if source not in NATURAL:
        raise UsageError(f"{key} means {source!r}, which is no stage or input{close(source, NATURAL)}")
    return source


def _flag(fields: Mapping[str, Any], key: str, usual: bool) -> bool:
    text = str(fields.get(key, usual)).lower()
    if text not in ("true", "false"):
        raise UsageError(f"{key} must be true or false, found {fields[key]!r}")
    return text == "true"

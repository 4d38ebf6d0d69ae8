"""Is a SymPy expression the zero rational function? Decided in SymPy's sparse polynomials, without its simplifier."""

from __future__ import annotations

from typing import Any


class _NotRationalError(TypeError):
    """The expression is not built from rationals and symbols by + * / and integer powers."""


def is_zero(x: Any) -> bool | None:
    """Does x vanish identically? None when it is not a rational function with rational coefficients.

    Proof: `_pair` maps x homomorphically to a pair (n, d) of polynomials over the rationals with x = n/d, where no
    denominator is the zero polynomial; then x = 0 identically if and only if n = 0, and polynomials in sparse form
    are zero if and only if they have no terms.
    """
    import sympy as sp

    symbols = sorted(x.free_symbols, key=sp.default_sort_key)
    if not symbols:
        return bool(x == 0) if x.is_Rational else None
    ring = sp.polys.rings.PolyRing(symbols, sp.QQ)
    try:
        numerator, _ = _pair(x, ring, dict(zip(symbols, ring.gens, strict=True)), {})
    except _NotRationalError:
        return None
    return not numerator


def _pair(x: Any, ring: Any, generators: dict[Any, Any], known: dict[Any, tuple[Any, Any]]) -> tuple[Any, Any]:
    if x not in known:
        known[x] = _compute(x, ring, generators, known)
    return known[x]


def _compute(x: Any, ring: Any, generators: dict[Any, Any], known: dict[Any, tuple[Any, Any]]) -> tuple[Any, Any]:
    if x.is_Symbol:
        return generators[x], ring.one
    if x.is_Rational:
        return ring.domain_new(ring.domain(x.p, x.q)) * ring.one, ring.one
    if x.is_Pow and x.exp.is_Integer:
        top, bottom = _pair(x.base, ring, generators, known)
        power = int(x.exp)
        if power < 0:
            if not top:
                raise _NotRationalError(f"division by zero in {x}")
            top, bottom, power = bottom, top, -power
        return top**power, bottom**power
    if not (x.is_Mul or x.is_Add):
        raise _NotRationalError(str(x))
    parts = [_pair(part, ring, generators, known) for part in x.args]
    return _product(parts, ring) if x.is_Mul else _sum(parts, ring)


def _product(parts: list[tuple[Any, Any]], ring: Any) -> tuple[Any, Any]:
    top = bottom = ring.one
    for numerator, denominator in parts:
        top *= numerator
        bottom = bottom if denominator == 1 else bottom * denominator
    return top, bottom


def _sum(parts: list[tuple[Any, Any]], ring: Any) -> tuple[Any, Any]:
    """The sum, with the terms of one denominator added first: softmax rows share theirs."""
    by_denominator: dict[Any, Any] = {}
    for numerator, denominator in parts:
        by_denominator[denominator] = by_denominator.get(denominator, ring.zero) + numerator
    top, bottom = ring.zero, ring.one
    for denominator, numerator in by_denominator.items():
        if denominator == 1:
            top = top + numerator * bottom
        else:
            top, bottom = top * denominator + numerator * bottom, bottom * denominator
    return top, bottom

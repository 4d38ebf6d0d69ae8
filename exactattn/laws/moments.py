"""Expectations of polynomials in independent random variables, from the moments of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def expectation(ar: Any, polynomial: Any, moments: Mapping[Any, tuple[Any, ...]]) -> Any:
    """E(polynomial) for independent variables, from the first moments E(x), E(x^2), ... of each.

    Proof: E is linear, and E of a product of powers of independent variables is the product of their moments.
    """
    sp = ar.algebra.sp
    total = sp.S.Zero
    for powers, coefficient in sp.Poly(sp.expand(polynomial), *moments).terms():
        factors = []
        for power, known in zip(powers, moments.values(), strict=True):
            assert power <= len(known), "a moment of this order is not given"
            factors += [known[power - 1]] if power else []
        total += coefficient * sp.Mul(*factors)
    return total


def normal_moments(sp: Any, most: int) -> tuple[Any, ...]:
    """E(x^p) of a standard normal variable for p = 1, ..., most: 0 for odd p, (p - 1)(p - 3)...1 for even p."""
    return tuple(sp.factorial2(p - 1) if p % 2 == 0 else sp.S.Zero for p in range(1, most + 1))

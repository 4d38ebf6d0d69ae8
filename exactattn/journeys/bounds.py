"""Bounds that are typed: exact decimals, taken down to a float so that nothing beyond them passes."""

from __future__ import annotations

import math
from fractions import Fraction

from exactattn.errors import NumeralError
from exactattn.numbers.numerals import parse_exact

MOST_ULPS = 2**64


def ulps(text: str) -> float | None:
    """The largest float not above a positive number as written, or None for what is none."""
    try:
        bound = parse_exact(text)
    except NumeralError:
        return None
    if not isinstance(bound, Fraction) or not 0 < bound <= MOST_ULPS:
        return None
    near = float(bound)
    return near if Fraction(near) <= bound else math.nextafter(near, 0.0)

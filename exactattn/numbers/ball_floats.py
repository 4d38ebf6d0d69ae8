"""Balls as float64 numbers: two that come near each, and a bound of what they leave out. No rational is formed."""

from __future__ import annotations

from operator import sub

import flint
import numpy as np

from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.near import Floats


def pairs(balls: list[flint.arb]) -> tuple[Floats, Floats, Floats, Mask]:
    """High, low and rest of each ball: |t - (high + low)| <= rest for every t in it; and which balls are finite.

    Shapes: (n,) four times. NaN where a ball is not finite, or reaches beyond float64.
    Rounding or proof: high is near t and low near t - high, whatever float() does. Subtracting a float64 from a
    ball encloses every difference, so the ball t - high - low holds what is left out; `abs_upper` is no less
    than any magnitude in it, and the next float64 up is no less than that, as float() errs by under one ulp.
    The rest is 0 only for a ball of radius 0 that two float64 numbers give exactly.
    """
    finite = np.fromiter(map(flint.arb.is_finite, balls), np.bool_, len(balls))
    high = near(balls)
    known = finite & np.isfinite(high)
    left = list(map(sub, balls, np.where(known, high, 0.0).tolist()))
    low = near(left)
    bounds = [x.abs_upper() for x in map(sub, left, np.where(known, low, 0.0).tolist())]
    exact = np.fromiter(map(flint.arb.is_zero, bounds), np.bool_, len(balls))
    rest = np.where(exact, 0.0, np.nextafter(near(bounds), np.inf))
    known &= np.isfinite(rest)
    high, low, rest = (np.where(known, part, np.nan) for part in (high, low, rest))
    return high, low, rest, finite


def near(balls: list[flint.arb]) -> Floats:
    """The midpoints as float64 numbers, within one ulp; infinite beyond their range. Shapes: (n,)."""
    return np.fromiter(map(float, balls), np.float64, len(balls))

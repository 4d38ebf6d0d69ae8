"""Functions of real numbers near floats: exp, log, tanh and square root of NumPy, each with its proof.

They rest on `ASSUMPTIONS`, which every report that uses them lists and tests measure against balls.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.near import TINY, Floats, Near, U, by_row, up
from exactattn.numbers.pending import Difference

EXP_ULPS = LOG_ULPS = TANH_ULPS = 4
LOWEST = 746.0  # exp(-746) is less than half the smallest subnormal

ASSUMPTIONS: Mapping[str, str] = {
    "ieee": "float64 +, -, *, / and square root round to nearest as IEEE 754 says, and keep subnormal numbers",
    "sums": "BLAS and NumPy add products and terms in some order, fused or not, without Strassen's method",
    "exp": f"NumPy's exp of float64 is within {EXP_ULPS} ulp, or within 2**-1022 where the result is below 2**-1022",
    "log": f"NumPy's log of float64 is within {LOG_ULPS} ulp",
    "tanh": f"NumPy's tanh of float64 is within {TANH_ULPS} ulp, or within 2**-1022 where the result is below it",
}


def exp_of(a: Near, allowed: Mask, spend: bool) -> Near:
    """The exponential where allowed, exact zero elsewhere; with `spend` written over differences nobody needs.

    Rounding or proof: in a row |x - X| <= r = rel D + abs, D no less than every |X|. With computed Y, E = EXP_ULPS
    ulp <= w = 2 E u relative, and w <= 2**-49: |e^x - Y| <= e^X (e^r - 1) + w e^X + TINY/2, and
    e^X <= (Y + TINY/2)/(1 - w), together at most p Y + (1 + p) TINY with p = (e^r - 1 + w)/(1 - w).
    D may be cut to `LOWEST` where rel <= 2**-20 and abs <= 1: an X below -746 has x < -744, so e^x and Y are both
    below TINY/2. Rows where D or r is not finite know nothing.
    """
    fresh = a.computed(spend) if isinstance(a, Difference) else a.mid.copy()
    every = bool(allowed.all())
    if not every:
        np.copyto(fresh, 0.0, where=~allowed)
    with np.errstate(all="ignore"):
        low = fresh.min(axis=1, keepdims=True, initial=0.0)
        below = isinstance(a, Difference) and a.nonpositive is allowed
        high = 0.0 if below else fresh.max(axis=1, keepdims=True, initial=0.0)
        size = np.maximum(-low, high)
        rel, abs_ = by_row(a.rel), by_row(a.abs)
        cut = (rel <= 2.0**-20) & (abs_ <= 1) & (size < np.inf)
        size = np.where(cut, np.maximum(np.minimum(-low, LOWEST), high), size)
        w = 2 * EXP_ULPS * U
        p = up((expm1(up(rel * size + abs_)) + w) / (1 - w))
        np.exp(fresh, out=fresh)
    if not every:
        np.copyto(fresh, 0.0, where=~allowed)
    out = Near(fresh, p, np.where(p < np.inf, up((1 + p) * TINY), np.inf), nonneg=True)
    if below:
        out.ceiling = 1 + 4 * EXP_ULPS * U
    return out


def log_of(a: Near) -> Near:
    """The natural logarithm of positive elements.

    Rounding or proof: x = X (1 + e), |e| <= t = rel + abs/X at most 1/2, so |log x - log X| <= t/(1 - t); the
    computed logarithm Y errs by 2 E u |log X| with E = LOG_ULPS, at most 3 E u |Y|.
    """
    with np.errstate(all="ignore"):
        t = up(a.rel + a.abs / np.abs(a.mid))
        known = (t <= 0.5) & (a.mid > 0) & (a.mid < np.inf)
        abs_ = np.where(known, up(t / (1 - t)), np.inf)
        return Near(np.log(a.mid), np.full((1, 1), 3 * LOG_ULPS * U), abs_)


def tanh_of(a: Near) -> Near:
    """The hyperbolic tangent.

    Rounding or proof: tanh is odd, 0 at 0 and concave above, so tanh(c X) lies between tanh X and c tanh X and the
    relative error of x stays one of tanh x; its slope is at most 1, so the absolute error stays. The computed Y
    errs by 2 E u |tanh X|, E = TANH_ULPS, at most 3 E u |Y|, or by TINY below the normal numbers. That needs a
    factor c >= 0, so rel at most 1, and a finite X: the tangent of what overflowed would look like a number.
    """
    with np.errstate(all="ignore"):
        rel = up((a.rel + 3 * TANH_ULPS * U) * (1 + 3 * TANH_ULPS * U) + a.rel * U)
        known = (a.rel <= 1) & (a.limit() < np.inf)
        return Near(np.tanh(a.mid), rel, np.where(known, up(a.abs + (1 + a.rel) * TINY), np.inf), a.nonneg)


def sqrt_of(a: Near) -> Near:
    """The square root of elements that are not negative.

    Rounding or proof: with x = X (1 + e) and |e| <= t = rel + abs/X at most 1/2, |sqrt(1 + e) - 1| <= |e|; the
    computed root errs by u of itself, and does not underflow.
    """
    with np.errstate(all="ignore"):
        t = up(a.rel + np.where(a.abs == 0, 0.0, a.abs / np.abs(a.mid)))
        known = (t <= 0.5) & (a.mid >= 0) & (a.mid < np.inf)
        rel = np.asarray(up(np.where(known, t, 0.0) * (1 + 2 * U) + 2 * U))
        return Near(np.sqrt(a.mid), rel, np.where(known, 0.0, np.inf), nonneg=True)


def expm1(r: Floats) -> Floats:
    """No less than e^r - 1 for r >= 0: at most r + r^2 up to 1; above, by NumPy's exp, whose ulps a factor covers."""
    return np.asarray(up(np.where(r <= 1, r + r * r, np.exp(r) * (1 + 2.0**-40))))

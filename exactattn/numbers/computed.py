"""What rounded computations may give: arrays of numbers with a bound that holds for every run, and for exact numbers.

A `Computed` says |x - mid| <= err of each element x that any run gives which rounds as its format does. The exact value
keeps that too, as it is what a run without rounding gives. Each function below proves that for one operation; what is
composed of them is proven by composition.

Rounding of a run (Higham 2002, section 2.1, with underflow): fl(x) = x (1 + d) + e, |d| <= u, |e| <= h, half the
smallest subnormal number; additions have e = 0. `unit` and `half` add a little for a run that rounds through a wider
format first, as NumPy's float16 and ml_dtypes' bfloat16 do through float32, and for the float64 in which mid is
computed. Every bound is rounded outward by `up`. Where a run might overflow nothing is known: err is infinite.
Assumed of NumPy's own exp, expm1, log and tanh in float64: within 8 ulp, which tests/engines/test_midradius.py measures
against balls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from exactattn.numbers.arithmetic import Mask
from exactattn.numbers.formats import Format
from exactattn.numbers.near import TINY, Floats, summed_up, up
from exactattn.numbers.near import gamma as gamma64
from exactattn.numbers.spacing import spacing

OWN = 2.0**-49  # no less than what a function or operation of float64 errs by, relative to its value: 8 ulp


class Computed:
    """A matrix of numbers, each within err of mid in every run, that a run holds in a format.

    Shapes: mid and err (n, m); wobble (n, 1) or None. A wobble w marks what a run computes after it has subtracted a
    shift: its numbers are those of a run that subtracts the shift of the midpoints, but for one unknown factor a row of
    exponentials (one unknown number of logits), e^t (or t) with |t| <= w, which the bounds leave out.

    It has a length and rows, so that it may stand where an exact matrix does in a `Problem`.
    """

    __slots__ = ("err", "fmt", "mid", "wobble")

    def __init__(self, mid: Floats, err: Floats, fmt: Format, wobble: Floats | None = None) -> None:
        assert mid.shape == err.shape
        self.mid, self.fmt, self.wobble = mid, fmt, wobble
        self.err = np.where(np.isfinite(mid) & np.isfinite(err), err, np.inf)

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns)."""
        return self.mid.shape

    @property
    def most(self) -> Floats:
        """No less than any |x|."""
        return np.abs(self.mid) + self.err

    def __len__(self) -> int:
        return len(self.mid)

    def __getitem__(self, index: Any) -> Any:
        """Midpoints."""
        return self.mid[index]


def unit(fmt: Format) -> float:
    """No less than the relative error of one rounded operation, and of the float64 operation that gives its mid."""
    return float(fmt.unit_roundoff) * (1 + 2.0**-10) + OWN


def half(fmt: Format) -> float:
    """No less than the absolute error of a rounded operation that underflows."""
    return float(fmt.min_subnormal) * (0.5 + 2.0**-10) + TINY


def holds(wide: Format, narrow: Format) -> bool:
    """Is every number of one format one of another?"""
    deep = wide.emin - wide.precision <= narrow.emin - narrow.precision
    return wide.precision >= narrow.precision and wide.emax >= narrow.emax and deep


def member(x: Floats, fmt: Format) -> Mask:
    """Which floats are numbers of a format. Exact: a multiple of the ulp at its magnitude, and not past the range."""
    with np.errstate(all="ignore"):
        multiple = x / spacing(np.abs(x), fmt)
        return np.asarray((multiple == np.rint(multiple)) & (np.abs(x) <= float(fmt.max)))


def rounded(mid: Floats, err: Floats, fmt: Format, wobble: Floats | None = None) -> Computed:
    """What a run holds of numbers within err of the exact value that mid is the float64 of.

    Proof: |fl(x) - x| <= u |x| + h and |x| <= |mid| + err. Zero is not rounded. With a wobble the run's own number is
    e^-t x: it overflows where that does, and what its underflow loses is e^t times as much beside x.
    """
    with np.errstate(all="ignore"):
        size, factor = np.abs(mid) + err, _factor(wobble)
        out = np.where(size == 0, 0.0, up(err + unit(fmt) * size + half(fmt) * factor))
        out = np.where(up(size) * (1 + unit(fmt)) * factor < float(fmt.max), out, np.inf)
    return Computed(mid, out, fmt, wobble)


def _factor(wobble: Floats | None) -> Any:
    """No less than e^|t|."""
    return 1.0 if wobble is None else _expm1(wobble) + 1


def cast(x: Computed, fmt: Format) -> Computed:
    """The same numbers in another format: rounded, where it does not hold those of the first."""
    if holds(fmt, x.fmt):
        return Computed(x.mid, x.err, fmt, x.wobble)
    return rounded(x.mid, x.err, fmt, x.wobble)


def _exact(x: Computed) -> Mask:
    return np.asarray(x.err == 0)


def _zero(x: Computed) -> Mask:
    """Exactly 0 in every run."""
    return np.asarray((x.mid == 0) & (x.err == 0))


def total(a: Computed, b: Computed, fmt: Format, sign: int = 1, wobble: Floats | None = None) -> Computed:
    """a + b, or a - b. Proof: the errors add, and the sum is rounded; adding an exact zero changes nothing."""
    with np.errstate(all="ignore"):
        mid = np.asarray(a.mid + sign * b.mid)
        out = rounded(mid, np.asarray(up(a.err + b.err)), fmt, wobble)
        out.err = np.where(_zero(b), a.err, np.where(_zero(a), b.err, out.err))
    return out


def times(a: Computed, b: Computed, fmt: Format) -> Computed:
    """a b, element by element. Proof: x y - A B = (x - A) y + A (y - B), and |y| <= |B| + err; 1 changes nothing."""
    with np.errstate(all="ignore"):
        mid = a.mid * b.mid
        lost = np.where(mid == 0, TINY, 0.0)  # a product of exact numbers that underflows in float64 is not zero
        err = np.where(_exact(a) & _exact(b), lost, up(a.err * b.most + np.abs(a.mid) * b.err))
        out = rounded(mid, np.where(_zero(a) | _zero(b), 0.0, err), fmt)
    out.err = np.where((b.mid == 1) & (b.err == 0), a.err, out.err)
    return out


def quotient(a: Computed, b: Computed, fmt: Format) -> Computed:
    """a / b. Proof: x/y - A/B = ((x - A) - (A/B) (y - B)) / y, and |y| >= |B| - err, wanted to be positive.

    The factors at |B| - err cover the rounding of that difference.
    """
    with np.errstate(all="ignore"):
        mid = a.mid / b.mid
        least = np.abs(b.mid) * (1 - OWN) - b.err * (1 + OWN)
        err = up((a.err + np.abs(mid) * (1 + OWN) * b.err) / np.where(least > 0, least, np.nan))
        err = np.where(_exact(a) & _exact(b), np.where(mid == 0, TINY, 0.0), err)
        err = np.where(_zero(a) & (least > 0), 0.0, err)
        return rounded(mid, np.asarray(np.where(np.isnan(err), np.inf, err)), fmt)


def gamma(n: int, fmt: Format) -> float:
    """No less than n u / (1 - n u) of a format, which bounds n roundings in any order; infinite from n u = 1/2 on."""
    share = n * unit(fmt)
    return float(up(share / (1 - share))) if share < 0.5 else float("inf")


def product(a: Computed, b: Computed, accumulation: Format, fmt: Format) -> Computed:
    """The product of two matrices, accumulated in one format and rounded to another.

    Proof: |x y - A B| <= |A| eb + ea (|B| + eb), elementwise products of matrices. With M no less than |x| |y|, k terms
    err by gamma_k M in any order, fused or not, and each by h where it underflows, which later additions enlarge to at
    most h (1 + gamma_k); mid errs by the gamma of float64. A sum of zeros is zero.
    """
    k = a.shape[1]
    with np.errstate(all="ignore"):
        passed = summed_up(np.abs(a.mid) @ b.err + a.err @ b.most, 2 * k)
        sizes = summed_up(np.abs(a.mid) @ np.abs(b.mid), k) + passed
        g = gamma(k, accumulation)
        err = up(passed + (g + gamma64(k + 2)) * sizes + k * half(accumulation) * (1 + g))
        nothing = (a.most @ np.where(b.most > 0, 1.0, 0.0)) == 0
        return _stored(a.mid @ b.mid, np.where(nothing, 0.0, err), accumulation, fmt, sizes, None)


def row_sum(a: Computed, accumulation: Format) -> Computed:
    """The sum of each row, in its own format where that is the wider.

    Proof: as for `product`, with nothing that underflows.
    """
    k = a.shape[1]
    accumulation = a.fmt if holds(a.fmt, accumulation) else accumulation
    with np.errstate(all="ignore"):
        passed = summed_up(a.err.sum(axis=1, keepdims=True), k)
        sizes = summed_up(np.abs(a.mid).sum(axis=1, keepdims=True), k) + passed
        g = gamma(max(k - 1, 1), accumulation) if k > 1 else 0.0
        err = np.where(a.most.sum(axis=1, keepdims=True) == 0, 0.0, up(passed + (g + gamma64(k + 2)) * sizes))
        return _stored(a.mid.sum(axis=1, keepdims=True), np.asarray(err), accumulation, a.fmt, sizes, a.wobble)


def _stored(
    mid: Floats, err: Floats, accumulation: Format, fmt: Format, sizes: Floats, wobble: Floats | None
) -> Computed:
    """A sum that was accumulated in one format, in another; unknown where it may overflow on its way.

    Proof: no partial sum is above 2 `sizes`, as gamma is below 1 wherever err is finite.
    """
    with np.errstate(all="ignore"):
        err = np.where(2 * sizes * _factor(wobble) < float(accumulation.max), err, np.inf)
    return cast(Computed(mid, err, accumulation, wobble), fmt)


def of_function(mid: Floats, err: Floats, fmt: Format, ulps: int, factor: Any = 1.0) -> Computed:
    """A function's values that a run computes within so many ulps; `factor` is e^|t| of a wobble, see `rounded`.

    Proof: an ulp is at most 2 u |y|, or the smallest subnormal number.
    """
    with np.errstate(all="ignore"):
        lost = ulps * 2 * half(fmt) * factor
        out = up(err + 2 * ulps * unit(fmt) * (np.abs(mid) + err) + lost)
        out = np.where(up(np.abs(mid) + out) * factor < float(fmt.max), out, np.inf)
    return Computed(mid, np.asarray(out), fmt)


def shift(a: Computed, allowed: Mask) -> Computed:
    """The largest element of each row that is allowed, with the wobble within which the largest of a run lies; or 0.

    Proof: the largest of numbers within err of mid lies between the largest mid - err and the largest mid + err.
    """
    ends = (a.mid - a.err, a.mid, a.mid + a.err)
    low, mid, high = (np.max(end, axis=1, keepdims=True, where=allowed, initial=-np.inf) for end in ends)
    seen = allowed.any(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        wobble = np.where(seen, up(np.maximum(high - mid, mid - low) * (1 + OWN) + OWN * np.abs(mid)), 0.0)
    exact = np.all(np.where(allowed, a.err, 0.0) == 0, axis=1, keepdims=True)
    mid = np.where(seen, mid, 0.0)
    return Computed(mid, np.zeros_like(mid), a.fmt, np.where(exact, 0.0, wobble))


def shifted(a: Computed, column: Computed) -> Computed:
    """Each row minus its shift.

    Proof: the run subtracts m + t, |t| <= w, and errs by u |x - m - t|; but for t, x - m differs from A - m as x does
    from A.
    """
    assert column.wobble is not None
    with np.errstate(all="ignore"):
        mid = a.mid - column.mid
        size = np.abs(mid) + a.err + column.wobble
        err = np.where(size == 0, 0.0, up(a.err + unit(a.fmt) * size + half(a.fmt)))
    return Computed(mid, np.asarray(err), a.fmt, column.wobble)


def exp(a: Computed, allowed: Mask, ulps: int) -> Computed:
    """e^a where allowed, exact zero elsewhere.

    Proof: e^x differs from e^A by at most e^A (e^|x - A| - 1). With a wobble, the run's own number is e^-t times that
    of the bounds; what its underflow loses is e^t times as much beside them.
    """
    wobble = np.zeros((len(a), 1)) if a.wobble is None else a.wobble
    with np.errstate(all="ignore"):
        mid = np.exp(np.where(allowed, a.mid, 0.0))
        err = np.where(a.err == 0, 0.0, up(mid * (1 + OWN) * _expm1(a.err)))
        out = of_function(mid, np.asarray(err), a.fmt, ulps, _factor(wobble))
    return Computed(np.where(allowed, mid, 0.0), np.where(allowed, out.err, 0.0), a.fmt, wobble)


def _expm1(r: Floats) -> Floats:
    """No less than e^r - 1 for r >= 0: NumPy's expm1 within 8 ulp."""
    return np.asarray(up(np.expm1(r) * (1 + OWN)))


def log(a: Computed, ulps: int) -> Computed:
    """The natural logarithm.

    Proof: x = A (1 + e), |e| <= t = err / A at most 1/2, so |log x - log A| <= t / (1 - t). With a wobble the run takes
    the logarithm of e^-t x, which is t less, and errs relative to that.
    """
    with np.errstate(all="ignore"):
        t = up(a.err / np.abs(a.mid))
        mid = np.log(a.mid)
        own = 0.0 if a.wobble is None else 2 * ulps * unit(a.fmt) * a.wobble
        err = np.where((t <= 0.5) & (a.mid > 0), up(t / (1 - t) + own), np.inf)
    out = of_function(mid, np.asarray(err), a.fmt, ulps)
    return Computed(out.mid, out.err, out.fmt, a.wobble)


def tanh(a: Computed, ulps: int) -> Computed:
    """The hyperbolic tangent.

    Proof: the slope between x and A is 1 - tanh^2 of something between, no more than of the smallest size there.
    """
    with np.errstate(all="ignore"):
        least = np.tanh(np.maximum(np.abs(a.mid) * (1 - OWN) - a.err * (1 + OWN), 0.0)) * (1 - OWN)
        slope = np.minimum(1.0, 1.0 - least * least + OWN)
        return of_function(np.tanh(a.mid), np.asarray(up(a.err * slope)), a.fmt, ulps)


def sqrt(a: Computed) -> Computed:
    """The square root. Proof: |sqrt x - sqrt A| = |x - A| / (sqrt x + sqrt A) <= err / sqrt A; then rounded."""
    with np.errstate(all="ignore"):
        mid = np.sqrt(a.mid)
        err = np.where(a.err == 0, 0.0, up(a.err / mid * (1 + OWN)))
        return rounded(mid, np.where(a.mid >= a.err, err, np.inf), a.fmt)

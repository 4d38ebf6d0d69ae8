"""Thresholds of exp against NumPy (brute force), ml_dtypes, mpmath and the table of THEORY section 1."""

from __future__ import annotations

import ml_dtypes
import mpmath
import numpy as np
import pytest

from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.numbers.formats import FORMATS
from exactattn.truth.range import exp_range, score_overflows

# THEORY section 1: ln(max), ln(half min subnormal).
TABLE = {
    "float64": (709.783, -745.133),
    "float32": (88.723, -103.972),
    "bfloat16": (88.719, -92.882),
    "tf32": (88.722, -94.961),
    "float16": (11.090, -17.329),
    "e5m2": (10.957, -11.784),
    "e4m3fn": (6.105, -6.931),
}
INFO = {
    "float64": np.finfo(np.float64),
    "float32": np.finfo(np.float32),
    "float16": np.finfo(np.float16),
    "bfloat16": ml_dtypes.finfo(ml_dtypes.bfloat16),
    "e5m2": ml_dtypes.finfo(ml_dtypes.float8_e5m2),
    "e4m3fn": ml_dtypes.finfo(ml_dtypes.float8_e4m3fn),
}
DTYPES = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3fn": ml_dtypes.float8_e4m3fn,
}
every = pytest.mark.parametrize("name", FORMATS)


def oracle(name):
    """(max, max + half ulp, half min subnormal) by mpmath from the libraries' own data; tf32 from NVIDIA's layout."""
    with mpmath.workdps(60):
        if name == "tf32":  # 8 exponent bits, 10 fraction bits
            top, digits, tiny = (2 - mpmath.mpf(2) ** -10) * mpmath.mpf(2) ** 127, 10, mpmath.mpf(2) ** -136
        else:
            info = INFO[name]
            top, tiny = mpmath.mpf(float(info.max)), mpmath.mpf(float(info.smallest_subnormal))
            digits = info.nmant
        exponent = int(mpmath.floor(mpmath.log(top, 2)))
        return top, top + mpmath.mpf(2) ** (exponent - digits - 1), tiny / 2


def contains(interval: Interval, value) -> bool:
    """Does the enclosure hold an mpmath number, within mpmath's 60 digits?"""
    with mpmath.workdps(60):
        low = mpmath.mpf(interval.lower.numerator) / interval.lower.denominator
        high = mpmath.mpf(interval.upper.numerator) / interval.upper.denominator
        slack = abs(value) * mpmath.mpf(10) ** -55
        return low - slack <= value <= high + slack and high - low < mpmath.mpf(10) ** -30


@every
def test_thresholds_against_the_table(name):
    entry = exp_range(FORMATS[name])
    top, bottom = TABLE[name]
    assert float(enclose(entry.ln_max).midpoint) == pytest.approx(top, abs=6e-4)
    assert float(enclose(entry.ln_underflow).midpoint) == pytest.approx(bottom, abs=6e-4)


@every
def test_thresholds_against_mpmath(name):
    entry = exp_range(FORMATS[name])
    with mpmath.workdps(60):
        expected = [mpmath.log(x) for x in oracle(name)]
    for exact, value in zip((entry.ln_max, entry.ln_overflow, entry.ln_underflow), expected, strict=True):
        assert contains(enclose(exact), value)


@every
def test_the_two_neighbours_against_mpmath(name):
    entry = exp_range(FORMATS[name])
    _, past, _ = oracle(name)
    with mpmath.workdps(60):
        assert mpmath.exp(mpmath.mpf(entry.last_safe)) < past < mpmath.exp(mpmath.mpf(entry.first_overflowing))
    assert FORMATS[name].next_up(entry.last_safe) == entry.first_overflowing


def test_the_numbers_of_issue_2():
    evidence = exp_range(FORMATS["float32"]).overflow_evidence(20)
    assert evidence["ln_max"].startswith("88.72283905206835")
    assert evidence["ln_overflow"].startswith("88.72283908187")
    assert evidence["last_safe"] == "88.72283172607422"
    assert evidence["first_overflowing"] == "88.72283935546875"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numpy_agrees_on_a_thousand_neighbours(dtype):
    """NumPy's exp is finite up to last_safe and infinite from first_overflowing on."""
    entry = exp_range(FORMATS[np.dtype(dtype).name])
    x = np.array([entry.last_safe], dtype)
    up, down = [], []
    low = high = x[0]
    for _ in range(500):
        high = np.nextafter(high, dtype(np.inf))
        up.append(high)
        down.append(low)
        low = np.nextafter(low, dtype(0))
    assert float(up[0]) == entry.first_overflowing
    with np.errstate(over="ignore"):
        assert np.isinf(np.exp(np.array(up, dtype))).all()
        assert np.isfinite(np.exp(np.array(down, dtype))).all()


@pytest.mark.parametrize("name", DTYPES)
def test_every_value_of_the_small_formats(name):
    """exp in float64, cast by ml_dtypes or NumPy: finite exactly up to last_safe, zero exactly below ln_underflow."""
    dtype, entry = np.dtype(DTYPES[name]), exp_range(FORMATS[name])
    patterns = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore", over="ignore"):
        x = patterns.view(dtype).astype(np.float64)
        x = x[np.isfinite(x)]
        y = np.exp(x).astype(dtype).astype(np.float64)
    assert np.array_equal(np.isfinite(y), x <= entry.last_safe)
    assert np.array_equal(y == 0, x < float(enclose(entry.ln_underflow).midpoint))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numpy_underflows_where_we_say(dtype):
    limit = float(enclose(exp_range(FORMATS[np.dtype(dtype).name]).ln_underflow).midpoint)
    gap = 1e-4  # NumPy's exp need not round correctly among subnormals
    assert np.exp(dtype(limit - gap)) == 0
    assert np.exp(dtype(limit + gap)) > 0


@pytest.mark.parametrize("name", ["float16", "bfloat16", "e5m2", "e4m3fn"])
def test_scores_overflow_where_the_library_rounds_past_the_range(name):
    """Just below, at and just above the threshold, rounded by NumPy or ml_dtypes from float32."""
    fmt = FORMATS[name]
    threshold = np.float32(float(fmt.overflow_threshold))
    for x in (np.nextafter(threshold, np.float32(0)), threshold, np.nextafter(threshold, np.float32(np.inf))):
        with np.errstate(over="ignore", invalid="ignore"):
            gone = not np.isfinite(np.float32(x).astype(DTYPES[name]).astype(np.float32))
        exact = fmt.max.__class__(float(x))
        answer = score_overflows(Interval(exact, exact), fmt)
        assert answer is (Answer.YES if gone else Answer.NO), x


@every
def test_a_wrong_threshold_would_be_noticed(name):
    """ln(max) in place of ln(max + half an ulp) differs by far more than the enclosures are wide."""
    entry = exp_range(FORMATS[name])
    with mpmath.workdps(60):
        assert not contains(enclose(entry.ln_max), mpmath.log(oracle(name)[1]))

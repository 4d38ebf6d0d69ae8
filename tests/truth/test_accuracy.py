"""`Parts` against its oracles: `Enclosure.error_of` element by element, and `Format.ulp`."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from exactattn.attention.spec import Stage
from exactattn.numbers.enclosure import Enclosure
from exactattn.numbers.formats import FORMATS
from exactattn.truth.accuracy import Parts, enclosed
from exactattn.truth.ladder import Truth


def random_parts(seed):
    """Reals of many magnitudes, near powers of two, zeros and undefined ones, in intervals of many widths."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(20):
        row = []
        for _ in range(20):
            x = Fraction(float(rng.normal())) * Fraction(2) ** int(rng.integers(-200, 200))
            if rng.random() < 0.2:
                x = Fraction(2) ** int(rng.integers(-30, 30)) * (1 - Fraction(1, 2 ** int(rng.integers(40, 120))))
            x = Fraction(0) if rng.random() < 0.05 else x
            width = abs(x) * Fraction(1, 2 ** int(rng.integers(60, 140)))
            row.append(None if rng.random() < 0.05 else (x - width, x + width))
        rows.append(row)
    true = Enclosure.of(rows)
    data = np.array([[0.0 if c is None else float((c[0] + c[1]) / 2) for c in row] for row in rows])
    noise = 1 + rng.normal(size=data.shape) * 10.0 ** rng.integers(-17, 1, data.shape)
    return true, data * noise


@pytest.mark.parametrize("seed", range(5))
def test_error_of_contains_the_exact_error(seed):
    true, data = random_parts(seed)
    parts = Parts.of(true)
    mid, rad = parts.error_of(data)
    slow_mid, slow_rad = true.error_of(data)
    for index in true.indices():
        t = true[index]
        if t is None:
            assert np.isnan(mid[index])
            continue
        centre, radius = Fraction(float(mid[index])), Fraction(float(rad[index]))
        for end in (t.lower, t.upper):
            assert abs(Fraction(float(data[index])) - end - centre) <= radius
        assert abs(mid[index] - slow_mid[index]) <= rad[index] + slow_rad[index]


@pytest.mark.parametrize("name", FORMATS)
def test_ulps_are_those_of_the_format(name):
    fmt = FORMATS[name]
    true, _ = random_parts(7)
    parts = Parts.of(true)
    ulps = parts.ulps(fmt)
    for index in true.indices():
        t = true[index]
        if t is not None and not t.contains(Fraction(0)):
            # ulps reads high + low, which may round the last 2^-106 of the midpoint
            assert float(ulps[index]) == float(fmt.ulp(Fraction(parts.high[index]) + Fraction(parts.low[index])))


def test_undefined_rows_have_no_truth(document_n):
    truth = Truth(replace(document_n, mask=((True,) * 3, (False,) * 3, (True,) * 3)))
    values = enclosed(truth, Stage.OUTPUT, 0)
    assert [values[row, 0] is None for row in range(3)] == [False, True, False]

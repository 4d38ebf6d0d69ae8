"""Float pairs and the questions about them, against exact rationals."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.numbers.balls import TooCoarse
from exactattn.numbers.float_pairs import FloatPairs
from exactattn.numbers.formats import FORMATS

SMALL = st.floats(-(2.0**200), 2.0**200)


def pairs(*rows):
    return FloatPairs(*(np.array([list(part)]) for part in zip(*rows, strict=True)))


@given(SMALL, SMALL, st.floats(0, 2.0**100), SMALL)
def test_every_form_holds_both_ends(high, low, rest, data):
    """The ends are those of the definition: |t - (high + low)| <= rest."""
    found = pairs((high, low, rest))
    ends = [F(high) + F(low) + sign * F(rest) for sign in (-1, 1)]
    box = found[0, 0]
    assert (box.lower, box.upper) == tuple(ends)
    wide = found.floats()[0, 0]
    mid, rad = (F(float(x[0, 0])) for x in found.error_of(np.array([[data]])))
    for t in ends:
        assert wide.contains(t)
        assert abs(F(data) - t - mid) <= rad
        assert F(float(found.least()[0, 0])) <= abs(t) <= F(float(found.largest()[0, 0]))
        assert found.least_ulps(FORMATS["float32"])[0, 0] <= FORMATS["float32"].ulp(t)


def test_what_two_floats_hold_exactly_has_no_radius():
    found = pairs((1.0, 0.0, 0.0), (1.0, 2.0**-80, 0.0))
    assert found.floats().rad.tolist() == [[0.0, np.nextafter(2.0**-80, 1)]]
    assert found.error_of(np.array([[1.0, 1.0]]))[1][0, 0] == 0.0


def test_undefined_and_unknown():
    found = pairs((np.nan, np.nan, np.nan), (0.0, 0.0, np.inf))
    assert found.shape == (1, 2)
    assert found.defined.tolist() == [[False, True]]
    assert found[0, 0] is None
    with pytest.raises(TooCoarse):
        found[0, 1]
    assert found.floats()[0, 0] is None

"""The campaign of containment in its short form: a problem of each kind, with options drawn, and not one miss."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.containment import Count, campaign, lines
from exactattn.numbers.float_enclosure import FloatEnclosure


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_missed(seed):
    tallies = campaign(0, seed)
    assert len(tallies) > 25
    for name, one in tallies.items():
        assert one.outputs.misses == one.gradients.misses == 0, name
        assert one.outputs.worst <= 1
        assert one.gradients.worst <= 1
    assert "all" in lines(tallies)[-1]
    assert sum(one.outputs.elements for one in tallies.values()) > 10_000
    assert sum(one.gradients.elements for one in tallies.values()) > 2_000


def test_a_miss_would_be_counted():
    found = FloatEnclosure(np.array([1.0, 1.0, np.nan, 1.0]), np.array([0.1, 0.5, np.nan, np.inf]))
    count = Count()
    count.add(np.full(4, 0.25), np.full(4, 2.0**-50), found)
    assert (count.elements, count.misses, count.unknown) == (2, 1, 1)
    assert count.worst == pytest.approx(2.5)

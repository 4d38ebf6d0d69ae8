"""Is a float within its bound of the true value: the three answers, from numbers that are written here."""

from __future__ import annotations

import numpy as np
import pytest

from exactattn.conformance.judging import same, within
from exactattn.numbers.computed import Computed
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.float_enclosure import FloatEnclosure
from exactattn.numbers.formats import FORMATS

FLOAT32 = FORMATS["float32"]
YES, NO, CANNOT_TELL = Answer.YES, Answer.NO, Answer.CANNOT_TELL


def one(data, *, mid=1.0, rad=0.0, centre=1.0, err=0.25, blocked=None):
    truth = FloatEnclosure(np.array([[mid]]), np.array([[rad]]))
    bound = Computed(np.array([[centre]]), np.array([[err]]), FLOAT32)
    mask = None if blocked is None else np.array([[blocked]])
    return within(np.array([[data]]), truth, bound, FLOAT32, mask)


@pytest.mark.parametrize(
    ("data", "options", "answer"),
    [
        (1.0, {}, YES),
        (1.2499, {}, YES),
        (1.2501, {}, NO),
        (0.7501, {}, YES),
        (0.7499, {}, NO),
        (1.3, {"centre": 1.1}, YES),  # the bound is about a point that is off: 0.1 more
        (1.2499, {"rad": 0.1}, YES),  # |x - t| <= 0.2499 + 0.1 <= 0.25 + 0.1
        (1.40, {"rad": 0.1}, CANNOT_TELL),  # t is between 0.9 and 1.1, the bound at most 0.35
        (1.46, {"rad": 0.1}, NO),
        (1.0, {"err": np.inf}, CANNOT_TELL),
        (np.nan, {"err": np.inf}, CANNOT_TELL),
        (np.nan, {}, NO),
        (np.inf, {}, NO),
        (np.nan, {"mid": np.nan, "centre": 0.0}, YES),
        (1.0, {"mid": np.nan, "centre": 0.0}, NO),
        (0.0, {"mid": 0.0, "centre": 0.0, "err": 0.0}, YES),
        (1e-40, {"mid": 0.0, "centre": 0.0, "err": 0.0}, NO),
        (0.0, {"mid": 0.0, "rad": 1e-300, "centre": 0.0, "err": 0.0}, YES),
        (-np.inf, {"blocked": True}, YES),
        (1.0, {"blocked": True}, NO),
        (-np.inf, {"blocked": False}, NO),
        (1.0, {"rad": np.inf}, CANNOT_TELL),
    ],
)
def test_the_answer(data, options, answer):
    assert one(data, **options).answers[0, 0] == answer


def test_the_sizes_of_an_error():
    found = one(1 + 2.0**-20)
    assert found.most_ulps == 8  # an ulp of float32 at 1 is 2**-23
    assert found.most_parts == pytest.approx(2.0**-18)
    assert one(-np.inf, blocked=True).most_ulps == 0


def test_the_same_bit_for_bit():
    data = np.array([0.0, 1.0, np.nan], dtype=np.float32)
    assert same(data, data.copy()).count(YES) == 3
    assert same(data, np.array([-0.0, 1.0, np.nan], dtype=np.float32)).count(NO) == 1
    assert same(data, data.astype(np.float64)).count(NO) == 3
    assert same(data, data[:2]).count(NO) == 3

"""Counterexamples are the smallest in their stated order, and those in formats are what NumPy gives."""

from __future__ import annotations

import math
import re
from itertools import product
from typing import Any

import numpy as np
import pytest

from exactattn.engines.symbolic import ENGINE
from exactattn.laws.formulas import compare, ordered, read
from exactattn.laws.proof import Proof
from exactattn.laws.saturation import pair, slope, smallest_gap
from exactattn.laws.smallest import whole_numbers
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import FORMATS

CLAIMS = [
    ("d_k*d_v", "d_k + d_v - 1", "d_k = 2, d_v = 2"),
    ("d_k**2", "3*d_k - 2", "d_k = 3"),
    ("n*d", "n", "d = 2, n = 1"),
    ("sigma + mu*sigma", "sigma", "mu = 1, sigma = 1"),
    ("d_k/2", "0", "d_k = 1"),
]


@pytest.mark.parametrize(("true", "claimed", "where"), CLAIMS)
def test_the_first_point_is_the_smallest(true: str, claimed: str, where: str) -> None:
    """Oracle: all points up to 6, by Python's integers."""
    proof = Proof(ENGINE.arithmetic())
    found = compare(proof, "claim", read(proof, true), read(proof, claimed))
    assert found is not None
    assert found.startswith(f"{where}: it is ")
    names = sorted(set(re.findall(r"[a-z_]+", f"{true} {claimed}")))
    points = sorted(product(*(range(int(name != "mu"), 7) for name in names)), key=lambda p: (sum(p), p))
    wrong = (
        p
        for p in points
        if eval(true, dict(zip(names, p, strict=True))) != eval(claimed, dict(zip(names, p, strict=True)))
    )
    assert where == ", ".join(f"{name} = {value}" for name, value in zip(names, next(wrong), strict=True))


def test_widths_that_are_no_whole_numbers_are_no_counterexample() -> None:
    proof = Proof(ENGINE.arithmetic())
    width = read(proof, "d_model/H")
    found = compare(proof, "claim", read(proof, "d_model"), read(proof, "H*d_model"), whole=(width,))
    assert found == "H = 2, d_model = 2: it is 2, not 4"


@pytest.mark.parametrize(
    ("left", "right", "relation", "answer"),
    [
        ("1/d_k", "1", "<=", Answer.YES),
        ("1/d_k", "1", "<", Answer.CANNOT_TELL),
        ("1/d_k", "2", "<", Answer.YES),
        ("sigma**4 + mu**2", "sigma**4", ">=", Answer.YES),
        ("sigma**4 + mu", "sigma**4", ">=", Answer.CANNOT_TELL),
        ("sigma**4", "sigma**2", ">=", Answer.CANNOT_TELL),
        ("H + 1", "1", "!=", Answer.YES),
        ("H", "1", "!=", Answer.CANNOT_TELL),
        ("2", "1", ">", Answer.YES),
        ("2", "1", "<", Answer.CANNOT_TELL),
        ("1/(d_k - 1)", "0", ">=", Answer.CANNOT_TELL),
    ],
)
def test_an_order_is_proven_only_where_it_is_so(left: str, right: str, relation: str, answer: Answer) -> None:
    proof = Proof(ENGINE.arithmetic())
    assert ordered(proof, read(proof, left), read(proof, right), relation) is answer


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_whole_numbers_are_all_of_them(count: int) -> None:
    for total in range(5):
        wanted = {p for p in product(range(total + 1), repeat=count) if sum(p) == total}
        found = list(whole_numbers(total, count))
        assert len(found) == len(set(found))
        assert set(found) == wanted


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_the_smallest_gaps_are_those_of_numpy(name: str) -> None:
    """Oracle: NumPy's own exp, sum and quotient in the format, one whole gap less and the gap itself."""
    fmt, dtype = FORMATS[name], np.dtype(name).type

    def weights(gap: int) -> Any:
        powers = np.exp(np.array([0, -gap], dtype))
        return powers / powers.sum(dtype=dtype)

    for lost, index in ((lambda w: w.small == 0, 1), (lambda w: w.large == 1, 0)):
        found = smallest_gap(fmt, lost)
        assert found is not None
        bad = 0 if index else 1
        assert weights(found.gap)[index] == bad
        assert weights(found.gap - 1)[index] != bad
    with np.errstate(under="ignore"):
        zero = smallest_gap(fmt, lambda w: slope(w.large, fmt) == 0)
    assert zero is not None
    assert weights(zero.gap)[0] * (dtype(1) - weights(zero.gap)[0]) == 0


def test_underflow_of_float32_begins_where_its_smallest_number_says() -> None:
    """Closed form: exp(-g) rounds to 0 for g > 150 ln 2 = 103.97..., half of the smallest subnormal being 2^-150."""
    assert math.ceil(150 * math.log(2)) == 104
    assert pair(103, FORMATS["float32"]).small > 0 == pair(104, FORMATS["float32"]).small

"""`Parts` against its oracles: `Enclosure.error_of` element by element, and `Format.ulp`; what counts as an error."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest

from exactattn.attention.spec import Stage
from exactattn.engines.ball import ENGINE
from exactattn.numbers.formats import FORMATS
from exactattn.truth.accuracy import Accuracy, _note, judged_stages
from exactattn.truth.elements import Element
from exactattn.truth.ladder import Truth
from exactattn.truth.reference import Parts, Reference


def ball(middle, radius=Fraction(0)):
    """A ball with this dyadic middle, exactly, and at least this radius."""
    scale = middle.denominator.bit_length() - 1
    point = flint.arb((middle.numerator, -scale))
    return point if radius == 0 else flint.arb(point, flint.arb(flint.fmpq(radius.numerator, radius.denominator)))


def random_parts(seed):
    """Reals of many magnitudes, near powers of two, and zeros, in balls of many widths; and data near them."""
    rng = np.random.default_rng(seed)
    balls = np.empty((20, 20), object)
    for index in np.ndindex(20, 20):
        x = Fraction(float(rng.normal())) * Fraction(2) ** int(rng.integers(-200, 200))
        if rng.random() < 0.2:
            x = Fraction(2) ** int(rng.integers(-30, 30)) * (1 - Fraction(1, 2 ** int(rng.integers(40, 120))))
        x = Fraction(0) if rng.random() < 0.05 else x
        balls[index] = ball(x, abs(x) * Fraction(1, 2 ** int(rng.integers(60, 140))) * int(rng.integers(0, 4)))
    noise = 1 + rng.normal(size=balls.shape) * 10.0 ** rng.integers(-17, 1, balls.shape)
    return balls, np.array([[float(x) for x in row] for row in balls]) * noise


@pytest.mark.parametrize("seed", range(5))
def test_error_of_contains_the_exact_error(seed):
    balls, data = random_parts(seed)
    parts, true = Parts.of(balls, ENGINE), ENGINE.enclosure(balls)
    mid, rad = parts.error_of(data)
    slow_mid, slow_rad = true.error_of(data)
    for index in true.indices():
        t = true[index]
        centre, radius = Fraction(float(mid[index])), Fraction(float(rad[index]))
        for end in (t.lower, t.upper):
            assert abs(Fraction(float(data[index])) - end - centre) <= radius
        assert abs(mid[index] - slow_mid[index]) <= rad[index] + slow_rad[index]
        assert parts.may_be_zero[index] == t.contains(Fraction(0))


@pytest.mark.parametrize("name", FORMATS)
def test_ulps_are_those_of_the_format(name):
    fmt = FORMATS[name]
    balls, _ = random_parts(7)
    parts, true = Parts.of(balls, ENGINE), ENGINE.enclosure(balls)
    ulps, least = parts.ulps(fmt), parts.least_ulps(fmt)
    for index in true.indices():
        t = true[index]
        if not t.contains(Fraction(0)):
            # ulps reads high + low, which may round the last 2^-106 of the midpoint
            assert float(ulps[index]) == float(fmt.ulp(Fraction(parts.high[index]) + Fraction(parts.low[index])))
            assert least[index] <= min(float(fmt.ulp(end)) for end in (t.lower, t.upper))
            assert least[index] >= ulps[index] / 2


def test_a_power_of_two_takes_the_smaller_ulp_only_where_the_real_may_lie_below_it():
    one, thin = Fraction(1), Fraction(1, 2**200)
    parts = Parts.of(np.array([[ball(one), ball(one, thin), ball(one + 2 * thin, thin)]]), ENGINE)
    assert list(parts.least_ulps(FORMATS["float32"])[0]) == [2.0**-23, 2.0**-24, 2.0**-23]
    assert list(parts.ulps(FORMATS["float32"])[0]) == [2.0**-23] * 3


def accuracy_of(data, *balls):
    """The accuracy of some float32 numbers as lse of one head."""
    balls = np.array([[x] for x in balls], dtype=object)
    found, parts = Accuracy(), Parts.of(balls, ENGINE)
    where = _note(found, parts, parts.error_of(np.array([[x] for x in data])), FORMATS["float32"])
    return found, where


def test_the_radius_of_a_ball_is_no_error():
    """1 against [1 - 2^-120, 1 + 2^-120]: no error is proven, and none above 2^-96 of an ulp of 2^-24."""
    found, where = accuracy_of([1.0], ball(Fraction(1), Fraction(1, 2**120)))
    assert (found.max_ulps, found.max_abs, where) == (0, 0, None)
    assert 2.0**-96 <= found.bound < 2.0**-94
    assert 2.0**-120 <= found.bound_abs < 2.0**-119
    assert found.words.startswith("none (proven to be at most 1.")


def test_an_exact_hit_has_neither_error_nor_bound():
    found, _ = accuracy_of([1.0, 0.0], ball(Fraction(1)), ball(Fraction(0)))
    assert (found.max_ulps, found.bound, found.max_abs, found.bound_abs, found.words) == (0, 0, 0, 0, "none")


def test_a_true_error_is_kept_however_small_and_the_bound_is_above_it():
    """1 against 1 + 2^-90 exactly: 2^-67 ulp of 2^-23."""
    found, where = accuracy_of([1.0, 2.0], ball(1 + Fraction(1, 2**90)), ball(Fraction(2)))
    assert (found.max_ulps, where) == (2.0**-67, (0, 0))
    assert found.max_ulps <= found.bound < 2.1 * found.max_ulps
    assert found.words == "6.78e-21 ulp"


def test_what_may_be_zero_counts_absolutely_only():
    found, where = accuracy_of(
        [0.5, 0.0], ball(Fraction(0), Fraction(1, 2**100)), ball(Fraction(0), Fraction(1, 2**99))
    )
    assert (found.at_zero, found.max_abs, found.max_ulps, where) == (0.5, 0.5, 0, None)
    assert found.bound == 0


def test_bounds_are_rounded_up():
    evidence = Accuracy(max_ulps=1.00001, bound=1.00001, bound_abs=2.0).evidence(20)
    assert (evidence["max_ulps"], evidence["bound"], evidence["bound_abs"]) == (1.0, 1.001, 2.0)
    assert Accuracy(bound=np.inf).evidence(20)["bound"] is None


def test_the_reference_is_the_truth(document_n):
    truth = Truth(document_n)
    reference = Reference(truth)
    for stage in judged_stages(truth):
        slow, parts = truth.enclosure(stage), reference.of(stage, 0)
        for index in slow.indices():
            pair = Fraction(float(parts.high[index])) + Fraction(float(parts.low[index]))
            assert abs(pair - slow[index].midpoint) + slow[index].radius <= Fraction(float(parts.rest[index]))
            assert parts.rest[index] < 1e-30


def test_undefined_rows_have_no_truth(document_n):
    truth = Truth(replace(document_n, mask=((True,) * 3, (False,) * 3, (True,) * 3)))
    values = [truth.value(Element(Stage.OUTPUT, (row, 0))) for row in range(3)]
    assert [value is None for value in values] == [False, True, False]
    assert list(np.isnan(Reference(truth).of(Stage.OUTPUT, 0).high[:, 0])) == [False, True, False]

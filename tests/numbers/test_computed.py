"""Bounds of rounded operations against the operations themselves: exact in rationals or mpmath, rounded by `Format`."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from mpmath import mp
from mpmath.libmp import to_rational

from exactattn.numbers import computed
from exactattn.numbers.computed import Computed
from exactattn.numbers.formats import FORMATS

NARROW = ("float32", "float16", "bfloat16", "e5m2", "e4m3fn")
ROUNDS = 300


class Draws:
    """Midpoints and radii of many sizes, and numbers of a format within them, the ends above all."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self.fmt, self.rng = FORMATS[name], np.random.default_rng(seed)

    def size(self) -> float:
        top = min(self.fmt.emax, 60) / 3
        return float(self.rng.choice([-1, 1]) * 2.0 ** self.rng.uniform(max(self.fmt.emin, -60) - 2, top))

    def around(self, positive: bool = False) -> tuple[float, float, float]:
        """(mid, err, x): x is a number of the format within err of mid, mostly at an end."""
        x = self.fmt.round(self.size())
        x = abs(x) if positive else x
        off = float(self.rng.choice([0.0, abs(x) * 2.0 ** self.rng.uniform(-14, -2)]))
        mid = x + off * float(self.rng.choice([-1, 1, 0.5]))
        return mid, abs(mid - x) * (1 + 2.0**-50), x

    def matrix(self, rows: int, columns: int, positive: bool = False):
        cells = [[self.around(positive) for _ in range(columns)] for _ in range(rows)]
        mid, err, x = (np.array([[cell[i] for cell in row] for row in cells]).reshape(rows, columns) for i in range(3))
        return Computed(mid, err, self.fmt), x


def assert_holds(found, index, x, ratios):
    """A run's number lies within the bound."""
    mid, err = float(found.mid[index]), float(found.err[index])
    if not np.isfinite(err):
        return
    assert np.isfinite(x)
    off = abs(F(x) - F(mid))
    assert off <= F(err), (index, x, mid, err)
    if err > 0:
        ratios.append(float(off / F(err)))


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
def test_arithmetic_of_one_rounding(name, operation):
    draws, ratios = Draws(name), []
    exact = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y}
    for _ in range(ROUNDS):
        (a, x), (b, y) = draws.matrix(1, 1), draws.matrix(1, 1)
        if operation == "div" and y == 0:
            continue
        bound = {
            "add": lambda a, b: computed.total(a, b, draws.fmt),
            "sub": lambda a, b: computed.total(a, b, draws.fmt, -1),
            "mul": lambda a, b: computed.times(a, b, draws.fmt),
            "div": lambda a, b: computed.quotient(a, b, draws.fmt),
        }[operation](a, b)
        run = draws.fmt.round(exact[operation](F(x[0, 0]), F(y[0, 0])))
        if np.isfinite(run):
            assert_holds(bound, (0, 0), run, ratios)
        else:
            assert not np.isfinite(bound.err[0, 0])
    assert 0.85 < max(ratios) <= 1  # u / (1 + u) at most, 8/9 for e5m2


@pytest.mark.parametrize("name", NARROW)
def test_functions_within_their_ulps(name):
    draws, ratios, ulps = Draws(name), [], 2
    functions = {"exp": mp.exp, "log": mp.log, "tanh": mp.tanh, "sqrt": mp.sqrt}
    for function, exact in functions.items():
        for _ in range(ROUNDS):
            a, x = draws.matrix(1, 1, positive=function in ("log", "sqrt"))
            if function in ("log", "sqrt") and x[0, 0] <= 0:
                continue
            bound = {
                "exp": lambda a: computed.exp(a, np.ones((1, 1), bool), ulps),
                "log": lambda a: computed.log(a, ulps),
                "tanh": lambda a: computed.tanh(a, ulps),
                "sqrt": computed.sqrt,
            }[function](a)
            with mp.workdps(60):
                y = exact(mp.mpf(float(x[0, 0])))
                run = F(*to_rational(y._mpf_))
            if abs(run) >= draws.fmt.max / 2:
                continue
            wrong = 0 if function == "sqrt" else int(draws.rng.choice([-1, 1])) * (ulps - F(1, 2))
            run = draws.fmt.round(run + wrong * draws.fmt.ulp(run))
            assert_holds(bound, (0, 0), run, ratios)
        assert 0.4 < max(ratios) <= 1
        ratios.clear()


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("accumulation", ["own", "float32"])
def test_sums_and_products_in_any_order(name, accumulation):
    """Each term rounded, added in a drawn order, or exactly; then rounded to the format."""
    draws, ratios = Draws(name, 1), []
    acc = draws.fmt if accumulation == "own" else FORMATS["float32"]
    length = 3 if name == "e5m2" else 6  # n u must be below 1/2
    for _ in range(ROUNDS // 3):
        (a, x), (b, y) = draws.matrix(1, length), draws.matrix(length, 1)
        terms = [acc.round(F(s) * F(t)) for s, t in zip(x[0], y[:, 0], strict=True)]
        for found, parts in (
            (computed.product(a, b, acc, draws.fmt), terms),
            (computed.row_sum(a, acc), [float(s) for s in x[0]]),
        ):
            run = 0.0
            for i in draws.rng.permutation(len(parts)):
                run = acc.round(F(run) + F(parts[i])) if np.isfinite(run) and np.isfinite(parts[i]) else np.inf
            run = draws.fmt.round(run)
            if np.isfinite(run):
                assert_holds(found, (0, 0), run, ratios)
            else:
                assert not np.isfinite(found.err[0, 0])
    assert 0.05 < max(ratios) <= 1


@pytest.mark.parametrize("name", NARROW)
def test_differences_from_the_largest_are_those_from_the_largest_of_the_run_but_for_one_number_a_row(name):
    """The run's largest is m + t: x - m - t, rounded, and t given back, is near the difference of the midpoints."""
    draws, ratios = Draws(name, 3), []
    for _ in range(ROUNDS):
        a, x = draws.matrix(1, 3)
        shift = computed.shift(a, np.ones((1, 3), bool))
        found, largest = computed.shifted(a, shift), F(x.max())
        t = largest - F(shift.mid[0, 0])
        assert abs(t) <= F(shift.wobble[0, 0])
        for j in range(3):
            run = draws.fmt.round(F(x[0, j]) - largest)
            assert_holds_exactly(found, (0, j), F(run) + t, ratios)
    assert 0.8 < max(ratios) <= 1


def assert_holds_exactly(found, index, x, ratios):
    off, err = abs(x - F(found.mid[index])), F(found.err[index])
    assert off <= err, (index, float(x), found.mid[index], found.err[index])
    if err:
        ratios.append(float(off / err))


@pytest.mark.parametrize("name", NARROW)
def test_the_logarithm_of_a_sum_that_is_off_by_a_factor(name):
    """The run has e^-t z and takes its logarithm; t given back, that is near log z, even where that is 0."""
    draws, ratios, ulps = Draws(name, 4), [], 2
    for _ in range(ROUNDS):
        own = abs(draws.fmt.round(float(draws.rng.uniform(0.5, 2))))
        t = float(draws.rng.uniform(-1, 1))
        with mp.workdps(60):
            z = float(mp.mpf(own) * mp.exp(t))
            y, err = F(*to_rational(mp.log(own)._mpf_)), abs(z) * 2.0**-50
        a = Computed(np.array([[z]]), np.array([[err]]), draws.fmt, np.array([[abs(t)]]))
        run = draws.fmt.round(y + int(draws.rng.choice([-1, 1])) * (ulps - F(1, 2)) * draws.fmt.ulp(y))
        assert_holds_exactly(computed.log(a, ulps), (0, 0), F(run) + F(t), ratios)
    assert 0.4 < max(ratios) <= 1


def test_zeros_and_ones_are_exact():
    fmt = FORMATS["float16"]
    zero, one = (Computed(np.full((2, 2), x), np.zeros((2, 2)), fmt) for x in (0.0, 1.0))
    some = Computed(np.full((2, 2), 0.1), np.full((2, 2), 1e-3), fmt)
    assert (computed.product(zero, some, fmt, fmt).err == 0).all()
    assert (computed.row_sum(zero, fmt).err == 0).all()
    assert (computed.total(some, zero, fmt).err == some.err).all()
    assert (computed.times(some, one, fmt).err == some.err).all()
    assert (computed.quotient(zero, one, fmt).err == 0).all()


def test_what_underflows_in_float64_is_not_zero():
    fmt, tiny = FORMATS["float64"], Computed(np.full((1, 1), 1e-200), np.zeros((1, 1)), FORMATS["float64"])
    assert computed.times(tiny, tiny, fmt).err[0, 0] > 0
    assert computed.quotient(computed.times(tiny, tiny, fmt), Computed(1 / tiny.mid, tiny.err, fmt), fmt).err[0, 0] > 0
    assert computed.product(tiny, tiny, fmt, fmt).err[0, 0] > 0
    assert (
        computed.exp(Computed(np.full((1, 1), -800.0), np.zeros((1, 1)), fmt), np.ones((1, 1), bool), 4).err[0, 0] > 0
    )


def test_what_may_overflow_is_unknown():
    fmt = FORMATS["float16"]
    large = Computed(np.full((1, 2), 300.0), np.zeros((1, 2)), fmt)
    assert not np.isfinite(computed.times(large, large, fmt).err).any()
    assert not np.isfinite(computed.product(large, Computed(large.mid.T, large.err.T, fmt), fmt, fmt).err).any()
    assert not np.isfinite(computed.exp(large, np.ones((1, 2), bool), 4).err).any()


@pytest.mark.parametrize("name", [*NARROW, "float64"])
def test_members_are_the_numbers_of_the_format(name):
    draws = Draws(name, 2)
    numbers = np.array([draws.size() for _ in range(200)])
    rounded = np.array([draws.fmt.round(float(x)) for x in numbers])
    assert computed.member(rounded, draws.fmt).all()
    assert (computed.member(numbers, draws.fmt) == (rounded == numbers)).all()


def test_formats_that_hold_others():
    holds = {(wide, narrow) for wide in FORMATS for narrow in FORMATS if computed.holds(FORMATS[wide], FORMATS[narrow])}
    assert {wide for wide, narrow in holds if narrow == "float16"} == {"float64", "float32", "tf32", "float16"}
    assert {wide for wide, narrow in holds if narrow == "bfloat16"} == {"float64", "float32", "tf32", "bfloat16"}

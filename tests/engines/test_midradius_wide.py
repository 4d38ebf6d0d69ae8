"""Operations of `midradius` above `WIDE` columns, where radii are a number a row and follow weights: exact ends, drawn.

Elements of all sizes, rows of zeros, powers below the normal numbers; ends of radii that all point one way, or none.
"""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from exactattn import plugins
from exactattn.numbers.near import WIDE, Near
from exactattn.numbers.slices import Slices, sliced_product
from exactattn.numbers.weighted import Weighted

ENGINE = plugins.get("engines", "midradius")
ARITHMETICS = [ENGINE.arithmetic(), ENGINE.arithmetic(sharp=True), ENGINE.arithmetic(spend=True)]
WIDTHS = [1, WIDE - 1, WIDE, WIDE + 1, WIDE + 44]
RADII = [0.0, 2.0**-10, 2.0**-5, 0.3]
TINY_POWER = 2.0**-1060


class Draws:
    """Values with radii, and exact numbers within them."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def value(self, rows, columns, positive=False):
        """A value, and the exact numbers at some ends of its radii."""
        rng = self.rng
        x = rng.standard_normal((rows, columns)) * 10.0 ** rng.integers(-3, 4, (rows, columns))
        kind, size = rng.integers(5), 1.0
        if kind == 1:
            x = np.where(rng.random(x.shape) < 0.95, x * 1e-8, x)
        elif kind == 2:
            x[0] = 0
        elif kind == 3:
            x, size = x * TINY_POWER, TINY_POWER
        x = np.abs(x) if positive else x
        radii = (rows if rng.random() < 0.7 else 1, 1)
        rel, abs_ = rng.choice(RADII, radii), rng.choice(RADII, radii) * size
        made = Near(x, rel, abs_, bool((x >= 0).all()))
        signs = [1, -1, np.where(x >= 0, 1, -1), rng.choice([-1, 1], x.shape)][rng.integers(4)]
        rel, abs_ = (exact(np.broadcast_to(part, x.shape)) for part in (rel, abs_))
        return made, exact(x) + signs * (rel * abs(exact(x)) + abs_)


def exact(x):
    return np.array([[F(t) for t in row] for row in x.tolist()], object).reshape(x.shape)


def assert_in(made, truth):
    found = ENGINE.floats(made)
    assert found.mid.shape == truth.shape
    assert np.isfinite(found.rad).all()
    for place in np.ndindex(*truth.shape):
        assert abs(truth[place] - F(float(found.mid[place]))) <= F(float(found.rad[place])), place


def assert_products(ar, a, x, draw):
    """What is made of a matrix afterwards: products with narrow matrices on either side, and a sum."""
    (v, y), (u, z) = draw.value(x.shape[1], 2), draw.value(x.shape[0], 2)
    assert_in(ar.matmul(a, v), x.dot(y))
    assert_in(ar.transposed_matmul(a, u), x.T.dot(z))
    assert_in(ar.row_sum(a), x.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("ar", ARITHMETICS, ids=["cheap", "sharp", "spend"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("seed", range(2))
def test_elements_columns_and_products(seed, width, ar):
    draw = Draws((seed, width))
    rows = 1 + seed
    (a, x), (b, y) = draw.value(rows, width, seed == 0), draw.value(rows, width)
    c, z = draw.value(rows, 1)
    for made, truth in (
        (ar.add(a, b), x + y),
        (ar.sub(a, b), x - y),
        (ar.mul(a, b), x * y),
        (ar.mul_column(a, c), x * z),
        (ar.sub_column(a, c), x - z),
        (ar.scale(a, F(-1, 3)), x * F(-1, 3)),
    ):
        assert_in(made, truth)
        assert_products(ar, made, truth, draw)


@pytest.mark.parametrize("ar", ARITHMETICS, ids=["cheap", "sharp", "spend"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("seed", range(2))
def test_what_follows_weights(seed, rows, ar):
    """P o (A B^T - c), rows of it filled, and everything that a gradient may do with it."""
    draw = Draws((seed, rows, 7))
    width = WIDE + 1 + seed
    (q, x), (k, y), (c, z) = draw.value(rows, 3), draw.value(width, 3), draw.value(rows, 1)
    powers, p = draw.value(rows, width, positive=True)
    made = ar.mul(powers, ar.sub_column(ar.matmul_transposed(q, k), c))
    truth = p * (x.dot(y.T) - z)
    assert isinstance(made, Weighted)
    other, w = draw.value(rows, width)
    cases = [(made, truth), (ar.mul(made, other), truth * w), (ar.add(made, other), truth + w)]
    some = np.zeros((rows, width), bool)
    some[:1] = True
    cases += [(ar.fill(made, some, number), np.where(some, number, truth)) for number in (F(0), F(7), F(1, 3))]
    some[:, ::3] = True
    cases.append((ar.fill(made, some, F(0)), np.where(some, F(0), truth)))
    cases.append((ar.join([made, other]), np.concatenate([truth, w], axis=1)))
    for value, numbers in cases:
        assert_in(value, numbers)
        assert_products(ar, value, numbers, draw)


def test_a_tangent_knows_nothing_of_what_overflowed():
    """2**1000 * 2**25 / 2**1024 is 2, but its first product is above every float64."""
    ar = ENGINE.arithmetic()
    two = ar.scale(ar.scale(ar.lift(np.array([[2.0**1000]])), F(2) ** 25), F(1, 2**1022) / 4)
    assert ENGINE.floats(ar.tanh(two)).rad[0, 0] == np.inf


def test_a_tangent_of_a_radius_beyond_zero():
    """tanh lies between tanh X and c tanh X for c >= 0 only: 10 with a relative radius of 1.5 may be -5."""
    ar = ENGINE.arithmetic()
    found = ENGINE.floats(ar.tanh(Near(np.array([[10.0]]), np.full((1, 1), 1.5), np.zeros((1, 1)))))
    assert found.mid[0, 0] - found.rad[0, 0] <= np.tanh(-5.0)


def test_long_sliced_products_count_every_rounding():
    """Sums of slices are not cut into pieces: n terms may be rounded n times, (n - 1) u of R at least."""
    rng = np.random.default_rng(0)
    a, b = (Near(rng.standard_normal((2, 4097)), np.zeros((1, 1)), np.zeros((1, 1))) for _ in "ab")
    bits = (53 - 13) // 2
    one, other = Slices.of(a.mid, bits), Slices.of(b.mid, bits)
    rest = np.linalg.norm(one.high, axis=1) * np.linalg.norm(other.low, axis=1).max()
    assert (sliced_product(a, b).abs[:, 0] >= 4096 * 2.0**-53 * rest).all()

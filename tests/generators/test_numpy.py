"""NumPy's two streams against what NumPy prints, and against its shared stream."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from exactattn import plugins
from exactattn.errors import NumeralError

LEGACY = plugins.get("generators", "numpy-legacy")
NEW = plugins.get("generators", "numpy")


def floats(drawn):
    """Nested lists of what NumPy would hold: integers as they are, doubles."""
    if isinstance(drawn, tuple):
        return [floats(part) for part in drawn]
    return int(drawn) if drawn.denominator == 1 else float(drawn)


def test_the_matrices_of_example_w29():
    """Worked example W29: np.random.seed(42), then randint(3, size=(3, 3)) three times."""
    w_q, w_k, w_v = LEGACY.draw(42, ["randint(3, size=(3, 3))"] * 3)
    assert w_q == ((2, 0, 2), (2, 0, 0), (2, 1, 2))
    assert w_k == ((2, 2, 2), (0, 2, 1), (0, 1, 1))
    assert w_v == ((1, 1, 0), (0, 1, 1), (0, 0, 0))


# As NumPy prints them. Seeds 42 and 0: the numbers every NumPy course prints; 658: blog.csdn.net article 136799325,
# with NumPy's Generator.
@pytest.mark.parametrize(
    ("generator", "seed", "call", "printed"),
    [
        (LEGACY, 42, "rand(3)", [0.37454012, 0.95071431, 0.73199394]),
        (LEGACY, 42, "randn(3)", [0.49671415, -0.1382643, 0.64768854]),
        (LEGACY, 0, "randn(3)", [1.76405235, 0.40015721, 0.97873798]),
        (LEGACY, 0, "np.random.rand(3)", [0.5488135, 0.71518937, 0.60276338]),
        (NEW, 42, "random(5)", [0.77395605, 0.43887844, 0.85859792, 0.69736803, 0.09417735]),
        (NEW, 658, "integers(low=0, high=10, size=5)", [4, 1, 6, 0, 0]),
        (NEW, 658, "rng.random((3,))", [0.13691147, 0.01942912, 0.6677121]),
    ],
)
def test_what_numpy_prints(generator, seed, call, printed):
    (drawn,) = generator.draw(seed, [call])
    assert floats(drawn) == pytest.approx(printed, abs=0.51e-8)


SHARED = {
    "rand(2, 3)": lambda: np.random.rand(2, 3),
    "rand()": np.random.rand,
    "randn(4)": lambda: np.random.randn(4),
    "random((3, 4))": lambda: np.random.random((3, 4)),
    "random_sample(3)": lambda: np.random.random_sample(3),
    "randint(3, size=(3, 3))": lambda: np.random.randint(3, size=(3, 3)),
    "randint(0, 10, (2, 2))": lambda: np.random.randint(0, 10, (2, 2)),
    "randint(low=-5, high=5, size=[2, 3, 4])": lambda: np.random.randint(-5, 5, (2, 3, 4)),
    "randint(7, None, 3)": lambda: np.random.randint(7, None, 3),
    "randint(9223372036854775808)": lambda: np.random.randint(2**63, dtype=np.int64),
    "uniform(-1, 1, (2, 3))": lambda: np.random.uniform(-1, 1, (2, 3)),
    "uniform(high=0.1, size=2)": lambda: np.random.uniform(high=0.1, size=2),
    "normal(0, 1, size=(2, 2))": lambda: np.random.normal(0, 1, size=(2, 2)),
    "normal(0.1, 0.2)": lambda: np.random.normal(0.1, 0.2),
    "normal()": np.random.normal,
    "standard_normal((2, 3))": lambda: np.random.standard_normal((2, 3)),
    "standard_normal(size=None)": np.random.standard_normal,
    "choice(5, 3)": lambda: np.random.choice(5, 3),
    "choice([2, 4, 8], size=(2, 2))": lambda: np.random.choice([2, 4, 8], size=(2, 2)),
    "choice(9, 4, replace=False)": lambda: np.random.choice(9, 4, replace=False),
    "choice(9)": lambda: np.random.choice(9),
    "permutation(6)": lambda: np.random.permutation(6),
    "permutation([3, 1, 2])": lambda: np.random.permutation([3, 1, 2]),
}


@pytest.mark.parametrize("call", SHARED)
def test_the_legacy_stream_is_that_of_np_random(call):
    np.random.seed(7)
    wanted = [np.asarray(SHARED[call]()).tolist(), np.random.rand()]
    assert [floats(drawn) for drawn in LEGACY.draw(7, [call, "rand()"])] == wanted


NEWER = {
    "random()": lambda rng: rng.random(),
    "random((2, 3))": lambda rng: rng.random((2, 3)),
    "standard_normal(3)": lambda rng: rng.standard_normal(3),
    "integers(10, size=(2, 2))": lambda rng: rng.integers(10, size=(2, 2)),
    "integers(0, 1, 4, endpoint=True)": lambda rng: rng.integers(0, 1, 4, endpoint=True),
    "integers(-9223372036854775808, 9223372036854775807, endpoint=True)": lambda rng: rng.integers(
        -(2**63), 2**63 - 1, endpoint=True
    ),
    "uniform(-0.1, 0.1, (2, 2))": lambda rng: rng.uniform(-0.1, 0.1, (2, 2)),
    "uniform(1, 1)": lambda rng: rng.uniform(1, 1),
    "normal(loc=1, scale=0.5, size=3)": lambda rng: rng.normal(1, 0.5, 3),
}


@pytest.mark.parametrize("call", NEWER)
def test_the_newer_stream_is_that_of_default_rng(call):
    rng = np.random.default_rng(2**127)
    wanted = [np.asarray(NEWER[call](rng)).tolist(), rng.random()]
    assert [floats(drawn) for drawn in NEW.draw(2**127, [call, "random()"])] == wanted


def test_the_shared_stream_of_numpy_stays_where_it_is():
    np.random.seed(3)
    LEGACY.draw(4, ["rand(5)"])
    assert np.random.rand() == np.random.RandomState(3).random_sample()


def test_a_number_without_size_is_one_number():
    (one,) = LEGACY.draw(1, ["rand()"])
    assert isinstance(one, Fraction)


def test_as_wide_as_doubles_allow():
    for generator in (LEGACY, NEW):
        drawn = generator.draw(1, ["uniform(-1e300, 1e300, 50)", "normal(1e300, 1e300, 50)"])
        assert all(abs(x) < 10**302 for part in drawn for x in part)


def test_the_newer_generator_does_not_draw_what_np_random_draws():
    with pytest.raises(NumeralError, match="give the generator 'numpy-legacy'"):
        NEW.draw(1, ["np.random.normal(0, 1, 3)"])


@pytest.mark.parametrize(
    ("call", "offset", "says"),
    [
        ("rand((2, 3))", 5, "an integer as 'axis'"),
        ("rand(3, -4)", 8, "from 1 to 20000 as 'axis'"),
        ("rand(1e2)", 5, "an integer as 'axis'"),
        ("np.random.rng.rand(3)", 0, "did you mean 'rand'"),
        ("rand(size=3)", 5, "takes the axes only"),
        ("rand(1,1,1,1,1,1,1,1,2)", 21, "at most 8 axes"),
        ("random(())", 7, "1 to 8 axes as 'size', found 0"),
        ("random(3, 4)", 10, "at most 1 values: size"),
        ("random(siez=3)", 7, "did you mean 'size'"),
        ("random(size=3, 4)", 15, "values come first"),
        ("randint(3, low=0)", 15, "'low' is given twice"),
        ("randint()", 0, "randint needs 'low'"),
        ("randint(3, 3)", 11, "from 4 to"),
        ("randint(0)", 8, "from 1 to"),
        ("randint(0, 9223372036854775809)", 11, "as 'high'"),
        ("randint(3, dtype=x)", 11, "no 'dtype' that is read here"),
        ("uniform(1, 0)", 0, "'low' at most 'high'"),
        ("uniform(0, (1, 2))", 11, "one number as 'high'"),
        ("normal(0, -1)", 10, "at least 0 as 'scale'"),
        ("choice(3, 4, False)", 0, "at most 3 numbers"),
        ("choice([], 4)", 7, "at least one integer"),
        ("choice(3, p=[1, 0, 0])", 10, "no 'p' that is read here"),
        ("choice(3, 2, replace=0)", 21, "one of True, False"),
        ("permutation(20001)", 12, "from 1 to 20000"),
        ("permutation(None)", 12, "permutation needs 'x'"),
    ],
)
def test_a_mistake_has_a_place(call, offset, says):
    with pytest.raises(NumeralError) as caught:
        LEGACY.draw(1, [call])
    assert says in str(caught.value)
    assert caught.value.offset == offset

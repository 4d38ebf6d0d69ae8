"""R's stream against what R prints, Python's own Mersenne Twister, and Python's own normal quantile."""

from __future__ import annotations

import random
from fractions import Fraction
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import erfinv, mpf, sqrt, workdps

from exactattn import plugins
from exactattn.errors import NumeralError
from exactattn.generators.normal_quantile import quantile
from exactattn.generators.r_stream import SMALLEST, RStream

R = plugins.get("generators", "r")
seeds = st.integers(-(2**31) + 1, 2**31 - 1)


def scrambled(seed: int, steps: int) -> int:
    """The seed after so many steps x -> 69069 x + 1 modulo 2**32, in closed form."""
    a = 69069
    return (pow(a, steps) * seed + (pow(a, steps) - 1) // (a - 1)) % 2**32


def pythons_twister(seed: int) -> random.Random:
    """Python's Mersenne Twister in the state that R makes of a seed: 50 steps, one dropped, then 624 kept."""
    state = tuple(scrambled(seed, 52 + i) for i in range(624))
    stream = random.Random()
    stream.setstate((3, (*state, 624), None))
    return stream


def transposed(a):
    return [list(column) for column in zip(*a, strict=True)]


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in transposed(b)] for row in a]


# As R prints them. Seeds 42 and 123: the numbers every R course prints; seed 5: crained.com/824, "How to generate
# random numbers and set seed in R"; seed 197: uc-r.github.io/setting_seed.
@pytest.mark.parametrize(
    ("seed", "call", "printed"),
    [
        (42, "runif(3)", "0.9148060 0.9370754 0.2861395"),
        (123, "runif(3)", "0.2875775 0.7883051 0.4089769"),
        (42, "rnorm(3)", "1.37095845 -0.56469817 0.36312841"),
        (123, "rnorm(3)", "-0.56047565 -0.23017749 1.55870831"),
        (
            5,
            "rnorm(10)",
            "-0.84085548 1.38435934 -1.25549186 0.07014277 1.71144087 "
            "-0.60290798 -0.47216639 -0.63537131 -0.28577363 0.13810822",
        ),
        (
            197,
            "rnorm(n = 10, mean = 0, sd = 1)",
            "0.6091700 -1.4391423 2.0703326 0.7089004 0.6455311 0.7290563 -0.4658103 0.5971364 -0.5135480 -0.1866703",
        ),
        (42, "sample(1:10)", "1 5 10 8 2 4 6 9 7 3"),
        (123, "sample(1:10)", "3 10 2 8 6 9 1 7 5 4"),
    ],
)
def test_what_r_prints(seed, call, printed):
    (drawn,) = R.draw(seed, [call])
    for x, text in zip(drawn, printed.split(), strict=True):
        digits = len(text.partition(".")[2])
        assert abs(x - Fraction(text)) <= Fraction(1, 2 * 10**digits)


def test_the_matrices_of_example_w08():
    """Worked example W08: the manual page of an R package prints scores that follow from these matrices, seed 0."""
    w_q, w_k, w_v = R.draw(0, ["matrix(floor(runif(9, 0, 3)), nrow = 3, ncol = 3)"] * 3)
    assert w_q == ((2, 1, 2), (0, 2, 2), (1, 0, 1))
    assert w_k == ((1, 0, 2), (0, 2, 1), (0, 1, 2))
    assert w_v == ((2, 2, 0), (1, 0, 0), (2, 1, 1))
    words = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]
    scores = product(product(words, w_q), transposed(product(words, w_k)))
    assert scores == [[6, 4, 10, 5], [4, 6, 10, 6], [10, 10, 20, 11], [3, 1, 4, 2]]


@given(seeds)
def test_words_are_those_of_pythons_twister(seed):
    ours, pythons = RStream(seed), pythons_twister(seed)
    assert [ours.word() for _ in range(1300)] == [pythons.getrandbits(32) for _ in range(1300)]


@given(seeds)
def test_uniform_numbers_are_words_over_2_to_32(seed):
    (drawn,) = R.draw(seed, ["runif(5)"])
    pythons = pythons_twister(seed)
    assert drawn == tuple(Fraction(pythons.getrandbits(32), 2**32) for _ in range(5))


def test_a_word_of_zeros_is_no_zero():
    stream = RStream(1)
    stream.word = lambda: 0
    assert 0 < stream.uniform() == SMALLEST < 2**-32


@given(st.floats(0, 1, exclude_min=True, exclude_max=True) | st.integers(1, 2**59 - 1).map(lambda k: k / 2**59))
def test_the_quantile_is_pythons(p):
    """Python's statistics module has AS 241 too; 1 - p is exact for p >= 1/2, so both compute the same."""
    if 0 < p < 1:
        assert quantile(p) == pytest.approx(NormalDist().inv_cdf(p), rel=4e-16, abs=1e-300)


def test_all_three_parts_of_the_quantile():
    """The true quantile of the double p, by mpmath with 60 digits: sqrt(2) erfinv(2 p - 1)."""
    assert quantile(0.5) == 0
    with workdps(60):
        for p in (0.1, 0.3, 0.975, 0.04, 1e-8, 1e-11, 1e-20, 1 - 1e-12):
            true = sqrt(2) * erfinv(2 * mpf(p) - 1)
            assert quantile(p) == pytest.approx(float(true), rel=2e-15), p


def test_normal_numbers_take_two_uniform_ones():
    normal, rest = R.draw(7, ["rnorm(4)", "runif(1)"])
    pythons = pythons_twister(7)
    u = [pythons.getrandbits(32) / 2**32 for _ in range(9)]
    wanted = [NormalDist().inv_cdf((int(2**27 * u[2 * i]) + u[2 * i + 1]) / 2**27) for i in range(4)]
    assert [float(x) for x in normal] == pytest.approx(wanted, rel=4e-16)
    assert rest == (Fraction(u[8]),)


def test_min_max_mean_and_sd_are_operations_on_doubles():
    u, z = R.draw(42, ["runif(1)"])[0][0], R.draw(42, ["rnorm(1)"])[0][0]
    ((x,),) = R.draw(42, ["runif(1, -0.1, max = 0.2)"])
    ((y,),) = R.draw(42, ["rnorm(1, sd = 0.3, 0.1)"])
    assert x == Fraction(-0.1 + (0.2 - -0.1) * float(u))
    assert y == Fraction(0.1 + 0.3 * float(z))


def test_nothing_is_drawn_where_r_draws_nothing():
    """R's runif gives min where min equals max, its rnorm the mean where sd is 0, before a number is drawn."""
    same, mean, rest = R.draw(42, ["runif(2, 3, 3)", "rnorm(2, 5, 0)", "runif(1)"])
    assert (same, mean) == ((3, 3), (5, 5))
    assert [rest] == R.draw(42, ["runif(1)"])


def test_a_sample_rejects_until_it_fits():
    """Four bits of one number of 16 until they are below 10, then below 9: by hand from Python's twister."""
    pythons = pythons_twister(9)

    def below(n: int, bits: int) -> int:
        while (k := (pythons.getrandbits(32) >> 16) & (2**bits - 1)) >= n:
            pass
        return k

    first, second = below(10, 4), below(9, 4)
    (drawn,) = R.draw(9, ["sample(10, 2)"])
    left = [i for i in range(1, 11) if i != first + 1]
    if first != 9:  # the last of those left stands where the first was
        left.insert(first, left.pop())
    assert drawn == (first + 1, left[second])


def test_indices_of_more_than_16_bits_take_two_numbers():
    pythons = pythons_twister(3)
    while (k := (((pythons.getrandbits(32) >> 16) << 16) | (pythons.getrandbits(32) >> 16)) & (2**17 - 1)) >= 10**5:
        pass
    assert R.draw(3, ["sample(100000, 1)"]) == [(k + 1,)]
    assert R.draw(3, ["sample.int(1e5, size = 1)"]) == [(k + 1,)]


@given(seeds, st.integers(1, 40), st.data())
def test_a_sample_without_replacement_has_no_number_twice(seed, n, data):
    size = data.draw(st.integers(1, n))
    whole, part = (R.draw(seed, [call])[0] for call in (f"sample({n})", f"sample({n}, {size})"))
    assert sorted(whole) == list(range(1, n + 1))
    assert part == whole[:size]


def test_samples_of_ranges_and_vectors():
    numbers, shifted, down, vector = (
        R.draw(1, [call])[0] for call in ("sample(4)", "sample(11:14)", "sample(4:1)", "sample(c(0.5, 1.5, 2.5, 3.5))")
    )
    assert [x - 10 for x in shifted] == [5 - x for x in down] == [x + Fraction(1, 2) for x in vector] == list(numbers)
    assert R.draw(1, ["sample(5:5)"]) == R.draw(1, ["sample(5)"])  # R's manual page `sample` warns of it
    assert set(R.draw(1, ["sample(0:2, 200, replace = TRUE)"])[0]) == {0, 1, 2}


def test_a_matrix_is_filled_by_column():
    (v,) = R.draw(42, ["runif(6)"])
    by_column = ((v[0], v[2], v[4]), (v[1], v[3], v[5]))
    by_row = ((v[0], v[1], v[2]), (v[3], v[4], v[5]))
    for call, wanted in {
        "matrix(runif(6), nrow = 2, ncol = 3)": by_column,
        "matrix(runif(6), 2)": by_column,
        "matrix(runif(6), ncol = 3)": by_column,
        "matrix(runif(6), byrow = TRUE, 2, 3)": by_row,
        "matrix(ncol = 3, runif(6), byrow = T)": by_row,
        "matrix(runif(6))": tuple((x,) for x in v),
    }.items():
        assert R.draw(42, [call]) == [wanted]
    assert R.draw(42, ["floor(matrix(runif(6, 0, 9), 2, 3))"]) == R.draw(42, ["matrix(floor(runif(6, 0, 9)), 2, 3)"])
    assert R.draw(42, ["matrix(matrix(runif(6), 2, 3), 3, 2)"]) == R.draw(42, ["matrix(runif(6), 3, 2)"])


def test_floor_goes_down():
    assert R.draw(42, ["floor(rnorm(3))"]) == [(1, -1, 0)]


@pytest.mark.parametrize(
    ("call", "offset", "says"),
    [
        ("runif(0)", 6, "from 1 to 20000 as 'n'"),
        ("runif(2.5)", 6, "an integer as 'n'"),
        ("runif()", 0, "runif needs 'n'"),
        ("runif(3, 2, 1)", 0, "'min' at most 'max'"),
        ("runif(3, 0, 1, 2)", 15, "at most 3 values: n, min, max"),
        ("runif(3, 0, maxi = 1)", 12, "did you mean 'max'"),
        ("runif(3, n = 4, n = 5)", 16, "'n' is given twice"),
        ("runif(3, 0, 1e301)", 12, "at most 1e300"),
        ("rnorm(3, 0, -1)", 12, "at least 0 as 'sd'"),
        ("rnorm(3, x)", 9, "one number as 'mean'"),
        ("floor(3)", 6, "wanted a call as 'x'"),
        ("floor(rnorn(3))", 6, "did you mean 'rnorm'"),
        ("matrix(runif(5), 2, 3)", 0, "found 5 numbers for a matrix 2 x 3"),
        ("matrix(runif(5), 2)", 0, "found 5 numbers for a matrix 2 x 3"),
        ("matrix(runif(4), 2, byrow = 1)", 28, "one of TRUE, T, FALSE, F"),
        ("sample(3, 4)", 10, "found a sample of 4 from 3"),
        ("sample(0)", 7, "from 1 to"),
        ("sample(g(3))", 7, "found 'g', wanted an integer, a range or c(1, 2, 3)"),
        ("sample(c())", 7, "found 'c'"),
        ("sample(c(1, x))", 12, "wanted a number"),
        ("sample(1:3000000000)", 7, "ends up to"),
        ("sample(2000000000, 2)", 0, "at most 10000000"),
        ("sample(3, prob = 1)", 10, "no 'prob' that is read here"),
    ],
)
def test_a_mistake_has_a_place(call, offset, says):
    with pytest.raises(NumeralError) as caught:
        R.draw(1, [call])
    assert says in str(caught.value)
    assert caught.value.offset == offset

"""Formats against NumPy, ml_dtypes, MPFR (gmpy2), CPython and the table of THEORY section 1.

No expected value comes from `exactattn`: all values of the small formats are read from their bit patterns by
NumPy and ml_dtypes. Random numbers come from the seeds written here.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction

import gmpy2
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactattn.errors import UsageError
from exactattn.numbers.formats import FORMATS, Format, format_named

DTYPES = {
    "float64": np.dtype(np.float64),
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
}
SMALL = ["bfloat16", "float16", "e5m2", "e4m3fn"]
ALL = list(FORMATS)
# MPFR writes a number as 0.1xxx * 2**e: precision, largest e, and the e of the smallest subnormal.
MPFR = {
    "float64": (53, 1024, -1073),
    "float32": (24, 128, -148),
    "tf32": (11, 128, -135),
    "bfloat16": (8, 128, -132),
    "float16": (11, 16, -23),
    "e5m2": (3, 16, -15),
    "e4m3fn": (4, 9, -8),
}

small = pytest.mark.parametrize("name", SMALL)
every = pytest.mark.parametrize("name", ALL)


def finite_values(name: str) -> np.ndarray:
    """All finite values of an 8- or 16-bit format, from its bit patterns: ascending, -0.0 before 0.0."""
    dtype = DTYPES[name]
    patterns = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):  # signalling NaNs are among the patterns
        x = patterns.view(dtype).astype(np.float64)
    x = x[np.isfinite(x)]
    return x[np.lexsort((~np.signbit(x), x))]


def midpoints(name: str) -> np.ndarray:
    """Midpoints of neighbours, and half an ulp past both ends: the thresholds of overflow."""
    x = np.unique(finite_values(name))
    past = 2 * x[-1] - x[-2]
    x = np.concatenate([[-past], x, [past]])
    return (x[:-1] + x[1:]) / 2  # exact: 12 bits at most


def float32_inputs(name: str) -> np.ndarray:
    """Every value, midpoint, and midpoint +- one float32 ulp; float32 numbers far below and past the range.

    No point is lost to float32. A midpoint has at most 12 significant bits and is a multiple of half the
    smallest subnormal, 2**-134 or more (bfloat16), and float32 has 24 bits and reaches down to 2**-149: it is
    exact. Neighbours are at least 2**-133 and at least 2**-11 of their size apart, 2**12 float32 ulps or
    more: the three points differ and lie between the same two values.
    """
    middle = midpoints(name)
    middle32 = middle.astype(np.float32)
    assert np.array_equal(middle32.astype(np.float64), middle)
    up, down = np.nextafter(middle32, np.float32(np.inf)), np.nextafter(middle32, np.float32(-np.inf))
    wide = 2.0 ** np.arange(-149, 128)
    wide = np.concatenate([wide, 1.5 * wide[1:], [np.finfo(np.float32).max, np.inf, np.nan, 0.0]])
    wide32 = wide.astype(np.float32)
    return np.concatenate([finite_values(name).astype(np.float32), middle32, up, down, wide32, -wide32])


def rounded_by_library(x: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(over="ignore"):
        return x.astype(DTYPES[name]).astype(np.float64)


def assert_same(found: Iterable[float], wanted: Sequence[float], inputs: Sequence[object]) -> None:
    """Equal as bits, every NaN taken as one."""
    got = np.fromiter(found, dtype=np.float64)
    want = np.asarray(wanted, dtype=np.float64)
    same = (got.view(np.uint64) == want.view(np.uint64)) | (np.isnan(got) & np.isnan(want))
    bad = np.flatnonzero(~same)
    first = [(inputs[i], got[i], want[i]) for i in bad[:5]]
    assert len(bad) == 0, f"{len(bad)} differ; the first (input, found, wanted): {first}"
    assert len(got) == len(want) == len(inputs)


def rounded_by_mpfr(x: float | Fraction, name: str) -> float:
    precision, emax, emin = MPFR[name]
    context = gmpy2.context(precision=precision, emax=emax, emin=emin, subnormalize=True)
    with context:
        exact = gmpy2.mpq(x.numerator, x.denominator) if isinstance(x, Fraction) else x
        result = float(gmpy2.mpfr(exact))
    # MPFR has no format whose last significand is NaN: to it 480 and infinity are results like others.
    return math.nan if name == "e4m3fn" and abs(result) > 448 else result


def rounded_by_search(x: Fraction, values: list[Fraction], past: Fraction) -> Fraction | None:
    """The nearest of the values >= 0, ties to the even place; None for `past`, one step beyond the last.

    The n-th value from 0 has the bit pattern n, so an even place is an even significand.
    """
    ladder = [*values, past]
    above = bisect_left(ladder, x)
    if above == len(ladder):
        return None
    if above == 0 or ladder[above] == x:
        place = above
    else:
        down, up = x - ladder[above - 1], ladder[above] - x
        place = above - 1 if down < up or (down == up and above % 2 == 1) else above
    return None if place == len(values) else ladder[place]


def random_floats(seed: int, count: int, low: int, high: int) -> list[float]:
    """Signed float64 numbers of 53, 26 and few bits, exponents from low to high."""
    rng = random.Random(seed)
    bits = [53, 26, 12, 4]
    found = []
    for i in range(count):
        n = rng.getrandbits(bits[i % 4]) | 1
        found.append(rng.choice((-1, 1)) * math.ldexp(n, rng.randint(low, high) - n.bit_length()))
    return found


def hard_points(fmt: Format, seed: int, count: int) -> list[Fraction]:
    """Exact midpoints of random neighbours in every binade, at both ends of the range too."""
    precision, emax, emin = MPFR[fmt.name]
    rng = random.Random(seed)
    points = []
    for _ in range(count):
        quantum = rng.choice([emin - 1, emax - precision, rng.randint(emin - 1, emax - precision)])
        n = rng.choice([0, 1, 2**precision - 1, rng.getrandbits(precision)])
        points.append((2 * n + 1) * Fraction(2) ** (quantum - 1) * rng.choice((-1, 1)))
    return points


# The data


@every
def test_a_format_is_what_its_library_says(name: str) -> None:
    fmt = FORMATS[name]
    if name == "tf32":
        assert (fmt.dtype, fmt.library) == (None, None)
        return
    module = {"numpy": np, "ml_dtypes": ml_dtypes}[fmt.library]
    assert np.dtype(getattr(module, fmt.dtype)) == DTYPES[name]
    info = np.finfo(DTYPES[name]) if fmt.library == "numpy" else ml_dtypes.finfo(DTYPES[name])
    assert fmt.precision == info.nmant + 1
    assert (fmt.emin, fmt.max) == (info.minexp, Fraction(float(info.max)))
    assert fmt.emax == math.frexp(float(info.max))[1] - 1
    assert fmt.unit_roundoff == Fraction(float(info.eps)) / 2
    assert fmt.min_normal == Fraction(float(info.smallest_normal))
    assert fmt.min_subnormal == Fraction(float(info.smallest_subnormal))


# THEORY section 1: u, ln(max), ln(min normal), ln(half min subnormal).
TABLE = {
    "float64": (53, "709.783", "-708.396", "-745.133"),
    "float32": (24, "88.723", "-87.337", "-103.972"),
    "bfloat16": (8, "88.719", "-87.337", "-92.882"),
    "tf32": (11, "88.722", "-87.337", "-94.961"),
    "float16": (11, "11.090", "-9.704", "-17.329"),
    "e5m2": (3, "10.957", "-9.704", "-11.784"),
    "e4m3fn": (4, "6.105", "-4.159", "-6.931"),
}


@every
def test_the_table_of_the_theory(name: str) -> None:
    fmt = FORMATS[name]
    roundoff, *logs = TABLE[name]
    assert fmt.unit_roundoff == Fraction(1, 2**roundoff)
    for x, printed in zip((fmt.max, fmt.min_normal, fmt.min_subnormal / 2), logs, strict=True):
        assert f"{math.log(x.numerator) - math.log(x.denominator):.3f}" == printed


def test_thresholds() -> None:
    # numpy, python and the OCP specification give these decimal values; 464 lies between 448 and 480.
    assert FORMATS["float16"].overflow_threshold == 65520
    assert FORMATS["e5m2"].overflow_threshold == 61440
    assert FORMATS["e4m3fn"].overflow_threshold == 464
    assert FORMATS["float64"].overflow_threshold == 2**1024 - 2**970
    for name in ALL:
        threshold = FORMATS[name].overflow_threshold
        tiny = Fraction(1, 10**400)
        below, at, above = (FORMATS[name].round(threshold + d) for d in (-tiny, 0, tiny))
        assert below == rounded_by_mpfr(threshold - tiny, name) == float(FORMATS[name].max)
        if name == "e4m3fn":
            assert at == 448
            assert math.isnan(above)
        else:
            assert at == above == rounded_by_mpfr(threshold, name) == math.inf


def test_order_and_names() -> None:
    assert ALL == ["float64", "float32", "tf32", "bfloat16", "float16", "e5m2", "e4m3fn"]
    assert all(format_named(name) is fmt and fmt.name == name for name, fmt in FORMATS.items())
    with pytest.raises(UsageError, match=r"'blfoat16'; did you mean bfloat16.*e4m3fn"):
        format_named("blfoat16")
    with pytest.raises(UsageError, match=r"'BF16'; did you mean bfloat16"):
        format_named("BF16")
    with pytest.raises(UsageError, match=r"'posit'; Formats: float64, float32"):
        format_named("posit")


def test_the_module_needs_no_library() -> None:
    code = "import sys, exactattn.numbers.formats; sys.exit(bool({'numpy', 'ml_dtypes'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# round, from float32: every value, midpoint and midpoint +- one float32 ulp


@small
def test_float32_inputs_against_the_library(name: str) -> None:
    x = float32_inputs(name)
    inputs = x.tolist()
    assert_same(map(FORMATS[name].round, inputs), rounded_by_library(x, name), inputs)


@pytest.mark.parametrize("name", ["e5m2", "e4m3fn"])
def test_fractions_of_float32_inputs_against_the_library(name: str) -> None:
    x = float32_inputs(name)
    x = x[np.isfinite(x) & (x != 0)]
    inputs = [Fraction(v) for v in x.tolist()]
    assert_same(map(FORMATS[name].round, inputs), rounded_by_library(x, name), inputs)


@small
def test_saturation(name: str) -> None:
    x = float32_inputs(name)
    top = finite_values(name)[-1]
    x = x[~(np.abs(x) < top / 2) | (np.arange(len(x)) % 16 == 0)]  # the top binade, NaN, some others
    rounded = rounded_by_library(x, name)
    lost = ~np.isfinite(rounded) & ~np.isnan(x)
    assert lost.any()
    wanted = np.where(lost, np.copysign(top, x.astype(np.float64)), rounded)
    inputs = x.tolist()
    assert_same((FORMATS[name].round(v, saturate=True) for v in inputs), wanted, inputs)
    assert FORMATS[name].round(Fraction(-(10**400)), saturate=True) == -top


def test_tf32_from_float32_by_its_bits() -> None:
    # Nearest even on the bit pattern: add just under half of the 13 dropped bits, and one more if the kept
    # part is odd; a carry runs into the exponent, and past the last exponent into infinity, as it should.
    rng = np.random.default_rng(20240601)
    last = (0x7F800000 >> 13) - 1
    ends = np.arange(4096)
    kept = np.concatenate([rng.integers(0, last, 10000), ends, last - ends]).astype(np.uint32)
    kept <<= np.uint32(13)
    bits = np.concatenate([kept + np.uint32(d) for d in (0, 1, 0xFFF, 0x1000, 0x1001, 0x1FFF)])
    bits = np.concatenate([bits, bits | np.uint32(0x80000000)])
    odd = (bits >> np.uint32(13)) & np.uint32(1)
    wanted = ((bits + np.uint32(0xFFF) + odd) & np.uint32(0xFFFFE000)).view(np.float32)
    assert np.isinf(wanted).any()
    inputs = bits.view(np.float32).tolist()
    assert_same(map(FORMATS["tf32"].round, inputs), wanted, inputs)


# round, from float64 and rationals


def test_float64_inputs_to_float32_against_numpy() -> None:
    inputs = random_floats(1, 20000, -160, 135)
    inputs += [float(x) for x in hard_points(FORMATS["float32"], 2, 5000)]  # 25 bits: exact
    inputs += [math.nextafter(x, d) for x in inputs[-5000:] for d in (-math.inf, math.inf)]
    inputs += [0.0, -0.0, math.inf, -math.inf, math.nan, sys.float_info.max, 5e-324, -5e-324]
    wanted = rounded_by_library(np.array(inputs), "float32")
    assert_same(map(FORMATS["float32"].round, inputs), wanted, inputs)


def test_a_float64_is_its_own_rounding() -> None:
    inputs = random_floats(3, 5000, -1073, 1024)
    inputs += [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, sys.float_info.max]
    assert_same(map(FORMATS["float64"].round, inputs), np.array(inputs), inputs)


@every
def test_float64_inputs_against_mpfr(name: str) -> None:
    _, emax, emin = MPFR[name]
    inputs = random_floats(4, 2000, max(emin - 4, -1073), min(emax + 3, 1024))
    if name != "float64":
        middle = [float(x) for x in hard_points(FORMATS[name], 5, 1000)]
        inputs += middle + [math.nextafter(x, d) for x in middle for d in (-math.inf, math.inf)]
    assert_same(map(FORMATS[name].round, inputs), [rounded_by_mpfr(x, name) for x in inputs], inputs)


@every
def test_rationals_against_mpfr(name: str) -> None:
    _, emax, emin = MPFR[name]
    rng = random.Random(6)
    middle = hard_points(FORMATS[name], 7, 700)
    inputs = middle + [x * (1 + d) for x in middle for d in (Fraction(1, 3**400), Fraction(-1, 3**400))]
    for _ in range(1500):
        scale = Fraction(2) ** rng.randint(emin - 3, emax + 2)
        inputs.append(scale * Fraction(rng.randint(-(10**30), 10**30), rng.randint(1, 10**30)))
    inputs += [Fraction(10) ** 5000, Fraction(-1, 10**5000)]
    assert_same(map(FORMATS[name].round, inputs), [rounded_by_mpfr(x, name) for x in inputs], inputs)


@small
def test_rationals_against_a_search_among_all_values(name: str) -> None:
    values = [Fraction(x) for x in np.unique(np.abs(finite_values(name))).tolist()]
    past = 2 * values[-1] - values[-2]
    rng = random.Random(8)
    middle = [(a + b) / 2 for a, b in zip(values, [*values[1:], past], strict=True)]
    inputs = rng.sample(middle, min(100, len(middle))) + middle[:3] + middle[-3:]
    inputs += [x + d for x in inputs for d in (Fraction(1, 7**300), Fraction(-1, 7**300))]
    inputs += [Fraction(rng.randint(1, 10**9), rng.randint(1, 10**9)) for _ in range(100)]
    for x in inputs:
        wanted = rounded_by_search(x, values, past)
        for sign in (1, -1):
            found = FORMATS[name].round(sign * x)
            assert not math.isfinite(found) if wanted is None else Fraction(found) == sign * wanted, x


def test_rationals_to_float64_against_python() -> None:
    rng = random.Random(9)
    sizes = [(rng.randint(1, 2200), rng.randint(1, 1200)) for _ in range(3000)]
    quotients = [(rng.getrandbits(a), rng.getrandbits(b) | 1) for a, b in sizes]
    quotients = [(a, b) for a, b in quotients if a.bit_length() - b.bit_length() < 1024]
    quotients += [(-a, b << 1000) for a, b in quotients[:1500]]
    quotients += [(x.numerator, x.denominator) for x in hard_points(FORMATS["float64"], 10, 2000)]
    threshold = 2**1024 - 2**970  # CPython raises from here on, the tie included
    inputs = [Fraction(a, b) for a, b in quotients if a and abs(Fraction(a, b)) < threshold]
    # int / int is correctly rounded in CPython (Objects/longobject.c, long_true_divide).
    assert_same(map(FORMATS["float64"].round, inputs), [x.numerator / x.denominator for x in inputs], inputs)
    assert_same(map(FORMATS["float64"].round, inputs), [float(x) for x in inputs], inputs)
    assert FORMATS["float64"].round(Fraction(threshold)) == math.inf


def test_integers_and_zeros() -> None:
    assert_same(
        map(FORMATS["float16"].round, (0, Fraction(0), 2049, 2051, -65519, np.int8(3), True)),
        np.array([0, 0, 2049, 2051, -65519, 3, 1], dtype=np.float64).astype(np.float16),
        range(7),
    )
    found = FORMATS["bfloat16"].round(np.float64(-0.0))
    assert type(found) is float
    assert math.copysign(1, found) == -1


def test_ml_dtypes_rounded_float64_twice_before_0_7() -> None:
    """ml_dtypes went from float64 to bfloat16 through float32, which loses the 2^-40 and leaves a tie; 0.7 does not."""
    x = 1 + 2.0**-8 + 2.0**-40
    assert FORMATS["bfloat16"].round(x) == 1.0078125 == rounded_by_mpfr(x, "bfloat16")
    assert FORMATS["bfloat16"].round(Fraction(x)) == 1.0078125
    version = tuple(int(part) for part in ml_dtypes.__version__.split(".")[:2])
    theirs = 1.0 if version < (0, 7) else 1.0078125
    assert float(np.float64(x).astype(ml_dtypes.bfloat16)) == theirs
    assert float(np.array([x]).astype(ml_dtypes.bfloat16)[0]) == theirs


# ulp, membership, neighbours, all values


@small
def test_values(name: str) -> None:
    wanted = finite_values(name)
    assert_same(FORMATS[name].values(), wanted, wanted)


@pytest.mark.parametrize("name", ["float64", "float32", "tf32"])
def test_values_refuses_large_formats(name: str) -> None:
    with pytest.raises(AssertionError, match="too many values"):
        next(FORMATS[name].values())


@small
def test_neighbours_among_all_values(name: str) -> None:
    fmt = FORMATS[name]
    x = finite_values(name)
    zero = int(np.flatnonzero((x == 0) & np.signbit(x))[0])
    after = np.append(x[1:], math.inf if name != "e4m3fn" else math.nan)
    after[zero] = x[zero + 2]  # -0.0 is followed by the smallest positive value, not by 0.0
    assert_same(map(fmt.next_up, x.tolist()), after, x)
    assert_same(map(fmt.next_down, (-x).tolist()), -after, -x)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_neighbours_against_numpy(name: str) -> None:
    dtype = DTYPES[name]
    info = np.finfo(dtype)
    powers = 2.0 ** np.arange(info.minexp - info.nmant, info.maxexp)
    x = np.concatenate([powers, [info.max, np.inf, np.nan, *np.random.default_rng(11).normal(size=2000)]])
    x = np.concatenate([x, -x]).astype(dtype)
    with np.errstate(over="ignore", under="ignore"):
        up, down = (np.nextafter(x, dtype.type(d)) for d in (np.inf, -np.inf))
    inputs = x.astype(np.float64).tolist()
    assert_same(map(FORMATS[name].next_up, inputs), up, inputs)
    assert_same(map(FORMATS[name].next_down, inputs), down, inputs)
    finite = np.abs(x[np.isfinite(x)])
    below_max = finite[finite < info.max]  # NumPy's spacing of the largest value is not finite
    wanted = [Fraction(v) for v in np.spacing(below_max).astype(np.float64).tolist()]
    assert [FORMATS[name].ulp(v) for v in below_max.astype(np.float64).tolist()] == wanted


@small
def test_ulp_is_the_gap_to_the_next_value(name: str) -> None:
    fmt = FORMATS[name]
    x = np.unique(np.abs(finite_values(name))).tolist()
    for a, b in zip(x[:-1:7], x[1::7], strict=False):
        gap = Fraction(b) - Fraction(a)
        assert fmt.ulp(a) == fmt.ulp(-a) == fmt.ulp(Fraction(a)) == gap
        assert fmt.ulp(Fraction(a) + gap / 3) == fmt.ulp(Fraction(b) - gap / 10**50) == gap
    assert fmt.ulp(0) == fmt.min_subnormal
    assert fmt.ulp(fmt.max) == Fraction(x[-1]) - Fraction(x[-2])


@small
def test_membership(name: str) -> None:
    fmt = FORMATS[name]
    assert all(map(fmt.is_member, finite_values(name).tolist()))
    assert not any(map(fmt.is_member, midpoints(name).tolist()))
    assert fmt.is_member(math.nan)
    assert fmt.is_member(math.inf) == fmt.is_member(-math.inf) == (name != "e4m3fn")
    with pytest.raises(AssertionError, match="is not a value of"):
        fmt.next_up(1e-100)


# Laws that hold for every number

formats = st.sampled_from(list(FORMATS.values()))
reals = st.one_of(
    st.fractions(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds(lambda n, e: n * Fraction(2) ** e, st.integers(-(2**60), 2**60), st.integers(-1200, 1100)),
)
law = settings(max_examples=120, deadline=None, derandomize=True)


@law
@given(fmt=formats, x=reals, y=reals)
def test_rounding_is_monotone(fmt: Format, x: Fraction | float, y: Fraction | float) -> None:
    low, high = sorted((x, y))
    assert fmt.round(low, saturate=True) <= fmt.round(high, saturate=True)


@law
@given(fmt=formats, x=reals)
def test_rounding_is_idempotent_odd_and_the_same_for_fractions(fmt: Format, x: Fraction | float) -> None:
    once = fmt.round(x)
    again, mirrored, as_fraction = fmt.round(once), fmt.round(-x), fmt.round(Fraction(x))
    assert fmt.is_member(once)
    assert_same([again, -mirrored], np.array([once, once]), [x, x]) if x else None
    assert as_fraction == once or (math.isnan(as_fraction) and math.isnan(once))


@law
@given(fmt=formats, x=reals)
def test_the_error_is_at_most_half_an_ulp(fmt: Format, x: Fraction | float) -> None:
    result = fmt.round(x)
    if math.isfinite(result):
        error = abs(Fraction(x) - Fraction(result))
        assert error <= fmt.ulp(x) / 2
        assert error <= max(fmt.unit_roundoff * abs(Fraction(x)), fmt.min_subnormal / 2)
    else:
        assert abs(Fraction(x)) >= fmt.overflow_threshold


@law
@given(fmt=formats, x=reals)
def test_neighbours_are_inverse_and_enclose(fmt: Format, x: Fraction | float) -> None:
    here = fmt.round(x, saturate=True)
    up, down = fmt.next_up(here), fmt.next_down(here)
    for other, back in ((up, fmt.next_down), (down, fmt.next_up)):
        if not math.isnan(other):
            assert back(other) == here
    assert not up <= here
    assert not down >= here
    if math.isfinite(up) and math.isfinite(down):
        assert Fraction(down) < Fraction(x) < Fraction(up)

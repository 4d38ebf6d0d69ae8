"""Binary floating-point formats as data: they round exact numbers, measure ulps, know their range.

Every value of every format here is exactly a float64, so a rounded number is a Python float. All rounding is
to nearest, ties to even, on exact integers: no number passes through a wider binary format on its way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from math import copysign, frexp, inf, isfinite, isnan, ldexp, nan
from types import MappingProxyType
from typing import Literal

from exactattn.errors import UsageError

Library = Literal["numpy", "ml_dtypes"]


@dataclass(frozen=True, slots=True)
class Format:
    """A binary floating-point format with subnormals and both zeros, no wider than float64.

    `precision` counts the hidden bit; `emin` and `emax` are the exponents of the smallest normal number and
    of the largest finite one, both as 1.xxx * 2**e. `max_significand` is the largest finite number in units
    of the top binade's ulp. `overflow` is what comes past the range. `dtype` is its name in `library`.
    """

    name: str
    precision: int
    emin: int
    emax: int
    max_significand: int
    overflow: Literal["infinity", "nan"]
    dtype: str | None
    library: Library | None

    @property
    def unit_roundoff(self) -> Fraction:
        """The largest relative error of rounding to nearest without underflow. Exact value: 2**-precision."""
        return _power_of_two(-self.precision)

    @property
    def max(self) -> Fraction:
        """The largest finite value."""
        return self.max_significand * _power_of_two(self._top)

    @property
    def min_normal(self) -> Fraction:
        """The smallest positive normal value. Exact value: 2**emin."""
        return _power_of_two(self.emin)

    @property
    def min_subnormal(self) -> Fraction:
        """The smallest positive value. Exact value: 2**(emin - precision + 1)."""
        return _power_of_two(self.emin - self.precision + 1)

    @property
    def overflow_threshold(self) -> Fraction:
        """Where rounding starts to overflow. Exact value: max + half an ulp of the top binade.

        Rounding: everything below gives at most max, everything above overflows. The threshold itself is a
        tie and goes to the even significand: it overflows where max_significand is odd (every format but
        e4m3fn), and gives max where it is even (e4m3fn: 464 gives 448).
        """
        return self.max + _power_of_two(self._top - 1)

    @property
    def _top(self) -> int:
        """The exponent of the ulp of the top binade."""
        return self.emax - self.precision + 1

    def round(self, x: Fraction | float, *, saturate: bool = False) -> float:
        """x (a fraction, a float or an int) rounded to this format; NaN gives NaN.

        Past the range comes an infinity of the sign of x, or NaN if the format has no infinity; with
        `saturate` the largest finite value of that sign, for an infinite x too. A zero keeps the sign of x.

        Rounding: once, to nearest, ties to even, exact for every x.
        Source: IEEE 754-2019, 4.3.1 and 7.4; OCP 8-bit Floating Point Specification 1.0, for saturation.
        """
        if not isinstance(x, float):
            return self._round_rational(int(x.numerator), int(x.denominator), saturate)
        if not isfinite(x):
            return nan if isnan(x) else self._past_range(x, saturate)
        # frexp gives 2**(e-1) <= |x| < 2**e, and e = 0 for a zero, which no line below minds.
        quantum = max(frexp(x)[1] - 1, self.emin) - self.precision + 1
        # The values of this format in the binade of x, upper end included, are the multiples of 2**quantum
        # (below 2**emin the spacing stays that of the lowest binade). So the nearest multiple is the nearest
        # value, and an even multiple has an even significand (the upper end is 1.00 one binade up).
        # Scaling is exact: a normal x comes to [2**(precision-1), 2**precision), where float64 has room for
        # its 53 bits; a smaller x is multiplied by 2**-quantum > 1 and loses nothing. The built-in round is
        # exact too, with ties to even.
        return self._value(round(ldexp(x, -quantum)), quantum, x, saturate)

    def _round_rational(self, top: int, bottom: int, saturate: bool) -> float:
        sign, top = (-1.0 if top < 0 else 1.0), abs(top)
        if top == 0:
            return 0.0
        quantum = max(_exponent(top, bottom), self.emin) - self.precision + 1
        divisor = bottom << max(quantum, 0)
        # |x| = (n + rest/divisor) * 2**quantum with 0 <= rest < divisor: `rest` holds all that lies below the
        # last bit kept (the sticky bits), and 2*rest against divisor tells below, at or above the midpoint.
        n, rest = divmod(top << max(-quantum, 0), divisor)
        n += 2 * rest > divisor or (2 * rest == divisor and n % 2 == 1)
        return self._value(-n if sign < 0 else n, quantum, sign, saturate)

    def _value(self, n: int, quantum: int, sign: float, saturate: bool = False) -> float:
        """n * 2**quantum for |n| <= 2**precision, with the sign of `sign`, or what overflow gives."""
        # Above the top binade |n| >= 2**(precision-1), so all of it is past the range; in it, n decides.
        above = quantum - (self.emax - self.precision + 1)
        if above >= 0 and (above > 0 or abs(n) > self.max_significand):
            return self._past_range(sign, saturate)
        return copysign(ldexp(n, quantum), sign)  # exact: a value of this format, hence a float64

    def _past_range(self, sign: float, saturate: bool) -> float:
        if saturate:
            return copysign(float(self.max), sign)
        return copysign(inf, sign) if self.overflow == "infinity" else nan

    def ulp(self, x: Fraction | float) -> Fraction:
        """The spacing of the format at |x|.

        Exact value: 2**(max(floor(log2|x|), emin) - precision + 1); the spacing above |x| when |x| is a power
        of two, min_subnormal at 0, and past the range the spacing that a larger emax would give.
        Errors: those of Fraction(x) when x is not finite.
        Source: Goldberg's ulp for reals, in J.-M. Muller, On the definition of ulp(x), INRIA RR-5504, 2005.
        """
        exact = Fraction(x)
        if exact == 0:
            return self.min_subnormal
        exponent = _exponent(int(abs(exact.numerator)), int(exact.denominator))
        return _power_of_two(max(exponent, self.emin) - self.precision + 1)

    def is_member(self, x: float) -> bool:
        """Whether x is a value of this format; NaN always is, an infinity where the format has them."""
        return isnan(x) or self.round(x) == x

    def next_up(self, x: float) -> float:
        """The least value of this format above x, itself a value of the format.

        -0.0 follows the largest negative value and both zeros are followed by min_subnormal; after max comes
        infinity, or NaN if the format has none; infinity and NaN give themselves, -infinity gives -max.
        Source: IEEE 754-2019, 5.3.1.
        """
        assert self.is_member(x), f"{x!r} is not a value of {self.name}"
        if not isfinite(x):
            return -float(self.max) if x < 0 else x
        if x == 0:
            return float(self.min_subnormal)
        fraction, exponent = frexp(x)
        quantum = max(exponent - 1, self.emin) - self.precision + 1
        # From -2**e towards zero the neighbour lies in the next lower binade, of half the spacing, unless
        # 2**e is at most the smallest normal number: the subnormals keep its spacing.
        if fraction == -0.5 and exponent - 1 > self.emin:
            quantum -= 1
        return self._value(int(ldexp(x, -quantum)) + 1, quantum, x)

    def next_down(self, x: float) -> float:
        """The largest value of this format below x: -next_up(-x)."""
        return -self.next_up(-x)

    def values(self) -> Iterator[float]:
        """All finite values from -max to max, -0.0 before 0.0, one by one; for formats of 8 and 16 bits."""
        assert self.precision + (self.emax - self.emin).bit_length() <= 16, f"{self.name} has too many values"
        x = -float(self.max)
        while isfinite(x):
            yield x
            if x == 0:
                yield 0.0
            x = self.next_up(x)


def format_named(name: str) -> Format:
    """The format of that name. Errors: UsageError with the nearest names."""
    if name in FORMATS:
        return FORMATS[name]
    near = get_close_matches(name.lower(), FORMATS, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise UsageError(f"no format is called {name!r}; {hint}Formats: {', '.join(FORMATS)}.")


def _power_of_two(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _exponent(top: int, bottom: int) -> int:
    """floor(log2(top/bottom)) for positive integers.

    With lengths a and b, 2**(a-1) <= top < 2**a and 2**(b-1) <= bottom < 2**b, so the quotient lies strictly
    between 2**(a-b-1) and 2**(a-b+1): the answer is a-b or a-b-1, and one exact comparison tells which.
    """
    guess = top.bit_length() - bottom.bit_length()
    return guess if top << max(-guess, 0) >= bottom << max(guess, 0) else guess - 1


def _ieee(name: str, precision: int, emax: int, library: Library | None, dtype: str | None) -> Format:
    """A format laid out by the rules of IEEE 754-2019, 3.3: emin = 1 - emax, every significand used."""
    return Format(name, precision, 1 - emax, emax, 2**precision - 1, "infinity", dtype, library)


# Sources: IEEE 754-2019, table 3.5 (float64, float32, float16); NVIDIA A100 Tensor Core GPU Architecture,
# 2020, for the bits of bfloat16 (8 + 7) and tf32 (8 + 10); OCP 8-bit Floating Point Specification 1.0, 2023
# (e5m2, and e4m3, where all ones is NaN, so that the largest value is 1.75 * 2**8 = 448, not 1.875 * 2**8).
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            _ieee("float64", 53, 1023, "numpy", "float64"),
            _ieee("float32", 24, 127, "numpy", "float32"),
            _ieee("tf32", 11, 127, None, None),
            _ieee("bfloat16", 8, 127, "ml_dtypes", "bfloat16"),
            _ieee("float16", 11, 15, "numpy", "float16"),
            _ieee("e5m2", 3, 15, "ml_dtypes", "float8_e5m2"),
            Format("e4m3fn", 4, -6, 8, 14, "nan", "float8_e4m3fn", "ml_dtypes"),
        )
    }
)

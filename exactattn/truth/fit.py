"""Which factors on the scores make every printed weight of a block right when rounded.

The weights of a row depend on one number beside the scores, the factor b = scale * ln(base):
p_j(b) = e^(b s_j) / sum_l e^(b s_l), over the allowed keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import flint

from exactattn.numbers.balls import interval, precision
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.truth.crossings import TooFlat, crossings

BITS = 192
MOST_DEGREE = 64
AT_ONCE = 24  # weights whose crossings are all enclosed before the others are looked at

_Cell = tuple[tuple[Fraction, ...], int, Fraction, Fraction]  # scores, key, low, high


@dataclass(frozen=True, slots=True)
class Wanted:
    """One printed weight: the exact scores of its row (allowed keys only), which of them it is, and its bounds."""

    scores: tuple[Fraction, ...]
    key: int
    low: Fraction
    high: Fraction
    name: str


@dataclass(frozen=True, slots=True)
class End:
    """One end of an interval of factors: where a weight is exactly at a rounding boundary (a tie).

    value     its enclosure; None for no end (unbounded)
    closed    its closed form where the boundary is the logarithm of a rational, such as ln(3/2)
    weight    the printed weight that is at its boundary there
    """

    value: Interval | None
    closed: str | None = None
    weight: str = ""


@dataclass(frozen=True, slots=True)
class Fit:
    """A maximal interval of factors in which every printed weight is right when rounded, both ends being ties."""

    low: End
    high: End

    def holds(self, factor: Interval) -> Answer:
        """Does a factor lie in it?"""
        answers = [Answer.YES]
        if self.low.value is not None:
            answers.append(self.low.value.less(factor))
        if self.high.value is not None:
            answers.append(factor.less(self.high.value))
        return Answer.every(*answers)


def fit(wanted: Iterable[Wanted]) -> list[Fit] | None:
    """The intervals of factors that make every wanted weight right, from left to right; empty when none does.

    None when it cannot be told: a weight that only touches a bound at its peak, too flat to enclose the crossing, or
    scores beyond float64.

    Rounding or proof: `crossings` finds and encloses every factor at which a weight is at a bound; between
    neighbouring crossings no weight changes sides, and one point there, decided in balls, speaks for all. Crossings
    nearer to each other than 2**-99 / (largest difference of scores) count as one, so an interval of factors narrower
    than that is not seen. Of many weights a few are taken so; the others only join them where `_stays_inside` does
    not show that they hold in all of what is left.
    """
    names = {(w.scores, w.key, w.low, w.high): w.name for w in reversed(list(wanted))}
    fits = _fit_cells(tuple(names))
    if fits is None:
        return None
    by_place = dict(enumerate(names.values()))

    def named(end: End) -> End:
        return replace(end, weight=by_place[int(end.weight)] if end.weight else "")

    return [Fit(named(one.low), named(one.high)) for one in fits]


@lru_cache(maxsize=64)
def _fit_cells(all_cells: tuple[_Cell, ...]) -> tuple[Fit, ...] | None:
    """The fits; a weight is named by its place. Documents repeat their tables, so the last few are kept."""
    rest = {cell: str(place) for place, cell in enumerate(all_cells)}
    cells: dict[_Cell, str] = {}
    with precision(BITS):
        while True:
            cells |= {cell: rest.pop(cell) for cell in list(rest)[:AT_ONCE]}
            try:
                fits = _fit_all(cells)
            except (TooFlat, OverflowError):
                return None
            rest = {cell: name for cell, name in rest.items() if not all(_stays_inside(cell, one) for one in fits)}
            if not rest or not fits:
                return tuple(fits)


def _fit_all(cells: Mapping[_Cell, str]) -> list[Fit]:
    """The fits of a few cells. Errors: TooFlat."""
    ends = sorted((end for cell, name in cells.items() for end in _crossings(*cell, name)), key=_middle)
    merged: list[End] = []
    for end in ends:
        if not merged or merged[-1].value is None or end.value is None or not merged[-1].value.meets(end.value):
            merged.append(end)
    gaps = list(zip([End(None), *merged], [*merged, End(None)], strict=True))
    unit = 1 / max((max(scores) - min(scores) for scores, *_ in cells), default=Fraction(1)) if merged else Fraction(1)
    return _joined([gap for gap in gaps if _all_inside(cells, _sample(*gap, unit))])


def _all_inside(cells: Iterable[_Cell], factor: Fraction) -> bool:
    """Is every weight within its bounds there? Errors: TooFlat when that cannot be told."""
    answers = set()
    for cell in cells:
        answers.add(_inside(cell, factor))
        if Answer.NO in answers:
            return False
    if Answer.CANNOT_TELL in answers:
        raise TooFlat
    return True


def _stays_inside(cell: _Cell, one: Fit) -> bool:
    """Is a weight within its bounds in all of a bounded interval? False also when that is not shown.

    Proof: log p is concave, so where its slope has one sign at both ends it has that sign between them, and p lies
    between its values at the ends.
    """
    if one.low.value is None or one.high.value is None:
        return len(set(cell[0])) == 1 and _inside(cell, Fraction(0)) is Answer.YES
    ends = (one.low.value.lower, one.high.value.upper)
    slopes = [_slope(cell[0], cell[1], end) for end in ends]
    one_way = all(slope > 0 for slope in slopes) or all(slope < 0 for slope in slopes) or len(set(cell[0])) == 1
    return one_way and all(_inside(cell, end) is Answer.YES for end in ends)


def _slope(scores: tuple[Fraction, ...], key: int, factor: Fraction) -> flint.arb:
    """A ball with the sign of the slope of p_key: minus the sum of (s_l - s_key) e^(b (s_l - s_key))."""
    differences = [score - scores[key] for score in scores]
    return -sum((_ball(d) * _ball(factor * d).exp() for d in differences), flint.arb(0))


def _joined(gaps: list[tuple[End, End]]) -> list[Fit]:
    """Neighbouring gaps put together: at the crossing between them a weight only touches its bound."""
    fits: list[Fit] = []
    for low, high in gaps:
        if fits and fits[-1].high is low:
            fits[-1] = Fit(fits[-1].low, high)
        else:
            fits.append(Fit(low, high))
    return fits


def _middle(end: End) -> Fraction:
    assert end.value is not None
    return end.value.midpoint


def _sample(low: End, high: End, unit: Fraction) -> Fraction:
    """A factor strictly between two ends; beyond the last one a step at which no weight is at its limit yet."""
    if low.value is None and high.value is None:
        return Fraction(0)
    if low.value is None:
        return _middle(high) - unit
    if high.value is None:
        return _middle(low) + unit
    return (low.value.upper + high.value.lower) / 2


def _inside(cell: _Cell, factor: Fraction) -> Answer:
    scores, key, low, high = cell
    if factor == 0 or len(set(scores)) == 1:
        share = Fraction(1, len(scores))
        weight = Interval(share, share)
    else:
        weight = interval(_weight(scores, key, factor))
    return Answer.every(weight.at_least(low), weight.at_most(high))


def _weight(scores: tuple[Fraction, ...], key: int, factor: Fraction) -> flint.arb:
    """p_key(factor) as a ball: 1 / sum_l e^(b (s_l - s_key))."""
    return 1 / sum((_ball(factor * (score - scores[key])).exp() for score in scores), flint.arb(0))


def _crossings(scores: tuple[Fraction, ...], key: int, low: Fraction, high: Fraction, name: str) -> Iterable[End]:
    """Where the weight of a key is exactly at one of its bounds."""
    if len(set(scores)) == 1:
        return  # the weight is 1/n at every factor
    differences = [score - scores[key] for score in scores]
    for bound in (low, high):
        for value in crossings(differences, bound) if 0 < bound < 1 else ():
            yield End(value, _closed(differences, bound, value), name)


def _ball(x: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


def _closed(differences: list[Fraction], bound: Fraction, value: Interval) -> str | None:
    """The crossing as a logarithm of a rational, if it is one.

    Proof: with u the greatest common divisor of the differences and t = e^(b u) the crossing is a root of the
    integer polynomial bound * sum_l t^(d_l/u + m) - t^m; a rational root r gives b = ln(r)/u, and it is this
    crossing when that lies in the enclosure.
    """
    common = math.lcm(*(d.denominator for d in differences))
    unit = Fraction(math.gcd(*(int(d * common) for d in differences)), common)
    powers = [int(d / unit) for d in differences]
    lowest = min(powers)
    if max(powers) - lowest > MOST_DEGREE:
        return None
    coefficients = [Fraction(0)] * (max(powers) - lowest + 1)
    for p in powers:
        coefficients[p - lowest] += bound
    coefficients[-lowest] -= 1
    denominator = math.lcm(*(c.denominator for c in coefficients))
    _, factors = flint.fmpz_poly([int(c * denominator) for c in coefficients]).factor()
    for factor, _ in factors:
        if factor.degree() == 1 and factor[0] * factor[1] < 0:
            root = Fraction(-int(factor[0]), int(factor[1]))
            if interval(_ball(root).log()).times(1 / unit).meets(value):
                return f"ln({root})" + ("" if unit == 1 else f"/({unit})" if unit.denominator > 1 else f"/{unit}")
    return None

"""Fitted scales: certified ends, closed forms, and nothing where nothing fits."""

import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.numbers.enclosure import Answer, Interval
from exactattn.truth import fit as fit_module
from exactattn.truth.fit import Wanted, fit


def wanted(scores, prints, unit):
    unit = F(unit)
    return [
        Wanted(tuple(map(F, row)), j, F(text) - unit / 2, F(text) + unit / 2, f"weights[{i},{j}]")
        for i, (row, texts) in enumerate(zip(scores, prints, strict=True))
        for j, text in enumerate(texts)
    ]


def test_document_n():
    # Source: the claims of document N, S7: from ln(3/2) to ln(18/11), both ends ties
    scores = [(1, 0, 1), (0, 1, 1), (1, 1, 2)]
    prints = [("0.4", "0.2", "0.4"), ("0.2", "0.4", "0.4"), ("0.3", "0.3", "0.4")]
    (one,) = fit(wanted(scores, prints, "0.1"))
    assert (one.low.closed, one.high.closed) == ("ln(3/2)", "ln(18/11)")
    assert one.low.value.decimal(15) == "0.405465108108164"
    assert one.high.value.decimal(15) == "0.492476485097794"
    assert one.high.weight == "weights[2,2]"
    for factor, answer in ((0.4901290717, Answer.YES), (0.5, Answer.NO), (0.4, Answer.NO)):
        assert one.holds(Interval(F(factor), F(factor))) is answer


def test_invented_weights_fit_no_scale():
    # W07: 0.10, 0.30, 0.60 for scores 1, 2, 3
    assert fit(wanted([(1, 2, 3)], [("0.10", "0.30", "0.60")], "0.01")) == []


def test_the_unstated_quarter():
    # W13 (b): ten printed weights fit common factors from 0.2215 to 0.27675 only (grid of 1/4000 in the source)
    rows = [("0.19", "0.50"), ("0.53", "0.98", "0.95"), ("0.81", "0.86", "0.38", "0.90")]
    prints = [("0.48", "0.52"), ("0.31", "0.35", "0.34"), ("0.25", "0.26", "0.23", "0.26")]
    (one,) = fit(wanted(rows, prints, "0.01"))
    assert abs(float(one.low.value.midpoint) - 0.2215) < 1 / 4000
    assert abs(float(one.high.value.midpoint) - 0.27675) < 1 / 4000
    assert one.holds(Interval(F(1, 4), F(1, 4))) is Answer.YES


def test_equal_scores_fit_every_scale_or_none():
    (one,) = fit(wanted([(1, 1)], [("0.5", "0.5")], "0.1"))
    assert one.low.value is None
    assert one.high.value is None
    assert fit(wanted([(1, 1)], [("0.4", "0.6")], "0.1")) == []


def test_a_weight_of_the_middle_score_can_fit_on_both_sides_of_its_peak():
    # scores -1, 0, 1: the middle weight is 1/(1 + 2 cosh b), even in b
    fits = fit(wanted([(-1, 0, 1)], [()], "0.1") + [Wanted((F(-1), F(0), F(1)), 1, F(1, 5), F(1, 4), "middle")])
    assert len(fits) == 2
    ends = [math.acosh((1 / bound - 1) / 2) for bound in (0.25, 0.2)]
    assert float(fits[1].low.value.midpoint) == pytest.approx(ends[0], rel=1e-14)
    assert float(fits[1].high.value.midpoint) == pytest.approx(ends[1], rel=1e-14)
    assert float(fits[0].low.value.midpoint) == pytest.approx(-ends[1], rel=1e-14)


def test_touching_a_bound_at_the_peak_cannot_be_told():
    assert fit([Wanted((F(-1), F(0), F(1)), 1, F(1, 3), F(1, 2), "peak")]) is None


@given(
    st.lists(st.integers(-5, 5), min_size=2, max_size=5),
    st.floats(0.1, 2.0),
    st.integers(1, 4),
)
def test_the_factor_that_made_the_prints_is_always_found(scores, factor, digits):
    powers = np.exp(factor * (np.array(scores, float) - max(scores)))
    prints = [f"{p:.{digits}f}" for p in powers / powers.sum()]
    fits = fit(wanted([scores], [prints], F(1, 10**digits)))
    if fits is None:
        return
    point = Interval(F(factor), F(factor))
    # a float softmax can round a print to the other side of a tie; such a factor lies within 1e-9 of an end
    near = any(
        end.value is not None and abs(float(end.value.midpoint) - factor) < 1e-9
        for f in fits
        for end in (f.low, f.high)
    )
    assert near or any(one.holds(point) is Answer.YES for one in fits)
    # and just outside every end some print is wrong
    for one in fits:
        for end, side in ((one.low, -1), (one.high, 1)):
            if end.value is not None:
                b = float(end.value.midpoint) + side * 1e-6
                p = np.exp(b * (np.array(scores, float) - (max(scores) if b > 0 else min(scores))))
                p = p / p.sum()
                assert any(abs(x - float(t)) > 0.5 * 10.0**-digits - 1e-12 for x, t in zip(p, prints, strict=True))


@pytest.mark.parametrize("right", [True, False])
def test_many_weights_are_fitted_like_few(right, monkeypatch):
    # 6 x 6 weights of scale 0.7: all at once, and four at a time, which must give the same ends
    scores = [[F((7 * i * j + 3 * j + i) % 13 - 6, 3) for j in range(6)] for i in range(6)]
    rows = [[math.exp(0.7 * float(s)) for s in row] for row in scores]
    prints = [[f"{x / sum(row):.3f}" for x in row] for row in rows]
    if not right:
        prints[5][5] = "0.999"
    found = []
    for at_once in (10**6, 4):
        monkeypatch.setattr("exactattn.truth.fit.AT_ONCE", at_once)
        fits = fit(wanted(scores, prints, "0.001"))
        found.append([(f.low.value.decimal(12), f.low.weight, f.high.value.decimal(12), f.high.weight) for f in fits])
    assert found[0] == found[1]
    assert len(found[0]) == right


def test_a_block_of_hundreds_of_weights_takes_seconds():
    # every crossing of every bound would be enclosed otherwise: minutes, and the square of that to compare them
    scores = [[F((5 * i * j + j) % 29 - 14, 7) for j in range(20)] for i in range(20)]
    rows = [[math.exp(0.7 * float(s)) for s in row] for row in scores]
    prints = [[f"{x / sum(row):.4f}" for x in row] for row in rows]
    crossings = 0

    def counted(*args):
        nonlocal crossings
        crossings += 1
        return enclose_crossings(*args)

    enclose_crossings = fit_module._crossings
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit_module, "_crossings", counted)
        (one,) = fit(wanted(scores, prints, "0.0001"))
    assert one.low.value.upper < F(7, 10) < one.high.value.lower
    assert crossings < 200


def test_a_weight_that_leaves_its_bounds_between_the_ends_does_not_stay_inside():
    # p = 1/(e^-b + 1 + e^b): 0.245 at b = -1 and 1, and 1/3 between them
    def end(x):
        return fit_module.End(Interval(F(x), F(x)))

    middle = ((F(0), F(1), F(2)), 1, F(1, 5), F(3, 10))
    assert not fit_module._stays_inside(middle, fit_module.Fit(end(-1), end(1)))
    assert fit_module._stays_inside(middle, fit_module.Fit(end("0.9"), end("1.1")))
    first = ((F(0), F(1)), 0, F(1, 5), F(1, 2))  # 1/(1 + e^b): 0.5 at 0, 0.12 at 2
    assert fit_module._stays_inside(first, fit_module.Fit(end(0), end(1)))
    assert not fit_module._stays_inside(first, fit_module.Fit(end(0), end(2)))
    assert not fit_module._stays_inside(first, fit_module.Fit(end(-1), end(1)))
    assert not fit_module._stays_inside(first, fit_module.Fit(fit_module.End(None), end(1)))


def one_weight(scores, low, high):
    return fit([Wanted(tuple(map(F, scores)), 0, F(low), F(high), "weight")])


@pytest.mark.parametrize("gap", [F(1, 10**6), F(1, 10**12), F(1, 10**20)])
@pytest.mark.parametrize("other", [0, -3])
def test_nearly_equal_scores_fit_large_factors(gap, other):
    # the third weight is far below anything here: p = 1/(1 + e^(-b gap)), 7/10 at ln(7/3)/gap and 4/5 at ln(4)/gap
    (one,) = one_weight([1, 1 - gap, other], "0.7", "0.8")
    assert float(one.low.value.midpoint * gap) == pytest.approx(math.log(7 / 3), rel=1e-14)
    assert float(one.high.value.midpoint * gap) == pytest.approx(math.log(4), rel=1e-14)


@pytest.mark.parametrize("size", [F(1, 10**30), 1, 1000, 10**30])
def test_a_bound_that_is_only_approached_is_kept_for_ever(size):
    # two equal largest scores: p = 1/(2 + e^(-b size)) is 2/5 at ln(2)/size, and never reaches 1/2
    (one,) = one_weight([size, size, 0], "0.4", "0.5")
    assert float(one.low.value.midpoint * F(size)) == pytest.approx(math.log(2), rel=1e-14)
    assert one.high.value is None
    assert one_weight([size, size, 0], "0.5", "0.6") == []


def test_a_gap_too_narrow_to_certify_cannot_be_told():
    assert one_weight([1, 1 - F(1, 10**40), 0], "0.7", "0.8") is None


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=5), st.integers(0, 12), st.integers(1, 9), st.integers(1, 4))
def test_the_factor_is_found_when_two_scores_nearly_coincide(scores, places, numerator, digits):
    # oracle: mpmath at 60 digits; a print is right for the factor that made it unless it lies at a tie
    gap, exact = F(1, 10**places), [F(s) for s in scores]
    exact = [*exact, exact[0] - gap]
    factor = F(numerator, 4) / gap
    with mpmath.workdps(60):
        powers = [
            mpmath.exp(mpmath.mpf((factor * (s - max(exact))).numerator) / (factor * (s - max(exact))).denominator)
            for s in exact
        ]
        weights = [p / mpmath.fsum(powers) for p in powers]
        prints = [int(mpmath.nint(w * 10**digits)) for w in weights]
        if any(
            abs(abs(w * 10**digits - n) - mpmath.mpf(1) / 2) < mpmath.mpf(10) ** -40
            for w, n in zip(weights, prints, strict=True)
        ):
            return
    unit = F(1, 10**digits)
    cells = [Wanted(tuple(exact), j, n * unit - unit / 2, n * unit + unit / 2, str(j)) for j, n in enumerate(prints)]
    fits = fit(cells)
    assert fits is not None
    assert any(one.holds(Interval(factor, factor)) is Answer.YES for one in fits)

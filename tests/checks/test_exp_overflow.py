"""EA301, with expected thresholds from issue 2, NumPy and mpmath."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from samples import bench, by_id, document_n, scores, two_heads

from exactattn.bench import Bench
from exactattn.checks import exp_overflow
from exactattn.checks.exp_overflow import CHECK
from exactattn.findings import Level, Verdict
from exactattn.numbers.formats import FORMATS
from exactattn.truth.ladder import Truth
from exactattn.truth.range import exp_range

# The largest safe and the smallest overflowing argument of each format, by brute force in tests/truth/test_range.py.
# Scores just inside and just outside ln(max + half ulp), from mpmath: floor and ceil at the 9th decimal.
with mpmath.workdps(40):
    LIMITS = {
        "float64": mpmath.log(mpmath.mpf(2) ** 1024 - mpmath.mpf(2) ** 970),
        "float32": mpmath.log(mpmath.mpf(2) ** 128 - mpmath.mpf(2) ** 103),
        "tf32": mpmath.log(mpmath.mpf(2) ** 128 - mpmath.mpf(2) ** 116),
        "bfloat16": mpmath.log(mpmath.mpf(2) ** 128 - mpmath.mpf(2) ** 119),
        "float16": mpmath.log(65520),
        "e5m2": mpmath.log(61440),
        "e4m3fn": mpmath.log(464),
    }
    BELOW = {name: Fraction(int(mpmath.floor(x * 10**20)), 10**20) for name, x in LIMITS.items()}


@pytest.mark.parametrize("name", FORMATS)
def test_true_positive_and_true_negative_of_every_format(name):
    """A score 1e-20 above the threshold is a hazard, one below it is none; shifted rows never are."""
    safe, past = BELOW[name], BELOW[name] + Fraction(1, 10**20)
    found = by_id(CHECK, bench(scores([safe, 0], [past, 0]), name))
    hazard = found[f"hazard:exp-overflow/{name}"]
    assert (hazard.verdict, hazard.level, hazard.code) == (Verdict.FAILS, Level.WARNING, "EA301")
    assert hazard.evidence["rows"] == [1]
    assert hazard.evidence["affected"] == ["naive"]
    assert set(hazard.evidence["unaffected"]) == {"shifted", "online", "split"}
    note = by_id(CHECK, bench(scores([safe, 0]), name))
    assert list(note) == ["hazard:exp-overflow"]
    assert (note["hazard:exp-overflow"].verdict, note["hazard:exp-overflow"].level) == (Verdict.HOLDS, Level.NOTE)


def test_document_n_scaled_by_1000():
    """Issue 2: every row hits, and the four thresholds are derived."""
    found = by_id(CHECK, bench(document_n(1000), "float32"))
    evidence = found["hazard:exp-overflow/float32"].evidence
    assert evidence["rows"] == [0, 1, 2]
    assert evidence["count"] == 3
    assert "in float32 in all 3 rows:" in found["hazard:exp-overflow/float32"].message
    assert evidence["ln_max"].startswith("88.72283905206835")
    assert evidence["ln_overflow"].startswith("88.72283908187")
    assert evidence["last_safe"] == "88.72283172607422"
    assert evidence["first_overflowing"] == "88.72283935546875"
    assert evidence["largest"]["logit"].startswith("1414213.562373095")
    assert evidence["proof"] == "ball, 128 bits"


def test_document_n_itself_has_a_margin():
    (note,) = by_id(CHECK, bench(document_n(), "float64", "float32")).values()
    assert note.verdict is Verdict.HOLDS
    assert set(note.evidence["formats"]) == {"float64", "float32"}
    assert note.evidence["formats"]["float32"]["margin"] == "87.3086"  # 88.722839 - 1.414214


def test_what_numpy_does_is_what_is_said():
    """Exactly the rows named give infinity in NumPy's exp, for scores that are float32 numbers."""
    last, first = np.float32(88.72283), np.nextafter(np.float32(88.72283), np.float32(np.inf))
    rows = [[Fraction(float(x)), 0] for x in (last, first, np.float32(88), np.float32(100))]
    found = by_id(CHECK, bench(scores(*rows), "float32"))["hazard:exp-overflow/float32"]
    with np.errstate(over="ignore"):
        infinite = [i for i, row in enumerate(rows) if np.isinf(np.exp(np.float32(float(row[0]))))]
    assert found.evidence["rows"] == infinite == [1, 3]


def test_a_score_between_two_neighbours_depends_on_rounding():
    """88.7228 + 1e-7 lies between the last safe and the first overflowing float32 number."""
    hazard = by_id(CHECK, bench(scores(["88.72283909"], ["89"]), "float32"))["hazard:exp-overflow/float32"]
    assert hazard.evidence["depends_on_rounding"] == [0]
    assert "(in 1 row it depends on how the score is rounded)" in hazard.message
    (note,) = by_id(CHECK, bench(scores(["88.72283907"]), "float32")).values()
    assert note.evidence["formats"]["float32"]["depends_on_rounding"] == [0]


def test_base_2_changes_the_logit():
    """2^128 = e^88.722839111...: 128 overflows in float32, 127.99 does not."""
    found = by_id(CHECK, bench(scores([128], ["127.99"], base=Fraction(2)), "float32"))
    assert found["hazard:exp-overflow/float32"].evidence["rows"] == [0]


def test_a_base_below_1_turns_the_order_round():
    found = by_id(CHECK, bench(scores([-200, 0], [200, 0], base=Fraction(1, 2)), "float32"))
    assert found["hazard:exp-overflow/float32"].evidence["rows"] == [0]


def test_masked_keys_do_not_count():
    mask = ((False, True),)
    (note,) = by_id(CHECK, bench(scores([1000, 0], mask=mask), "float32")).values()
    assert note.verdict is Verdict.HOLDS


def test_several_heads_name_head_and_row():
    hazard = by_id(CHECK, bench(two_heads([[0, 0], [0, 0]], [[0, 0], [0, 100]]), "float32", "float64"))
    assert hazard["hazard:exp-overflow/float32"].evidence["rows"] == [[1, 1]]
    assert "hazard:exp-overflow/float64" not in hazard


def test_too_few_bits_leave_it_undecided():
    """A score within 2^-200 of the threshold: undecided at 128 bits, decided with more."""
    with mpmath.workdps(120):
        near = mpmath.log(mpmath.mpf(2) ** 128 - mpmath.mpf(2) ** 103)
        score = Fraction(int(mpmath.floor(near * mpmath.mpf(10) ** 100)), 10**100)
    poor = bench(scores([score]), "float32")
    poor.__dict__["truth"] = Truth(poor.problem, most_bits=128)
    found = by_id(CHECK, poor)["hazard:exp-overflow/float32"]
    assert (found.verdict, found.evidence["undecided"]) == (Verdict.UNDECIDED, [0])
    (rich,) = by_id(CHECK, bench(scores([score]), "float32")).values()
    assert rich.verdict is Verdict.HOLDS


def test_ten_rows_are_named_and_all_counted():
    hazard = by_id(CHECK, bench(scores(*[[1000]] * 12), "float32"))["hazard:exp-overflow/float32"]
    assert hazard.evidence["rows"] == list(range(10))
    assert hazard.evidence["count"] == 12


def test_nothing_to_say_without_problem_or_formats():
    assert not list(CHECK.run(Bench()))
    assert not list(CHECK.run(bench(document_n())))


def test_a_planted_threshold_is_noticed(monkeypatch):
    """ln(max) in place of ln(max + half an ulp) calls a safe score unsafe: the tests above would fail."""

    def planted(fmt):
        entry = exp_range(fmt)
        return replace(entry, ln_overflow=entry.ln_max)

    score = "88.72283907"  # between ln(max) = 88.722839052 and ln(max + half an ulp) = 88.722839082
    (before,) = by_id(CHECK, bench(scores([score]), "float32")).values()
    monkeypatch.setattr(exp_overflow, "exp_range", planted)
    (after,) = by_id(CHECK, bench(scores([score]), "float32")).values()
    assert (before.verdict, after.verdict) == (Verdict.HOLDS, Verdict.FAILS)

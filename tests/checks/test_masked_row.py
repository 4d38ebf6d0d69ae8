"""EA305: a query that may see no key."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from samples import bench, by_id, document_n, scores, two_heads

from exactattn.bench import Bench
from exactattn.checks.masked_row import CHECK
from exactattn.findings import Level, Verdict

MASK = ((True, False, False), (False, False, False), (True, True, True))


def test_a_masked_row_is_named():
    hazard = by_id(CHECK, bench(replace(document_n(), mask=MASK), "float32"))["hazard:masked-row"]
    assert (hazard.verdict, hazard.level, hazard.code) == (Verdict.FAILS, Level.WARNING, "EA305")
    assert (hazard.evidence["rows"], hazard.evidence["count"]) == ([1], 1)
    assert hazard.message.startswith("1 of 3 rows has no allowed key")
    gives = [entry["gives"] for entry in hazard.evidence["implementations"]]
    assert gives == ["0", "NaN", "mean of V", "attention without the mask"]
    assert all(len(entry["who"]) < 60 for entry in hazard.evidence["implementations"])
    assert hazard.evidence["mean_of_values"] == ["0.66666666666666666667"] * 2  # (1 + 0 + 1)/3


def test_a_stated_rule_is_a_note():
    problem = replace(document_n(), mask=MASK).with_spec(masked_row="zero")
    note = by_id(CHECK, bench(problem))["hazard:masked-row"]
    assert (note.verdict, note.reason) == (Verdict.HOLDS, "stated")


def test_no_masked_row_is_a_note():
    note = by_id(CHECK, bench(document_n().with_spec(causal="top-left")))["hazard:masked-row"]
    assert (note.verdict, note.level, note.evidence["fewest_keys"]) == (Verdict.HOLDS, Level.NOTE, 1)


def test_the_causal_corner_can_do_it():
    """Three queries and two keys, bottom-right: query 0 sees keys j <= -1, none."""
    problem = scores([1, 2], [3, 4], [5, 6], causal="bottom-right")
    assert by_id(CHECK, bench(problem))["hazard:masked-row"].evidence["rows"] == [0]
    assert by_id(CHECK, bench(problem.with_spec(causal="top-left")))["hazard:masked-row"].verdict is Verdict.HOLDS


def test_heads_and_no_problem():
    problem = replace(two_heads([[1, 2]], [[3, 4]]), mask=((False, False),))
    hazard = by_id(CHECK, bench(problem))["hazard:masked-row"]
    assert hazard.evidence["mean_of_values"] == [["0.5"], ["0.5"]]
    assert not list(CHECK.run(Bench()))


def test_what_implementations_give_is_what_numpy_gives():
    """A row whose keys are all masked, by the three kinds of mask that the evidence names."""
    scores_, values = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 5.0])

    def softmax(x):
        with np.errstate(invalid="ignore"):
            e = np.exp(x - x.max())
        return e / e.sum() @ values

    assert np.isnan(softmax(scores_ - np.inf))
    assert softmax(scores_ + np.finfo(float).min) == pytest.approx(values.mean())
    assert softmax(scores_ - 1e4) == pytest.approx(softmax(scores_))


def test_rows_are_counted_in_words():
    every = by_id(CHECK, bench(replace(scores([1], [2]), mask=((False,), (False,)))))["hazard:masked-row"]
    assert every.message.startswith("all 2 rows have no allowed key")
    one = by_id(CHECK, bench(replace(scores([1]), mask=((False,),))))["hazard:masked-row"]
    assert one.message.startswith("the only row has no allowed key")
    none = by_id(CHECK, bench(scores([1])))["hazard:masked-row"]
    assert "at least 1 of 1 key)" in none.message

"""Attention with drawn options, run by onnx's reference evaluator: within its bounds, but for two known differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from exactattn.conformance.onnx_attention import judged_attention
from exactattn.conformance.onnx_drawn import DIFFERENCES, DRAWS, drawn, explained, judged_draw, run
from exactattn.conformance.onnx_nodes import NodeCase
from exactattn.conformance.onnx_text import text_of
from exactattn.numbers.enclosure import Answer

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install 'exactattn[onnx]'")
TEXT = text_of(onnx.__version__)


as_in_1_23 = pytest.mark.skipif(not TEXT.version.startswith("1.23."), reason="the reference evaluator of onnx 1.23")


def outside(found):
    return {name for name, output in found.items() if output.count(Answer.NO)}


@pytest.mark.parametrize("seed", range(DRAWS))
def test_the_operator_written_out_as_a_graph_is_within_its_bounds(seed):
    case, found = judged_draw(seed, TEXT, as_graph=True)
    assert set(found) == set(case.outputs)
    assert not outside(found), (case.attributes, list(case.inputs))


@pytest.mark.parametrize("seed", range(DRAWS))
def test_the_reference_evaluator_is_outside_only_where_a_known_difference_is(seed):
    """Read as the differences say, all is within; so nothing else hides behind them."""
    case, found = judged_draw(seed, TEXT, as_graph=False)
    assert not outside(found) or explained(case, TEXT), (case.attributes, list(case.inputs))


@as_in_1_23
def test_each_difference_is_there():
    cases = [judged_draw(seed, TEXT, as_graph=False) for seed in range(DRAWS)]
    names = {explained(case, TEXT) for case, found in cases if outside(found)}
    assert names >= {difference.name for difference in DIFFERENCES}


def test_nearly_all_elements_are_decided():
    found = [output for seed in range(0, DRAWS, 3) for output in judged_draw(seed, TEXT, as_graph=True)[1].values()]
    unknown, total = sum(one.count(Answer.CANNOT_TELL) for one in found), sum(one.answers.size for one in found)
    assert unknown < 0.03 * total


def plain(seed=0):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((1, 1, 3, 4), (1, 1, 6, 4), (1, 1, 6, 4)))
    return NodeCase("plain", "Attention", 25, {}, {"Q": q, "K": k, "V": v}, {})


@as_in_1_23
def test_mode_zero_with_a_softcap_is_after_the_softcap_in_the_reference_evaluator():
    case = replace(plain(), attributes={"softcap": 0.5})
    written_out, reference = run(case, as_graph=True), run(case)
    assert not outside(judged_attention(written_out, TEXT))
    assert outside(judged_attention(reference, TEXT)) == {"qk_matmul_output"}
    as_it_is = replace(reference, attributes={"softcap": 0.5, "qk_matmul_output_mode": 1})
    assert not outside(judged_attention(as_it_is, TEXT))


@as_in_1_23
def test_a_causal_rule_with_one_row_of_mask_is_that_of_the_first_query_in_the_reference_evaluator():
    case = plain()
    case = replace(case, attributes={"is_causal": 1}, inputs={**case.inputs, "attn_mask": np.ones((1, 6), bool)})
    written_out, reference = run(case, as_graph=True), run(case)
    assert not outside(judged_attention(written_out, TEXT))
    assert outside(judged_attention(reference, TEXT)) == {"Y"}
    assert (reference.outputs["Y"] == case.inputs["V"][:, :, :1]).all()  # each sees the first key only


def test_what_a_mask_is_too_short_by_is_blocked():
    """Four keys of six; with zeros in place of the rest the output would be another."""
    case, bias = plain(), np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)
    case = run(replace(case, inputs={**case.inputs, "attn_mask": bias}), as_graph=True)
    assert judged_attention(case, TEXT)["Y"].count(Answer.YES) == 12
    wide = np.pad(bias, ((0, 0), (0, 2)))
    assert judged_attention(replace(case, inputs={**case.inputs, "attn_mask": wide}), TEXT)["Y"].count(Answer.NO) == 12


def test_draws_have_every_option():
    cases = [drawn(seed) for seed in range(DRAWS)]
    assert {name for case in cases for name in case.inputs} >= {"attn_mask", "past_key", "nonpad_kv_seqlen"}
    assert len({name for case in cases for name in case.attributes}) == 9
    assert {case.inputs["Q"].dtype.name for case in cases} == {"float32", "float16", "bfloat16"}

"""ONNX's node tests against our enclosures: each expected output is within its bound, and planted errors are found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from exactattn.conformance import onnx as command
from exactattn.conformance.judging import format_of
from exactattn.conformance.onnx_attention import judged_attention
from exactattn.conformance.onnx_judged import EXPLAINED, judged, judged_cases
from exactattn.conformance.onnx_nodes import node_cases
from exactattn.conformance.onnx_report import markdown, outside
from exactattn.conformance.onnx_text import text_of
from exactattn.errors import ProblemError, Unavailable
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import FORMATS
from exactattn.numbers.spacing import spacing

try:
    CASES = {case.name: case for case in node_cases()}
    WHY_NOT = ""
except Unavailable as error:
    CASES, WHY_NOT = {}, str(error)

pytestmark = pytest.mark.skipif(not CASES, reason=WHY_NOT)
ATTENTION = {name: case for name, case in CASES.items() if case.operator == "Attention"}
CONSTANT = {  # q is zero, or all keys are alike, or all values: whatever the weights are, the output stays
    "test_attention_3d_transpose_verification",
    "test_attention_bidirectional_window",
    "test_attention_local_window_ext_cache_float16_mask",
}
ONE_KEY = "test_attention_causal_boolmask_nan_robustness"  # one row, which sees one key under both corners
each_case = pytest.mark.parametrize("name", sorted(CASES) or ["none"])
each_attention = pytest.mark.parametrize("name", sorted(ATTENTION) or ["none"])


def with_a(what, has):
    """The node tests of Attention that have something; there must be some."""
    names = sorted(name for name, case in ATTENTION.items() if has(case))
    assert names or not CASES, what
    return pytest.mark.parametrize("name", names or ["none"])


def the_text():
    import onnx

    return text_of(onnx.__version__)


def count(found, answer):
    return sum(output.count(answer) for output in found.values())


@each_case
def test_every_expected_output_is_within_its_bound(name):
    found = judged(CASES[name], the_text())
    assert found
    assert all(output.answers.size for output in found.values())
    if name in EXPLAINED:
        assert count(found, Answer.NO)
    else:
        assert count(found, Answer.YES) == sum(output.answers.size for output in found.values())


@each_case
def test_the_models_written_out_as_graphs_have_the_same_data(name):
    assert CASES[name].expanded
    assert not CASES[name].expanded_differs


@each_attention
def test_errors_of_three_bounds_are_outside_and_of_half_a_bound_are_not(name):
    """Every element is moved; those whose bound is less than four ulps are left out, as they move by whole ulps."""
    case, text = ATTENTION[name], the_text()
    before, data = judged(case, text)["Y"], by_head(case.outputs["Y"], case)
    bounds = before.bounds.reshape(data.shape)
    some = bounds > 4 * spacing(np.abs(data.astype(np.float64)) + 4 * bounds, format_of(data))
    for factor, answer in ((3.0, Answer.NO), (0.5, Answer.YES)):
        moved = (data.astype(np.float64) + factor * bounds).astype(data.dtype)
        after = judged(replace(case, outputs={"Y": moved}, inputs=by_heads(case), attributes=four(case)), text)["Y"]
        assert (after.answers.reshape(data.shape)[some] == answer).all()
    assert some.any()


def by_head(x, case):
    """(B, H, tokens, width) of an output."""
    heads = case.attributes.get("q_num_heads")
    return x if x.ndim == 4 else x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def by_heads(case):
    """The inputs, each of four axes."""
    counts = {"Q": case.attributes.get("q_num_heads"), **dict.fromkeys("KV", case.attributes.get("kv_num_heads"))}
    return {
        key: x.reshape(*x.shape[:2], counts[key], -1).transpose(0, 2, 1, 3) if key in counts and x.ndim == 3 else x
        for key, x in case.inputs.items()
    }


def four(case):
    return {key: x for key, x in case.attributes.items() if not key.endswith("num_heads")}


def is_found(case, change=None, text=None):
    """Does the stored expected output refute a wrong reading?"""
    return count(judged_attention(case, text or the_text(), change=change), Answer.NO) > 0


@each_attention
def test_a_dropped_scale_is_found(name):
    assert is_found(ATTENTION[name], lambda spec: replace(spec, scale=F(1))) == (name not in CONSTANT | {ONE_KEY})


@with_a("mask", lambda case: "attn_mask" in case.inputs and case.inputs["attn_mask"].dtype == np.bool_)
def test_a_flipped_mask_is_found(name):
    case = ATTENTION[name]
    assert is_found(replace(case, inputs={**case.inputs, "attn_mask": ~case.inputs["attn_mask"]}))


@each_attention
def test_the_wrong_head_map_is_found(name):
    """Tiled and grouped are the same where each query head has its key head, and where all share one."""
    case = ATTENTION[name]
    q, k = (by_heads(case)[key].shape[1] for key in "QK")
    assert is_found(case, text=replace(the_text(), head_map="tiled")) == (1 < k < q)


@with_a("softcap", lambda case: case.attributes.get("softcap", 0) > 0)
def test_a_dropped_softcap_is_found(name):
    assert is_found(ATTENTION[name], lambda spec: replace(spec, softcap=None))


def moved(spec):
    """The other causal corner."""
    if spec.causal == "top-left":
        return replace(spec, causal="bottom-right")
    return replace(spec, causal="top-left", offset=None)


@with_a("causal rule", lambda case: case.attributes.get("is_causal", 0) == 1)
def test_a_moved_causal_corner_is_found(name):
    assert is_found(ATTENTION[name], moved) == (name not in CONSTANT | {ONE_KEY})


@with_a("window", lambda case: case.attributes.get("left_window_size", -1) >= 0)
def test_a_window_one_too_wide_is_found(name):
    wider = lambda spec: replace(spec, window=(spec.window[0] + 1, spec.window[1]))  # noqa: E731
    assert is_found(ATTENTION[name], wider) == (name != "test_attention_local_window_ext_cache_float16_mask")


def test_sums_in_float32_allow_less_and_hold_too():
    for case in CASES.values():
        if any(x.dtype.itemsize == 2 for x in case.inputs.values()):
            own, narrow = judged(case, the_text()), judged(case, the_text(), FORMATS["float32"])
            assert count(narrow, Answer.NO) == 0
            for key in own:
                assert (narrow[key].bounds <= own[key].bounds).all()


def test_what_is_not_a_number_is_outside():
    case = ATTENTION["test_attention_4d"]
    data = case.outputs["Y"].copy()
    data[0, 0, 0, :3] = np.nan, np.inf, -np.inf
    found = judged(replace(case, outputs={"Y": data}), the_text())["Y"]
    assert list(found.answers[:3]) == [Answer.NO] * 3
    assert found.count(Answer.NO) == 3


def test_a_present_key_that_is_not_the_key_is_outside():
    case = ATTENTION["test_attention_4d_causal_with_past_and_present"]
    data = case.outputs["present_key"].copy()
    data[0, 0, 0, 0] = np.nextafter(data[0, 0, 0, 0], np.float32(2))
    found = judged(replace(case, outputs={**case.outputs, "present_key": data}), the_text())
    assert found["present_key"].count(Answer.NO) == 1


@pytest.mark.parametrize(
    ("attributes", "text"),
    [({"softmax_precision": 7}, "softmax_precision 7"), ({"q_num_heads": None}, "needs the number of heads")],
)
def test_attributes_that_are_not_the_operators_are_refused(attributes, text):
    case = ATTENTION["test_attention_3d"]
    with pytest.raises(ProblemError, match=text):
        judged(replace(case, attributes={**case.attributes, **attributes}), the_text())


def test_tests_that_a_package_has_as_files_are_read_alike(tmp_path, monkeypatch):
    """As wheels up to 1.22 have them: a model, and a file for each input and output."""
    import onnx
    from onnx.backend.test import loader
    from onnx.backend.test.case.node import _NodeTestCases
    from onnx.backend.test.case.test_case import TestCase

    names = {"test_attention_4d_causal_padded_kv_bf16", "test_softmax_example", "test_softmax_example_expanded"}
    stored = []
    for made in (test for test in _NodeTestCases if test.name in names):
        folder = tmp_path / "node" / made.name
        (folder / "test_data_set_0").mkdir(parents=True)
        onnx.save(made.model, folder / "model.onnx")
        for kind, arrays in zip(("input", "output"), made.data_sets[0], strict=True):
            for place, x in enumerate(arrays):
                tensor = x if isinstance(x, onnx.TensorProto) else onnx.numpy_helper.from_array(x)
                onnx.save_tensor(tensor, folder / "test_data_set_0" / f"{kind}_{place}.pb")
        stored.append(TestCase(made.name, made.name, None, str(folder), None, None, "node", 1e-3, 1e-7))
    monkeypatch.setattr(loader, "DATA_DIR", str(tmp_path))
    monkeypatch.setattr(loader, "load_model_tests", lambda kind: stored)
    found = {case.name: case for case in node_cases()}
    assert set(found) == names - {"test_softmax_example_expanded"}
    assert found["test_softmax_example"].expanded == ("test_softmax_example_expanded",)
    for name, case in found.items():
        for own, other in ((case.inputs, CASES[name].inputs), (case.outputs, CASES[name].outputs)):
            assert list(own) == list(other)
            assert all(own[key].dtype == x.dtype and own[key].tobytes() == x.tobytes() for key, x in other.items())


def test_reading_leaves_the_random_numbers_alone():
    np.random.seed(5)
    want = np.random.random()
    np.random.seed(5)
    node_cases()
    assert np.random.random() == want


def test_an_output_of_another_shape_is_refused():
    case = ATTENTION["test_attention_4d"]
    with pytest.raises(ProblemError, match="an output has shape"):
        judged(replace(case, outputs={"Y": case.outputs["Y"][:, :2]}), the_text())
    (one,) = judged_cases([replace(case, inputs={**case.inputs, "Q": np.ones((2, 3, 4, 8), np.int8)})], the_text())
    assert "not one of our formats" in one.why_not
    assert next(outside([one])).endswith("not one of our formats")


def test_the_texts_of_older_versions():
    """Source: the reference and schema of the versions 1.18.0, 1.21.0, 1.22.0 and 1.23.2."""
    old, middle, new = text_of("1.18.0"), text_of("1.21.0"), text_of("1.23.2")
    assert (old.head_map, old.split, old.softcap_order, old.capped_mode) == ("tiled", "sequence", "after-mask", 2)
    assert (middle.head_map, middle.split, middle.masked_row) == ("grouped", "width", "undefined")
    assert text_of("1.22.0").softcap_order == new.softcap_order == "before-bias"
    assert new.lengths_place
    assert not text_of("1.22.1rc1").lengths_place


def test_the_report_is_the_same_each_time_and_says_what_is_outside():
    cases = [ATTENTION["test_attention_4d"], CASES["test_softmax_example"]]
    wrong = replace(cases[0], outputs={"Y": cases[0].outputs["Y"] + np.float32(0.01)})
    versions = {"onnx": "1", "NumPy": "2"}
    text = markdown(list(judged_cases(cases, the_text())), the_text(), versions, {"FlexAttention": 11})
    assert text == markdown(list(judged_cases(cases, the_text())), the_text(), versions, {"FlexAttention": 11})
    assert "## Outside, undecided, not judged\n\nNone." in text
    assert "| test_attention_4d | 23 | Y | float32 | 192 | 192 | 0 | 0 |" in text
    bad = list(judged_cases([wrong], the_text()))
    assert command.unexplained(bad) == ["test_attention_4d"]
    assert "192 of 192 elements outside; no convention was found" in markdown(bad, the_text(), versions, {})


def test_the_command_prints_a_table(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "node_cases", lambda: [CASES["test_softmax_example"]])
    monkeypatch.setattr("exactattn.conformance.onnx_judged.DRAWS", 2)
    assert command.main(["--write", str(tmp_path / "report.md")]) == 0
    assert "Softmax" in capsys.readouterr().out
    assert "2 problems of drawn options" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# ONNX conformance")

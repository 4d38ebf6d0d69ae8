"""The JSON Schema against the cases that exist, as an editor reads them."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from exactattn.documents.case import loads
from exactattn.errors import CaseError
from exactattn.journeys.new import template
from exactattn.journeys.schema import schema

CASES = sorted((Path(__file__).parents[2] / "cases").glob("*.yaml"))
EVERYTHING = """
version: 1
title: 2024
source: {document: a, page: 3}
problems:
  a:
    X: [[1, 1/3], [0.5, -2e-3]]
    heads: [{W_Q: identity, W_K: {times: 1/2, values: [[1, 0], [0, 1]]}, W_V: [[1, 0], [0, 1]]}]
    W_O: identity
    scale: 1/sqrt(d_k)
    base: 2
    causal: true
    mask: [[true, false], [1, 1]]
    bias: [[0, 0], [0, 0]]
    masked_row: zero
    orientation: rows
  b: {scores: [[1, 2]], V: [[1], [2]], scale: 1, mask: [[0, -.inf]], causal: bottom-right}
  c:
    Q: [[1, 2]]
    K: [[1, 2], [3, 4]]
    V: [[1], [2]]
    causal: 1
    window: [1, null]
    softcap: 30
    softcap_order: after-mask
    alibi: {slopes: [1/2], form: signed}
    sinks: [0.5]
    lse_base: 2
    bias_place: inside
    rotary: {width: 2, base: 100, layout: interleaved, factor: 1, cosines: [[1], [0], [1]], sines: [[0], [1], [0]]}
    qk_norm: {kind: l2, eps: 1e-6, q_weight: [1, 2]}
    masked_row: mean
  d: {Q: [[1]], K: [[1]], V: [[1]], alibi: {slopes: paper}, window: [null, 0], offset: end, masked_row: uniform}
printed:
  a:weights: {head: 0, rows: [1], columns: [0, 1], values: [0.5, ...], times: 1, unit: 0.1, dtype: float32, form: numpy}
  w: {problem: b, stage: weights, values: [[0.5, 28.4%]]}
claims:
  - {law: convex-hull, free: [1, {a: b}]}
  - {id: f, formula: a = b, shapes: {a: [1, d]}, means: {a: weights}, cites: S1, says: words}
  - {reading: words, scale: 1/d_k, against: f}
runs: {formats: [bfloat16, e4m3fn], algorithms: [split]}
expect: {"a:weights[0, 1, :]": {verdict: fails, reason: new, why: known}}
"""
VALIDATOR = jsonschema.Draft202012Validator(schema())


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("text", [template(), EVERYTHING, *(file.read_text("utf-8") for file in CASES)])
def test_good_cases_are_valid(text: str) -> None:
    loads(text)
    VALIDATOR.validate(yaml.safe_load(text))


@pytest.mark.parametrize(
    "line",
    [
        "version: 2",
        "prinnted: {}",
        "problem: {x: [[1]]}",
        "problem: {Q: [1, 2]}",
        "problem: {Q: []}",
        "problem: {Q: idenity}",
        "problem: {causal: maybe}",
        "printed: {weights: nothing}",
        "printed: {weights: {stage: weights}}",
        "printed: {w: {stage: wieghts, values: [1]}}",
        "claims: [{id: x}]",
        "claims: [{law: x, order: y}]",
        "claims: [{law: [x]}]",
        "runs: {formats: [float46]}",
        "expect: {a: {verdict: holds}}",
        "expect: {a: {}}",
    ],
)
def test_what_the_schema_refuses_the_reader_refuses(line: str) -> None:
    text = line if line.startswith("version") else f"version: 1\n{line}"
    assert not VALIDATOR.is_valid(yaml.safe_load(text))
    with pytest.raises(CaseError):
        loads(text)


def test_every_key_has_a_description() -> None:
    found = schema()
    for part in (found, *found["$defs"].values()):
        for key, value in part.get("properties", {}).items():
            assert value.get("description"), key


def test_nothing_of_python_shows() -> None:
    def walk(part: Any) -> None:
        if isinstance(part, dict):
            assert part.get("default", 0) is not None
            assert part.get("type") != "null"
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            walk(inner)

    walk(schema())


def test_every_key_of_the_format_is_in_the_template() -> None:
    for part in ("ProblemPart", "CasePart"):
        found = schema() if part == "CasePart" else schema()["$defs"][part]
        for key in found["properties"]:
            assert f"{key}:" in template() or f"`{key}" in template() or key in ("K", "V"), key

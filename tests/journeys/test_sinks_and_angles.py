"""What sinks, softcaps and rotary positions change in the answers about a case."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from exactattn.cli import main
from exactattn.findings import Verdict
from exactattn.journeys.verify import verify

CASE = """
version: 1
title: sinks
problem: {{Q: [[1, 0], [0, 1]], K: [[1, 2], [0, 1]], V: [[1, 0], [0, 1]]{option}}}
"""
CLAIMS = """
printed: {weights: [[0.4337, 0.2138], [0.5280, 0.2603]]}
claims: [{law: rows-sum-to-one}, {law: convex-hull}, {law: shift-invariance}, {law: online-softmax}]
"""


def test_laws_of_plain_attention_fail_where_a_sink_takes_a_part(tmp_path):
    """The weights are those of a sink of 1/2: 1 - 0.6475 of the first row is the sink's; computed with mpmath."""
    path = tmp_path / "case.yaml"
    path.write_text(CASE.format(option=", sinks: [0.5]") + CLAIMS, encoding="utf-8")
    found = {one.id: one for one in verify(path).reports[0].findings}
    assert [found[f"law:{i}"].verdict for i in (1, 2, 3, 4)] == [Verdict.FAILS] * 3 + [Verdict.HOLDS]
    assert "sinks" in found["law:1"].message
    assert all(found[f"weights[{i},{j}]"].verdict is Verdict.HOLDS for i in range(2) for j in range(2))
    assert not any(one.code == "EA106" for one in found.values())


@pytest.mark.parametrize(
    ("option", "stage", "wanted"),
    [
        (", softcap: 3", "weights", "0.66692208918318461646"),  # mpmath: 3 tanh(s/3) of s = 1/sqrt 2 and 0
        (", rotary: {base: 2}", "scores", "-sin(1)"),
    ],
)
def test_closed_forms_have_no_symbols_of_our_own(tmp_path, option, stage, wanted):
    path = tmp_path / "case.yaml"
    path.write_text(CASE.format(option=option), encoding="utf-8")
    for engine in ("symbolic", "ball"):
        done = CliRunner().invoke(main, ["solve", str(path), "--stage", stage, "--engine", engine])
        assert done.exit_code == 0, done.output
        assert wanted in done.output
        assert "_E" not in done.output
        assert "_S" not in done.output
        assert "_C" not in done.output

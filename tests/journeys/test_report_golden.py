"""A file of tensors made from a seed, and the Markdown report that it must give, without figures of the machine."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tensor_writers

from exactattn import plugins
from exactattn.journeys.report import ReportOptions, report

GOLDEN = Path(__file__).parent / "golden" / "tensors.md"
SPEC = (
    "# as a kernel was called\nscale: 0.25\ncausal: bottom-right\nwindow: [4, 0]\nsoftcap: 20\ntensors: {mask: seen}\n"
)


def made(folder):
    """Multiples of 1/64, so that every machine draws the same; an output in float32 with two planted errors."""
    draw = random.Random(20261201)
    shapes = {"q": (2, 6, 4), "k": (1, 8, 4), "v": (1, 8, 3), "do": (2, 6, 3)}
    arrays = {
        name: np.array([draw.randint(-128, 128) / 64 for _ in range(int(np.prod(shape)))], np.float32).reshape(shape)
        for name, shape in shapes.items()
    }
    seen = np.ones((6, 8), bool)
    seen[0], seen[3, 5] = False, False
    q, k, v = (arrays[name].astype(float) for name in "qkv")
    scores = 20 * np.tanh(q @ k.swapaxes(1, 2) * 0.25 / 20)
    ahead = np.arange(8) - (np.arange(6)[:, None] + 2)
    allowed = seen & (ahead <= 0) & (ahead >= -4)
    e = np.where(allowed, np.exp(scores), 0)
    z = e.sum(-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        arrays["out"], arrays["lse"] = (e / z @ v).astype(np.float32), np.log(z)[..., 0].astype(np.float32)
    arrays["out"][1, 4, 2] *= np.float32(1.0001)
    arrays["out"][0, 2, 0] = np.inf
    tensor_writers.safetensors(folder / "tensors.safetensors", {**arrays, "seen": seen, "step": np.array([7])})
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8", newline="\n")


def settled(reports):
    """Without tool, environment, digests of bytes that libraries write, and radii."""
    (one,) = reports.reports
    findings = tuple(
        replace(
            finding,
            message=finding.message.partition(": ")[0] if finding.code == "EA511" else finding.message,
            evidence={key: x for key, x in finding.evidence.items() if key not in ("radius", "largest_radius")},
        )
        for finding in one.findings
    )
    one = replace(one, findings=findings, subject=replace(one.subject, sha256=None))
    return replace(reports, tool={}, environment={}, reports=(one,))


def test_the_kept_report_is_the_one_the_tensors_give(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    made(tmp_path)
    reports = settled(report("tensors.safetensors", "spec.yaml", ReportOptions(within=1)))
    text = plugins.get("render", "markdown").render(reports)
    if request.config.getoption("--rewrite-goldens"):
        GOLDEN.write_text(text, encoding="utf-8", newline="\n")
    assert text == GOLDEN.read_text(encoding="utf-8"), f"{GOLDEN} is not what these tensors give now"


@pytest.mark.parametrize("options", [{"rows": 5, "seed": 2}, {"workers": 2}, {"stage": "lse"}])
def test_json_goes_there_and_back(tmp_path, monkeypatch, options):
    from exactattn.findings import Reports

    monkeypatch.chdir(tmp_path)
    made(tmp_path)
    reports = report("tensors.safetensors", "spec.yaml", ReportOptions(**options))
    assert Reports.from_json(reports.as_json()) == reports

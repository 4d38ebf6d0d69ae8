"""Options of attention in a case: printed numbers made by plain loops in mpmath come out right, for each option alone,
and for several at once."""

from fractions import Fraction as F

import numpy as np
import pytest
from loops import drawn, expected
from mpmath import mp
from option_texts import options_of, rows, text

from exactattn.attention.options import Alibi, QKNorm, Rotary
from exactattn.attention.spec import AttentionSpec
from exactattn.findings import Verdict
from exactattn.journeys.verify import verify

DIGITS = 12


def printed(x):
    return mp.nstr(x, DIGITS, strip_zeros=False, min_fixed=-mp.inf, max_fixed=mp.inf)


def case_text(arrays, spec, extra):
    """A case with the three stages as mpmath gives them; rows without a value are not printed."""
    lines = [f"{key}: {rows(x.tolist())}" for key, x in zip("QKV", arrays, strict=True)]
    lines += options_of(spec)
    if extra["mask"] is not None:
        lines.append("mask: [" + ", ".join(str(row.astype(int).tolist()) for row in extra["mask"]) + "]")
    if extra["bias"] is not None:
        lines.append(f"bias: {rows(extra['bias'].tolist())}")
    if extra["sink"] is not None:
        lines.append(f"sinks: [{text(extra['sink'])}]")
    out = ["version: 1", "problem:", *(f"  {line}" for line in lines), "printed:"]
    found = expected(arrays, spec, extra)
    for place, stage in enumerate(("weights", "lse", "context")):
        kept = [i for i, row in enumerate(found) if row[place] is not None]
        if kept:
            values = [", ".join(map(printed, found[i][place])) for i in kept]
            shown = ", ".join(values) if stage == "lse" else ", ".join(f"[{row}]" for row in values)
            out.append(f"  {stage}: {{rows: {kept}, values: [{shown}]}}")
    out.append("runs: {formats: [float64], algorithms: [naive]}")
    return "\n".join(out) + "\n"


def check(tmp_path, arrays, spec, extra):
    path = tmp_path / "case.yaml"
    path.write_text(case_text(arrays, spec, extra), encoding="utf-8")
    findings = verify(path).reports[0].findings
    numbers = [f for f in findings if f.check == "printed" and "printed" in f.evidence]
    wanted = sum(len(x) for row in expected(arrays, spec, extra) for x in row if x is not None)
    assert len(numbers) == wanted
    assert [f for f in numbers if f.verdict is not Verdict.HOLDS] == [], path.read_text()
    assert not [f for f in findings if f.verdict is Verdict.BROKEN or f.code == "EA900"]


NONE = {"mask": None, "bias": None, "sink": None, "key_length": None}
ALONE = {
    "explicit offset": (AttentionSpec(causal="offset", offset=1), {}),
    "a negative offset": (AttentionSpec(causal="offset", offset=-1, masked_row="zero"), {}),
    "bottom-right": (AttentionSpec(causal="bottom-right"), {}),
    "window": (AttentionSpec(window=(1, 0), offset="end"), {}),
    "open window": (AttentionSpec(window=(None, 1)), {}),
    "softcap": (AttentionSpec(softcap=F(3, 2)), {}),
    "softcap after the mask": (AttentionSpec(softcap=F(3, 2), softcap_order="after-mask", causal="top-left"), {}),
    "alibi": (AttentionSpec(alibi=Alibi((F(1, 2),))), {}),
    "alibi inside": (AttentionSpec(alibi=Alibi((F(1, 2),), "signed"), bias_place="inside"), {}),
    "sinks": (AttentionSpec(), {"sink": F(-3, 4)}),
    "lse in base 2": (AttentionSpec(lse_base=F(2)), {}),
    "uniform rows": (AttentionSpec(masked_row="uniform"), {"mask": np.array([[0, 0, 0, 0], [1, 0, 1, 1]], bool)}),
    "mean rows": (AttentionSpec(masked_row="mean"), {"mask": np.array([[1, 1, 0, 0], [0, 0, 0, 0]], bool)}),
    "rotary": (AttentionSpec(rotary=Rotary(base=F(100))), {}),
    "rotary, interleaved, in part": (AttentionSpec(rotary=Rotary(2, F(100), "interleaved"), offset=3), {}),
    "rms norm": (AttentionSpec(qk_norm=QKNorm("rms", F(1, 1000), tuple(F(i, 2) for i in range(1, 5)))), {}),
    "l2 norm": (AttentionSpec(qk_norm=QKNorm("l2")), {}),
}


@pytest.mark.parametrize("name", ALONE)
def test_each_option_gives_what_plain_loops_give(name, tmp_path):
    spec, extra = ALONE[name]
    rng = np.random.default_rng(7)
    arrays = tuple(rng.integers(-8, 9, shape) / 4 for shape in ((2, 4), (4, 4), (4, 2)))
    check(tmp_path, arrays, spec, {**NONE, **extra})


@pytest.mark.parametrize("seed", range(12))
def test_options_together_give_what_plain_loops_give(seed, tmp_path):
    arrays, spec, extra = drawn(seed)
    check(tmp_path, arrays, spec, {**extra, "key_length": None})

"""The journey `report`: planted errors are found where they are, what is right passes, all ways in say the same."""

from fractions import Fraction as F

import ml_dtypes
import numpy as np
import pytest
import tensor_writers
from loops import drawn, expected
from mpmath import mp
from option_texts import options_of

from exactattn.errors import ExactattnError
from exactattn.findings import Level, Verdict
from exactattn.journeys.report import ReportOptions, report
from exactattn.journeys.verify import exit_status
from exactattn.numbers.formats import FORMATS
from exactattn.numbers.near import up
from exactattn.truth.tally import rounded


def found(path, spec=None, **options):
    (one,) = report(path, spec, ReportOptions(**options)).reports
    return {f.id: f for f in one.findings}


def saved(folder, name="x.npz", **arrays):
    np.savez(folder / name, **arrays)
    return folder / name


def spec_file(folder, text):
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def small(seed=0, shape=(2, 3, 5, 4), dtype=np.float32):
    """q, k, v, and output and lse as mpmath gives them, rounded to the type once."""
    rng = np.random.default_rng(seed)
    q, k, v = (rng.standard_normal(shape).astype(dtype) for _ in range(3))
    output, lse = np.empty(shape, dtype), np.empty((*shape[:3], 1), dtype)
    with mp.workdps(50):
        for b, h, i in np.ndindex(*shape[:3]):
            s = [mp.fdot(map(float, q[b, h, i]), map(float, row)) / mp.sqrt(shape[3]) for row in k[b, h]]
            z = mp.fsum(map(mp.exp, s))
            row = [mp.fdot(map(mp.exp, s), map(float, column)) / z for column in v[b, h].T]
            output[b, h, i] = [fmt_round(x, dtype) for x in row]
            lse[b, h, i] = fmt_round(mp.log(z), dtype)
    return {"q": q, "k": k, "v": v, "out": output, "lse": lse[..., 0]}


def fmt_round(x, dtype):
    """Rounded once, from 120 bits after the point."""
    fmt = next(f for f in FORMATS.values() if f.dtype == np.dtype(dtype).name)
    return fmt.round(F(int(x * mp.mpf(2) ** 120), 2**120))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_a_correctly_rounded_result_is_within_half_an_ulp_everywhere(tmp_path, dtype):
    arrays = small(dtype=dtype)
    tensor_writers.safetensors(tmp_path / "x.safetensors", arrays)
    findings = found(tmp_path / "x.safetensors", within=0.5)
    for role, count in (("output", 120), ("lse", 30)):
        evidence = findings[f"accuracy:{role}"].evidence
        assert evidence["within_half_ulp"] == {"yes": count, "no": 0, "cannot_tell": 0}
        assert float(evidence["largest_error_ulps"][1]) <= 0.5
        assert findings[f"within:{role}"].verdict is Verdict.HOLDS


def test_a_planted_error_is_found_at_its_place(tmp_path):
    arrays = small()
    arrays["out"][1, 2, 3, 0] = np.nextafter(np.nextafter(arrays["out"][1, 2, 3, 0], np.float32(9)), np.float32(9))
    arrays["lse"][0, 1, 4] += np.float32(0.5)
    reports = report(saved(tmp_path, **arrays), None, ReportOptions(within=1))
    findings = {f.id: f for f in reports.reports[0].findings}
    assert exit_status(reports) == 1
    assert findings["within:output"].verdict is findings["within:lse"].verdict is Verdict.FAILS
    assert findings["accuracy:output"].evidence["within_one_ulp"] == {"yes": 119, "no": 1, "cannot_tell": 0}
    assert findings["accuracy:output"].evidence["largest_error_at"].startswith("output[1,2,3,0]: ")
    assert findings["accuracy:lse"].evidence["largest_error_at"].startswith("lse[0,1,4]: ")
    low, high = map(float, findings["accuracy:output"].evidence["largest_error_ulps"])
    assert 1.5 <= low <= high <= 2.5


def test_without_a_bound_an_error_is_only_told(tmp_path):
    arrays = small()
    arrays["out"] += 1
    reports = report(saved(tmp_path, **arrays))
    assert exit_status(reports) == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_or_infinity_where_the_truth_is_finite_is_an_error(tmp_path, bad):
    arrays = small()
    arrays["out"][0, 1, 2, 3] = bad
    reports = report(saved(tmp_path, **arrays))
    finding = {f.id: f for f in reports.reports[0].findings}["finite:output"]
    assert (finding.code, finding.level, finding.verdict) == ("EA515", Level.ERROR, Verdict.FAILS)
    assert finding.evidence == {"count": 1, "first": "output[0,1,2,3]"}
    assert exit_status(reports) == 1


def test_an_lse_beyond_the_format_may_be_infinite(tmp_path):
    """q k = 400 * 400 > 65504, the largest float16: infinity is what rounding gives."""
    q = np.full((1, 1), 400, np.float16)
    path = saved(tmp_path, q=q, k=q, v=q, lse=np.array([np.inf], np.float16))
    findings = found(path)
    assert "finite:lse" not in findings
    assert findings["accuracy:lse"].evidence["not_finite"] == 1


def test_rows_without_a_value_are_said_and_not_judged(tmp_path):
    arrays = small()
    arrays["mask"] = np.ones((5, 5), bool)
    arrays["mask"][2] = False
    arrays["q"][1, 0, 0, 0] = np.nan
    arrays["out"][:, :, 2] = 7
    finding = found(saved(tmp_path, **arrays))["undefined:context"]
    assert (finding.level, finding.verdict) == (Level.WARNING, Verdict.FAILS)
    assert "7 of 30 rows have no context: 6 with no allowed key, 1 in which a NaN or an infinity" in finding.message


def test_a_key_that_is_infinite_matters_only_where_it_is_seen(tmp_path):
    arrays = small()
    arrays["k"][0, 0, 3] = np.inf
    spec = spec_file(tmp_path, "causal: top-left")
    finding = found(saved(tmp_path, **arrays), spec)["undefined:context"]
    assert "2 of 30 rows" in finding.message


def test_rows_are_drawn_by_seed_and_all_of_them_give_the_same_as_all(tmp_path):
    path = saved(tmp_path, **small())
    first, again, other = (found(path, rows=7, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first["accuracy:output"].evidence["within_half_ulp"]["yes"] == 28
    assert "7 of 30 rows, drawn with seed 1" in first["problem"].message
    assert (
        first["accuracy:output"].evidence["largest_error_at"] != other["accuracy:output"].evidence["largest_error_at"]
    )
    assert found(path, rows=30)["accuracy:output"] == found(path, rows=None)["accuracy:output"]


def test_threads_change_nothing(tmp_path):
    path = saved(tmp_path, **small())
    assert found(path, workers=3) == found(path)


def test_one_stage_alone(tmp_path):
    findings = found(saved(tmp_path, **small()), stage="lse")
    assert "accuracy:lse" in findings
    assert "accuracy:output" not in findings
    assert findings["problem"].evidence["not_judged"] == ["output"]


def test_weights_are_judged_too(tmp_path):
    arrays = small(shape=(1, 1, 4, 2))
    q, k = (arrays[x][0, 0].astype(float) for x in "qk")
    e = np.exp(q @ k.T / np.sqrt(2))
    findings = found(saved(tmp_path, **arrays, weights=(e / e.sum(1, keepdims=True)).astype(np.float32)[None, None]))
    assert findings["accuracy:weights"].evidence["within_one_ulp"]["yes"] == 16


@pytest.mark.parametrize("fmt", ["float32", "float16", "bfloat16", "e4m3fn", "e5m2", "float64"])
def test_a_correctly_rounded_result_is_proven_in_each_format(tmp_path, fmt):
    arrays = small()
    del arrays["out"], arrays["lse"]
    finding = found(saved(tmp_path, **arrays), fmt=fmt)["rounded:context"]
    assert finding.message == f"context rounded to {fmt}: 120 of 120 elements proven"
    assert float(finding.evidence["largest_error_ulps"][1]) <= 0.5 + 1e-9


def test_rounding_of_arrays_is_that_of_the_format():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.ldexp(rng.standard_normal(400), rng.integers(-200, 130, 400)), [0.0, 464.0, 465.0, 65520.0]])
    for fmt in FORMATS.values():
        for value, got in zip(x, rounded(x, fmt), strict=True):
            wanted = fmt.round(float(value))
            past = abs(value) > fmt.max
            assert got == wanted or (past and not np.isfinite(got) and not np.isfinite(wanted)), (fmt.name, value)


def test_gradients_are_judged_in_all_layouts(tmp_path):
    """dv = P^T dO, dP = dO V^T, dS = P (dP - rowsum(P dP)) scale, dq = dS K, dk = dS^T Q, in float64."""
    arrays = small(shape=(1, 2, 4, 2), dtype=np.float64)
    q, k, v = (arrays[x] for x in "qkv")
    g = np.random.default_rng(3).standard_normal(q.shape)
    e = np.exp(q @ k.swapaxes(2, 3) / np.sqrt(2))
    p = e / e.sum(-1, keepdims=True)
    dp = g @ v.swapaxes(2, 3)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) / np.sqrt(2)
    made = {"dq": ds @ k, "dk": ds.swapaxes(2, 3) @ q, "dv": p.swapaxes(2, 3) @ g}
    made = {name: x.astype(np.float32) for name, x in made.items()}
    findings = found(saved(tmp_path, q=q, k=k, v=v, do=g, **made), within=1)
    for role in made:
        assert findings[f"within:{role}"].verdict is Verdict.HOLDS
        assert findings[f"accuracy:{role}"].evidence["within_one_ulp"]["yes"] == 16
    made["dk"][0, 1, 2, 1] *= 1.001
    findings = found(saved(tmp_path, q=q, k=k, v=v, do=g, **made), within=1)
    assert findings["within:dk"].verdict is Verdict.FAILS
    assert findings["accuracy:dk"].evidence["largest_error_at"].startswith("dk[0,1,2,1]: ")
    turned = {name: x.swapaxes(1, 2) for name, x in {"q": q, "k": k, "v": v, "do": g, **made}.items()}
    other = found(saved(tmp_path, **turned), spec_file(tmp_path, "layout: BLHD"), within=1)
    assert other["accuracy:dk"].evidence["largest_error_at"].startswith("dk[0,2,1,1]: ")
    alone = found(saved(tmp_path, q=q, k=k, v=v, do=g))
    assert {f"gradient:{role}" for role in made} <= alone.keys()


def test_gradients_of_a_bias_and_of_sinks(tmp_path):
    """dS = P (dP - D), D = rowsum(P dP); the bias of all heads gets the sum of dS, a sink minus its weights times D."""
    rng = np.random.default_rng(4)
    q, k, v, g = (rng.standard_normal((2, 4, 3)) for _ in range(4))
    bias, sinks = rng.standard_normal((4, 4)), rng.standard_normal(2)
    e, s = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(3) + bias), np.exp(sinks)[:, None, None]
    z = e.sum(-1, keepdims=True) + s
    dp = g @ v.swapaxes(1, 2)
    d = (e / z * dp).sum(-1, keepdims=True)
    made = {"dbias": (e / z * (dp - d)).sum(0), "dsinks": -(s / z * d).sum((1, 2))}
    made = {name: x.astype(np.float32) for name, x in made.items()}
    path = saved(tmp_path, q=q, k=k, v=v, bias=bias, sinks=sinks, do=g, **made)
    findings = found(path, within=1)
    assert findings["accuracy:dbias"].evidence["within_one_ulp"] == {"yes": 16, "no": 0, "cannot_tell": 0}
    assert findings["accuracy:dsinks"].evidence["within_one_ulp"] == {"yes": 2, "no": 0, "cannot_tell": 0}
    lost = found(saved(tmp_path, q=q, k=k, v=v, do=g, **made))["gradient:dbias"]
    assert (lost.verdict, lost.message) == (Verdict.NOT_RUN, "the problem has no bias, so there is no gradient of it")


@pytest.mark.parametrize("layout", ["BLHD", "BLD", "THD", "HLD"])
def test_layouts_of_outputs_and_lse(tmp_path, layout):
    arrays = small(shape=(1, 3, 5, 4))
    turn = {
        "BLHD": lambda x: x.swapaxes(1, 2),
        "BLD": lambda x: x.swapaxes(1, 2).reshape(1, 5, 12),
        "THD": lambda x: x[0].swapaxes(0, 1),
        "HLD": lambda x: x[0],
    }[layout]
    lse = arrays.pop("lse")
    text = f"layout: {layout}\n" + ("query_heads: 3\nkey_heads: 3\n" if layout == "BLD" else "")
    more = {"cu_seqlens_q": np.array([0, 5], np.int32)} if layout == "THD" else {}
    spec = spec_file(tmp_path, text)
    for one in (lse if layout in ("BLHD", "BLD") else lse[0], *([lse.swapaxes(1, 2)] if layout[:2] == "BL" else [])):
        path = saved(tmp_path, **{name: turn(x) for name, x in arrays.items()}, lse=one, **more)
        findings = found(path, spec, within=0.5)
        assert findings["within:output"].verdict is Verdict.HOLDS
        assert findings["within:lse"].verdict is Verdict.HOLDS


def test_an_lse_that_could_be_laid_out_in_two_ways_is_refused(tmp_path):
    arrays = small(shape=(1, 3, 3, 4))
    path = saved(tmp_path, **{name: x.swapaxes(1, 2) for name, x in arrays.items() if name != "out"})
    with pytest.raises(ExactattnError, match="two ways"):
        found(path, spec_file(tmp_path, "layout: BLHD"))


@pytest.mark.parametrize("seed", range(8))
def test_specs_drawn_at_random_give_what_plain_loops_give(tmp_path, seed):
    """Options as a file states them, outputs of mpmath correctly rounded to float32."""
    arrays, spec, extra = drawn(seed)
    rows = expected(arrays, spec, extra)
    out = np.zeros((len(rows), arrays[2].shape[1]), np.float32)
    for i, row in enumerate(rows):
        if row[2] is not None:
            out[i] = [fmt_round(x, np.float32) for x in row[2]]
    tensors = dict(zip("qkv", arrays, strict=True), out=out)
    for name, role in (("mask", "mask"), ("bias", "bias")):
        if extra[name] is not None:
            tensors[role] = extra[name]
    if extra["sink"] is not None:
        tensors["sinks"] = np.array([float(extra["sink"])])
    if extra["key_length"] is not None:
        tensors["key_lengths"] = np.array([extra["key_length"]])
    text = "\n".join(options_of(spec)) + "\nlayout: LD\n"
    findings = found(saved(tmp_path, **tensors), spec_file(tmp_path, text), within=0.5, rows=None)
    defined = sum(row[2] is not None for row in rows)
    assert findings["accuracy:output"].evidence["within_half_ulp"]["yes"] == defined * out.shape[1]


def test_files_of_one_array_each(tmp_path):
    arrays = small()
    for name, x in arrays.items():
        np.save(tmp_path / f"{name}.npy", x.astype(ml_dtypes.bfloat16) if name == "v" else x)
    files = [tmp_path / f"{name}.npy" for name in arrays]
    findings = found(files, spec_file(tmp_path, "dtypes: {v: bfloat16}"))
    assert findings["problem"].evidence["tensors"]["v"] == "v (bfloat16, 2 x 3 x 5 x 4)"
    assert "in q float32, k float32, v bfloat16" in findings["problem"].message
    assert len(findings["problem"].evidence["digests"]) == 5


def test_what_is_not_used_is_said(tmp_path):
    findings = found(saved(tmp_path, **small(), other=np.zeros(3)))
    assert findings["problem"].evidence["not_used"] == ["other"]


def test_all_assumptions_stand_in_every_report(tmp_path):
    from exactattn import plugins
    from exactattn.numbers.near_functions import ASSUMPTIONS

    arrays = small()
    reports = report(saved(tmp_path, q=arrays["q"], k=arrays["k"], v=arrays["v"]))
    for name in ("terminal", "json"):
        text = " ".join(plugins.get("render", name).render(reports, width=1000).split())
        assert all(" ".join(words.split()) in text for words in ASSUMPTIONS.values()), name
    text = plugins.get("render", "markdown").render(reports).replace("\\", "")
    assert all(words in text for words in ASSUMPTIONS.values())


def test_radii_are_rounded_up():
    from exactattn.journeys.tensor_findings import _down, _up

    for x in (1.2345e-13, 0.49999, 3.0, 1e300, 0.0, 12345678.0):
        assert float(_down(x)) <= x <= float(_up(x)) <= up(x) * 1.01


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("role", ["out", "lse"])
def test_what_is_not_finite_is_judged_in_rows_that_were_not_drawn_too(tmp_path, bad, role):
    arrays = small()
    drawn = {int(i) for i in sampled_rows(tmp_path, arrays, 3)}
    row = next(i for i in range(30) if i not in drawn)
    arrays[role].reshape(30, -1)[row, 0] = bad
    arrays["mask"] = np.ones((5, 5), bool)
    reports = report(saved(tmp_path, **arrays), None, ReportOptions(rows=3))
    assert exit_status(reports) == 1
    name = {"out": "output"}.get(role, role)
    findings = {f.id: f for f in reports.reports[0].findings}
    assert findings[f"finite:{name}"].evidence["count"] == 1
    assert "(3 of 30 rows, seed 0, and 1 more that is not finite)" in findings[f"accuracy:{name}"].message
    assert findings[f"accuracy:{name}"].evidence["not_finite_in_the_whole_tensor"] == 1


def sampled_rows(folder, arrays, count):
    """Which of all 30 rows are drawn."""
    from exactattn.truth.outputs import sampled
    from exactattn.truth.tensors import Tensors

    some = sampled(Tensors.of(*(arrays[x] for x in "qkv")), count, 0)
    return [5 * head + row for head, rows in enumerate(some) for row in rows]


def test_rows_without_a_value_do_not_hide_what_is_not_finite(tmp_path):
    """600 queries see no key and give NaN, as flash-attn's do; one of 40 others is NaN too."""
    x = np.ones((640, 1), np.float32)
    mask, out = np.ones((640, 640), bool), x.copy()
    mask[:600], out[:600], out[620] = False, np.nan, np.nan
    reports = report(saved(tmp_path, q=x, k=x, v=x, out=out, mask=mask), None, ReportOptions(rows=1))
    findings = {f.id: f for f in reports.reports[0].findings}
    assert findings["finite:output"].evidence == {"count": 1, "first": "output[620,0]"}
    assert findings["accuracy:output"].evidence["not_finite_in_the_whole_tensor"] == 601


def test_rows_that_are_not_finite_and_too_many_are_said(tmp_path):
    x = np.ones((300, 1), np.float32)
    path = saved(tmp_path, q=x, k=x, v=x, out=x * np.float32(np.nan))
    findings = found(path, rows=1)
    assert findings["finite-left:output"].verdict is Verdict.UNDECIDED
    assert findings["finite-left:output"].message.startswith("output: 43 more rows with a NaN")
    assert findings["finite:output"].evidence["count"] == 257


def test_a_bound_fails_where_an_element_is_not_finite(tmp_path):
    arrays = small()
    arrays["out"][0, 1, 2, 3], arrays["out"][1, 0, 0, 0] = np.nan, np.inf
    findings = found(saved(tmp_path, **arrays), within=2)
    assert findings["accuracy:output"].message.startswith(
        "output: 118 of 120 elements within 1/2 ulp of float32, 118 within 1 ulp, 1 is NaN, 1 is infinite; "
    )
    within = findings["within:output"]
    assert (within.verdict, within.reason) == (Verdict.FAILS, "not-finite")
    assert within.message == "118 of 120 elements of output are within 2 ulp of float32, 1 is NaN, 1 is infinite"


def test_a_bound_is_open_where_floats_stand_that_have_no_true_value(tmp_path):
    arrays = small()
    arrays["q"][1, 0, 0, 0] = np.nan
    path = saved(tmp_path, **arrays)
    assert found(path, within=2)["within:output"].verdict is Verdict.UNDECIDED
    arrays["out"][1, 0, 0] = np.nan
    assert found(saved(tmp_path, **arrays), within=2)["within:output"].verdict is Verdict.HOLDS


def test_nan_where_the_truth_is_beyond_the_format_is_an_error(tmp_path):
    """q k = 400 * 400 > 65504, the largest float16: rounding gives infinity, never NaN."""
    q = np.full((1, 1), 400, np.float16)
    for bad, verdict in ((np.inf, Verdict.HOLDS), (np.nan, Verdict.FAILS)):
        path = saved(tmp_path, q=q, k=q, v=q, out=q, lse=np.array([bad], np.float16))
        assert ("finite:lse" in found(path)) == (verdict is Verdict.FAILS)


def test_an_infinity_is_judged_where_the_first_look_knows_nothing(tmp_path):
    """Scores of 1e400 and equal: the output is the mean of 1 and 3, which balls tell and float64 does not."""
    q, k, v = np.array([[1e200]]), np.array([[1e200], [1e200]]), np.array([[1.0], [3.0]])
    findings = found(saved(tmp_path, q=q, k=k, v=v, out=np.array([[np.inf]])))
    assert findings["finite:output"].evidence == {"count": 1, "first": "output[0,0]"}

"""`exactattn report` as a process sees it: exit status, streams, bad and hostile input that never gives a traceback."""

import json
import pickle
import struct

import numpy as np
import pytest

from exactattn.documents.specs import loads_spec
from exactattn.journeys.new import spec_template

RNG = np.random.default_rng(0)
Q, K, V = (RNG.standard_normal((2, 4, 2)).astype(np.float32) for _ in range(3))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def truth():
    q, k, v = (x.astype(float) for x in (Q, K, V))
    e = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(2))
    return (e / e.sum(-1, keepdims=True) @ v).astype(np.float32)


def save(name="x.npz", **arrays):
    np.savez(name, **({"q": Q, "k": K, "v": V} | arrays))
    return name


def test_what_is_right_exits_0(run, here):
    result = run("report", save(out=truth()), "--within", "1")
    assert result.exit_code == 0, result.output
    assert "all 16 elements of output are within 1 ulp of float32" in " ".join(result.stdout.split())
    assert result.stderr == ""


def test_an_element_beyond_the_bound_exits_1(run, here):
    result = run("report", save(out=truth() + np.float32(0.25)), "--within", "1", "--quiet")
    assert (result.exit_code, result.stdout) == (1, "")


def test_json_and_markdown_go_to_files(run, here):
    result = run("report", save(out=truth()), "--json", "r.json", "--markdown", "-", "--seed", 3, "--rows", 5)
    assert result.exit_code == 0
    assert result.stdout.startswith("# x.npz\n")
    data = json.loads((here / "r.json").read_text())
    assert data["command"] == ["report", "x.npz", "--rows", "5", "--seed", "3"]
    assert data["seed"] == 3
    assert data["reports"][0]["subject"]["kind"] == "tensors"


def test_a_spec_on_standard_input(run, here):
    result = run("report", save(), "--spec", "-", input="causal: top-left\nscale: 1/3\n")
    assert result.exit_code == 0
    assert "top-left (j <= i)" in result.stdout
    assert "1/3" in result.stdout


def test_undecided_exits_3_with_strict_only(run, here):
    """Any mean of 1 + 2**-24 is a tie of two float32; with irrational weights balls of any size hold both its sides."""
    v, k = np.full((2, 1), 1 + 2.0**-24), np.array([[1.0], [0.0]], np.float32)
    name = save(q=np.ones((1, 1), np.float32), k=k, v=v, out=np.ones((1, 1), np.float32))
    assert run("report", name).exit_code == 0
    result = run("report", name, "--within", "0.5", "--strict")
    assert result.exit_code == 3
    assert "cannot be told to be within 0.5 ulp" in " ".join(result.stdout.split())
    nothing = np.array([[np.nan]], np.float32)
    assert run("report", save(q=nothing, k=v, v=v, out=nothing), "--strict").exit_code == 0  # no value, no question


def test_the_spec_template_is_a_spec_and_takes_what_it_lists(run, here):
    assert run("new", "--spec", "spec.yaml").exit_code == 0
    assert run("report", save(), "--spec", "spec.yaml").exit_code == 0
    loads_spec(spec_template())
    lines = [line.removeprefix("# ") for line in spec_template().splitlines() if line.startswith("# ")]
    keys = {line.partition(":")[0] for line in lines if ":" in line and " " not in line.partition(":")[0]}
    from exactattn.documents.model_options import SpecPart

    assert keys | {"scale", "causal", "version", "query_heads", "key_heads"} == set(SpecPart.model_fields)


def test_the_schema_of_spec_files(run):
    import jsonschema
    import yaml

    schema = json.loads(run("schema", "--spec").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    for part in (schema, *schema["$defs"].values()):
        assert all(value.get("description") for value in part.get("properties", {}).values())
    validator = jsonschema.Draft202012Validator(schema)
    text = (
        "scale: 1/sqrt(d_k)\ncausal: 3\nwindow: [1, null]\nalibi: {slopes: [1, 1/2]}\n"
        "qk_norm: {q_weight: w, eps: 1e-6}\n"
        "rotary: {cosines: c, sines: s}\ntensors: {q: a}\nlayout: BLD\nquery_heads: 2\ndtypes: {q: bfloat16}\n"
    )
    loads_spec(text)
    validator.validate(yaml.safe_load(text))
    validator.validate(yaml.safe_load(spec_template()))
    assert not validator.is_valid({"window": [-1, 0]})
    assert not validator.is_valid({"scal": 1})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report"], "Missing argument"),
        (["report", "x.npz", "--rows", "0"], "wanted a number of rows from 1, or all"),
        (["report", "x.npz", "--rows", "-3"], "wanted a number of rows from 1, or all"),
        (["report", "x.npz", "--within", "x"], "wanted a number of ulps above 0"),
        (["report", "x.npz", "--within", "-1"], "wanted a number of ulps above 0"),
        (["report", "x.npz", "--within", "9**9**9"], "wanted a number of ulps above 0"),
        (["report", "x.npz", "--format", "float23"], "no format is called 'float23'"),
        (["report", "x.npz", "--stage", "wieghts"], "did you mean 'weights'?"),
        (["report", "x.npz", "--json", "x.npz"], "would overwrite"),
        (["report", "y.npz"], "did you mean 'x.npz'?"),
        (["report", "x.npz", "x.npz"], "both x.npz and x.npz hold a tensor named 'q'"),
        (["report", "x.npz", "--spec", "none.yaml"], "there is no such file"),
        (["report", "."], "this is a directory"),
    ],
)
def test_mistakes_of_the_command_line_exit_2_with_a_hint(run, here, arguments, words):
    save()
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""


BAD = {
    "integers": (lambda: save(q=Q.astype(int)), "", "q has type int64: give float64"),
    "complex": (lambda: save(q=Q.astype(complex)), "", "'<c16'"),
    "objects": (lambda: save(q=np.array([None])), "", "found Python objects"),
    "widths": (lambda: save(q=Q[..., :1]), "", "do not fit"),
    "heads": (lambda: save(q=np.zeros((3, 4, 2))), "", "3 query heads cannot share 2 key heads"),
    "axes": (lambda: save(q=np.zeros(3)), "", "q has shape (3,)"),
    "no width": (lambda: save(q=np.zeros((2, 4, 0)), k=np.zeros((2, 4, 0))), "", "may have length 0"),
    "mask of numbers": (lambda: save(mask=np.ones((4, 4), int)), "", "0 and 1 could mean either"),
    "mask of NaN": (lambda: save(mask=np.full((4, 4), np.nan)), "", "has a NaN or +inf"),
    "mask shape": (lambda: save(mask=np.ones((3, 4), bool)), "", "does not broadcast"),
    "sinks": (lambda: save(sinks=np.zeros(3)), "", "found 3 sinks for 2 heads"),
    "sinks of two axes": (lambda: save(sinks=np.zeros((2, 1))), "", "sink"),
    "lengths": (lambda: save(key_lengths=np.array([9])), "", "wanted numbers from 0 to 4"),
    "starts": (lambda: save(cu_seqlens_q=np.array([0, 4])), "", "write `layout: THD`, or name no starts"),
    "packed": (lambda: save(cu_seqlens_q=np.array([0, 9])), "layout: THD", "wanted 0 first, 2 last"),
    "packed without starts": (save, "layout: THD", "packed sequences need query_starts"),
    "layout": (save, "layout: BHLD", "and layout BHLD is (batch, heads, tokens, width)"),
    "no heads": (save, "layout: BLD", "give query_heads and key_heads"),
    "heads of none": (save, "query_heads: 2", "`query_heads` is for layout BLD"),
    "output": (lambda: save(out=Q[:1]), "", "out has shape (1, 4, 2), wanted (2, 4, 2)"),
    "output type": (lambda: save(out=np.zeros((2, 4, 2), int)), "", "out"),
    "lse": (lambda: save(lse=np.zeros(3)), "", "lse has shape (3,)"),
    "weights": (lambda: save(weights=np.zeros((2, 4, 3))), "", "wanted (2, 4, 4)"),
    "past": (lambda: save(past_key=K), "", "past keys and past values go together"),
    "gradient": (lambda: save(do=Q[:1]), "", "do has shape (1, 4, 2), wanted (2, 4, 2)"),
    "gradient NaN": (lambda: save(do=Q * np.nan), "", "has a NaN or an infinity"),
    "dq shape": (lambda: save(do=Q, dq=Q[:1]), "", "dq has shape (1, 4, 2), wanted (2, 4, 2)"),
    "two names": (lambda: save(query=Q), "", "'q' and 'query' are both usual names of q"),
    "name": (save, "tensors: {q: quary}", "there is no tensor 'quary'"),
    "slopes": (save, "alibi: {slopes: [1, 2, 3]}", "found 3 slopes for 2 heads"),
    "rotary": (save, "rotary: {width: 4}", "4 elements of 2 cannot be turned"),
    "cache": (lambda: save(c=np.zeros((2, 1))), "rotary: {cosines: c, sines: c}", "wanted a row for each"),
    "cache name": (save, "rotary: {cosines: c, sines: s}", "there is no tensor 'c'"),
    "cache NaN": (lambda: save(c=np.full((4, 1), np.nan)), "rotary: {cosines: c, sines: c}", "a NaN or an infinity"),
    "positions": (lambda: save(q_positions=np.full(4, 2**63, np.uint64)), "rotary: {base: 2}", "beyond"),
    "more turns": (
        lambda: save(q=np.zeros((512, 1, 64)), k=np.zeros((1, 513, 64)), v=np.zeros((1, 513, 1))),
        "rotary: {base: 2}",
        "rotary positions need 8404992 exact cosines",
    ),
    "dtype": (save, "dtypes: {q: float99}", "is no type of tensors"),
    "dtype name": (save, "dtypes: {a: bfloat16}", "a type is said of 'a'"),
    "list": (save, "- 1", "wanted the keys of a spec"),
    "tag": (save, "!!python/object:os.system 1", "tags are not read"),
    "bomb": (save, "a: &a [x]\nb: *a", "references are not read"),
    "deep": (save, "tensors: " + "[" * 99 + "]" * 99, "nested more than"),
    "binary": (save, "\x00", "control character"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tensors_and_specs_exit_2_and_say_why(run, here, name):
    make, spec, words = BAD[name]
    file = make()
    (here / "spec.yaml").write_text(spec)
    result = run("report", file, *(["--spec", "spec.yaml"] if spec else []))
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert "internal error" not in result.stderr
    assert result.stdout == ""


HEADER = b'{"q": {"dtype": "F32", "shape": [%d, 1], "data_offsets": [0, %d]}}'
FILES = {
    "x.npy": [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff", pickle.dumps([1])],
    "x.npz": [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), pickle.dumps([1])],
    "x.safetensors": [
        b"",
        b"\xff" * 8 + b"{",
        struct.pack("<Q", 2**40) + b"{}",
        *(struct.pack("<Q", len(h)) + h for h in (HEADER % (2**62, 2**64), HEADER % (2**31, 2**33), b"{}", b"{")),
    ],
    "x.txt": [b"q"],
}


@pytest.mark.parametrize(("name", "content"), [(name, x) for name, contents in FILES.items() for x in contents])
def test_truncated_and_lying_files_exit_2(run, here, name, content):
    (here / name).write_bytes(content)
    result = run("report", name)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {name}: ")
    assert "internal error" not in result.stderr


@pytest.mark.parametrize(
    ("spec", "arrays"),
    [
        ("", {"q": Q * np.float32(np.inf)}),
        ("", {"k": K * np.float32(np.nan), "out": Q}),
        ("", {"q": Q[:, :0], "out": Q[:, :0], "lse": np.zeros((2, 0), np.float32)}),
        ("masked_row: zero", {"k": K[:, :0], "v": V[:, :0], "out": np.zeros_like(Q)}),
        ("", {"k": K[:, :0], "v": V[:, :0], "out": Q, "do": Q * 0, "dq": Q * 0, "dk": K[:, :0]}),
        ("scale: 1e300", {"out": Q}),
        ("scale: 10**400", {"out": Q}),
        ("scale: -10**-400", {"out": Q}),
        ("rotary: {base: 1e-300, factor: 1e300}", {"out": Q}),
        ("softcap: 1e-300", {"out": Q}),
        ("base: 1e300", {"out": Q}),
        ("qk_norm: {kind: rms}", {"q": Q * 0, "out": Q}),
        ("causal: -2147483648", {"out": Q}),
        ("window: [2147483647, 0]\noffset: -5", {"out": Q}),
        ("", {"q": Q.astype(float) * 1e300, "k": K.astype(float) * 1e300, "out": Q}),
        ("", {"q": Q.astype(float) * 5e-324, "v": V.astype(float) * 5e-324, "out": Q.astype(float)}),
    ],
)
def test_extremes_have_a_defined_result(run, here, spec, arrays):
    (here / "spec.yaml").write_text(spec)
    result = run("report", save(**arrays), *(["--spec", "spec.yaml"] if spec else []), "--within", "2")
    assert result.exit_code in (0, 1, 2), result.output
    assert "internal error" not in result.stderr, result.stderr


NOTHING = {
    "no output": ({}, "`tensors: {output: NAME}`"),
    "output of another name": ({"attn_result": Q}, "`tensors: {output: attn_result}`"),
    "gradients without that of the output": (
        {"dq": Q, "dk": K},
        "dq is not judged; it needs the gradient of the output",
    ),
    "no element": ({"q": Q[:, :0], "out": Q[:, :0]}, "no element of output has a true value"),
    "no true value": ({"q": Q * np.float32(np.nan), "out": Q * np.float32(np.nan)}, "no element of output has a true"),
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_bound_that_nothing_is_judged_by_is_no_pass(run, here, name):
    arrays, words = NOTHING[name]
    result = run("report", save(**arrays), "--within", "1", "--strict")
    text = " ".join(result.stdout.split())
    assert result.exit_code == 3, text
    assert "othing was judged, so --within says nothing" in text.partition("EA5")[0]
    assert words in text


def test_a_gradient_that_is_not_judged_is_said(run, here):
    result = run("report", save(out=truth(), dv=V), "--within", "1", "--strict")
    assert result.exit_code == 3
    assert "dv is not judged" in " ".join(result.stdout.split())
    assert run("report", save(out=truth(), dv=V), "--within", "1", "--strict", "--stage", "context").exit_code == 0


def test_tensors_that_nothing_uses_stand_in_the_headline(run, here):
    result = run("report", save(out=truth(), **{f"t{i}": Q for i in range(8)}), "--within", "1")
    assert "Not used: t0, t1, t2, t3, t4, t5 and 2 more." in " ".join(result.stdout.split())


def test_inputs_that_are_not_finite_are_said_where_rows_are_drawn(run, here):
    k = K.copy()
    k[0, 1] = np.nan
    result = run("report", save(k=k, out=truth()), "--rows", "1")
    assert "NaN or infinite: 2 elements of k; rows in which one takes part" in " ".join(result.stdout.split())
    assert "NaN or infinite: 2 elements" not in " ".join(run("report", save(k=k, out=truth())).stdout.split())


def test_without_a_bound_the_headline_says_that_nothing_is_gated(run, here):
    name, words = save(out=truth() + 1), "No bound was set with --within, so no error of a finite number fails."
    result = run("report", name)
    assert result.exit_code == 0
    assert words in " ".join(result.stdout.split())
    assert words not in " ".join(run("report", name, "--within", "1").stdout.split())
    assert words not in " ".join(run("report", save("y.npz")).stdout.split())


@pytest.mark.parametrize("name", ["sinks", "sink", "attn_sink", "s_aux"])
def test_usual_names_of_sinks(run, here, name):
    result = run("report", save(**{name: np.ones(2, np.float32)}))
    assert f"sinks {name} (float32, 2)" in " ".join(result.stdout.replace("tensors,", "").split())

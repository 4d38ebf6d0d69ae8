"""A small file of tensors beside a case: the problem is that of its numbers, and nothing outside the folder is read."""

from fractions import Fraction as F

import numpy as np
import pytest
from tensor_writers import SHORT

from exactattn.documents.case import load, loads
from exactattn.errors import CaseError
from exactattn.findings import Verdict
from exactattn.journeys.verify import verify

RNG = np.random.default_rng(5)
Q, K, V = (RNG.integers(-8, 9, shape) / 4 for shape in ((3, 4), (3, 4), (3, 2)))


def written(folder, text="tensors: x.npz", printed="", **arrays):
    arrays = arrays or {"q": Q, "k": K, "v": V}
    np.savez(folder / "x.npz", **arrays)
    path = folder / "case.yaml"
    path.write_text(f"version: 1\nproblem: {{{text}}}\n{printed}", encoding="utf-8")
    return path


def said(path):
    with pytest.raises(CaseError) as caught:
        load(path)
    (mistake,) = caught.value.mistakes
    return str(mistake)


def test_the_problem_is_the_one_written_out(tmp_path):
    def rows(x):
        return [[str(F(y)) for y in row] for row in x.tolist()]

    options = "causal: top-left, softcap: 2, scale: 1/sqrt(d_k)"
    out = loads(f"version: 1\nproblem: {{Q: {rows(Q)}, K: {rows(K)}, V: {rows(V)}, {options}}}".replace("'", ""))
    (problem,) = load(written(tmp_path, f"tensors: x.npz, {options}")).problems.values()
    other = out.problems[""]
    assert problem.heads == other.heads
    assert problem.spec == other.spec
    assert list(problem.query_positions) == list(other.query_positions)
    assert not problem.several_heads


def test_heads_names_masks_and_sinks_of_a_file(tmp_path):
    arrays = {
        "a": RNG.standard_normal((1, 4, 2, 2)).astype(np.float16),
        "k": RNG.standard_normal((1, 2, 3, 2)).astype(np.float32),
        "v": RNG.standard_normal((1, 2, 3, 1)),
        "hidden": np.array([[True, False, False], [False, False, True]]),
        "sinks": np.array([0.5, 1.0, -1.0, 0.0], np.float32),
    }
    text = "tensors: {file: x.npz, q: a, mask: hidden, polarity: block, head_map: tiled}"
    (problem,) = load(written(tmp_path, text, **arrays)).problems.values()
    assert problem.several_heads
    assert len(problem.heads) == 4
    assert problem.mask == ((False, True, True), (True, True, False))
    assert problem.sinks == (F(1, 2), F(1), F(-1), F(0))
    assert problem.heads[2].q[1][0] == F(float(arrays["a"][0, 2, 1, 0]))
    assert problem.heads[3].k[0][1] == F(float(arrays["k"][0, 1, 0, 1]))


def test_printed_numbers_are_judged(tmp_path):
    weights = np.exp(Q @ K.T / 2)
    weights /= weights.sum(1, keepdims=True)
    shown = [[f"{x:.6f}" for x in row] for row in weights]
    shown[1][1] = "0.5"
    path = written(tmp_path, printed=f"printed: {{weights: {shown}}}\n".replace("'", ""))
    numbers = [f for f in verify(path).reports[0].findings if f.check == "printed" and "printed" in f.evidence]
    assert [f.id for f in numbers if f.verdict is not Verdict.HOLDS] == ["weights[1,1]"]
    assert len(numbers) == 9


def test_bfloat16_is_said_where_numpy_forgets_it(tmp_path):
    q = Q.astype(SHORT["bfloat16"])
    text = "tensors: {file: x.npz, dtypes: {q: bfloat16}}"
    (problem,) = load(written(tmp_path, text, q=q.view(np.uint16), k=K, v=V)).problems.values()
    assert problem.heads[0].q[0] == tuple(map(F, q[0].astype(float).tolist()))


@pytest.mark.parametrize(
    ("text", "arrays", "words"),
    [
        ("tensors: y.npz", {}, "there is no such file"),
        ("tensors: ../x.npz", {}, "outside the folder"),
        ("tensors: /etc/passwd", {}, "outside the folder"),
        ("tensors: {q: a}", {}, "'tensors' has no key 'file'"),
        ("tensors: {file: x.npz, qq: a}", {}, "unknown key 'qq' (did you mean 'q'?)"),
        ("tensors: {file: x.npz, q: w}", {}, "there is no tensor 'w'; found q (float64, 3 x 4), k"),
        ("tensors: x.npz, mask: [[1]]", {}, "found 'mask' beside `tensors`"),
        ("tensors: x.npz", {"k": K, "v": V}, "no tensor is called q, Q, query or queries; found k"),
        ("tensors: x.npz", {"q": Q, "Q": Q, "k": K, "v": V}, "'q' and 'Q' are both usual names of q"),
        ("tensors: x.npz", {"q": np.zeros((2, 1, 3, 4)), "k": np.zeros((2, 1, 3, 4)), "v": np.zeros((2, 1, 3, 4))},
         "found 2 sequences, and a problem of a case has one (`exactattn report`"),
        ("tensors: x.npz", {"q": np.zeros((300, 1)), "k": np.zeros((300, 1)), "v": np.zeros((300, 1))},
         "90000 scores, wanted at most 40000 (`exactattn report`"),
        ("tensors: x.npz", {"q": np.zeros((1, 9000)), "k": np.zeros((2, 9000)), "v": np.zeros((2, 1))},
         "27002 numbers, wanted at most 20000 (`exactattn report`"),
        ("tensors: x.npz", {"q": Q * np.nan, "k": K, "v": V}, "a NaN or an infinity is among the tensors"),
        ("tensors: x.npz", {"q": Q[:, :3], "k": K, "v": V}, "do not fit"),
        ("tensors: x.npz", {"q": Q[:0], "k": K, "v": V}, "there is no query or no key"),
        ("tensors: x.npz", {"q": Q.astype(int), "k": K, "v": V}, "q has type int64"),
        ("tensors: x.npz", {"q": np.array([[None]]), "k": K, "v": V}, "found Python objects"),
        ("tensors: x.npz, causal: true", {"q": Q[:2], "k": K, "v": V}, "has two meanings"),
        ("tensors: x.npz, rotary: {width: 6}", {}, "6 elements of 4 cannot be turned"),
        ("tensors: x.npz", {"q": Q[None], "k": K[None], "v": V[None], "mask": np.ones((2, 3, 3), bool)}, "broadcast"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_one_mistake_with_a_hint(tmp_path, text, arrays, words):
    assert words in said(written(tmp_path, text, **arrays))


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    path = written(tmp_path)
    (inner / "x.npz").symlink_to(tmp_path / "x.npz")
    assert load(path).problems
    (inner / "case.yaml").write_bytes(path.read_bytes())
    assert "outside the folder" in said(inner / "case.yaml")


def test_a_case_without_a_folder_reads_no_file():
    with pytest.raises(CaseError, match="this case is in no folder"):
        loads("version: 1\nproblem: {tensors: x.npz}")

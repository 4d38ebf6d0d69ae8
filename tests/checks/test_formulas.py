"""Claims about formulas: the right ones hold, planted wrong ones fail, hostile ones are findings too."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import by_id

from exactattn.bench import Bench
from exactattn.checks.formulas import CHECK
from exactattn.findings import Claim, Verdict


def judge(text, **fields):
    """The finding about one formula."""
    return by_id(CHECK, Bench(claims=(Claim("f", "formula", {"formula": text, **fields}),)))["f"]


RIGHT = [
    # S30 to S35, S38 of source-claims.md, and the same in other spellings
    "a_ij = exp(e_ij) / sum_k exp(e_ik)",
    "a_ij = softmax_j(e_ij)",
    "C_i = sum_j a_ij V_j",
    "C = A V",
    "e_ij = Q_i K_j^T / sqrt(d_k)",
    "e_ij = Q_i K_j^T",
    "e_ij = sum_l Q_il K_jl / sqrt(d_k)",
    "e_ij = d_k^{-1/2} q_i · k_j",
    "sum_j a_ij = 1",
    "C = softmax(Q K^T / sqrt(d_k)) V",
    "Attention(Q, K, V) = softmax(QK^T / sqrt(d_k)) V",
    "C_{i,h} = sum_j exp(Q_{h,i} K_{h,j}^T / sqrt(d_k)) / sum_k exp(Q_{h,i} K_{h,k}^T / sqrt(d_k)) V_{h,j}",
    r"C_{i,h} = \sum_{j} \frac{\exp(\frac{Q_{h,i} K_{h,j}^T}{\sqrt{d_k}})}"
    r"{\sum_{k} \exp(\frac{Q_{h,i} K_{h,k}^T}{\sqrt{d_k}})} V_{h,j}",
    "C_i = [C_{i,1}, C_{i,2}, ..., C_{i,H}]",
    "Q_h = X W_h^Q",
    "K_h = X W_K_h",
    "O_i = C_i W_O",
    "O_i = sum_h C_{i,h} W_h^O",
    "MultiHead(Q,K,V) = Concat(head_1, ..., head_H) W^O",
    "(A X) W_V = A (X W_V)",
    "C = A X W_V",
    "lse_i = log sum_j exp(e_ij)",
    "C = softmax(X W_Q (X W_K)^T / sqrt(d_k)) X W_V",
]


@pytest.mark.parametrize("text", RIGHT)
def test_right_formulas_hold(text):
    found = judge(text)
    assert (found.code, found.verdict) == ("EA206", Verdict.HOLDS), found.message
    assert found.evidence["sizes"]["n"] == 2
    assert "SymPy" in found.evidence["by"]


PLANTED = [
    ("a_ij = exp(e_ij) / sum_k exp(e_kj)", "EA206"),  # softmax over the wrong axis
    ("a_ij = exp(e_ij) / sum_{k != i} exp(e_ik)", "EA206"),  # "the other positions", S29
    ("a_ij = exp(e_ij) / sum_{k <= i} exp(e_ik)", "EA206"),
    ("a_ij = softmax(e_ij)", "EA206"),
    ("a_ij = e_ij / sum_k e_ik", "EA206"),
    ("A = softmax(K Q^T / sqrt(d_k))", "EA206"),
    ("C_i = sum_j a_ji V_j", "EA206"),
    ("C_i = sum_j a_ij V_i", "EA206"),
    ("C = softmax(Q K^T) V", "EA206"),  # no scale
    ("C = softmax(Q K^T / d_k) V", "EA206"),  # no root
    ("C = softmax(Q K^T / sqrt(d_v)) V", "EA206"),  # the root of another size
    ("C = softmax(Q K^T / sqrt(n)) V", "EA206"),
    ("e_ij = Q_j K_i^T / sqrt(d_k)", "EA206"),
    ("e_ij = Q_i Q_j^T / sqrt(d_k)", "EA206"),
    ("sum_i a_ij = 1", "EA206"),
    ("Q_h = X W_h^K", "EA206"),
    ("O_i = sum_h C_{i,h} W_1^O", "EA206"),
    ("C_i = [C_{i,1}, ..., C_{i,H}] + C_i", "EA206"),
    ("O_i = W_O C_i", "EA205"),
    ("O_i = C_i W_O^T", "EA205"),
    ("e_ij = Q K_j^T", "EA205"),
    ("e_ij = Q_i K_j / sqrt(d_k)", "EA205"),
    ("C = softmax(Q^T K / sqrt(d_k)) V", "EA205"),
    ("C = V softmax(Q K^T / sqrt(d_k))", "EA205"),
    ("C_i = sum_j V_j a_ij V_j", "EA205"),
    ("Q = W_Q X", "EA205"),
]


@pytest.mark.parametrize(("text", "code"), PLANTED)
def test_planted_errors_fail(text, code):
    found = judge(text)
    assert (found.code, found.verdict) == (code, Verdict.FAILS), found.message
    if code == "EA206":
        assert found.evidence["counterexample"]["left"] != found.evidence["counterexample"]["right"]


def test_the_output_projection_of_document_t():
    """S36 of source-claims.md: shapes, what they force, and the 2 x 2 example."""
    shapes = {"C_i": ["1", "H*d_v"], "W_O": ["H*d_v", "d_model"], "O_i": ["1", "d_model"]}
    found = judge("O_i = W_O C_i", shapes=shapes)
    assert (found.code, found.verdict, found.reason) == ("EA205", Verdict.FAILS, "shape")
    assert found.evidence["needs"] == "d_model = 1"
    assert found.evidence["forced"] == "H*d_v x H*d_v"
    assert found.evidence["orders"] == {
        "C_i W_O": "1 x d_model",
        "W_O^T C_i^T": "d_model x 1",
    }
    assert found.evidence["repairs"][0] == {
        "formula": "O_i = C_i W_O",
        "what": "in the other order",
        "verdict": "holds",
    }
    assert found.evidence["numbers"] == {
        "C_i": [1, 2],
        "W_O": [[0, 1], [0, 0]],
        "C_i W_O": [0, 1],
        "W_O C_i^T": [2, 0],
    }
    assert "needs d_model = 1" in found.message


def test_with_columns_it_is_right():
    shapes = {"C_i": ["H*d_v", "1"], "W_O": ["d_model", "H*d_v"], "O_i": ["d_model", "1"]}
    assert judge("O_i = W_O C_i", shapes=shapes).verdict is Verdict.HOLDS
    assert judge("O_i = W_O C_i", orientation="columns").verdict is Verdict.HOLDS
    assert judge("S = K^T Q / sqrt(d_k)", orientation="columns").verdict is Verdict.HOLDS
    assert judge("Z = V A", orientation="columns").verdict is Verdict.HOLDS
    assert judge("Z = A V", orientation="columns").code == "EA205"


def test_the_missing_index_of_document_t():
    """S26 and S27: n x 1 for a 1 x 1 left side, i does not occur, Q_i is meant; the single-row reading fails too."""
    found = judge(r"e_{ij} = \frac{Q K_j^T}{\sqrt{d_k}}")
    assert found.evidence["misfit"]["right"]["shape"] == "n x 1"
    assert found.evidence["missing_indices"] == ["i"]
    assert found.evidence["repairs"] == [
        {"formula": "e_ij = Q_i K_j^T / sqrt(d_k)", "what": "Q_i in place of Q", "verdict": "holds"}
    ]
    assert "i does not occur" in found.message
    single = judge("e_ij = Q K_j^T", shapes={"Q": ["1", "d_k"]})
    assert (single.code, single.verdict) == ("EA206", Verdict.FAILS)


def test_the_row_convention_of_document_t():
    """S21: one row x and one row Q stand for the same token."""
    shapes = {"x": ["1", "d_model"], "Q": ["1", "d_k"]}
    assert judge("Q = x W^Q", shapes=shapes).verdict is Verdict.HOLDS


def test_the_symbol_defined_twice():
    """S27: e_ij with and without the scale."""
    texts = (
        "e_ij = Q K_j^T",
        "e_ij = Q K_j^T / sqrt(d_k)",
        "a_ij = softmax_j(e_ij)",
        "a_ij = exp(e_ij)/sum_k exp(e_ik)",
    )
    claims = tuple(Claim(f"f{n}", "formula", {"formula": text}) for n, text in enumerate(texts))
    found = by_id(CHECK, Bench(claims=claims))
    assert [id for id, one in found.items() if one.code == "EA207"] == ["f1:again"]
    note = found["f1:again"]
    assert note.level == "note"
    assert note.evidence["formulas"] == {"f0": texts[0], "f1": texts[1]}


def test_which_score_is_meant():
    """S30 holds for the scaled scores only."""
    text = "a_ij = exp(e_ij) / sum_k exp(e_ik)"
    assert judge(text, means={"e_ij": "scaled"}).verdict is Verdict.HOLDS
    found = judge(text, means={"e_ij": "scores"})
    assert found.verdict is Verdict.FAILS
    # the example is 2 x 2 with one score of 1, d_k = 2: softmax(1/sqrt(2), 0) against softmax(1, 0)
    sides = {float(found.evidence["counterexample"][side]) for side in ("left", "right")}
    wanted = {1 / (1 + math.exp(-1 / math.sqrt(2))), 1 / (1 + math.exp(-1))}
    assert all(any(math.isclose(x, y, rel_tol=1e-7) for y in wanted | {1 - w for w in wanted}) for x in sides)


def test_other_names_scales_bases_and_masks():
    assert judge("F_i = sum_j a_ij V_j", means={"F": "context"}).verdict is Verdict.HOLDS
    assert judge("e_ij = Q_i K_j^T / d_k", scale="1/d_k").verdict is Verdict.HOLDS
    assert judge("e_ij = Q_i K_j^T / sqrt(d_k)", scale="1/d_k").verdict is Verdict.FAILS
    assert judge("C = softmax(Q K^T) V", scale="1").verdict is Verdict.HOLDS
    assert judge("C = softmax(Q K^T / sqrt(d_k)) V", causal="top-left").verdict is Verdict.FAILS
    assert judge("C = softmax(Q K^T / sqrt(d_k)) V", base="2").verdict is Verdict.FAILS
    assert judge("head_i = softmax(Q_i K_i^T / sqrt(d_k)) V_i", head="i").verdict is Verdict.HOLDS
    assert judge("C_i = [C_{i,1}, ..., C_{i,H}]", shapes={"C_i": ["1", "d_model"]}).code == "EA205"
    named = judge("C_i = [C_{i,1}, ..., C_{i,H}]", shapes={"C_i": ["1", "d_model"]}, sizes={"d_model": "H*d_v"})
    assert named.verdict is Verdict.HOLDS


def test_a_formula_beyond_attention_is_only_fitted():
    shapes = {"F": ["n", "f"], "Z": ["n", "d_model"], "W_1": ["d_model", "f"]}
    found = judge("F = Z W_1", shapes=shapes)
    assert (found.code, found.verdict, found.level) == ("EA206", Verdict.NOT_RUN, "note")
    assert judge("F = W_1 Z", shapes=shapes).code == "EA205"


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("O_i = foo", {}),
        ("O_i = C_i $$ ?", {}),
        ("O_i = C_i", {"shapez": "x"}),
        ("O_i = C_i", {"shapes": "x"}),
        ("O_i = C_i", {"shapes": {"C_i": ["1"]}}),
        ("O_i = C_i", {"shapes": {"C_i": ["1", "sqrt(2)"]}}),
        ("O_i = C_i", {"shapes": {"C_i + 1": ["1", "d_v"]}}),
        ("O_i = C_i", {"means": {"C": "contxt"}}),
        ("O_i = C_i", {"scale": "1/foo"}),
        ("O_i = C_i", {"base": "0"}),
        ("O_i = C_i", {"causal": "maybe"}),
        ("O_i = C_i", {"heads": "perhaps"}),
        ("O_i = C_i", {"sizes": {"d_q": "1"}}),
        ("C_i = " + "(" * 5000, {}),
        ("C_i = " + "sum_j " * 40 + "V_j", {}),
        ("x" * 10_000, {}),
        ("e_ij = Q_a K_b^T Q_c K_d^T Q_f K_g^T Q_l K_m^T / sqrt(d_k)", {}),
        ("C_i = sum_a sum_b sum_c sum_d sum_f sum_g sum_l sum_m sum_p sum_q a_ab a_cd a_fg a_lm a_pq V_i", {}),
        ("e_ij = Q_{i,j,k}", {}),
        ("a_ij = a_{9,9}", {}),
    ],
)
def test_a_mistake_is_a_finding(text, fields):
    found = judge(text, **fields)
    assert (found.code, found.reason) == ("EA209", "unreadable"), found.message


def test_a_costly_equality_is_given_up_not_computed():
    powers = " ".join(["(Q_i K_j^T + 1)"] * 13)
    found = judge(f"e_ij + {powers} = Q_i K_j^T / sqrt(d_k) + {powers}")
    assert found.verdict in (Verdict.HOLDS, Verdict.UNDECIDED)


PIECES = ["Q", "K", "V", "C_i", "a_ij", "e_ij", "W_O", "V_j", "Q_i", "K_j^T", "^T", "sum_j ", "/", " ", "(", ")", "+"]
PIECES += ["exp(", "sqrt(d_k)", "-", "softmax(", "[", ", ", "..., ", "]", "_h", "_{i,h}", "·", "2", "d_v", "H", "O_i"]


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=9), st.sampled_from(["C_i", "e_ij", "O_i", "C", "a_ij", "C_{i,h}"]))
def test_any_text_gives_a_finding(pieces, left):
    found = judge(f"{left} = {''.join(pieces)}")
    assert found.verdict in (Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED, Verdict.NOT_RUN)

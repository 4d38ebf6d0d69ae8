"""Formulas as people write them: the same tree from plain text and LaTeX, shapes for all sizes, hostile texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactattn.attention.dimensions import Dim, read_dim, spell_shape
from exactattn.attention.formula_tree import symbols
from exactattn.attention.formulas import parse_formula, parse_tree
from exactattn.attention.shapes import Misfit, fit
from exactattn.attention.symbols import Notation, has_heads
from exactattn.errors import NumeralError


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"e_{ij} = \frac{Q K_j^T}{\sqrt{d_k}}", "e_ij = Q K_j^T / sqrt(d_k)"),
        (r"a_{ij} = \frac{\exp(e_{ij})}{\sum_{k} \exp(e_{ik})}", "a_ij = exp(e_ij) / sum_k exp(e_ik)"),
        (r"Q = \mathbf{x}W^Q", "Q = x W_Q"),
        (r"Q_h = XW_h^Q", "Q_h = X W_Q_h"),
        (r"Q_h = XW_h^Q", "Q_h = X W^{Q}_{h}"),
        (r"C_i = [C_{i,1}, C_{i,2}, \dots, C_{i,H}]", "C_i = Concat(C_{i,1}, ..., C_{i,H})"),
        (r"A=\text{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)", "A = softmax(Q K^T / d_k^{1/2})"),
        (r"C_i = \sum_{j=1}^{n} a_{ij} V_j", "C_i = sum_j a_ij V_j"),
        ("a_ij = e^{e_ij} / sum_k e^{e_ik}", "a_ij = exp(e_ij) / sum_k exp(e_ik)"),
    ],
)
def test_one_formula_in_two_spellings(latex, plain):
    one, other = parse_formula(latex), parse_formula(plain)
    if "1/2" not in plain:
        assert (one.left, one.right) == (other.left, other.right)
    assert parse_formula(one.plain).plain == one.plain


def test_a_sum_below_a_fraction_reaches_as_far_as_its_index():
    """exp(..) / sum_k exp(..k..) V_j is (exp / sum) V, as in document T."""
    one = parse_formula("C_i = sum_j exp(e_ij) / sum_k exp(e_ik) V_j")
    assert one.right == parse_formula("C_i = sum_j (exp(e_ij) / (sum_k exp(e_ik))) V_j").right
    other = parse_formula("C_i = 1 / sum_k a_ik a_ik V_i")
    assert other.right == parse_formula("C_i = (1 / (sum_k a_ik a_ik)) V_i").right


@pytest.mark.parametrize(
    "text",
    [
        "", "=", "C_i", "C_i =", "= C_i", "C_i = = C_i", "C_i = (C_i", "C_i = sum C_i", "C_i = sum_{j=2}^n C_j",
        "C_i = sum_j^q C_j", "C_i = [C_{i,2}, ..., C_{i,H}]", "C_i = \\foo", "C_i = C_i ^ 99", "C_i = __import__('os')",
        "C_i = " + "(" * 1000, "C_i = " + "exp " * 200 + "C_i", "C_i = " + "a" * 3000, "C_i = C_{i+1}", "a=b\x00",
    ],
)  # fmt: skip
def test_what_is_not_a_formula_says_where(text):
    with pytest.raises(NumeralError) as error:
        parse_formula(text)
    assert error.value.offset is not None


@given(st.text(alphabet="QKVCaeijkhHWXO_^{}()[]/+-=., \\123Tsumexpqrtd·…", max_size=60))
def test_garbage_is_refused_and_nothing_else(text):
    try:
        tree = parse_formula("C_i = " + text)
    except NumeralError:
        return
    again = parse_formula(tree.plain)
    assert again.plain == tree.plain


@pytest.mark.parametrize(
    "text",
    ["(A X) W_V", "A (X W_V)", "A (X / d_k) V", "(sum_j a_ij) V_i", "Q (K · V)", "-(Q + K) V", "(sum_j V_j) / d_k"],
)
def test_brackets_that_matter_are_kept(text):
    one = parse_formula(f"C = {text}")
    assert one.plain == f"C = {text}"
    assert parse_formula(one.plain).right == one.right


def dim(text):
    return read_dim(parse_tree(text, ("d_k", "d_v", "d_model")))


def test_sizes_are_polynomials():
    assert dim("H*d_v") == dim("d_v * H")
    assert dim("d_model/H") * dim("H") == dim("d_model")
    assert dim("d_k + d_k") == dim("2*d_k")
    assert dim("H*d_v") != dim("d_model")
    assert dim("H*d_v").substituted({"d_v": dim("d_model/H")}) == dim("d_model")
    assert str(Dim.number(3) * dim("H*d_v")) == "3*H*d_v"
    with pytest.raises(NumeralError):
        dim("1/(H + 1)")


def fitted(text, **options):
    formula = parse_formula(text)
    used = [*symbols(formula.left), *symbols(formula.right)]
    projected = any(symbol.base == "W_O" for symbol in used)
    found = fit(formula, Notation(heads=has_heads(used), projected=projected, **options))
    return found.needs if isinstance(found, Misfit) else spell_shape(found)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("e_ij = Q_i K_j^T", "1 x 1"),
        ("E = Q K^T", "n x n"),
        ("C_i = sum_j a_ij V_j", "1 x d_v"),
        ("C_i = [C_{i,1}, ..., C_{i,H}]", "1 x H*d_v"),
        ("O_i = C_i W_O", "1 x d_model"),
        ("O_i = sum_h C_{i,h} W_h^O", "1 x d_model"),
        ("Output = A V", "n x d_v"),
        ("e_ij = q_i · k_j", "1 x 1"),
        ("Q = x W_Q", "n x d_k"),
    ],
)
def test_shapes_that_fit(text, shape):
    assert fitted(text) == shape


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("O_i = W_O C_i", "d_model = 1"),  # S36 of source-claims.md
        ("e_ij = Q K_j^T", "n = 1"),  # S26
        ("e_ij = Q_i K_j", "d_k = 1"),
        ("e_ij = Q_i^T K_j", "d_k = 1"),
        ("C = Q K^T", "d_v = n"),
        ("C = V A", "d_v = n"),
        ("C_i = V_j^T", "d_v = 1"),
        ("C = A V / Q_i", "d_k = 1"),
        ("C = A V + Q", "d_v = d_k"),
    ],
)
def test_shapes_that_do_not_fit_say_what_they_need(text, needs):
    def equations(said):
        return {frozenset(one.split(" = ")) for one in said.split(" and ")}

    assert equations(fitted(text)) == equations(needs)

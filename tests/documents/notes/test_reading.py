"""How names, formulas, rows and examples are read, and what is left out rather than guessed."""

import pytest

from exactattn.documents.case import loads
from exactattn.documents.notes import read_notes
from exactattn.documents.notes.meanings import meaning_of
from exactattn.documents.notes.names import role_of
from exactattn.errors import CaseError

NAMES = {
    "X": r"X \mathbf{X} inputs Input",
    "W_Q": r"W_Q W^Q W_q Wq \mathbf{W}^{Q} W^{(Q)} W_{Q}",
    "q": r"Q \mathbf{Q} query Queries 查询矩阵 q_1",
    "k": r"K keys 键矩阵 \vec{k}",
    "v": r"V \mathbf{V} 值矩阵 Values",
    "scores": r"scores QK^T 注意力分数 Q{K}^T \mathbf{Q}\mathbf{K}^\top",
    "scaled": r"scaled_scores S_{\text{scaled}} 缩放后的分数",
    "weights": r"A attn_weights \alpha 注意力权重 Aufmerksamkeitsgewichte P",
    "output": r"\text{Output} O Z output 输出 Ausgabe",
}


@pytest.mark.parametrize(("wanted", "label"), [(name, label) for name, all_ in NAMES.items() for label in all_.split()])
def test_names_in_many_spellings(wanted, label):
    assert role_of(label).name == wanted


@pytest.mark.parametrize("label", ["B", "loss", "d_k", r"\Sigma", "theta", "", "weights of the scores", r"\unknown{X}"])
def test_other_names_are_no_part_of_attention(label):
    assert role_of(label) is None


@pytest.mark.parametrize(
    ("side", "name", "scale"),
    [
        (r"\frac{QK^T}{\sqrt{d_k}}", "scaled", "1/sqrt(d_k)"),
        (r"\frac{1}{\sqrt{2}}\mathbf{Q}\mathbf{K}^{\top}", "scaled", "1/sqrt(2)"),
        ("Q @ K.T / np.sqrt(64)", "scaled", "1/sqrt(64)"),
        ("QKᵀ/√2", "scaled", "1/sqrt(2)"),
        ("torch.matmul(Q, K.transpose(-2, -1))", "scores", None),
        (r"\text{softmax}(QK^T)", "weights", "1"),
        (r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V", "output", "1/sqrt(d_k)"),
        ("weights @ V", "output", None),
        ("X W_K", "k", None),
    ],
)
def test_what_a_formula_makes(side, name, scale):
    meaning = meaning_of(side)
    assert (meaning.name, meaning.scale) == (name, scale)


@pytest.mark.parametrize("side", ["A + B", "softmax(", "1/0", r"\frac{QK^T}{-2}", "f(x)", "QV", r"\badcommand{Q}K^T"])
def test_what_no_formula_of_attention_is(side):
    assert meaning_of(side) is None


def test_vectors_of_tokens_are_put_together():
    text = "x_1 = [1, 0]\nx_2 = [0, 1]\nW_Q = W_K = W_V = I\nAttention weights: [[0.67, 0.33], [0.33, 0.67]]\n"
    draft = read_notes(text)
    assert "X: [[1, 0], [0, 1]]" in draft.text
    assert loads(draft.text).printed[""][0].name == "weights"


def test_other_numbers_for_an_input_begin_another_example():
    text = (
        "Q = [[1, 0], [0, 1]], K = [[1, 0], [0, 1]], V = [[1, 2], [3, 4]]\n\n"
        + "Weights: [[0.67, 0.33], [0.33, 0.67]]\n\n"
    )
    text += "Q = [[1, 0], [0, 2]]\n\nWeights: [[0.67, 0.33], [0.20, 0.80]]\n"
    draft = read_notes(text)
    assert list(loads(draft.text).problems) == ["example_line_1", "example_line_5"]
    assert sum("holds here too" in one.says and one.assumed for one in draft.noted) == 2


def test_scores_alone_are_judged_by_formulas():
    draft = read_notes("scores = [2.0, 1.0, 0.1]\n\nAttention weights: [0.659, 0.252, 0.099]\n")
    case = loads(draft.text)
    assert case.problems == {}
    assert [str(step.name) for step in case.sheets[""].steps] == ["scaled", "weights"]
    assert any(one.assumed and "not scaled" in one.what for one in draft.noted)


def test_words_that_name_two_things_name_nothing():
    draft = read_notes("Q = [[1, 0]]\nK = [[1, 0]]\nV = [[1, 0]]\n\nFrom the queries and the keys: [[0.5, 0.5]]\n")
    (left,) = [one for one in draft.noted if not one.understood]
    assert left.place.line == 5


def test_a_block_that_does_not_fit_is_left_out_with_the_reason():
    draft = read_notes("Q = [[1, 0]]\nK = [[1, 0]]\nV = [[1, 0]]\n\nweights = [[0.5, 0.5]]\n")
    (left,) = [one for one in draft.noted if not one.understood]
    assert "'weights' is 1 x 1 here" in left.says
    assert "0.5" not in draft.text


def test_two_names_for_one_thing_that_contradict_are_not_used():
    text = "Q = [[1, 0]]\nK = [[1, 0]]\nV = [[1, 0]]\n\n"
    text += "$$B = \\text{softmax}(QK^T)$$\n\n$$B = QK^T$$\n\n$$B = [[1, 2]]$$\n"
    assert any("defined in two ways" in one.says for one in read_notes(text).noted)


def test_sums_of_rounded_numbers_are_no_false_alarm():
    # 0.33 + 0.33 + 0.33 = 0.99, which is 1 before rounding: at most 0.015 off
    draft = read_notes("The output: 0.33*1 + 0.33*1 + 0.33*1 = 1.00 and 0.4*2 + 0.6*3 = 2.6\n")
    claims = draft.text.partition("claims:")[2]
    assert "2.6" in claims
    assert "0.33" not in claims
    assert any("rounded before" in one.says for one in draft.noted)


def test_a_document_without_attention_says_so():
    with pytest.raises(CaseError, match="nothing of attention is recognised"):
        read_notes("Dear diary,\n\ntoday was a good day: 3 apples, 4 pears.\n")

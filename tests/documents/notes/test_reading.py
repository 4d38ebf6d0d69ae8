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


HEADS = """\
X = [[1, 0], [0, 1]]

$$W^Q_1 = [[1, 0], [0, 1]]$$ $$W^K_1 = [[1, 0], [0, 1]]$$ $$W^V_1 = [[1, 0], [0, 1]]$$

$$W^Q_2 = [[2, 0], [0, 1]]$$ $$W^K_2 = [[1, 0], [0, 1]]$$ $$W^V_2 = [[1, 0], [0, 3]]$$

$$A_1 = [[0.67, 0.33], [0.33, 0.67]]$$

$$A_2 = [[0.80, 0.20], [0.33, 0.67]]$$

$$Output = [[1, 0], [0, 1]]$$
"""


def test_each_head_is_an_example_of_its_own_and_what_is_of_all_heads_is_left_out():
    draft = read_notes(HEADS)
    case = loads(draft.text)
    first, second = case.problems.values()
    assert (first.heads[0].W_Q, second.heads[0].W_Q) == (((1, 0), (0, 1)), ((2, 0), (0, 1)))
    printed = [[cell.text for cell in block.cells] for blocks in case.printed.values() for block in blocks]
    assert printed == [["0.67", "0.33", "0.33", "0.67"], ["0.80", "0.20", "0.33", "0.67"]]
    assert [one.place.line for one in draft.noted if not one.understood] == [11]


GIVEN = "Q = [[1, 2]]\nK = [[1, 0], [0, 1]]\nV = [[10, 0], [0, 10]]\n\n"


@pytest.mark.parametrize(
    ("words", "scale"),
    [
        ("The softmax of the scores is [0.269, 0.731].", "1"),
        ("Scaled, the softmax of the scores is [0.33, 0.67].", "1/sqrt(d_k)"),
        ("Weights: [0.33, 0.67]", "1/sqrt(d_k)"),
        ("$$A = softmax(QK^T/2) = [0.38, 0.62]$$", "1/2"),
    ],
)
def test_a_scale_that_no_formula_states_is_assumed_by_what_the_words_say(words, scale):
    draft = read_notes(GIVEN + words)
    assert f"  scale: {scale}\n" in draft.text
    assert any(one.assumed and "the scale is" in one.what for one in draft.noted) == (scale != "1/2")


@pytest.mark.parametrize(
    ("words", "stage"),
    [
        ("The softmax of the scaled scores is", "weights"),
        ("After softmax we get", "weights"),
        ("The attention scores for query 1 are", "scores"),
        ("The scaled scores are", "scaled"),
        ("Die Aufmerksamkeitsgewichte sind", "weights"),
        ("得到注意力权重", "weights"),
    ],
)
def test_words_before_numbers(words, stage):
    text = read_notes(f"{GIVEN}{words} [0.269, 0.731].").text
    assert f"  {stage}" in text.partition("printed:")[2]


@pytest.mark.parametrize("words", ["The input of the softmax, before the softmax, is", "The loss is", "We draw"])
def test_words_that_name_no_stage(words):
    assert "printed:" not in read_notes(f"{GIVEN}{words} [0.269, 0.731].").text


def test_an_equation_before_a_block_names_it():
    text = "**Step 1.** Q = K = V = X =\n\n[[1, 0],\n [0, 1]]\n\n**Step 2.** `scores = Q @ K.T / sqrt(2)`:\n\n"
    draft = read_notes(text + "[[0.7071, 0],\n [0, 0.7071]]\n")
    case = loads(draft.text)
    assert {block.name for block in case.printed[""]} == {"q", "k", "v", "scaled"}
    assert case.problems[""].X == ((1, 0), (0, 1))
    assert sum(one.assumed and "identity" in one.what for one in draft.noted) == 3


FOREIGN = [
    "y = x + z",
    "X = E + P",
    r"p_i = \frac{e^{z_i}}{\sum_j e^{z_j}}",
    r"V = \frac{1}{n} \sum_i x_i",
    "E = m c^2",
]


@pytest.mark.parametrize("formula", [*FOREIGN, r"L = -\sum_i y_i \log p_i", "d_k = d_{model} / h"])
def test_formulas_that_are_about_something_else_are_no_claims(formula):
    draft = read_notes(f"{GIVEN}$${formula}$$\n")
    assert "claims:" not in draft.text
    assert [one.place.line for one in draft.noted if not one.understood] == [5]


def test_projections_before_x_say_that_tokens_are_columns():
    text = "We use $Q = W_Q X$, $K = W_K X$, $V = W_V X$.\nX = [[1, 0, 1], [0, 1, 1]]\nW_Q = [[1, 0], [0, 1]]\n"
    text += "W_K = [[1, 0], [0, 1]]\nW_V = [[2, 0], [0, 1]]\n\n$$V = W_V X = [[2, 0, 2], [0, 1, 1]]$$\n"
    case = loads(read_notes(text).text)
    assert case.problems[""].spec.orientation == "columns"
    assert len(case.printed[""][0].cells) == 6


@pytest.mark.parametrize(
    ("line", "equation"),
    [
        (
            "The score is q·k = [1, 0, 1]·[0, 1, 1] = 1*0 + 0*1 + 1*1 = 1.",
            "matmul([1, 0, 1], [0, 1, 1]) = 1*0 + 0*1 + 1*1 = 1",
        ),
        ("12 × 768 × 64 = 589,824", "12*768*64 = 589824"),
        (r"$\frac{2.718}{10.107} = 0.269$", "(2.718/10.107) = 0.269"),
        ("so 2/3 = 0.666... of it", "2/3 = 0.666"),
        ("$e^1 + e^2 = 2.718 + 7.389 = 10.107$", "2.718 + 7.389 = 10.107"),
        ("0.95 = 95%, and more", "0.95 = 95%"),
    ],
)
def test_numbers_that_a_line_says_are_equal(line, equation):
    assert f'equation: "{equation}"' in read_notes(GIVEN + line).text


@pytest.mark.parametrize(
    "line",
    [
        "X has shape 3×4 = 3 rows × 4 columns.",
        "64 dims / 8 heads = 8",
        "In step 2 we have 80 GB = 80 * 1024 MB",
        "On 3.3.2024 = 5",
        "for d_k = 2",
        "x <= 3 = 4",
    ],
)
def test_lines_that_make_no_equation_between_numbers(line):
    assert "claims:" not in read_notes(GIVEN + line).text


def test_a_document_without_attention_says_so():
    with pytest.raises(CaseError, match="nothing of attention is recognised"):
        read_notes("Dear diary,\n\ntoday was a good day: 3 apples, 4 pears.\n")

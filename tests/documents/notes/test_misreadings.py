"""What changes a problem and stands beside the numbers: understood, or listed and not judged; never passed over."""

import pytest

from exactattn.documents.case import loads
from exactattn.documents.notes import read_notes
from exactattn.documents.notes.equations import numeric
from exactattn.documents.notes.meanings import meaning_of
from exactattn.documents.notes.names import role_of
from exactattn.documents.notes.statements import Statement
from exactattn.errors import CaseError
from exactattn.findings import Place, Verdict
from exactattn.journeys.notes import open_case
from exactattn.journeys.verify import verify

GIVEN = "Q = [[1, 2], [0, 1]]\nK = [[1, 0], [0, 1]]\nV = [[10, 0], [0, 10]]\n\n"


def left(text):
    """The lines of what was not understood, and why."""
    return {one.place.line: one.says for one in read_notes(text).noted if not one.understood}


def printed(text):
    """The names of the blocks that are judged."""
    return read_notes(text).text.partition("\nprinted:")[2].partition("\nclaims:")[0]


def failing(tmp_path, text):
    """What is found to be wrong in a document."""
    path = tmp_path / "document.md"
    path.write_text(text, encoding="utf-8")
    (report,) = verify(path).reports
    return [finding.id for finding in report.wrong]


# scores [[1, 2], [0, 1]], scaled by 1/sqrt(2): 0.707, 1.414; the last softmax row 1/(1 + e^(1/sqrt(2))) = 0.330
SCALED = "$$\\frac{QK^T}{\\sqrt{2}} = [[0.71, 1.41], [0, 0.71]]$$\n\n"
MASKED = "[[0.71, -inf], [0, 0.71]]"
WEIGHTS = "[[1, 0], [0.33, 0.67]]"


@pytest.mark.parametrize(
    "masked",
    [
        f"With the mask,\n\n$$M = {MASKED}$$\n\n$$A = softmax(M) = {WEIGHTS}$$\n",
        f"$$\\tilde S = {MASKED}$$\n\n$$A = softmax(\\tilde S) = {WEIGHTS}$$\n",
        f"The masked scores are\n\n$$M = {MASKED}$$\n\n$$A = {WEIGHTS}$$\n",
        f"$$S_{{masked}} = {MASKED}$$\n\n$$A = softmax(S_{{masked}}) = {WEIGHTS}$$\n",
        f"$$M = [[0, -inf], [0, 0]]$$\n\n$$S + M = {MASKED}$$\n\n$$A = softmax(S + M) = {WEIGHTS}$$\n",
    ],
)
def test_scores_after_the_mask_are_no_mask_that_is_added(tmp_path, masked):
    text = GIVEN + SCALED + masked
    assert "  masked: [[0.71, -inf], [0, 0.71]]" in printed(text)
    assert ("causal: true" in read_notes(text).text) or "mask: [[0, -inf], [0, 0]]" in read_notes(text).text
    assert failing(tmp_path, text) == []
    assert failing(tmp_path, text.replace("0.33,", "0.38,")) == ["weights[1,0]"]


def test_a_mask_of_other_numbers_is_listed_and_what_rests_on_it_is_not_judged():
    text = GIVEN + "$$QK^T = [[1, 2], [0, 1]]$$\n\n$$M = [[0, -0.5], [-0.5, 0]]$$\n\n$$A = [[0.9, 0.1], [0.4, 0.6]]$$\n"
    assert "weights" not in printed(text)
    assert "scores" in printed(text)
    assert "the mask on line 7 is not understood" in left(text)[9]


@pytest.mark.parametrize(
    "words",
    [
        "We use a causal mask.",
        "Position $i$ attends to $j \\le i$ only.",
        "Now we mask the future.",
        "这里使用因果掩码。",
        "Es gilt eine kausale Maske.",
        "A token must not look at later tokens.",
    ],
)
def test_a_causal_mask_in_words(tmp_path, words):
    text = f"{GIVEN}{words}\n\n$$A = softmax(QK^T/\\sqrt{{d_k}}) = {WEIGHTS}$$\n"
    draft = read_notes(text)
    assert loads(draft.text).problems[""].spec.causal == "top-left"
    assert any(one.assumed and one.what == "a causal mask" for one in draft.noted)
    assert failing(tmp_path, text) == []


def test_a_mask_in_words_that_the_weights_do_not_show_leaves_them_unjudged():
    text = GIVEN + "Decoders use a causal mask.\n\n$$A = [[0.33, 0.67], [0.33, 0.67]]$$\n"
    assert "causal" not in read_notes(text).text.partition("problem:")[2].replace("# ", "")
    assert "not 0 above the diagonal" in left(text)[7]


def test_without_a_causal_mask_means_none():
    text = GIVEN + "There is no causal mask here.\n\nAttention weights: [[0.33, 0.67], [0.33, 0.67]]\n"
    assert "causal: true" not in read_notes(text).text


def test_a_causal_mask_where_only_scores_are_given():
    text = "scores = [[1, 2], [0, 1]]\n\nWith a causal mask the attention weights are [[1, 0], [0.27, 0.73]].\n"
    assert [str(step.name) for step in loads(read_notes(text).text).sheets[""].steps] == ["scaled", "masked", "weights"]


@pytest.mark.parametrize("words", ["a padding mask", "sliding-window attention"])
def test_a_mask_that_is_not_read(words):
    text = f"{GIVEN}We use {words}.\n\nAttention weights: [[0.33, 0.67], [0.33, 0.67]]\n"
    assert "weights" not in printed(text)
    assert "which is not read" in left(text)[7]


@pytest.mark.parametrize(
    ("words", "scale"),
    [
        ("We divide the scores by $\\sqrt{2}$.", "1/sqrt(2)"),
        ("The scores are scaled by 1/8.", "1/8"),
        ("Wir teilen die Skalarprodukte durch $\\sqrt{d_k}$.", "1/sqrt(d_k)"),
        ("We divide the scores by the square root of the key dimension.", "1/sqrt(d_k)"),
        ("We compute softmax(QK^T/√d_k).", "1/sqrt(d_k)"),
        ("The scores are not scaled.", "1"),
    ],
)
def test_a_scale_in_words(words, scale):
    draft = read_notes(f"{GIVEN}{words}\n\nAttention weights: [[0.33, 0.67], [0.33, 0.67]]\n")
    assert f"  # line 5\n  scale: {scale}\n" in draft.text


def test_a_scale_in_words_that_is_no_number_leaves_what_rests_on_it_unjudged():
    text = f"{GIVEN}We divide the scores by $\\kappa$.\n\nAttention weights: [[0.33, 0.67], [0.33, 0.67]]\n"
    assert "weights" not in printed(text)
    assert "divide the scores by" in left(text)[7]


@pytest.mark.parametrize(
    "words",
    ["Then divide each by 11.21.", "Dividing by $d_k$ makes the variance 1.", "We never divide the scores by 3."],
)
def test_other_divisions_are_no_scale(words):
    assert "1/sqrt(d_k)" in read_notes(f"{GIVEN}{words}\n\nAttention weights: [[0.3, 0.7], [0.3, 0.7]]\n").text


@pytest.mark.parametrize(
    "words",
    ["$W_Q = W_K = W_V = I$", "Let $Q = K = V = X$.", "There are no projections.", "We use identity projections."],
)
def test_queries_keys_and_values_that_are_the_tokens(tmp_path, words):
    # X = I: the scores are I; scaled 1/sqrt(2), the softmax is e^0.7071/(1 + e^0.7071) = 0.67
    text = f"X = [[1, 0], [0, 1]]\n\n{words}\n\n$$S = XX^T = [[1, 0], [0, 1]]$$\n\n"
    text += "$$A = softmax(S/\\sqrt{2}) = [[0.67, 0.33], [0.33, 0.67]]$$\n\n$$AX = [[0.67, 0.33], [0.33, 0.67]]$$\n"
    for stage in ("scores", "weights", "output"):
        assert f"  {stage}: [[" in printed(text)
    assert failing(tmp_path, text) == []


def test_tokens_as_columns_in_words():
    text = "Tokens are the columns of $X = [[1, 0, 1], [0, 1, 1]]$, and $Q = K = V = X$.\n\n"
    text += "$$K^TQ/\\sqrt{2} = [[0.71, 0, 0.71], [0, 0.71, 0.71], [0.71, 0.71, 1.41]]$$\n"
    case = loads(read_notes(text).text)
    assert case.problems[""].spec.orientation == "columns"
    assert [block.name for block in case.printed[""]] == ["scaled"]


def test_a_product_of_turned_queries_is_not_judged():
    text = "Q = [[1, 0], [0, 1]]\nK = [[1, 0], [0, 2]]\nV = [[1, 0], [0, 1]]\n\n$$Q^TK = [[1, 0], [0, 2]]$$\n"
    assert "printed:" not in read_notes(text).text


def test_the_factor_in_the_argument_of_a_softmax_counts(tmp_path):
    # exp(0), exp(2): 0.119, 0.881; at half of it exp(0), exp(1): 0.269, 0.731
    text = "The scores are $s = [0, 2]$.\n\n$softmax(s) = [0.119, 0.881]$\n\n$softmax(s/2) = [0.269, 0.731]$\n"
    assert 'of: "softmax(scores*1/2)"' in read_notes(text).text
    assert failing(tmp_path, text) == []
    assert len(failing(tmp_path, text.replace("0.269", "0.259"))) == 1


def test_factors_on_either_side_of_the_scores(tmp_path):
    # exp(0), exp(2): 0.119, 0.881; at twice that exp(0), exp(4): 0.018, 0.982
    text = "scores = [0, 2]\n\nsoftmax(scores / 0.5) = [0.018, 0.982]\n\nsoftmax(scores) = [0.119, 0.881]\n\n"
    text += "softmax(scores * 2) = [0.018, 0.982]\n\nsoftmax(2 * scores) = [0.018, 0.982]\n"
    assert printed(text).count("values: [0.018, 0.982]") == 3
    assert failing(tmp_path, text) == []


def test_a_letter_with_a_hat_is_another_letter(tmp_path):
    text = GIVEN + "$$S = [[1, 2], [0, 1]]$$\n\n$$\\hat{S} = [[0.7, 1.4], [0, 0.7]]$$\n"
    assert failing(tmp_path, text) == []
    assert "S'" in left(text)[7] or "hat" in left(text)[7]


def test_a_large_negative_number_in_place_of_minus_infinity():
    text = GIVEN + "M = [[0, -1e9], [0, 0]]\n\nThe masked scores: [[0.71, -1e9], [0, 0.71]]\n\n"
    text += f"We multiply by V.\n\nAttention weights: {WEIGHTS}\n"
    assert "masked" not in printed(text)
    assert "  weights: " in printed(text)


@pytest.mark.parametrize("side", ["softmax(s/T)", r"softmax(Wx)", r"softmax(s^2)", "softmax(x/2 + 1)"])
def test_an_argument_of_a_softmax_that_is_not_understood(side):
    meaning = meaning_of(side)
    assert meaning is None or meaning.unclear is not None


CELLS = """\
```python
import numpy as np
Q = np.array([[1, 0], [0, 1]])
K = np.array([[1, 0], [0, 1]])
V = np.array([[2, 0], [0, 4]])
scores = Q @ K.T / np.sqrt(2)
print(scores)
```

Output:

```
[[0.70710678 0.        ]
 [0.         0.70710678]]
```

```python
weights = softmax(scores)
print(weights @ V)
```

```
[[1.33952310 1.32095380]
 [0.66047690 2.67904620]]
```

```python
print(Q, K)
```

```
[[1 0]
 [0 1]]
```
"""


def test_a_print_below_a_cell_is_what_the_cell_printed():
    draft = read_notes(CELLS)
    assert [block.name for block in loads(draft.text).printed[""]] == ["scaled", "output"]
    assert "prints several things" in left(CELLS)[32]


EXAMPLE = "Q = [[{0}, 0], [0, {0}]]\nK = [[1, 0], [0, 1]]\nV = [[1, 2], [3, 4]]\n\n$$softmax(QK^T/{1}) = {2}$$\n\n"


@pytest.mark.parametrize("head", ["## Example {}", "**Beispiel {}.**", "### Exercise {}: numbers"])
def test_numbered_examples_are_problems_of_their_own(tmp_path, head):
    # scores 1 and 4 on the diagonal, scaled by 1 and 1/2: e/(1 + e) = 0.731, e^2/(1 + e^2) = 0.881
    text = f"# Two\n\n{head.format(1)}\n\n{EXAMPLE.format(1, 1, '[[0.731, 0.269], [0.269, 0.731]]')}"
    text += f"{head.format(2)}\n\n{EXAMPLE.format(4, 2, '[[0.881, 0.119], [0.119, 0.881]]')}"
    assert len(loads(read_notes(text).text).problems) == 2
    assert failing(tmp_path, text) == []
    assert len(failing(tmp_path, text.replace("[[0.731", "[[0.751"))) == 1


@pytest.mark.parametrize(
    "words",
    [
        "With temperature 0.5 the attention weights are",
        "Another head has the attention weights",
        "If we had no scale, the attention weights would be",
        "A random choice of attention weights:",
    ],
)
def test_numbers_that_a_sentence_sets_apart_are_not_judged(words):
    text = f"{GIVEN}{words} [[0.3, 0.7], [0.4, 0.6]].\n"
    assert "printed:" not in read_notes(text).text
    assert 5 in left(text)


def test_a_name_with_a_prime_is_another_name():
    assert role_of("A'") is None
    assert role_of("'A'").name == "weights"


@pytest.mark.parametrize(
    "sentence",
    [
        "Self-attention is permutation equivariant.",
        "It costs $O(n^2 d)$.",
        "Var(q·k) is d_k.",
        "Dividing by d_k is wrong.",
    ],
)
def test_sentences_that_look_like_claims_are_listed(sentence):
    text = f"{GIVEN}Attention weights: [[0.3, 0.7], [0.3, 0.7]]\n\n{sentence}\n"
    assert "may be a claim" in left(text)[7]


def test_inputs_said_to_be_the_same():
    text = "X = [[1, 0], [0, 1]]\n\n$W^Q_1 = [[1, 0], [0, 1]]$, $W^K_1 = W^Q_1$, $W^V_1 = W^Q_1$\n\n"
    text += "$W^Q_2 = [[2, 0], [0, 1]]$, $W^K_2 = W^Q_2$, $W^V_2 = W^Q_2$\n\n$$A_1 = [[0.67, 0.33], [0.33, 0.67]]$$\n"
    first, second = loads(read_notes(text).text).problems.values()
    assert first.heads[0].W_K == first.heads[0].W_Q == ((1, 0), (0, 1))
    assert second.heads[0].W_V == ((2, 0), (0, 1))


def test_vectors_in_round_brackets(tmp_path):
    statement = Statement(("a",), (), Place(1, 1), 0, 1, True, {})
    assert numeric(r"0.5 \cdot (1, 0) + 0.5 \cdot (1, 1)", statement, False) == "0.5*[1, 0] + 0.5*[1, 1]"
    text = GIVEN + "$z_2 = 0.33 \\cdot (10, 0) + 0.67 \\cdot (0, 10) = (3.3, 7.6)$\n"
    assert "line_5" in failing(tmp_path, text)


def test_a_table_of_values():
    table = "| 1 | 2 |\n|---|---|\n| 3 | 4 |\n| 5 | 6 |\n\n"
    draft = read_notes(f"Queries:\n\n{table}Keys:\n\n{table}Values:\n\n{table}")
    assert loads(draft.text).problems[""].heads[0].v is not None


@pytest.mark.parametrize(
    ("formula", "stage"),
    [
        ("$$Q = XW_Q + b_Q = [[2, 2], [1, 3]]$$", "q"),
        ("$$O = AV + X = [[2, 2], [1, 3]]$$", "output"),
        ("$$S = QK^T + B = [[2, 2], [1, 3]]$$", "scores"),
        ("`A = softmax(S, axis=0)` is [[0.5, 0.2], [0.5, 0.8]]", "weights"),
    ],
)
def test_a_formula_with_something_more_is_not_judged_as_if_it_had_not(formula, stage):
    text = "X = [[1, 0], [0, 1]]\nW_Q = [[1, 2], [0, 1]]\nW_K = [[1, 0], [0, 1]]\nW_V = [[1, 0], [0, 1]]\n\n"
    text += f"{formula}\n\n$$O = [[0.5, 0.5], [0.4, 0.6]]$$\n"
    assert f"  {stage}" not in printed(text)
    assert "output" not in printed(text)


def test_scores_and_a_mask_in_a_formula_are_masked_scores():
    assert meaning_of(r"\frac{QK^T}{\sqrt{2}} + M").name == "masked"
    assert meaning_of(r"softmax(\frac{QK^T}{\sqrt{2}} + M)").unclear is None


@pytest.mark.parametrize(
    "words", ["We use sparsemax.", "With ALiBi:", "We apply the column-wise softmax.", "Here we use base 2."]
)
def test_another_kind_of_attention_is_not_judged(words):
    text = f"{GIVEN}{words}\n\nAttention weights: [[0.33, 0.67], [0.33, 0.67]]\n"
    assert "weights" not in printed(text)


def test_before_an_output_projection_weights_times_values_are_the_context(tmp_path):
    # the scores of the identity, scaled by 1/sqrt(2): 0.67 and 0.33; W_O doubles them
    one = "[[1, 0], [0, 1]]"
    text = f"X = {one}\nW_Q = {one}\nW_K = {one}\nW_V = {one}\nW_O = [[2, 0], [0, 2]]\n\n"
    text += "$$AV = [[0.67, 0.33], [0.33, 0.67]]$$\n\nThe output is [[1.34, 0.66], [0.66, 1.34]].\n\n"
    text += "After the residual connection the output is [[2.34, 0.66], [0.66, 2.34]].\n"
    assert [block.name for block in loads(read_notes(text).text).printed[""]] == ["context", "output"]
    assert failing(tmp_path, text) == []
    assert "residual" in left(text)[11]


@pytest.mark.parametrize("words", ["We exponentiate the scores:", "After subtracting the maximum the scores are"])
def test_numbers_on_the_way_to_a_softmax_are_no_scores(words):
    assert "printed:" not in read_notes(f"{GIVEN}{words} [[2.7, 1], [1, 2.7]]\n").text


@pytest.mark.parametrize("line", ["$q_2 \\cdot k_1 = 3$", "$\\alpha_{12} = 0.3$", "$S_{1,2} = 2$"])
def test_one_element_by_its_own_formula_is_listed(line):
    assert "one element" in left(f"{GIVEN}{line}\n\nAttention weights: [[0.3, 0.7], [0.3, 0.7]]\n")[5]


def test_code_that_masks():
    code = "```python\nm = torch.tril(torch.ones(2, 2))\ns = s.masked_fill(m == 0, -1e9)\n```\n\n"
    text = f"{GIVEN}{code}Attention weights: {WEIGHTS}\n"
    assert loads(read_notes(text).text).problems[""].spec.causal == "top-left"
    text = text.replace("torch.tril(torch.ones(2, 2))", "load('mask')")
    assert "weights" not in printed(text)


def test_after_a_formula_with_another_scale_an_output_is_not_judged():
    # scores I: e/(1 + e) = 0.731, and at 1/sqrt(2) of it 0.67
    text = "Q = [[1, 0], [0, 1]]\nK = [[1, 0], [0, 1]]\nV = [[1, 2], [3, 4]]\n\n"
    text += "$$softmax(QK^T) = [[0.731, 0.269], [0.269, 0.731]]$$\n\n"
    text += "$$softmax(QK^T/\\sqrt{2}) = [[0.67, 0.33], [0.33, 0.67]]$$\n\n$$O = [[1.66, 2.66], [2.34, 3.34]]$$\n"
    assert 'of: "softmax(scores*1/sqrt(2))"' in printed(text)
    assert "output" not in printed(text)
    assert "another scale" in left(text)[9]


def test_brackets_that_do_not_match_are_named():
    text = GIVEN + "$$A = \\begin{pmatrix} 0.3 & 0.7 \\\\ 0.3 & 0.7 \\end{bmatrix}$$\n"
    assert any("closed by" in one.says and one.place.line == 5 for one in read_notes(text).noted)


def test_every_note_about_the_document_is_in_the_report(tmp_path):
    path = tmp_path / "document.md"
    path.write_text(GIVEN + "Attention weights: [[0.33, 0.67], [0.33, 0.67]]\n\nIt is permutation invariant.\n")
    (report,) = verify(path).reports
    assert [f.where.line for f in report.findings if f.code == "EA903" and f.verdict is Verdict.NOT_RUN] == [7]


def test_a_column_with_decimal_commas_is_read_as_in_the_rest_of_the_document():
    text = "Q = [[1,5]; [2,0]]\n\nK = [[0,5]; [1,0]]\n\nV = [[0,4; 0,2]; [1,0; 2,5]]\n"
    assert "Q: [[1.5], [2.0]]" in read_notes(text).text


def test_what_is_typed_at_a_prompt_names_what_stands_below_it(tmp_path):
    session = ">>> Q\n[[1 2]\n [0 1]]\n>>> K\n[[1 0]\n [0 1]]\n>>> print(V)\n[[10  0]\n [ 0 10]]\n"
    text = f"```\n{session}>>> print(np.round(weights, 2))\n[[0.33 0.67]\n [0.33 0.67]]\n```\n"
    assert "Q: [[1, 2], [0, 1]]" in read_notes(text).text
    assert failing(tmp_path, text) == []
    assert failing(tmp_path, text.replace("0.33 0.67]\n [", "0.38 0.62]\n [")) == ["weights[0,0]", "weights[0,1]"]


def test_an_unknown_function_of_a_stage_is_not_that_stage():
    text = GIVEN + "```\n>>> np.exp(scores)\narray([[2.72, 7.39],\n       [1.  , 2.72]])\n```\n"
    assert "scores" not in printed(text)
    assert list(left(text)) == [7]


TOKENS = "## Attention weights\n\n- Token 1: [0.33, 0.67]\n- Token 2: [0.33, 0.67]\n"


def test_lines_of_tokens_are_rows_of_what_the_heading_names(tmp_path):
    text = f"{GIVEN.replace('[1, 2]', '[0, 1]')}{TOKENS}"
    assert "weights: [[0.33, 0.67], [0.33, 0.67]]" in printed(text)
    assert failing(tmp_path, text) == []
    assert failing(tmp_path, text.replace("2: [0.33, 0.67]", "2: [0.38, 0.62]")) == ["weights[1,0]", "weights[1,1]"]


@pytest.mark.parametrize("heading", ["## Token lists", "scores = [[1, 2], [0, 1]]", ""])
def test_lines_of_tokens_under_no_word_that_names_them_are_listed(heading):
    text = GIVEN + TOKENS.replace("## Attention weights", heading)
    assert "weights" not in printed(text)
    assert len(left(text)) == 2


def test_tokens_that_are_counted_from_zero_are_not_read_as_counted_from_one():
    text = GIVEN + TOKENS.replace("Token 1", "Token 0").replace("Token 2", "Token 1")
    assert "weights" not in printed(text)
    assert len(left(text)) == 2


def test_a_document_where_a_case_is_wanted_says_what_to_do(tmp_path):
    document, case = tmp_path / "notes.md", tmp_path / "case.yaml"
    document.write_text(GIVEN, encoding="utf-8")
    with pytest.raises(CaseError, match="new --from"):
        open_case(str(document))
    case.write_text(read_notes(GIVEN).text, encoding="utf-8")
    assert open_case(str(case)).problems

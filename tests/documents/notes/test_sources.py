"""The two documents that the hand-written cases were made from: their drafts find what those cases expect."""

import re

import pytest
from goldens import ROOT

from exactattn.documents.case import load, loads
from exactattn.documents.notes import read_notes
from exactattn.findings import Verdict
from exactattn.journeys.verify import verify

# The part of document N with numbers, in its own words and LaTeX, shortened.
WORKED = r"""
假设我们有一个简单的输入序列$X$：

$$X=\left[\begin{array}{cc}1& 0\\ 0& 1\\ 1& 1\end{array}\right]$$

$$W_Q=W_K=W_V=\left[\begin{array}{cc}1& 0\\ 0& 1\end{array}\right]$$

$$Q=X{W}_Q=\left[\begin{array}{cc}1& 0\\ 0& 1\\ 1& 1\end{array}\right]$$

$$\frac{Q{K}^T}{\sqrt{2}}=\frac{1}{\sqrt{2}}\left[\begin{array}{cc}1& 0\\ 0& 1\\ 1& 1\end{array}\right]\left[\begin{array}{ccc}1& 0& 1\\ 0& 1& 1\end{array}\right]=\frac{1}{\sqrt{2}}\left[\begin{array}{ccc}1& 0& 1\\ 0& 1& 1\\ 1& 1& 2\end{array}\right]$$

$$A=\text{softmax}\left(\frac{Q{K}^T}{\sqrt{2}}\right)$$

$$A=\left[\begin{array}{ccc}0.4& 0.2& 0.4\\ 0.2& 0.4& 0.4\\ 0.3& 0.3& 0.4\end{array}\right]$$

$$\text{Output}=AV=\left[\begin{array}{ccc}0.4& 0.2& 0.4\\ 0.2& 0.4& 0.4\\ 0.3& 0.3& 0.4\end{array}\right]\left[\begin{array}{cc}1& 0\\ 0& 1\\ 1& 1\end{array}\right]=\left[\begin{array}{cc}0.8& 0.6\\ 0.6& 0.8\\ 0.7& 0.7\end{array}\right]$$

• 第三个输出向量$[0.7,0.7]$：

  • 0.3 (第一个元素): 表示第三个元素对第一个元素的注意力权重。
  • 0.3 (第二个元素): 表示第三个元素对第二个元素的注意力权重。
  • 0.4 (自身): 表示第三个元素对自己的注意力权重。

$$\text{第三个输出向量}=0.3\cdot [1,0]+0.3\cdot [0,1]+0.4\cdot [1,1]=[0.7,0.7]$$
"""  # noqa: E501 - as it stands in the document

# The formulas of document T, and two of its sentences.
FORMULAS = r"""
2. **注意力分数**：然后通常通过一个缩放因子（键向量维度的倒数）进行缩放。
3. 确保所有权重的和为1，这样就可以用作加权求和的权重。
   \[ Q = \mathbf{x}W^Q, \quad K = \mathbf{x}W^K, \quad V = \mathbf{x}W^V \]
   \[ e_{ij} = Q K_j^T \]
   \[ e_{ij} = \frac{Q K_j^T}{\sqrt{d_k}} \]
   \[ a_{ij} = \frac{\exp(e_{ij})}{\sum_{k} \exp(e_{ik})} \]
   \[ C_i = \sum_{j} a_{ij} V_j \]
   \[ O_i = W^O C_i \]
"""


def wrong(tmp_path, text):
    path = tmp_path / "notes.md"
    path.write_text(text, encoding="utf-8")
    (report,) = verify(path).reports
    return {finding.id: finding.reason for finding in report.wrong}


def test_document_n_needs_no_edit_for_its_wrong_row(tmp_path):
    found = wrong(tmp_path, WORKED)
    assert {key for key, reason in found.items() if reason == "new"} == {
        *(f"weights[2,{column}]" for column in range(3)),
        *(f"weights_line_20[2,{column}]" for column in range(3)),
    }
    assert {key for key, reason in found.items() if reason == "propagated"} == {
        f"{name}[2,{column}]" for name in ("output", "output_line_18", "output_line_24") for column in range(2)
    }
    assert len(found) == 12


def test_the_draft_of_document_n_has_the_problem_of_the_case_written_by_hand():
    by_hand = load(ROOT / "cases" / "example.yaml")
    drafted = loads(read_notes(WORKED).text)
    assert drafted.problems[""].heads == by_hand.problems[""].heads
    assert drafted.problems[""].X == by_hand.problems[""].X
    assert drafted.problems[""].scale == by_hand.problems[""].scale
    printed = {block.name: [cell.value for cell in block.cells] for block in by_hand.printed[""]}
    for block in drafted.printed[""]:
        if block.name in printed:
            assert [cell.value for cell in block.cells] == printed[block.name]


def test_sums_in_document_n_become_equations():
    text = read_notes(WORKED).text
    assert 'equation: "0.3*[1, 0]+0.3*[0, 1]+0.4*[1, 1] = [0.7, 0.7]"' in text
    assert "matmul([[0.4, 0.2, 0.4], [0.2, 0.4, 0.4], [0.3, 0.3, 0.4]], [[1, 0], [0, 1], [1, 1]]) = " in text


def test_document_t_the_formulas_that_cannot_be_computed_and_the_words_against_the_formula(tmp_path):
    # the case written by hand expects the same of S23, S26, S27 and S36
    assert wrong(tmp_path, FORMULAS) == {
        "line_2": "contradiction",
        "line_5": "shape",
        "line_6": "shape",
        "line_9": "shape",
    }


def test_document_t_what_holds(tmp_path):
    path = tmp_path / "notes.md"
    path.write_text(FORMULAS, encoding="utf-8")
    (report,) = verify(path).reports
    holds = {finding.id for finding in report.findings if finding.verdict is Verdict.HOLDS}
    assert {"line_3", "line_4", "line_4_2", "line_4_3", "line_7", "line_8"} <= holds


@pytest.mark.parametrize("text", [WORKED, FORMULAS])
def test_every_claim_cites_a_line_that_has_it(text):
    lines = text.split("\n")
    cited = [int(number) for number in re.findall(r'cites: "line (\d+)"', read_notes(text).text)]
    assert cited
    assert all(
        "=" in lines[number - 1] or "权重" in lines[number - 1] or "缩放" in lines[number - 1] for number in cited
    )

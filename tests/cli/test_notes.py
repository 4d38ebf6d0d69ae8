"""`exactattn verify notes.md` and `exactattn new --from notes.md`."""

import json

import pytest

from exactattn.documents.case import loads

NOTES = """\
# Two tokens

Q = [[1, 0], [0, 1]]
K = [[1, 0], [0, 1]]
V = [[1, 2], [3, 4]]

$$A = \\text{softmax}(QK^T/\\sqrt{d_k}) = \\begin{bmatrix} 0.67 & 0.33 \\\\ 0.33 & 0.76 \\end{bmatrix}$$

mystery = [[5, 6]]
"""


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.md"
    path.write_text(NOTES, encoding="utf-8")
    return path


def report_of(result):
    (report,) = json.loads(result.stdout)["reports"]
    return report


def test_a_document_is_verified_in_place_of_a_case(run, notes):
    result = run("verify", notes, "--json", "-")
    report = report_of(result)
    assert result.exit_code == 1
    assert report["subject"]["kind"] == "notes"
    assert [f["id"] for f in report["findings"] if f["verdict"] == "fails" and f["level"] == "error"] == [
        "weights[1,1]"
    ]
    (wrong,) = [f for f in report["findings"] if f["id"] == "weights[1,1]"]
    assert NOTES.split("\n")[wrong["where"]["line"] - 1][wrong["where"]["column"] - 1 :].startswith("0.76")


def test_what_was_not_understood_is_in_the_report(run, notes):
    left = [f for f in report_of(run("verify", notes, "--json", "-"))["findings"] if f["reason"] == "not-understood"]
    assert [(f["code"], f["verdict"], f["where"]["line"]) for f in left] == [("EA903", "not_run", 9)]


def test_strict_counts_what_was_not_understood(run, tmp_path):
    path = tmp_path / "right.md"
    path.write_text(NOTES.replace("0.76", "0.67"), encoding="utf-8")
    assert run("verify", path, "-q").exit_code == 0
    assert run("verify", path, "-q", "--strict").exit_code == 3


def test_the_ending_or_the_content_says_what_is_a_document(run, tmp_path):
    for name in ("notes.txt", "notes.tex", "notes.markdown", "notes"):
        (tmp_path / name).write_text(NOTES, encoding="utf-8")
        assert run("verify", tmp_path / name, "-q").exit_code == 1
    assert run("verify", "-", "-q", input=NOTES).exit_code == 1


def test_a_case_with_the_ending_txt_stays_a_case(run, tmp_path):
    path = tmp_path / "case.txt"
    path.write_text("version: 1\nclaims: [{law: rows-sum-to-one}]\n", encoding="utf-8")
    assert report_of(run("verify", path, "--json", "-"))["subject"]["kind"] == "case"


def test_nothing_recognisable_is_one_clear_message(run, tmp_path):
    path = tmp_path / "diary.md"
    path.write_text("Dear diary,\n\nit rained.\n", encoding="utf-8")
    result = run("verify", path, "-q")
    assert result.exit_code == 2
    assert "nothing of attention is recognised" in result.stderr
    assert result.stderr.count("\n") == 1
    drafted = run("new", "--from", path)
    assert drafted.exit_code == 2
    assert drafted.stdout == ""


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\x00\xff" * 100, b"Q = [[1, 2]]\n" * 400_000, b""])
def test_files_that_are_no_documents(run, tmp_path, content):
    path = tmp_path / "file.md"
    path.write_bytes(content)
    for arguments in (("verify", path, "-q"), ("new", "--from", path)):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "internal error" not in result.stderr
        assert result.stderr.startswith("error: ")


def test_a_draft_goes_to_standard_output_and_the_list_to_standard_error(run, notes):
    result = run("new", "--from", notes)
    assert result.exit_code == 0
    assert loads(result.stdout).printed[""][0].name == "weights"
    assert "line 9: not understood: 1 x 2 numbers: its name 'mystery'" in result.stderr
    assert "line 3: understood: 2 x 2 numbers are q" in result.stderr


def test_a_draft_goes_to_a_file_but_not_over_one(run, notes, tmp_path):
    path = tmp_path / "case.yaml"
    assert run("new", "--from", notes, "-o", path).exit_code == 0
    first = path.read_text(encoding="utf-8")
    assert loads(first).problems
    path.write_text("mine", encoding="utf-8")
    refused = run("new", "--from", notes, path)
    assert refused.exit_code == 2
    assert path.read_text(encoding="utf-8") == "mine"
    assert run("new", "--from", notes, path, "--force").exit_code == 0
    assert path.read_text(encoding="utf-8") == first


def test_the_draft_can_be_verified_as_a_case(run, notes, tmp_path):
    path = tmp_path / "case.yaml"
    run("new", "--from", notes, path)
    report = report_of(run("verify", path, "--json", "-"))
    assert report["subject"]["kind"] == "case"
    assert [f["id"] for f in report["findings"] if f["verdict"] == "fails" and f["level"] == "error"] == [
        "weights[1,1]"
    ]


def test_two_files_to_write_are_refused(run, notes, tmp_path):
    assert run("new", tmp_path / "a.yaml", "-o", tmp_path / "b.yaml").exit_code == 2

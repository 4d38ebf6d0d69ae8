"""A folder stands for the cases in it."""

import pytest

from exactattn.documents.files import case_files
from exactattn.journeys.verify import verify

CASE = "version: 1\ntitle: {title}\nclaims: [{{equation: 1 + 1 = 2}}]\n"


@pytest.fixture
def folder(tmp_path):
    for name in ("b.yaml", "a.yml", "w10.yaml", "w9.yaml"):
        (tmp_path / name).write_text(CASE.format(title=name), encoding="utf-8")
    for name in ("notes.txt", ".hidden.yaml"):
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "c.yaml").write_text(CASE.format(title="c"), encoding="utf-8")
    return tmp_path


def test_its_cases_in_the_order_of_their_names(folder):
    assert case_files(str(folder)) == [str(folder / name) for name in ("a.yml", "b.yaml", "w10.yaml", "w9.yaml")]


@pytest.mark.parametrize("path", ["-", "none.yaml", "bad\0name"])
def test_anything_else_stands_for_itself(path):
    assert case_files(path) == [path]


def test_verify_reads_them_and_repeats_what_was_typed(folder):
    reports = verify([folder, folder / "inner" / "c.yaml"])
    assert [report.subject.title for report in reports.reports] == ["a.yml", "b.yaml", "w10.yaml", "w9.yaml", "c"]
    assert reports.command == ("verify", str(folder), str(folder / "inner" / "c.yaml"))


def test_a_folder_without_cases_is_a_mistake(tmp_path):
    (finding,) = verify([tmp_path]).reports[0].findings
    assert finding.code == "EA901"
    assert "this is a directory, wanted a case file" in finding.message


def test_a_bad_case_in_it_stops_no_other(folder):
    (folder / "b.yaml").write_text("version: 7", encoding="utf-8")
    codes = [{finding.code for finding in report.findings} for report in verify(folder).reports]
    assert codes[0] == {"EA202"}
    assert "EA901" in codes[1]
    assert codes[2:] == [{"EA202"}, {"EA202"}]

"""`exactattn verify`: where its outputs go, and what its exit status is."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from exactattn.cli import main
from exactattn.errors import ProblemError
from exactattn.findings import Finding, Level, Report, Reports, Subject, Verdict


def test_the_report_is_printed(run, verifying):
    result = run("verify", "c.yaml")
    assert result.exit_code == 0
    assert "The statement that was checked holds." in result.stdout
    assert "\x1b" not in result.stdout


def test_options_reach_the_journey(run, verifying):
    run("verify", "a", "-", "--digits", 30, "--seed", 5, "--select", "EA1", "--select", "EA2", "--ignore", "EA106")
    paths, options = verifying.asked[0]
    assert paths == ["a", "-"]
    assert vars(options) == {"digits": 30, "seed": 5, "select": ("EA1", "EA2"), "ignore": ("EA106",)}


@pytest.mark.parametrize(("status", "strict", "code"), [(1, [], 1), (0, ["--strict"], 10), (2, [], 2)])
def test_the_exit_status_is_the_journeys(run, verifying, status, strict, code):
    verifying.status = status
    assert run("verify", "c.yaml", *strict).exit_code == code


@pytest.mark.parametrize(("option", "start"), [("--json", '{\n  "schema"'), ("--markdown", "# title")])
def test_an_output_on_standard_output(run, verifying, option, start):
    result = run("verify", "c.yaml", option, "-")
    assert result.stdout.startswith(start)
    assert result.stderr == "c.yaml: The statement that was checked holds.\n"
    assert run("verify", "c.yaml", option, "-", "--quiet").stderr == ""


def test_outputs_in_files(run, verifying, tmp_path):
    result = run("verify", "c.yaml", "--json", tmp_path / "r.json", "--markdown", tmp_path / "r.md")
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == "exactattn/reports/1"
    assert (tmp_path / "r.md").read_text().startswith("# title")
    assert "holds" in result.stdout


def test_quiet_prints_nothing(run, verifying, tmp_path):
    result = run("verify", "c.yaml", "-q", "--json", tmp_path / "r.json")
    assert result.output == ""
    assert (tmp_path / "r.json").exists()


@pytest.mark.parametrize("flag", ["--verbose", "-v"])
def test_verbose_shows_all_that_holds(run, verifying, flag, tmp_path):
    def hazard():
        found = Finding("hazard:x", "x", "EA301", Level.NOTE, Verdict.HOLDS, "no exp overflows")
        return Reports(("verify", "c.yaml"), (Report(Subject("case", "title", "c.yaml"), (found,)),))

    verifying.answer = hazard
    assert "no exp overflows" not in run("verify", "c.yaml").stdout
    shown = run("verify", "c.yaml", flag).stdout
    assert shown.count("no exp overflows") == shown.count("title\n") == 1
    assert run("verify", "c.yaml", flag, "--quiet").output == ""
    assert run("verify", "c.yaml", flag, "--json", "-").stderr.startswith("c.yaml: ")
    failed = run("verify", "c.yaml", flag, "--json", tmp_path / "no" / "r.json")
    assert failed.exit_code == 2
    assert failed.stdout.count("title\n") == 1


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_nothing_is_lost_when_a_file_cannot_be_written(run, verifying, tmp_path, quiet):
    result = run("verify", "c.yaml", "--json", tmp_path / "no" / "r.json", "--markdown", tmp_path / "r.md", *quiet)
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
    assert (tmp_path / "r.md").exists()
    assert "The statement that was checked holds." in result.stdout


def test_two_outputs_in_one_place_are_refused(run, verifying, tmp_path):
    for place in ("-", tmp_path / "x"):
        result = run("verify", "c.yaml", "--json", place, "--markdown", place)
        assert result.exit_code == 2
        assert "go to one place" in result.stderr
    assert verifying.asked == []


def test_a_code_that_chooses_nothing_is_refused(run, verifying):
    result = run("verify", "c.yaml", "--select", "EA2O9")
    assert result.exit_code == 2
    assert "did you mean 'EA209'?" in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ProblemError("wrong\x1b[31m shape"), 2, "error: wrong\\x1b[31m shape\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (ZeroDivisionError("oops"), 2, "internal error (EA900): ZeroDivisionError: oops"),
    ],
)
def test_whatever_goes_wrong_is_one_message(run, verifying, error, code, words):
    def fail():
        raise error

    verifying.answer = fail
    result = run("verify", "c.yaml")
    assert result.exit_code == code
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_debug_shows_the_traceback(run, verifying):
    verifying.answer = lambda: 1 / 0
    assert isinstance(run("--debug", "verify", "c.yaml").exception, ZeroDivisionError)


@pytest.mark.parametrize(("variables", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_is_for_terminals_that_want_it(run, verifying, variables, colored, monkeypatch):
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", **variables}.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in run("verify", "c.yaml", color=True).stdout) is colored


def test_the_width_is_the_terminals(run, verifying):
    result = run("verify", "c.yaml", env={"COLUMNS": "40"})
    assert max(map(len, result.stdout.split("\n"))) <= 40


def test_a_line_of_the_file_is_shown_as_it_is(tmp_path):
    path = tmp_path / "tab.yaml"
    path.write_text("version: 1\nproblem:\n\tX: [[1]]\n", encoding="utf-8")
    shown = CliRunner().invoke(main, ["verify", str(path)]).stdout
    assert "\n  3 | \\tX: [[1]]\n    | ^\n" in shown
    assert "(replace each tab by two spaces)" in " ".join(shown.split())
    markdown = CliRunner().invoke(main, ["verify", str(path), "--markdown", "-"]).stdout
    assert "\n      3 | \\tX: [[1]]\n        | ^\n" in markdown


def test_the_table(run, verifying, tmp_path):
    result = run("verify", "c.yaml", "--table", "-", "--quiet")
    assert result.stdout.startswith("# Printed numbers, case by case\n")
    assert run("verify", "c.yaml", "-q", "--table", tmp_path / "t.md").output == ""
    assert (tmp_path / "t.md").read_text() == result.stdout


def test_an_output_does_not_overwrite_a_case_of_a_folder(run, verifying, tmp_path):
    case = tmp_path / "a.yaml"
    case.write_text("version: 1")
    result = run("verify", tmp_path, "--table", case)
    assert result.exit_code == 2
    assert "would overwrite the case" in result.stderr
    assert verifying.asked == []
    assert case.read_text() == "version: 1"

"""The other commands, and the manners of the whole."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from exactattn.cli import main
from exactattn.errors import CaseError, Mistake

COMMANDS = sorted(main.commands)


@pytest.fixture
def case(install, document_n):
    """Every case file is document N."""
    install("exactattn.journeys.notes", open_case=lambda path: SimpleNamespace(problems={"": document_n}))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert max(map(len, result.output.split("\n"))) <= 80


def test_the_list_of_commands_is_readable(run):
    result = run("--help")
    assert [line.split()[0] for line in result.output.split("Commands:")[1].strip().split("\n")] == COMMANDS
    assert "..." not in result.output.split("Commands:")[1]


def test_the_version(run):
    from importlib.metadata import version

    assert run("--version").output == f"exactattn {version('exactattn')}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["verfy"], "Did you mean 'verify'?"),
        (["qqq"], "Commands: explain, list,"),
        (["verify", "--stirct", "x"], "--strict"),
        (["verify"], "Missing argument"),
        (["list", "laaws"], "did you mean 'laws'?"),
        (["prove", "row-sum-to-one"], "did you mean 'rows-sum-to-one'?"),
        (["prove", "rows-sum-to-one", "--option", "x"], "NAME=VALUE"),
        (["prove", "rows-sum-to-one", "--option", "thorogh=true"], "did you mean 'thorough'?"),
        (["solve", "c", "--index", "a"], "such as 2,0"),
        (["solve", "c", "--digits", "0"], "--digits"),
    ],
)
def test_mistakes_exit_2_with_a_hint(run, arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_solve(run, case):
    result = run("solve", "c.yaml", "--stage", "weights", "--index", "2,0", "--digits", 50)
    assert result.exit_code == 0
    assert "weights[2,0] = 0.24825507825772306969318668954970" in result.stdout
    assert "closed form 1/(2 + exp(sqrt(2)/2))" in result.stdout


@pytest.mark.parametrize(("index", "count"), [("2", 3), ("2,:", 3), (":,0", 3), (":", 9), ("2,0", 1), ("[2, 0]", 1)])
def test_solve_a_row_or_a_column(run, case, index, count):
    result = run("solve", "c.yaml", "--stage", "weights", "--digits", 5, "--index", index, "--engine", "mpmath")
    assert result.exit_code == 0
    assert result.stdout.count("weights[") == count


def test_solve_says_when_nothing_is_decided(run, case, install):
    undecided = SimpleNamespace(text=lambda: "w[0] is not decided\n", as_json=dict, status=3)
    install("exactattn.journeys.solve", choose=lambda problems, name: None, solve=lambda problem, wanted: undecided)
    result = run("solve", "c.yaml")
    assert (result.exit_code, result.stdout) == (3, "w[0] is not decided\n")


def test_solve_to_json(run, case, tmp_path):
    shown = run("solve", "c.yaml", "--stage", "scaled", "--json", "-")
    data = json.loads(shown.stdout)
    assert data["schema"] == "exactattn/solution/1"
    assert data["shape"] == [3, 3]
    assert run("solve", "c.yaml", "--stage", "scaled", "--json", tmp_path / "s").stdout.startswith("scaled (3 x 3)")
    assert json.loads((tmp_path / "s").read_text()) == data


def test_a_case_that_cannot_be_read(run, install):
    def load(path):
        raise CaseError(path, [Mistake("no \x1b such key", 3, 7, "did you mean X?"), Mistake("two")])

    install("exactattn.journeys.notes", open_case=load)
    result = run("solve", "c.yaml")
    assert result.exit_code == 2
    assert result.stderr == "error: c.yaml: line 3, column 7: no \\x1b such key (did you mean X?)\nc.yaml: two\n"


def test_prove_lists_and_decides(run):
    assert "rows-sum-to-one" in run("prove").output
    result = run("prove", "rows-sum-to-one")
    assert result.exit_code == 0
    assert result.stdout.startswith("rows-sum-to-one: holds\n")
    data = json.loads(run("prove", "rows-sum-to-one", "--json", "-").stdout)
    assert data["verdict"] == "holds"
    assert data["steps"][0]["answer"] == "yes"


@pytest.mark.parametrize("kind", ["engines", "laws", "checks", "conventions", "formats", "stages", "algorithms"])
def test_list(run, kind):
    result = run("list", kind)
    assert result.exit_code == 0
    assert result.output
    assert max(map(len, result.output.split("\n"))) <= 80


def test_explain(run, verifying):
    assert run("explain", "ea102").stdout.startswith("EA102\n\n")
    assert "EA900" in run("explain").stdout
    assert run("explain").stdout.startswith("CODE ")
    narrow = run("explain", "EA102", env={"COLUMNS": "50"}).stdout
    assert 40 < max(map(len, narrow.split("\n"))) <= 50
    assert "did you mean" in run("explain", "EA2O9").stderr


def test_schema(run, install):
    install("exactattn.journeys.schema", schema=lambda: {"title": "case"})
    assert json.loads(run("schema").stdout) == {"title": "case"}


def test_new(run, install, tmp_path):
    install("exactattn.journeys.new", template=lambda: "version: 1\n")
    path = tmp_path / "case.yaml"
    assert run("new").stdout == "version: 1\n"
    assert run("new", path).exit_code == 0
    assert path.read_text() == "version: 1\n"
    path.write_text("mine")
    refused = run("new", path)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert path.read_text() == "mine"
    assert run("new", path, "--force").exit_code == 0
    assert path.read_text() == "version: 1\n"


CASE = """
version: 1
title: one row
problem: {Q: [[1]], K: [[0], [0]], V: [[1], [3]], scale: 1}
printed: {weights: [[0.5, 0.5]], output: [["2.1"]]}
"""


def test_from_standard_input_to_an_exit_status(run):
    result = run("verify", "-", "--json", "-", input=CASE)
    assert result.exit_code == 1
    (report,) = json.loads(result.stdout)["reports"]
    verdicts = {f["id"]: (f["verdict"], f["reason"]) for f in report["findings"] if f["check"] == "printed"}
    assert verdicts == {
        "weights[0,0]": ("holds", "exact"),
        "weights[0,1]": ("holds", "exact"),
        "output[0,0]": ("fails", "new"),
    }
    assert "1 of 3 printed numbers is wrong." in result.stderr


def test_solve_from_standard_input(run):
    assert "output[0,0] = 2 (exact)" in run("solve", "-", input=CASE).stdout

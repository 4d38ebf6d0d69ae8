"""The README says what is: its output excerpts come out, its case verifies, its script runs, its commands are there."""

import re
import runpy
import subprocess
import sys

import pytest
from click.testing import CliRunner
from goldens import ROOT

from exactattn.cli import main

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXCERPTS = re.findall(r"<!-- output: (exactattn .*?) -->\s*```\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), EXCERPTS, ids=[command for command, _ in EXCERPTS])
def test_excerpts_of_output_come_out_in_order(command, shown, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    output = CliRunner().invoke(main, command.split()[1:]).stdout
    place = 0
    for part in shown.split("...\n"):
        found = output.find(part, place)
        assert found >= 0, f"{command} does not print:\n{part}"
        place = found + len(part)


def test_there_are_excerpts():
    assert EXCERPTS


def test_the_cases_in_the_readme_find_what_is_said_of_them(tmp_path):
    texts = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    found = []
    for text in texts:
        path = tmp_path / "case.yaml"
        path.write_text(text, encoding="utf-8")
        result = CliRunner().invoke(main, ["verify", str(path), "--json", "-"])
        assert result.exit_code == 1
        found.append(result.stdout)
    attention, formulas = found
    assert '"reason": "convention"' in attention
    assert "scale=1/d_k" in attention
    assert formulas.count('"reason": "new"') == 3  # the first row of weights


@pytest.mark.parametrize(("number", "shown"), [(0, "'fails'"), (1, "(8, 128, 64)")])
def test_the_scripts_in_the_readme_run(number, shown, tmp_path, monkeypatch, capsys):
    texts = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(texts) == 2
    script = tmp_path / "script.py"
    script.write_text(texts[number], encoding="utf-8")
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(script))
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize("name", ["main", "tests"])
def test_ci_finds_the_two_commands(name):
    command = subprocess.run(
        [sys.executable, ".ci/readme.py", name], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "python3 -m venv .venv" in command


def test_every_command_of_the_table_exists():
    used = set(re.findall(r"exactattn ([a-z]+)", README)) & {
        "verify",
        "solve",
        "prove",
        "explain",
        "new",
        "schema",
        "report",
    }
    assert used <= set(main.commands if hasattr(main, "commands") else main.list_commands(None))
    assert {"verify", "solve", "prove", "explain", "report"} <= used

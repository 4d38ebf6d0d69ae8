"""Where a run reads and writes: no case is lost, nothing is read twice, and a full disk is no fault of ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from exactattn.cli import main
from exactattn.journeys.new import template

COMMAND = (sys.executable, "-m", "exactattn")


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "case.yaml"
    path.write_text(template(), encoding="utf-8")
    return path


@pytest.mark.parametrize("option", ["--json", "--markdown"])
@pytest.mark.parametrize("by_link", [False, True])
def test_an_output_never_goes_over_a_case(case, tmp_path, option, by_link):
    target = case
    if by_link:
        target = tmp_path / "link.yaml"
        target.symlink_to(case)
    result = CliRunner().invoke(main, ["verify", str(case), option, str(target)])
    assert result.exit_code == 2
    assert f"{option} would overwrite the case" in result.stderr
    assert case.read_text(encoding="utf-8") == template()


def test_solve_does_not_go_over_its_case_either(case):
    result = CliRunner().invoke(main, ["solve", str(case), "--json", str(case)])
    assert result.exit_code == 2
    assert case.read_text(encoding="utf-8") == template()


def test_standard_input_is_read_once():
    result = CliRunner().invoke(main, ["verify", "-", "-"], input=template())
    assert result.exit_code == 2
    assert "only once" in result.stderr


def test_a_quiet_run_says_why_a_case_cannot_be_read(tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text("version: 1\ntitel: x\n\x1b", encoding="utf-8")
    result = CliRunner().invoke(main, ["verify", "-q", str(bad), str(tmp_path / "missing.yaml")])
    assert (result.exit_code, result.stdout) == (2, "")
    first, second = result.stderr.strip().split("\n")
    assert first.startswith(f"error: {bad}: line 3, column 1: ")
    assert second == f"error: {tmp_path / 'missing.yaml'}: there is no such file"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["schema"], ["list", "laws"], ["verify", "-"], ["verify", "-", "--json", "-"]])
def test_a_full_disk_is_not_our_fault(arguments):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, input=template(), text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.endswith("error: cannot write to standard output: No space left on device\n")


def test_a_closed_standard_input_is_said():
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m exactattn verify - <&-"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "standard input is closed" in done.stdout

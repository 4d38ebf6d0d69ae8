"""What a command imports: `--help` must be quick, so heavy libraries are imported only where they are used."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = {"numpy", "sympy", "mpmath", "flint", "pydantic", "yaml", "rich"}
SHOW = """
import sys
from exactattn.cli import main
try:
    main({arguments!r}, standalone_mode=False)
except SystemExit:
    pass
print()
print("heavy:", *sorted({{name.partition('.')[0] for name in sys.modules}} & {heavy!r}))
"""


def imported(*arguments):
    """The heavy libraries that a command line imports, in a process of its own."""
    script = SHOW.format(arguments=list(arguments), heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split("heavy:")[-1].split())


@pytest.mark.parametrize("arguments", ["--help", "--version", "verify --help", "solve --help", "prove --help"])
def test_help_imports_nothing_heavy(arguments):
    assert imported(*arguments.split()) == set()


@pytest.mark.parametrize("arguments", ["explain EA102", "explain", "list checks", "prove", "schema", "new"])
def test_no_symbolic_library_without_need(arguments):
    assert imported(*arguments.split()).isdisjoint({"sympy", "mpmath"})


def test_the_package_itself_is_light():
    script = f"import exactattn, sys; print(*sorted({HEAVY!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "\n"


def test_a_closed_pipe_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-c", "from exactattn.cli import main; main(['prove'])"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


def test_public_names():
    import exactattn

    assert set(dir(exactattn)) == set(exactattn.__all__)
    assert all(getattr(exactattn, name) is not None for name in exactattn.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = exactattn.nonsense

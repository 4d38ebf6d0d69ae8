"""Files made to hurt: each gives a Case or one CaseError, soon and in little memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from samples import no_hang

from exactattn.documents import yamltext
from exactattn.documents.case import Case, loads
from exactattn.errors import CaseError
from exactattn.journeys.new import template

X = "version: 1\nproblem:\n  X: "
HOSTILE = {
    "10 MB": lambda: "version: 1\ntitle: " + "x" * 10_000_000,
    "long scalar": lambda: "version: 1\ntitle: " + "x" * 1_900_000,
    "long key": lambda: "x" * 1_000_000 + ": 1",
    "long anchor": lambda: "a: &" + "x" * 100_000 + " 1",
    "long tag": lambda: "a: !" + "x" * 100_000 + " 1",
    "billion laughs": lambda: "a: &a [x]\n" + "".join(f"{c}: &{c} [*a,*a]\n" for c in "bcdefgh"),
    "deep flow": lambda: "[" * 100_000,
    "deep map": lambda: "{a: " * 100_000,
    "deep dash": lambda: "- " * 100_000,
    "deep key": lambda: "? " * 100_000,
    "deep block": lambda: "".join(" " * i + "a:\n" for i in range(1000)),
    "values": lambda: X + "[" + ", ".join(f"[0.{i}]" for i in range(200_000)) + "]",
    "cells": lambda: X + "[[" + ", ".join(f"0.{i}" for i in range(40_000)) + "]]",
    "big numbers": lambda: X + "[[" + ", ".join(f"{i}e4000" for i in range(15_000)) + "]]",
    "expressions": lambda: X + "[[" + ", ".join(f"sqrt({i})*exp({i})" for i in range(10_000)) + "]]",
    "powers": lambda: X + "[[" + ", ".join(f"{i}**1000*{i + 1}**-900" for i in range(3, 4000)) + "]]",
    "identity": lambda: X + "[[" + ", ".join("1" * 15_000) + "]]\n  W_Q: identity\n  W_K: identity\n  W_V: identity",
    "keys": lambda: "version: 1\n" + "\n".join(f"k{i}: 1" for i in range(20_000)),
    "same keys": lambda: "a: 1\n" * 40_000,
    "flow keys": lambda: "{" + "a," * 600_000,
    "claims": lambda: "version: 1\nclaims:\n" + "- x\n" * 24_000,
    "kinds": lambda: "version: 1\nclaims:\n" + "- {laww: 1}\n" * 12_000,
    "ids": lambda: "version: 1\nclaims:\n" + "- {law: a, id: a}\n" * 9_000,
    "good claims": lambda: "version: 1\nclaims:\n" + "- {law: abc, keyy: 1}\n" * 9_000,
    "equations": lambda: "version: 1\nclaims:\n" + ("- equation: " + "+".join(["1"] * 100) + " = 100\n") * 5000,
    "prints": lambda: (
        "version: 1\nproblem: {Q: [[1]], K: [[1]], V: [[1]]}\nprinted:\n"
        + "\n".join(f"  w{i}: {{stage: weights, values: [[0.5]]}}" for i in range(6_000))
    ),
    "expectations": lambda: "version: 1\nexpect:\n" + "\n".join(f"  w{i}: {{verdict: fails}}" for i in range(12_000)),
    "problems": lambda: (
        "version: 1\nproblems:\n" + "\n".join(f"  w{i}: {{Q: [[1]], K: [[1]], V: [[1]]}}" for i in range(3_000))
    ),
    "directives": lambda: "%YAML 1.1\n" * 50_000,
    "spaces": lambda: " " * 1_900_000,
    "quotes": lambda: "'" * 1_900_000,
    "pattern": lambda: "version: 1\nexpect: {'" + "[" * 9_000 + "': {verdict: fails}}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_every_hostile_text_ends(name: str) -> None:
    text = HOSTILE[name]()
    with no_hang():
        try:
            assert isinstance(loads(text), Case)
        except CaseError as error:
            assert 0 < len(error.mistakes) <= 51  # noqa: PT017
            assert len(str(error)) < 20_000  # noqa: PT017


# The peak of the process since its exec. `ru_maxrss` would be no use: Linux carries it over from whoever started it.
CHILD = """
import re, sys
from pathlib import Path
from exactattn.documents.case import load
from exactattn.errors import CaseError
for path in sys.argv[1:]:
    try:
        load(path)
    except CaseError:
        pass
ballast = b"x" * BALLAST
print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def peak_of_a_child(paths: list[str], ballast: int = 0) -> int:
    """The most memory, in kB, that a new process takes to read some files and to hold so many bytes more."""
    code = CHILD.replace("BALLAST", str(ballast))
    done = subprocess.run([sys.executable, "-c", code, *paths], check=True, capture_output=True, text=True)
    return int(done.stdout)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_in_little_memory(tmp_path) -> None:
    names = ("10 MB", "deep flow", "values", "cells", "big numbers", "identity", "keys", "claims")
    for name in names:
        (tmp_path / name).write_text(HOSTILE[name]())
    assert peak_of_a_child([str(tmp_path / name) for name in names]) < 300_000


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_the_peak_is_that_of_the_child_alone() -> None:
    """The tester: 400 MB held here are not counted, 400 MB held there are."""
    here = bytearray(b"x") * 400_000_000
    assert peak_of_a_child([]) < 300_000 < peak_of_a_child([], 400_000_000)
    assert len(here) == 400_000_000


PIECES = st.sampled_from([
    *("version: 1\n", "problem:", "problems:", "printed:", "claims:", "expect:", "runs:", "  ", "\n", "\t", "- ", ": "),
    *"[]{}~%|>?#'\"", ", ", "X", "W_Q", "Q", "K", "V", "weights", "lse", "values", "rows", "times", "identity", "1",
    *("0.5", "mask", "1/3", "sqrt(2)", "nan", "-inf", "e", "law", "equation", "a = b", "id", "&a", "*a", "!t", "heads"),
    *("head", "causal", "true", "unit", "form", "numpy", "r", "spreadsheet", "...", "\x00", "é", "💡"),
])  # fmt: skip


def never_breaks(data: bytes | str) -> None:
    try:
        assert isinstance(loads(data), Case)
    except CaseError as error:
        assert error.mistakes  # noqa: PT017
        assert all(c.isprintable() or c == "\n" for c in str(error))  # noqa: PT017


@given(st.text())
@example("\ud800")
@example("\x85")
@example("﻿version: 1")
def test_any_text(text: str) -> None:
    never_breaks(text)


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    never_breaks(data)


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_pieces_of_yaml(text: str) -> None:
    never_breaks(text)
    never_breaks("version: 1\n" + text)


WORDS = st.sampled_from([
    *("X", "W_Q", "W_K", "W_V", "Q", "K", "V", "scores", "heads", "W_O", "scale", "base", "causal", "mask", "bias"),
    *("masked_row", "orientation", "values", "stage", "head", "rows", "columns", "unit", "dtype", "form", "problem"),
    *("order", "equation", "id", "uncheckable", "why", "verdict", "reason", "formats", "algorithms", "a", "<rows>"),
    *("b", "law", "times", "<mapping>", "weights", "q", "lse", "output"),
])  # fmt: skip
LEAVES = st.sampled_from(["1", "0.5", "identity", "x", "a b", "true", "weights", "", "0", "law", "a:b", "1/0"])
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=30,
)
KEYS = ("version", "title", "source", "problem", "problems", "printed", "claims", "runs", "expect")


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_shape(tree: dict) -> None:
    never_breaks(json.dumps(tree))
    never_breaks(json.dumps({"version": "1", "problem": {"Q": [["1"]], "K": [["1"]], "V": [["1"]]}} | tree))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_the_template_with_damage(data: st.DataObject) -> None:
    text = template()
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(start + 30, len(text))))
    never_breaks(text[:start] + data.draw(PIECES) + text[stop:])


@pytest.mark.parametrize("name", ["billion laughs", "deep flow", "deep dash", "deep block", "long tag", "flow keys"])
def test_without_libyaml(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yamltext, "_FAST", None)
    assert loads(template()).claims
    with no_hang(), pytest.raises(CaseError):
        loads(HOSTILE[name]())

"""Every code has a text; codes are stable and unique."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from exactattn import plugins
from exactattn.errors import UsageError
from exactattn.journeys.explain import codes, explain, first_sentence, require_prefixes, summaries


def test_every_code_of_every_check_is_explained():
    known = codes()
    assert {"EA900", "EA901", "EA902"} <= known.keys()
    for check in plugins.found("checks").values():
        assert check.CODES.items() <= known.items()
    assert list(known) == sorted(known)
    assert all(re.fullmatch(r"EA\d{3}", code) and text.strip() for code, text in known.items())


def test_a_code_in_any_case():
    assert explain("ea102") == explain("EA102")
    assert explain("EA102").split("\n")[0] == "EA102"


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_text_is_wrapped_and_whole(width):
    for code, text in codes().items():
        lines = explain(code, width).split("\n")
        assert max(map(len, lines)) <= width
        assert " ".join(" ".join(lines[2:]).split()) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("weights above 0.99 saturate. Scale them.", "weights above 0.99 saturate"),
        ("ends at the end.", "ends at the end"),
        ("a number, e.g. 0.5, is wrong. `origin` says why.", "a number, e.g. 0.5, is wrong"),
        ("no stop", "no stop"),
    ],
)
def test_a_decimal_point_ends_no_sentence(text, sentence):
    assert first_sentence(text) == sentence


def test_every_code_has_its_first_sentence():
    shown = dict(summaries())
    assert shown.keys() == codes().keys()
    assert all(codes()[code].startswith(sentence) for code, sentence in shown.items())
    assert "0.99" in shown["EA401"]


def test_an_unknown_code_is_said():
    with pytest.raises(UsageError, match=r"there is no code 'EA2O9'; did you mean 'EA209'\?"):
        explain("EA2O9")


def test_prefixes_must_choose_something():
    require_prefixes(("EA1", "EA102", "E"))
    for prefix in ("EA8", "", "ea1"):
        with pytest.raises(UsageError, match="no code begins with"):
            require_prefixes((prefix,))


def test_a_code_with_two_texts_is_our_fault(monkeypatch):
    twice = {"a": SimpleNamespace(CODES={"EA102": "x"}), "b": SimpleNamespace(CODES={"EA102": "y"})}
    monkeypatch.setattr(plugins, "found", lambda folder: twice)
    with pytest.raises(TypeError, match="EA102 has two texts"):
        codes()

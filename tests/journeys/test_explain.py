"""Every code has a text; codes are stable and unique."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from exactattn import plugins
from exactattn.errors import UsageError
from exactattn.journeys.explain import codes, explain, require_prefixes


def test_every_code_of_every_check_is_explained():
    known = codes()
    assert {"EA900", "EA901", "EA902"} <= known.keys()
    for check in plugins.found("checks").values():
        assert check.CODES.items() <= known.items()
    assert list(known) == sorted(known)
    assert all(re.fullmatch(r"EA\d{3}", code) and text.strip() for code, text in known.items())


def test_a_code_in_any_case():
    assert explain("ea102") == explain("EA102") == f"EA102\n\n{codes()['EA102']}\n"


def test_an_unknown_code_is_said():
    with pytest.raises(UsageError, match=r"there is no code 'EA1O2'; did you mean 'EA102'\?"):
        explain("EA1O2")


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

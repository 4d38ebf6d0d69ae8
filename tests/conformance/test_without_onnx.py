"""A missing onnx is said, with the command that installs it."""

from __future__ import annotations

import sys

import pytest

from exactattn.conformance import onnx as command
from exactattn.conformance.onnx_nodes import node_cases
from exactattn.errors import Unavailable


def test_missing_onnx_is_unavailable(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(Unavailable, match=r"pip install 'exactattn\[onnx\]'"):
        node_cases()
    assert command.main([]) == 2
    assert "pip install" in capsys.readouterr().err

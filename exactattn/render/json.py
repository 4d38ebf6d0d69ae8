"""Renderer `json`: the report itself, byte for byte the same for the same reports."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from exactattn.findings import Reports
from exactattn.render.text import safe_json


class JsonRenderer:
    """The report itself: JSON in UTF-8, indented by two, keys in the order of the records."""

    name = "json"
    suffix = ".json"

    def render(self, reports: Reports, **options: Any) -> str:  # noqa: ARG002 - JSON has no options
        """The JSON text."""
        return dump(reports.as_json())


def dump(data: Any) -> str:
    """Any JSON values as text: standard JSON (no NaN, no Infinity) without hidden characters."""
    return safe_json(json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _plain(value: Any) -> Any:
    """Numbers that JSON does not have become text; tuples become lists."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


RENDERER = JsonRenderer()

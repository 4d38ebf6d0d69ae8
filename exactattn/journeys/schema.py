"""exactattn schema: the JSON Schema of case files and of spec files, for editors."""

from __future__ import annotations

from typing import Any


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a case file."""
    from exactattn.documents.model import json_schema

    return json_schema()


def spec_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a spec file."""
    from exactattn.documents.model_options import SpecPart
    from exactattn.documents.model_parts import tidied_schema

    return tidied_schema(SpecPart)

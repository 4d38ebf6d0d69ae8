"""What the shapes of case and spec files are made of: text, rows, matrices, mappings that know their keys.

Every scalar is text here. An editor sees YAML's own numbers and booleans, so in the schema a scalar may be any of them.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema
from typing_extensions import TypeAliasType

ANY_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}
NUMBER_ROW: dict[str, Any] = {"type": "array", "minItems": 1, "items": ANY_SCALAR}
NUMBER_ROWS: dict[str, Any] = {"type": "array", "minItems": 1, "items": NUMBER_ROW}


def one_of(*known: object) -> WithJsonSchema:
    """One of some words, as an editor sees them."""
    return WithJsonSchema({"enum": list(known)})


def optional(description: str) -> Any:
    """A key that may be left out."""
    return Field(default=None, description=description)


ALTERNATIVES = ("<rows>", "<mapping>", "<word>")  # how pydantic names the ways to write numbers


def kind_of_numbers(value: Any) -> str:
    """Which of the ways to write numbers this is."""
    return "<rows>" if isinstance(value, list) else "<mapping>" if isinstance(value, dict) else "<word>"


Text = TypeAliasType("Text", Annotated[str, WithJsonSchema(ANY_SCALAR)])
Index = Annotated[str, WithJsonSchema({"type": "integer", "minimum": 0})]
Rows = TypeAliasType("Rows", Annotated[list[Any], WithJsonSchema(NUMBER_ROWS)])
ROWS_OR_ROW: dict[str, Any] = {"type": "array", "minItems": 1, "items": {"anyOf": [ANY_SCALAR, NUMBER_ROW]}}
ROWS_OR_TEXT: dict[str, Any] = {"anyOf": [ANY_SCALAR, ROWS_OR_ROW]}
Values = TypeAliasType("Values", Annotated[Any, WithJsonSchema(ROWS_OR_TEXT)])
Numbers = TypeAliasType("Numbers", Annotated[list[Any], WithJsonSchema(ROWS_OR_ROW)])


class Part(BaseModel):
    """A mapping that knows all its keys."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class Timed(Part):
    """A matrix with a factor in front."""

    times: Text = optional("Factor in front of the matrix, for example 1/sqrt(2).")
    values: Rows = Field(description="Rows of numbers.")


Matrix = TypeAliasType(
    "Matrix",
    Annotated[
        Annotated[Rows, Tag("<rows>")]
        | Annotated[Timed, Tag("<mapping>")]
        | Annotated[str, WithJsonSchema({"type": "string", "pattern": "^identity$|[0-9]"}), Tag("<word>")],
        Discriminator(kind_of_numbers),
    ],
)


def tidied_schema(part: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a file as an editor sees it."""
    schema = part.model_json_schema()
    _tidy(schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _tidy(part: Any) -> None:
    """Removes what pydantic adds for Python's sake: defaults of None, titles made of the names of fields."""
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _tidy(inner)
    if isinstance(part, dict):
        if "default" in part and part["default"] is None:
            del part["default"]
        for inner in part.get("properties", {}).values():
            inner.pop("title", None)

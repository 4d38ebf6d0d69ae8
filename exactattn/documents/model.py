"""The shape of a case file: which keys stand where, and what kind each value is (text, list, mapping).

pydantic checks that, and gives the JSON Schema from the same classes. Every scalar is text here; what the text says
is read by `problems`, `printed`, `claims` and `expect`. An editor sees YAML's own numbers and booleans, so in the
schema a scalar may be any of them.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema
from typing_extensions import TypeAliasType

from exactattn.attention.algorithms import ALGORITHMS
from exactattn.attention.spec import Stage
from exactattn.documents.words import (
    CAUSAL,
    DECIMALS,
    DTYPES,
    FORMS,
    KINDS,
    MASKED_ROWS,
    ORIENTATIONS,
    ROUNDINGS,
    VERDICTS,
)
from exactattn.numbers.formats import FORMATS

ANY_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}
NUMBER_ROW: dict[str, Any] = {"type": "array", "minItems": 1, "items": ANY_SCALAR}
NUMBER_ROWS: dict[str, Any] = {"type": "array", "minItems": 1, "items": NUMBER_ROW}


def _one_of(*known: object) -> WithJsonSchema:
    return WithJsonSchema({"enum": list(known)})


def _optional(description: str) -> Any:
    return Field(default=None, description=description)


ALTERNATIVES = ("<rows>", "<mapping>", "<word>")  # how pydantic names the ways to write numbers


def _kind(value: Any) -> str:
    """Which of the ways to write numbers this is."""
    return "<rows>" if isinstance(value, list) else "<mapping>" if isinstance(value, dict) else "<word>"


Text = TypeAliasType("Text", Annotated[str, WithJsonSchema(ANY_SCALAR)])
Causal = Annotated[str, _one_of(True, False, *CAUSAL)]
MaskedRow = Annotated[str, _one_of(*MASKED_ROWS)]
Oriented = Annotated[str, _one_of(*ORIENTATIONS)]
StageName = Annotated[str, _one_of(*map(str, Stage))]
Dtype = Annotated[str, _one_of(*DTYPES)]
RoundingName = Annotated[str, _one_of(*ROUNDINGS)]
DecimalName = Annotated[str, _one_of(*DECIMALS)]
Form = Annotated[str, _one_of(*FORMS)]
FormatName = Annotated[str, _one_of(*FORMATS)]
AlgorithmName = Annotated[str, _one_of(*ALGORITHMS)]
VerdictName = Annotated[str, _one_of(*VERDICTS)]
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

    times: Text = _optional("Factor in front of the matrix, for example 1/sqrt(2).")
    values: Rows = Field(description="Rows of numbers.")


Matrix = TypeAliasType(
    "Matrix",
    Annotated[
        Annotated[Rows, Tag("<rows>")]
        | Annotated[Timed, Tag("<mapping>")]
        | Annotated[str, WithJsonSchema({"type": "string", "pattern": "^identity$|[0-9]"}), Tag("<word>")],
        Discriminator(_kind),
    ],
)


class HeadPart(Part):
    """The inputs of one head."""

    W_Q: Matrix = _optional("Query projection, d_model x d_k: rows of exact numbers, or `identity`.")
    W_K: Matrix = _optional("Key projection, d_model x d_k: rows of exact numbers, or `identity`.")
    W_V: Matrix = _optional("Value projection, d_model x d_v: rows of exact numbers, or `identity`.")
    Q: Matrix = _optional("The queries themselves, instead of X and W_Q.")
    K: Matrix = _optional("The keys themselves, instead of X and W_K.")
    V: Matrix = _optional("The values themselves, instead of X and W_V.")
    scores: Matrix = _optional("The scores q k^T themselves, before the scale, instead of Q and K.")


class DrawPart(Part):
    """Inputs drawn one after the other from one stream."""

    generator: Text = Field(description="Whose generator: `exactattn list generators`.")
    seed: Text = Field(description="The seed.")
    draw: dict[str, Text] = Field(description="Names, and for each the call that drew it, in order.")


class ProblemPart(HeadPart):
    """One attention problem: exact inputs and options."""

    X: Matrix = _optional("The tokens, one a row (one a column with `orientation: columns`).")
    heads: list[HeadPart] = _optional("Several heads, each with inputs of its own.")
    W_O: Matrix = _optional("Output projection after the heads are joined, (H*d_v) x d_model, or `identity`.")
    scale: Text = _optional("Factor on the scores over d_k, d_v, d_model, n, L, S, H; 1/sqrt(d_k) if left out.")
    base: Text = _optional("Base of the exponential of the softmax; e if left out.")
    causal: Causal = _optional("May a query see only keys up to its own position? The corner matters when L is not S.")
    mask: Matrix = _optional(
        "1 where a query may see a key, else 0; or numbers added to the scores, -inf where it may not."
    )
    bias: Matrix = _optional("Added to the scaled scores.")
    inputs: dict[str, Any] = _optional(
        "Named inputs of formulas: a number, a list, rows, or {values: ..., rounded: true} for rounded digits."
    )
    draws: list[DrawPart] = _optional("Inputs that a named generator drew from a seed.")
    steps: dict[str, Text] = _optional("Named formulas over inputs, stages and earlier steps, which nobody printed.")
    masked_row: MaskedRow = _optional(
        "What a row with no allowed key gives: nothing (`undefined`, the default) or zeros."
    )
    orientation: Oriented = _optional(
        "Tokens are rows (the default, Q = X W_Q) or columns (Q = W_Q X); every stage is then shown with queries as "
        "columns: scores and weights are keys x queries, softmax runs down a column."
    )


class BlockPart(Part):
    """Printed numbers, with what is needed to place them."""

    values: Values = Field(
        description="The numbers as printed: rows, a list for one row, one number, or a block of pasted text; "
        "`...` is not judged; -inf under `masked`."
    )
    of: Text = _optional("A formula over inputs, stages and earlier steps that these numbers are said to be.")
    missing: Text = _optional("Why it is not known what these numbers are made from; then only consistency is judged.")
    readings: dict[str, Text] = _optional("Other formulas that may have been meant, by name, for a block with `of`.")
    tolerance: Text = _optional("How far off the author says these may be, for example 2e-3.")
    rounding: RoundingName = _optional("What the author says of the last digits: rounded, or truncated.")
    decimal: DecimalName = _optional("What a comma or point inside pasted numbers is, where both can be meant.")
    stage: StageName = _optional("Which stage these are, if the name does not say it.")
    head: Index = _optional("Which head, counted from 0; needed where the problem has `heads`.")
    rows: list[Index] = _optional("Which rows of the stage, counted from 0; all if left out.")
    columns: list[Index] = _optional("Which columns of the stage, counted from 0; all if left out.")
    times: Text = _optional("Factor printed in front, for example 1/sqrt(2).")
    unit: Text = _optional("Unit of the last digit where it is not the printed one: 10 for `about 150`.")
    dtype: Dtype = _optional("Float format of the program that printed these.")
    form: Form = _optional("Who printed: numpy and spreadsheet trim zeros in a block, r in a column; plain does not.")
    problem: Text = _optional("Which problem, where the case has several.")


Printed = Annotated[
    Annotated[Numbers, Tag("<rows>")]
    | Annotated[BlockPart, Tag("<mapping>")]
    | Annotated[str, WithJsonSchema({"type": ["string", "number"], "pattern": "[0-9]"}), Tag("<word>")],
    Discriminator(_kind),
]


class ClaimPart(BaseModel):
    """One statement: a key for its kind, and whatever that kind needs beside it."""

    model_config = ConfigDict(
        extra="allow",
        defer_build=True,
        json_schema_extra={"oneOf": [{"required": [kind]} for kind in KINDS]},
    )

    law: Text = _optional("A law by name, decided for all inputs: `exactattn list laws`.")
    equation: Text = _optional("Numbers that are said to be equal: 0.4*[1, 0] + 0.2*[0, 1] = [0.4, 0.2].")
    formula: Text = _optional("A formula whose shapes and orientation are checked.")
    order: Text = _optional("An order among elements: weights[2,2] > weights[2,0] = weights[2,1].")
    reading: Text = _optional("What the words say, compared with another statement or stage (`against`).")
    uncheckable: Text = _optional("A statement that no number can decide; `why` says the reason.")
    id: Text = _optional("Its name in the report; KIND:1, KIND:2, ... if left out.")
    problem: Text = _optional("Which problem, where the case has several.")
    says: Text = _optional("What the document says, in its own words and language.")
    cites: Any = _optional("Where the document says it.")
    why: Text = _optional("The reason, for a claim that cannot be checked.")
    scale: Text = _optional("The scale that the words mean.")
    against: Text = _optional("What the claim is compared with: a stage, or another claim.")
    shapes: dict[str, Any] = _optional("Shapes of the symbols of a formula: {C_i: [1, H*d_v]}.")
    means: dict[str, Any] = _optional("What each symbol of a formula stands for.")
    assumptions: Any = _optional("Under which assumptions it is said to hold.")
    sizes: dict[str, Any] = _optional("Sizes that a formula takes as given: {d_model: H*d_v}.")
    heads: Text = _optional("How many heads a formula is about.")
    head: Text = _optional("The letter that a formula uses as index of the head.")
    orientation: Text = _optional("Whether tokens are rows or columns in a formula.")
    base: Text = _optional("The base of the exponential that the words or the formula mean.")
    causal: Text = _optional("The causal rule that the words or the formula mean.")


class RunsPart(Part):
    """Which float runs are wanted."""

    formats: list[FormatName] = _optional("Float formats; float64 and float32 if left out.")
    algorithms: list[AlgorithmName] = _optional("Algorithms; naive, shifted and online if left out.")


class ExpectPart(Part):
    """How a finding is known to come out."""

    verdict: VerdictName = Field(description="What comes out.")
    reason: Text = _optional("The reason in the report, for example new or propagated.")
    why: Text = _optional("For people: why this is expected.")


class CasePart(Part):
    """A case of exactattn: a problem, what a document prints and says about it, and what is known to be wrong."""

    model_config = ConfigDict(title="exactattn case", json_schema_extra={"not": {"required": ["problem", "problems"]}})

    version: Annotated[str, WithJsonSchema({"const": 1})] = Field(description="Version of the case format: 1.")
    title: Text = _optional("One line that says what this is.")
    source: dict[str, Any] = _optional("Where the numbers come from: free keys, such as document, language.")
    problem: ProblemPart = _optional("The exact inputs and options.")
    problems: dict[str, ProblemPart] = _optional("Several problems by name, instead of `problem`.")
    printed: dict[str, Printed] = _optional("Numbers as printed, by name; a name that is a stage needs no `stage`.")
    claims: list[ClaimPart] = _optional("Statements, each checked.")
    runs: RunsPart = _optional("Float runs that are made and measured.")
    expect: dict[str, ExpectPart] = _optional(
        'Findings known to be wrong, by id: "weights[2, :]" is every element of row 2.'
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a case file as an editor sees it."""
    schema = CasePart.model_json_schema()
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

"""The shape of a case file: which keys stand where, and what kind each value is (text, list, mapping).

pydantic checks that, and gives the JSON Schema from the same classes. Every scalar is text here; what the text says
is read by `problems`, `printed`, `claims` and `expect`. An editor sees YAML's own numbers and booleans, so in the
schema a scalar may be any of them.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

from exactattn.attention.algorithms import ALGORITHMS
from exactattn.attention.spec import Stage
from exactattn.documents.model_options import CaseOptions, TensorsPart
from exactattn.documents.model_parts import (
    Index,
    Matrix,
    Numbers,
    Part,
    Text,
    Values,
    kind_of_numbers,
    one_of,
    optional,
    tidied_schema,
)
from exactattn.documents.words import (
    DECIMALS,
    DTYPES,
    FORMS,
    KINDS,
    ORIENTATIONS,
    ROUNDINGS,
    VERDICTS,
)
from exactattn.numbers.formats import FORMATS

Oriented = Annotated[str, one_of(*ORIENTATIONS)]
StageName = Annotated[str, one_of(*map(str, Stage))]
Dtype = Annotated[str, one_of(*DTYPES)]
RoundingName = Annotated[str, one_of(*ROUNDINGS)]
DecimalName = Annotated[str, one_of(*DECIMALS)]
Form = Annotated[str, one_of(*FORMS)]
FormatName = Annotated[str, one_of(*FORMATS)]
AlgorithmName = Annotated[str, one_of(*ALGORITHMS)]
VerdictName = Annotated[str, one_of(*VERDICTS)]


class HeadPart(Part):
    """The inputs of one head."""

    W_Q: Matrix = optional("Query projection, d_model x d_k: rows of exact numbers, or `identity`.")
    W_K: Matrix = optional("Key projection, d_model x d_k: rows of exact numbers, or `identity`.")
    W_V: Matrix = optional("Value projection, d_model x d_v: rows of exact numbers, or `identity`.")
    Q: Matrix = optional("The queries themselves, instead of X and W_Q.")
    K: Matrix = optional("The keys themselves, instead of X and W_K.")
    V: Matrix = optional("The values themselves, instead of X and W_V.")
    scores: Matrix = optional("The scores q k^T themselves, before the scale, instead of Q and K.")


class DrawPart(Part):
    """Inputs drawn one after the other from one stream."""

    generator: Text = Field(description="Whose generator: `exactattn list generators`.")
    seed: Text = Field(description="The seed.")
    draw: dict[str, Text] = Field(description="Names, and for each the call that drew it, in order.")


CaseTensors = Annotated[
    Annotated[TensorsPart, Tag("<mapping>")] | Annotated[str, WithJsonSchema({"type": "string"}), Tag("<word>")],
    Discriminator(kind_of_numbers),
]


class ProblemPart(CaseOptions, HeadPart):
    """One attention problem: exact inputs and options."""

    X: Matrix = optional("The tokens, one a row (one a column with `orientation: columns`).")
    heads: list[HeadPart] = optional("Several heads, each with inputs of its own.")
    W_O: Matrix = optional("Output projection after the heads are joined, (H*d_v) x d_model, or `identity`.")
    mask: Matrix = optional(
        "1 where a query may see a key, else 0; or numbers added to the scores, -inf where it may not."
    )
    bias: Matrix = optional("Added to the scaled scores.")
    sinks: Numbers = optional("A logit of each head that takes part in the sum of its rows and has no value.")
    tensors: CaseTensors = optional("A small file of tensors beside the case, in place of Q, K and V.")
    inputs: dict[str, Any] = optional(
        "Named inputs of formulas: a number, a list, rows, or {values: ..., rounded: true} for rounded digits."
    )
    draws: list[DrawPart] = optional("Inputs that a named generator drew from a seed.")
    steps: dict[str, Text] = optional("Named formulas over inputs, stages and earlier steps, which nobody printed.")
    orientation: Oriented = optional(
        "Tokens are rows (the default, Q = X W_Q) or columns (Q = W_Q X); every stage is then shown with queries as "
        "columns: scores and weights are keys x queries, softmax runs down a column."
    )


class BlockPart(Part):
    """Printed numbers, with what is needed to place them."""

    values: Values = Field(
        description="The numbers as printed: rows, a list for one row, one number, or a block of pasted text; "
        "`...` is not judged; -inf under `masked`."
    )
    of: Text = optional("A formula over inputs, stages and earlier steps that these numbers are said to be.")
    missing: Text = optional("Why it is not known what these numbers are made from; then only consistency is judged.")
    readings: dict[str, Text] = optional("Other formulas that may have been meant, by name, for a block with `of`.")
    tolerance: Text = optional("How far off the author says these may be, for example 2e-3.")
    rounding: RoundingName = optional("What the author says of the last digits: rounded, or truncated.")
    decimal: DecimalName = optional("What a comma or point inside pasted numbers is, where both can be meant.")
    stage: StageName = optional("Which stage these are, if the name does not say it.")
    head: Index = optional("Which head, counted from 0; needed where the problem has `heads`.")
    rows: list[Index] = optional("Which rows of the stage, counted from 0; all if left out.")
    columns: list[Index] = optional("Which columns of the stage, counted from 0; all if left out.")
    times: Text = optional("Factor printed in front, for example 1/sqrt(2).")
    unit: Text = optional("Unit of the last digit where it is not the printed one: 10 for `about 150`.")
    dtype: Dtype = optional("Float format of the program that printed these.")
    form: Form = optional("Who printed: numpy and spreadsheet trim zeros in a block, r in a column; plain does not.")
    problem: Text = optional("Which problem, where the case has several.")


Printed = Annotated[
    Annotated[Numbers, Tag("<rows>")]
    | Annotated[BlockPart, Tag("<mapping>")]
    | Annotated[str, WithJsonSchema({"type": ["string", "number"], "pattern": "[0-9]"}), Tag("<word>")],
    Discriminator(kind_of_numbers),
]


class ClaimPart(BaseModel):
    """One statement: a key for its kind, and whatever that kind needs beside it."""

    model_config = ConfigDict(
        extra="allow",
        defer_build=True,
        json_schema_extra={"oneOf": [{"required": [kind]} for kind in KINDS]},
    )

    law: Text = optional("A law by name, decided for all inputs: `exactattn list laws`.")
    equation: Text = optional("Numbers that are said to be equal: 0.4*[1, 0] + 0.2*[0, 1] = [0.4, 0.2].")
    formula: Text = optional("A formula whose shapes and orientation are checked.")
    order: Text = optional("An order among elements: weights[2,2] > weights[2,0] = weights[2,1].")
    reading: Text = optional("What the words say, compared with another statement or stage (`against`).")
    uncheckable: Text = optional("A statement that no number can decide; `why` says the reason.")
    id: Text = optional("Its name in the report; KIND:1, KIND:2, ... if left out.")
    problem: Text = optional("Which problem, where the case has several.")
    says: Text = optional("What the document says, in its own words and language.")
    cites: Any = optional("Where the document says it.")
    why: Text = optional("The reason, for a claim that cannot be checked.")
    scale: Text = optional("The scale that the words mean.")
    against: Text = optional("What the claim is compared with: a stage, or another claim.")
    shapes: dict[str, Any] = optional("Shapes of the symbols of a formula: {C_i: [1, H*d_v]}.")
    means: dict[str, Any] = optional("What each symbol of a formula stands for.")
    assumptions: Any = optional("Under which assumptions it is said to hold.")
    sizes: dict[str, Any] = optional("Sizes that a formula takes as given: {d_model: H*d_v}.")
    heads: Text = optional("How many heads a formula is about.")
    head: Text = optional("The letter that a formula uses as index of the head.")
    orientation: Text = optional("Whether tokens are rows or columns in a formula.")
    base: Text = optional("The base of the exponential that the words or the formula mean.")
    causal: Text = optional("The causal rule that the words or the formula mean.")


class RunsPart(Part):
    """Which float runs are wanted."""

    formats: list[FormatName] = optional("Float formats; float64 and float32 if left out.")
    algorithms: list[AlgorithmName] = optional("Algorithms; naive, shifted and online if left out.")


class ExpectPart(Part):
    """How a finding is known to come out."""

    verdict: VerdictName = Field(description="What comes out.")
    reason: Text = optional("The reason in the report, for example new or propagated.")
    why: Text = optional("For people: why this is expected.")


class CasePart(Part):
    """A case of exactattn: a problem, what a document prints and says about it, and what is known to be wrong."""

    model_config = ConfigDict(title="exactattn case", json_schema_extra={"not": {"required": ["problem", "problems"]}})

    version: Annotated[str, WithJsonSchema({"const": 1})] = Field(description="Version of the case format: 1.")
    title: Text = optional("One line that says what this is.")
    source: dict[str, Any] = optional("Where the numbers come from: free keys, such as document, language.")
    problem: ProblemPart = optional("The exact inputs and options.")
    problems: dict[str, ProblemPart] = optional("Several problems by name, instead of `problem`.")
    printed: dict[str, Printed] = optional("Numbers as printed, by name; a name that is a stage needs no `stage`.")
    claims: list[ClaimPart] = optional("Statements, each checked.")
    runs: RunsPart = optional("Float runs that are made and measured.")
    expect: dict[str, ExpectPart] = optional(
        'Findings known to be wrong, by id: "weights[2, :]" is every element of row 2.'
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a case file as an editor sees it."""
    return tidied_schema(CasePart)

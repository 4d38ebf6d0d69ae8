"""All node tests judged: what the report and the tests are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from exactattn.conformance.judging import Within
from exactattn.conformance.onnx_attention import judged_attention
from exactattn.conformance.onnx_drawn import DRAWS, explained, judged_draw, runs_here
from exactattn.conformance.onnx_nodes import NodeCase
from exactattn.conformance.onnx_other import judged_other
from exactattn.conformance.onnx_text import Text
from exactattn.errors import ProblemError
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.formats import FORMATS, Format

EXPLAINED: Mapping[str, str] = {}
"""Node tests with an expected output outside its bound, and the convention that explains it. None in onnx 1.23.2."""


@dataclass(frozen=True, slots=True, eq=False)
class JudgedCase:
    """A node test: each output with sums in its own type, and with sums in float32; or why it is not judged."""

    case: NodeCase
    own: Mapping[str, Within]
    float32: Mapping[str, Within]
    why_not: str | None = None

    def count(self, answer: Answer) -> int:
        """How many elements of all outputs have an answer, sums in the type of the inputs."""
        return sum(one.count(answer) for one in self.own.values())

    @property
    def elements(self) -> int:
        """Of all outputs."""
        return sum(one.answers.size for one in self.own.values())


def judged(case: NodeCase, text: Text, accumulation: Format | None = None) -> dict[str, Within]:
    """Every expected output of a node test. Errors: ProblemError for a test that is not the operator's."""
    if case.operator == "Attention":
        return judged_attention(case, text, accumulation)
    return judged_other(case, accumulation)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedDraws:
    """Drawn problems run in one way: all their outputs, and of those outside, the name and what explains it."""

    way: str
    problems: int
    outputs: tuple[Within, ...]
    outside: tuple[tuple[str, str], ...]

    @property
    def unexplained(self) -> list[str]:
        """The problems with an output outside that nothing explains."""
        return [name for name, why in self.outside if not why]


def judged_draws(text: Text) -> Iterator[JudgedDraws]:
    """The drawn problems, run as a graph of small operators and by the reference evaluator's one function."""
    if not runs_here(text):
        return
    for way, as_graph in (("the operator written out as a graph", True), ("the reference evaluator", False)):
        outputs: list[Within] = []
        outside: list[tuple[str, str]] = []
        for seed in range(DRAWS):
            case, found = judged_draw(seed, text, as_graph=as_graph)
            outputs += found.values()
            if any(output.count(Answer.NO) for output in found.values()):
                outside.append((case.name, explained(case, text)))
        yield JudgedDraws(way, DRAWS, tuple(outputs), tuple(outside))


def judged_cases(cases: Sequence[NodeCase], text: Text) -> Iterator[JudgedCase]:
    """Each node test in turn."""
    for case in cases:
        try:
            own = judged(case, text)
            narrow = any(x.dtype.itemsize == 2 for x in case.inputs.values())
            yield JudgedCase(case, own, judged(case, text, FORMATS["float32"]) if narrow else own)
        except ProblemError as error:
            yield JudgedCase(case, {}, {}, str(error))

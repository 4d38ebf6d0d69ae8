"""The report on ONNX's node tests in Markdown; the same run gives the same text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np

from exactattn.conformance.judging import Within
from exactattn.conformance.onnx_drawn import DIFFERENCES
from exactattn.conformance.onnx_judged import EXPLAINED, JudgedCase, JudgedDraws
from exactattn.conformance.onnx_nodes import NodeCase
from exactattn.conformance.onnx_text import Text
from exactattn.numbers.enclosure import Answer

HEAD = ("operator", "tests", "written out as graphs", "outputs", "elements", "within", "outside", "cannot tell")
SIZES = ("largest error in ulps", "as part of its bound", "with sums in float32")

HOW = """\
An element is within when its distance from the true value is proven to be at most its bound, outside when it is
proven to be more. The true value is enclosed by the engine `midradius`. The bound is the largest error that rounding
can make in any run that holds every number in the type of Q (the softmax in `softmax_precision`), rounds q and k after
each was multiplied by the root of the scale, itself rounded, adds the terms of sums and products in that type in any
order, and has exp and tanh within 4 ulp: the definition of attention, run over all numbers that such runs may hold
(`truth/contracted.py`; proofs in `numbers/computed.py`). The last column is the part of the smaller bound that has
sums in float32, where the type is narrower. Where a row has no allowed key the text wants what it says below, and -inf
where scores are shown with the mask; present keys and values must be the same bit for bit. Errors are in ulps of the
output's type at the true value; they are large next to a bound where numbers cancel, as in rotations."""

GRAPHS = (
    "- Tests whose model is the operator written out as a graph have the data of the operator's test: counted and "
    "compared with it, not judged again."
)


def summary(cases: Sequence[JudgedCase]) -> Iterator[tuple[str, ...]]:
    """A row for each operator, and one for all."""
    groups = [(name, list(some)) for name, some in groupby(cases, key=lambda one: one.case.operator)]
    for name, some in (*groups, ("all", list(cases))):
        both = [output for one in some for output in one.own.values()]
        smaller = [output for one in some for output in one.float32.values()]
        yield (
            name,
            str(len(some)),
            str(sum(len(one.case.expanded) for one in some)),
            str(len(both)),
            *(str(x) for x in _counts(both)),
            *_sizes(both, smaller),
        )


def rows(cases: Sequence[JudgedCase]) -> Iterator[tuple[str, ...]]:
    """A row for each output of each node test."""
    for one in cases:
        for name, output in one.own.items():
            kind = one.case.outputs[name].dtype.name
            counts = (str(x) for x in _counts([output]))
            yield (one.case.name, str(one.case.opset), name, kind, *counts, *_sizes([output], [one.float32[name]]))


def _counts(outputs: Sequence[Within]) -> Iterator[int]:
    """Elements; within, outside, cannot tell."""
    yield sum(one.answers.size for one in outputs)
    for answer in (Answer.YES, Answer.NO, Answer.CANNOT_TELL):
        yield sum(one.count(answer) for one in outputs)


def _sizes(own: Sequence[Within], smaller: Sequence[Within]) -> Iterator[str]:
    yield f"{max((one.most_ulps for one in own), default=0.0):.2f}"
    yield f"{max((one.most_parts for one in own), default=0.0):.3f}"
    yield f"{max((one.most_parts for one in smaller), default=0.0):.3f}"


def outside(cases: Sequence[JudgedCase]) -> Iterator[str]:
    """A line for each node test that is not all within, with the reason."""
    for one in cases:
        if one.why_not is not None:
            yield f"- `{one.case.name}` is not judged: {one.why_not}"
            continue
        for answer, word in ((Answer.NO, "outside"), (Answer.CANNOT_TELL, "undecided")):
            if count := one.count(answer):
                reason = EXPLAINED.get(one.case.name, "no convention was found that explains it")
                yield f"- `{one.case.name}`: {count} of {one.elements} elements {word}; {reason}"
        if one.case.expanded_differs:
            yield f"- `{', '.join(one.case.expanded_differs)}` has other data than the operator's test"
        narrow = sum(output.count(Answer.NO) for output in one.float32.values())
        if narrow and not one.count(Answer.NO):
            yield f"- `{one.case.name}`: {narrow} elements outside with sums in float32, within with those of its type"


def beyond(draws: Sequence[JudgedDraws]) -> Iterator[str]:
    """What the drawn problems show, as paragraphs."""
    if not draws:
        yield "Not run: the operator of opset 25 is there from onnx 1.23 on."
        return
    yield (
        f"{draws[0].problems} problems of drawn options, run by onnx itself in two ways: by the graph of small "
        "operators that the schema has for the operator, and by its reference evaluator's own function. The sizes are "
        "those of outputs that are not outside; a softmax in 16 bits errs by many ulps of float32. An element whose "
        "bound is not finite cannot be told. A difference explains an output if, read with it, all is within."
    )
    yield _table(
        ("run by", "outputs", "elements", "within", "outside", "cannot tell", *SIZES[:2]),
        ((one.way, str(len(one.outputs)), *map(str, _counts(one.outputs)), *_sizes_inside(one)) for one in draws),
    )
    outside = [(one.way, name, why) for one in draws for name, why in one.outside]
    lines = [
        f"- {known.name}: {known.why} ({sum(known.name in why for *_, why in outside)} problems)."
        for known in DIFFERENCES
        if any(known.name in why for *_, why in outside)
    ]
    lines += [f"- {name}, {way}: no convention was found that explains it." for way, name, why in outside if not why]
    yield "\n".join(lines) or "Nothing is outside."


def _sizes_inside(one: JudgedDraws) -> Iterator[str]:
    """The largest errors of the outputs that are not outside."""
    inside = [output for output in one.outputs if not output.count(Answer.NO)]
    yield from list(_sizes(inside, inside))[:2]


def untested(cases: Sequence[JudgedCase]) -> Iterator[str]:
    """What the tests of Attention reach, and so what nothing is said about."""
    some = [one.case for one in cases if one.case.operator == "Attention"]
    if not some:
        return
    types = sorted({x.dtype.name for case in some for key, x in case.inputs.items() if key in "QKV"})
    scales = sorted({case.attributes["scale"] for case in some if "scale" in case.attributes})
    keys = max(case.outputs["present_key"].shape[2] if "present_key" in case.outputs else _keys(case) for case in some)
    bad = any(not np.isfinite(case.inputs[key].astype(np.float64)).all() for case in some for key in "QKV")
    mixed = any(len({case.inputs[key].dtype.name for key in "QKV"}) > 1 for case in some)
    yield (
        f"- The tests of Attention have q, k and v in {', '.join(types)}{'' if mixed else ', never two of them'}; at "
        f"most {keys} keys; the scales {', '.join(f'{x:.3g}' for x in scales)} and the default; "
        f"{'some' if bad else 'no'} NaN or infinity in q, k or v. Nothing is said about others."
    )


def _keys(case: NodeCase) -> int:
    k = case.inputs["K"]
    return int(k.shape[2] if k.ndim == 4 else k.shape[1])


def convention(text: Text) -> str:
    """What the text of the installed version says where versions differ."""
    place = {"before-bias": "before the mask", "after-bias": "after the mask", "after-mask": "after the mask"}
    heads = "h // (H / H_kv)" if text.head_map == "grouped" else "h mod H_kv"
    empty = "zeros" if text.masked_row == "zero" else "NaN"
    corner = "places its last query at its last key" if text.lengths_place else "does not move the causal corner"
    split = (
        "" if text.split == "width" else " Rank 3 is reshaped to (batch, heads, tokens, width) as it lies in memory."
    )
    return (
        f"In the text of version {text.version} the softcap comes {place[text.softcap_order]}; qk_matmul_output shows "
        f"the scores with the scale in mode 0, after the softcap in mode {text.capped_mode}, with the mask in mode "
        f"{text.biased_mode}, the weights in mode 3; query head h uses key head {heads}; a row with no allowed key "
        f"gives {empty}; the length of a sequence {corner}.{split} The scale is the float32 number that the attribute "
        "holds."
    )


def markdown(
    cases: Sequence[JudgedCase],
    text: Text,
    versions: Mapping[str, str],
    others: Mapping[str, int],
    draws: Sequence[JudgedDraws] = (),
) -> str:
    """The whole report."""
    found = list(outside(cases))
    left = [f"- {name}: {count} node tests; another operator, not judged." for name, count in others.items() if count]
    parts = [
        "# ONNX conformance",
        "The expected outputs of ONNX's node tests against proven enclosures of the true values. Written by "
        "`python -m exactattn.conformance.onnx`, which reads the tests from the installed package.",
        ", ".join(f"{name} {version}" for name, version in versions.items())
        + ". From 1.23 on onnx computes its expected outputs when they are read, with the NumPy and on the machine "
        "that run it, so the last digits below may differ elsewhere.",
        _table((*HEAD, *SIZES), summary(cases)),
        "## How it is judged",
        HOW,
        convention(text),
        "## Outside, undecided, not judged",
        "\n".join(found) if found else "None.",
        "## Beyond the node tests",
        *beyond(draws),
        "## Not covered",
        "\n".join([*left, *untested(cases), GRAPHS]),
        "## Every output",
        _table(
            ("test", "opset", "output", "type", "elements", "within", "outside", "cannot tell", *SIZES), rows(cases)
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], body: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

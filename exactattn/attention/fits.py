"""Do the parts of a spec and of a problem go together? What does not is refused, with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from exactattn.attention.options import Causal, MaskedRow, Orientation, SoftcapOrder, check_word
from exactattn.errors import ProblemError
from exactattn.numbers.balls import decide
from exactattn.numbers.enclosure import Answer
from exactattn.numbers.exact import ZERO, Exact, Expr, spell

if TYPE_CHECKING:
    from exactattn.attention.spec import AttentionSpec, Head, Problem

FARTHEST = 2**52  # positions and their distances are exact in float64 and in int64 up to it
WORDS: Mapping[str, tuple[str, ...]] = {
    "causal": get_args(Causal),
    "orientation": get_args(Orientation),
    "masked_row": get_args(MaskedRow),
    "softcap_order": get_args(SoftcapOrder),
    "bias_place": ("outside", "inside"),
    "head_map": ("grouped", "tiled"),
}


def check_spec(spec: AttentionSpec) -> None:
    """Errors: ProblemError for options that are not what they should be, or make no sense together."""
    for label, words in WORDS.items():
        check_word(label, getattr(spec, label), words)
    for label, x in _numbers(spec):
        if not isinstance(x, (Fraction, Expr)):
            raise ProblemError(
                f"{label} is {x!r}, of type {type(x).__name__}: give an exact number, such as Fraction(1, 8)"
            )
    _check_positions(spec)
    if spec.softcap is not None and not _positive(spec.softcap):
        raise ProblemError(f"found softcap {spell(spec.softcap)}, wanted a positive number; leave it out for none")
    if spec.softcap is None and spec.softcap_order != "before-bias":
        raise ProblemError(f"softcap_order is {spec.softcap_order}, but there is no softcap: give one, or leave it out")
    left, right = spec.window
    if left is not None and right is not None and left + right < 0:
        raise ProblemError(
            f"the window from {left} to the left to {right} to the right holds no key at all: left + right must be at "
            "least 0; None stands for an open side (-1 in ONNX and flash-attn)"
        )
    if (spec.causal == "offset") != (spec.causal != "none" and spec.offset is not None):
        raise ProblemError(
            f"causal is {spec.causal} and offset {spec.offset}: causal: offset needs a number, and top-left and "
            "bottom-right have one already"
        )
    placed = spec.causal != "none" or spec.window != (None, None) or spec.alibi or spec.rotary
    if spec.offset is not None and not placed:
        raise ProblemError("an offset says where queries stand, but no causal rule, window, alibi or rotary asks")
    if spec.rotary is not None and not _positive(spec.rotary.base):
        raise ProblemError(f"found rotary base {spell(spec.rotary.base)}, wanted a positive number")
    if spec.qk_norm is not None and spec.qk_norm.eps != ZERO and not _positive(spec.qk_norm.eps):
        raise ProblemError(f"found eps {spell(spec.qk_norm.eps)} of the norm, wanted 0 or more")
    for label, base in (("base", spec.base), ("lse_base", spec.lse_base)):
        if base is not None and (base == Fraction(1) or not _positive(base)):
            raise ProblemError(f"found {label} {spell(base)}, wanted a positive number other than 1")


def _numbers(spec: AttentionSpec) -> Iterator[tuple[str, Any]]:
    """The numbers of a spec that are there, each with its name."""
    for label in ("scale", "base", "lse_base", "softcap"):
        if getattr(spec, label) is not None:
            yield label, getattr(spec, label)
    if spec.alibi is not None:
        yield from (("an alibi slope", x) for x in spec.alibi.slopes)
    if spec.rotary is not None:
        yield from (("the rotary base", spec.rotary.base), ("the rotary factor", spec.rotary.factor))
    if spec.qk_norm is not None:
        yield "eps of the norm", spec.qk_norm.eps
        for weight in (spec.qk_norm.q_weight, spec.qk_norm.k_weight):
            yield from (("a weight of the norm", x) for x in weight or ())


def _check_positions(spec: AttentionSpec) -> None:
    """Windows and offsets are integers, and so small that positions stay exact in every number system."""
    if not isinstance(spec.window, tuple) or len(spec.window) != 2:
        raise ProblemError(f"found window {spec.window!r}, wanted two numbers (left, right), None for an open side")
    offset = None if spec.offset == "end" else spec.offset
    for label, x in (("the window", spec.window[0]), ("the window", spec.window[1]), ("the offset", offset)):
        if x is not None and not (isinstance(x, (int, np.integer)) and abs(int(x)) <= FARTHEST):
            raise ProblemError(f"{label} has {x!r}: give an integer of at most 2**52 in size")


def _positive(x: Exact) -> bool:
    return x > 0 if isinstance(x, Fraction) else decide(x, lambda box: box.above(ZERO)) is Answer.YES


def check(problem: Problem) -> None:
    """Every product and sum of a problem in row form has fitting shapes. Errors: ProblemError."""
    if not problem.heads:
        raise ProblemError("a problem needs at least one head")
    widths = [_check_head(problem, head, number) for number, head in enumerate(problem.heads)]
    length = lengths(problem)
    for label, other in (("mask", problem.mask), ("bias", problem.bias)):
        if other is not None and (len(other), len(other[0])) != length:
            raise ProblemError(
                f"the {label} is {len(other)} x {len(other[0])} (queries x keys), but the scores are "
                f"{length[0]} x {length[1]}: give one entry for each score"
            )
    if problem.W_O is not None and len(problem.W_O) != sum(widths):
        raise ProblemError(
            f"W_O has {len(problem.W_O)} rows, but the concatenation of the heads is {sum(widths)} wide: "
            "tokens as rows, the output is concat W_O, so W_O needs H*d_v rows"
        )
    _check_options(problem)


def _check_options(problem: Problem) -> None:
    """The options have a number for each head, and what they change is there."""
    spec, heads = problem.spec, len(problem.heads)
    slopes = None if spec.alibi is None else spec.alibi.slopes
    for label, given in (("sinks", problem.sinks), ("alibi slopes", slopes)):
        if given is not None and len(given) != heads:
            raise ProblemError(f"found {len(given)} {label} for {heads} heads: give one for each head")
    if spec.bias_place == "inside" and problem.bias is None and spec.alibi is None:
        raise ProblemError("bias_place is inside (before the scale), but there is no bias and no alibi")
    if (spec.rotary or spec.qk_norm) and any(head.scores is not None for head in problem.heads):
        raise ProblemError("rotary positions and norms change q and k, but the scores themselves are given")
    if problem.positions is not None and len(problem.positions) != problem.lengths[0]:
        raise ProblemError(f"found {len(problem.positions)} positions for {problem.lengths[0]} queries")


def lengths(form: Problem, head: Head | None = None) -> tuple[int, int]:
    """(L, S) of a problem in row form."""
    head = head or form.heads[0]
    if head.scores is not None:
        return len(head.scores), len(head.scores[0])
    tokens = 0 if form.X is None else len(form.X)
    return (tokens if head.q is None else len(head.q), tokens if head.k is None else len(head.k))


def _check_head(problem: Problem, head: Head, number: int) -> int:
    """Checks one head in row form and returns its value width."""
    where = f"head {number}: " if problem.several_heads else ""
    width = {part: _width(problem, head, part, where) for part in (("v",) if head.scores else ("q", "k", "v"))}
    if not head.scores and width["q"] != width["k"]:
        raise ProblemError(
            f"{where}queries are {width['q']} wide and keys {width['k']}: q k^T needs equal widths, "
            "so check the shapes of W_Q and W_K (or Q and K)"
        )
    queries, keys = lengths(problem, head)
    if (queries, keys) != lengths(problem):
        raise ProblemError(f"{where}all heads must have the same number of queries and of keys")
    values = len(head.v) if head.v is not None else len(problem.X or ())
    if values != keys:
        raise ProblemError(f"{where}there are {keys} keys and {values} values: each key needs one value")
    return width["v"]


def _width(problem: Problem, head: Head, part: str, where: str) -> int:
    """The width of q, k or v of a head in row form."""
    given, projection = getattr(head, part), getattr(head, f"W_{part.upper()}")
    if given is not None:
        return len(given[0])
    if problem.X is None or projection is None:
        raise ProblemError(f"{where}no {part.upper()}: give {part.upper()} itself, or X together with W_{part.upper()}")
    if len(projection) != len(problem.X[0]):
        raise ProblemError(
            f"{where}X has d_model = {len(problem.X[0])} and W_{part.upper()} is {len(projection)} x "
            f"{len(projection[0])} (tokens as rows): X W_{part.upper()} needs {len(problem.X[0])} rows"
        )
    return len(projection[0])

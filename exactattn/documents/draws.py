"""Inputs that a named generator drew from a seed: the calls as written, on one stream, as exact numbers."""

from __future__ import annotations

import re
from typing import Any

from exactattn import plugins
from exactattn.documents.nodes import Mapping, Mistakes, Node, Scalar, Sequence, quoted
from exactattn.errors import NumeralError, Unavailable, UsageError
from exactattn.findings import Place
from exactattn.numbers.folding import shape

MOST_DRAWS = 20  # streams of one problem
PARTS = ("X", "W_Q", "W_K", "W_V", "W_O", "Q", "K", "V", "scores")  # of attention, by their names in a case
_SEED = re.compile(r"-?[0-9]{1,40}")


def read_draws(node: Node | None, mistakes: Mistakes, attention: bool) -> list[tuple[Scalar, Any]]:
    """Each name with what was drawn for it, as nested tuples; what cannot be drawn is noted and left out.

    For `attention`, names such as W_Q are its parts, which are matrices.
    """
    out: list[tuple[Scalar, Any]] = []
    items = node.items if isinstance(node, Sequence) else ()
    if len(items) > MOST_DRAWS:
        mistakes.add(f"found {len(items)} streams of random numbers, wanted at most {MOST_DRAWS}", node)
        return out
    for item in items:
        if isinstance(item, Mapping):
            out += _stream(item, mistakes)
    for key, array in out:
        _check_shape(key, array, attention, mistakes)
    return out


def _stream(body: Mapping, mistakes: Mistakes) -> list[tuple[Scalar, Any]]:
    generator, seed, draw = (body.values.get(key) for key in ("generator", "seed", "draw"))
    if not (isinstance(generator, Scalar) and isinstance(seed, Scalar) and isinstance(draw, Mapping)):
        return []  # a mistake of the shape, noted there
    known = list(plugins.found("generators"))
    name = mistakes.choice(generator, known, "one of the generators")
    if name is None:
        return []
    if not _SEED.fullmatch(seed.text):
        mistakes.add(f"found the seed {quoted(seed.text)}, wanted a whole number", seed)
        return []
    calls = [(key, draw.values[label]) for label, key in draw.keys.items()]
    texts = [call.text for _, call in calls if isinstance(call, Scalar)]
    if len(texts) < len(calls):
        return []
    try:
        drawn = plugins.get("generators", name).draw(int(seed.text), texts)
    except NumeralError as error:
        mistakes.add(str(error), _place(calls, error))
        return []
    except (UsageError, Unavailable) as error:
        mistakes.add(str(error), body)
        return []
    return [(key, array) for (key, _), array in zip(calls, drawn, strict=True)]


def _check_shape(key: Scalar, array: Any, attention: bool, mistakes: Mistakes) -> None:
    """Notes an array of more than two axes, and a part of attention that is no matrix."""
    axes = len(shape(array))
    found = " x ".join(map(str, shape(array))) or "one number"
    if attention and key.text in PARTS and axes != 2:
        mistakes.add(f"{key.text} was drawn as {found}, wanted a matrix", key, "give two sizes: rand(3, 2)")
    elif axes > 2:
        hint = "draw a matrix for each: one after the other they come from the same stream"
        mistakes.add(f"{key.text} was drawn as {found}, wanted a number, a list or a matrix", key, hint)


def _place(calls: list[tuple[Scalar, Node]], error: NumeralError) -> Place | None:
    """The place of what is wrong in a call."""
    node = calls[getattr(error, "call", 0)][1]
    if isinstance(node, Scalar) and node.plain and error.offset is not None:
        return Place(node.place.line, node.place.column + error.offset)
    return node.place

"""Inputs that a named generator drew from a seed: the calls as written, on one stream, as exact numbers."""

from __future__ import annotations

from typing import Any

from exactattn import plugins
from exactattn.documents.nodes import Mapping, Mistakes, Node, Scalar, Sequence, quoted
from exactattn.errors import NumeralError, Unavailable, UsageError
from exactattn.findings import Place

MOST_DRAWS = 20  # streams of one problem


def read_draws(node: Node | None, mistakes: Mistakes) -> list[tuple[Scalar, Any]]:
    """Each name with what was drawn for it, as nested tuples; what cannot be drawn is noted and left out."""
    out: list[tuple[Scalar, Any]] = []
    items = node.items if isinstance(node, Sequence) else ()
    if len(items) > MOST_DRAWS:
        mistakes.add(f"found {len(items)} streams of random numbers, wanted at most {MOST_DRAWS}", node)
        return out
    for item in items:
        if isinstance(item, Mapping):
            out += _stream(item, mistakes)
    return out


def _stream(body: Mapping, mistakes: Mistakes) -> list[tuple[Scalar, Any]]:
    generator, seed, draw = (body.values.get(key) for key in ("generator", "seed", "draw"))
    if not (isinstance(generator, Scalar) and isinstance(seed, Scalar) and isinstance(draw, Mapping)):
        return []  # a mistake of the shape, noted there
    known = list(plugins.found("generators"))
    name = mistakes.choice(generator, known, "one of the generators")
    if name is None:
        return []
    if not seed.text.lstrip("-").isdecimal() or len(seed.text) > 40:
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


def _place(calls: list[tuple[Scalar, Node]], error: NumeralError) -> Place | None:
    """The place of what is wrong in a call."""
    node = calls[getattr(error, "call", 0)][1]
    if isinstance(node, Scalar) and node.plain and error.offset is not None:
        return Place(node.place.line, node.place.column + error.offset)
    return node.place

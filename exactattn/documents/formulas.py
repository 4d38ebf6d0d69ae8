"""Claims about laws, formulas and words, read for what can be known of them before anything is decided.

What reads a formula when it is judged (`truth.formula_claims`) reads it here too, so both say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exactattn import plugins
from exactattn.documents.nodes import Mapping as Body
from exactattn.documents.nodes import Mistakes, Node, Scalar, nearest, plain, quoted
from exactattn.documents.words import STAGE_WORDS
from exactattn.errors import ExactattnError, NumeralError


def check_law(node: Scalar, mistakes: Mistakes) -> None:
    """Notes a law that does not exist. Only for one that has no file under its name are the laws imported."""
    name = node.text
    if "_" in name or name.replace("-", "_") not in plugins.modules("laws"):
        known = plugins.found("laws")
        if name not in known:
            mistakes.add(f"there is no law named {quoted(name)}", node, nearest(name, known))


def check_formula(body: Body, node: Scalar, mistakes: Mistakes, note: Callable[[NumeralError, Scalar], None]) -> None:
    """Notes what cannot be read in a formula and in the keys beside it."""
    from exactattn.attention.formulas import parse_formula
    from exactattn.truth.formula_claims import FIELDS, read_claim

    _only(body, FIELDS, "formula", mistakes)
    fields = plain(body)
    try:
        words = [key for part in ("shapes", "means") if isinstance(fields.get(part), dict) for key in fields[part]]
        parse_formula(node.text, [word for word in words if word.isalpha()])
    except NumeralError as error:
        note(error, node)
        return
    _each(body, FIELDS, lambda part: read_claim({"formula": node.text, **part}, None), mistakes)


def check_reading(body: Body, formulas: Mapping[str, Any], mistakes: Mistakes) -> None:
    """Notes what cannot be read in what words say, and a thing they are held against that is not there."""
    from exactattn.truth.formula_claims import spec_of

    _only(body, ("scale", "base", "causal", "against"), "reading", mistakes)
    natural = isinstance(base := body.values.get("base"), Scalar) and base.text == "e"
    _each(body, ("scale", "causal") if natural else ("scale", "base", "causal"), lambda x: spec_of(x, None), mistakes)
    if not {"scale", "base", "causal"} & body.values.keys():
        hint = "add what the words say, for example `scale: 1/d_k`"
        mistakes.add("found neither `scale`, `base` nor `causal` in a reading", body.keys["reading"], hint)
    against = body.values.get("against")
    if isinstance(against, Scalar) and "=" not in against.text and against.text not in formulas:
        from exactattn.documents.statements import STAGES

        if against.text not in STAGES:
            hint = nearest(against.text, [*STAGES, *formulas], STAGE_WORDS)
            mistakes.add(f"{quoted(against.text)} is no stage and no formula claim", against, hint)


def _only(body: Body, allowed: tuple[str, ...], kind: str, mistakes: Mistakes) -> None:
    """Notes the keys that a kind of claim does not have."""
    from exactattn.claims import OWN_FIELDS

    for key, place in body.keys.items():
        if key not in (kind, *allowed, *OWN_FIELDS):
            hint = nearest(key, [*allowed, *OWN_FIELDS])
            mistakes.add(f"a claim of the kind {kind} has no key {quoted(key)}", place, hint)


def _each(body: Body, keys: tuple[str, ...], read: Callable[[dict[str, Any]], object], mistakes: Mistakes) -> None:
    """Reads the keys one by one, so that each mistake is noted at its own."""
    for key in keys:
        node: Node | None = body.values.get(key)
        if node is None or key == "formula":
            continue
        try:
            read({key: plain(node)})
        except ExactattnError as error:
            mistakes.add(f"{key}: {error}", node)

"""What a code of a report means: the text of `exactattn explain CODE`, which each check keeps beside its code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from textwrap import wrap

from exactattn import plugins
from exactattn.errors import UsageError, close

_SENTENCE_END = re.compile(r"\.\s+(?=[A-Z`])")


def codes() -> Mapping[str, str]:
    """Every code with its text, sorted. Errors: TypeError when a code has two texts."""
    from exactattn.journeys.tensor_codes import CODES as TENSOR_CODES
    from exactattn.journeys.verify import CODES

    known = {**CODES, **TENSOR_CODES}
    for check in plugins.found("checks").values():
        for code, text in check.CODES.items():
            if known.get(code, text) != text:
                raise TypeError(f"{code} has two texts")
            known[code] = text
    return dict(sorted(known.items()))


def summaries() -> list[tuple[str, str]]:
    """Every code with the first sentence of its text."""
    return [(code, first_sentence(text)) for code, text in codes().items()]


def first_sentence(text: str) -> str:
    """Up to a full stop that ends the text or stands before a capital; a decimal point ends nothing."""
    return _SENTENCE_END.split(text.strip(), maxsplit=1)[0].removesuffix(".")


def explain(code: str, width: int = 80) -> str:
    """The text of one code, wrapped. Errors: UsageError with the closest codes."""
    known = codes()
    wanted = code.upper()
    if wanted not in known:
        raise UsageError(f"there is no code {code!r}{close(wanted, known)}")
    lines = wrap(known[wanted], max(width - 1, 20), break_long_words=False, break_on_hyphens=False)
    return "\n".join([wanted, "", *lines]) + "\n"


def require_prefixes(prefixes: Iterable[str]) -> None:
    """Each text begins at least one code. Errors: UsageError, as a misspelt choice would silently choose nothing."""
    known = codes()
    for prefix in prefixes:
        if not prefix or not any(code.startswith(prefix) for code in known):
            raise UsageError(f"no code begins with {prefix!r}{close(prefix, known)}")

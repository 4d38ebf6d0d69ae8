"""What a code of a report means: the text of `exactattn explain CODE`, which each check keeps beside its code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from exactattn import plugins
from exactattn.errors import UsageError, close


def codes() -> Mapping[str, str]:
    """Every code with its text, sorted. Errors: TypeError when a code has two texts."""
    from exactattn.journeys.verify import CODES

    known = dict(CODES)
    for check in plugins.found("checks").values():
        for code, text in check.CODES.items():
            if known.get(code, text) != text:
                raise TypeError(f"{code} has two texts")
            known[code] = text
    return dict(sorted(known.items()))


def explain(code: str) -> str:
    """The text of one code. Errors: UsageError with the closest codes."""
    known = codes()
    wanted = code.upper()
    if wanted not in known:
        raise UsageError(f"there is no code {code!r}{close(wanted, known)}")
    return f"{wanted}\n\n{known[wanted]}\n"


def require_prefixes(prefixes: Iterable[str]) -> None:
    """Each text begins at least one code. Errors: UsageError, as a misspelt choice would silently choose nothing."""
    known = codes()
    for prefix in prefixes:
        if not prefix or not any(code.startswith(prefix) for code in known):
            raise UsageError(f"no code begins with {prefix!r}{close(prefix, known)}")

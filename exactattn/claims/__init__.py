"""What the checks of claims share: every claim of a kind is judged, and one that cannot be read is a finding too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from exactattn.bench import Bench, Check
from exactattn.errors import ExactattnError, NumeralError, Unavailable, UsageError, close
from exactattn.findings import Claim, Finding, Level, Verdict

UNREADABLE = "EA209"
UNREADABLE_TEXT = (
    "A claim that cannot be read: its text is not in the language of its kind, or it names something that is not "
    "there, or its shapes do not fit. Nothing was judged. The message says what was found, what was wanted, and the "
    "place in the text, counted from 0."
)
OWN_FIELDS = ("id", "says", "cites", "problem", "why")  # what a claim of any kind may carry beside what is judged


def judged(check: Check, bench: Bench, kind: str, judge: Callable[[Claim], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings about every claim of a kind; a mistake of the user becomes the finding `unreadable`.

    What would take too much work is not run.
    """
    for claim in bench.claims_of(kind):
        try:
            yield from list(judge(claim))
        except Unavailable as error:
            code, message = next(iter(check.CODES)), f"not run: {error}"
            yield bench.finding(check, code, claim.id, Verdict.NOT_RUN, message, level=Level.NOTE, where=claim.where)
        except ExactattnError as error:
            yield unreadable(check, bench, claim, error)


def unreadable(check: Check, bench: Bench, claim: Claim, error: ExactattnError) -> Finding:
    """The finding about a claim that cannot be read."""
    offset = error.offset if isinstance(error, NumeralError) else None
    place = "" if offset is None else f" (at character {offset} of its text)"
    return bench.finding(
        check,
        UNREADABLE,
        claim.id,
        Verdict.FAILS,
        f"this claim cannot be read: {error}{place}",
        reason="unreadable",
        where=claim.where,
        text=claim.text[:200],
        offset=offset,
    )


def only(claim: Claim, kind: str, allowed: Iterable[str]) -> None:
    """Refuses keys that this kind of claim does not have. Errors: UsageError with the closest one."""
    known = {*allowed, *OWN_FIELDS, kind}
    for key in claim.fields:
        if key not in known:
            raise UsageError(f"a claim of the kind {kind} has no key {key!r}{close(str(key), known)}")

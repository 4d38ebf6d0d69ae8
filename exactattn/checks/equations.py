"""Claims of the kind `equation`: chains of arithmetic, every link judged against exact values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from exactattn.bench import Bench
from exactattn.claims import UNREADABLE, UNREADABLE_TEXT, judged
from exactattn.findings import Claim, Finding, Verdict, as_text
from exactattn.numbers.exact import Exact
from exactattn.truth.relations import Link, as_json, in_units, judge, worst
from exactattn.truth.statements import Scope, decimals
from exactattn.truth.values import Values

_STRENGTH = ("exact", "proven", "rounded", "truncated")


class Equations:
    """`equation: a = b = c`; stage names are true values, `printed.NAME` the numbers somebody printed."""

    name = "equations"
    CODES = {
        "EA202": "An equation, link by link. A link holds when both sides are exactly equal, or when one side is a "
        "printed number and the other rounds to it (|difference| at most half a unit of its last digit) or is cut to "
        "it. A bare integer is meant exactly; beside decimals it has their last digit; after ~ it may be rounded. "
        "When a link fails, the evidence has the true value and the error in units of the last printed digit.",
        UNREADABLE: UNREADABLE_TEXT,
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding a claim."""
        return judged(self, bench, "equation", lambda claim: self._judge(bench, claim))

    def _judge(self, bench: Bench, claim: Claim) -> Iterator[Finding]:
        scope = Scope(bench.the_truth, bench.printed, sheet=bench.sheet_truth)
        statement = scope.read(claim.text)
        links = judge(scope.values, statement)
        verdict = worst(links)
        evidence: dict[str, Any] = {
            "links": as_json(links),
            "values": [decimals(scope.values, operand, bench.digits) for operand in statement.operands],
        }
        if verdict is Verdict.HOLDS:
            reason = max((link.reason for link in links), key=_STRENGTH.index)
            message = f"{claim.text}: {_how(reason, len(links))}"
        else:
            number, link = next((n, one) for n, one in enumerate(links) if one.verdict is verdict)
            reason = "wrong" if verdict is Verdict.FAILS else "undecided"
            evidence |= _wrong(scope.values, link, number, bench.digits)
            message = _explain(scope.values, link, number, len(links), verdict)
        yield bench.finding(self, "EA202", claim.id, verdict, message, reason=reason, where=claim.where, **evidence)


def _how(reason: str, links: int) -> str:
    every = "" if links == 1 else f" ({links} links)"
    says = {"exact": "exactly equal", "proven": "holds", "rounded": "right when rounded", "truncated": "right when cut"}
    return says[reason] + every


def _wrong(values: Values, link: Link, number: int, digits: int) -> dict[str, Any]:
    """The first link that does not hold, in numbers."""
    left, right = link.side(link.left), link.side(link.right)
    printed_right = link.right.prints is not None or link.left.prints is None
    t, x = (left, right) if printed_right else (right, left)
    return {
        "first_wrong": {"link": number, "text": link.text, "index": list(link.place or ())},
        "true": _digits(values, t, digits),
        "printed": _digits(values, x, digits),
        "error": None if link.error is None else _digits(values, link.error, 6),
        "error_in_units": in_units(values, link),
    }


def _explain(values: Values, link: Link, number: int, links: int, verdict: Verdict) -> str:
    place = f" at [{','.join(map(str, link.place))}]" if link.place else ""
    which = f"link {number + 1} of {links}, " if links > 1 else ""
    if verdict is Verdict.UNDECIDED:
        return f"{which}{link.text}{place}: could not be decided"
    left, right = (_digits(values, link.side(side), 8) for side in (link.left, link.right))
    size = in_units(values, link)
    units = "" if size is None else f", {size.lstrip('-')} units of the last printed digit"
    error = "" if link.error is None else _digits(values, link.error, 4)
    return f"{which}{link.text}: the left side is {left}, the right side {right}{place}; off by {error}{units}"


def _digits(values: Values, x: Exact, digits: int) -> str:
    return values.decimal(x, digits) or as_text(x) or str(x)


CHECK = Equations()

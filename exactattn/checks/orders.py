"""Claims of the kind `order`: which true values are larger, and which are equal; ties are proven, not seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exactattn.bench import Bench
from exactattn.claims import UNREADABLE, UNREADABLE_TEXT, judged
from exactattn.errors import NumeralError, Unavailable
from exactattn.findings import Claim, Finding, Verdict
from exactattn.truth.relations import Link, as_json, judge, worst
from exactattn.truth.statements import Scope, decimals
from exactattn.truth.values import Values


class Orders:
    """`order: "weights[2,2] > weights[2,0] = weights[2,1]"`, about true values; one number may meet a whole array."""

    name = "orders"
    CODES = {
        "EA203": "An order or an equality of true values. An inequality is proven by two enclosures that do not meet, "
        "an equality by exact algebra. The evidence also says whether the numbers that the author printed agree with "
        "it: rounded numbers may tie where the true ones do not.",
        UNREADABLE: UNREADABLE_TEXT,
    }

    def run(self, bench: Bench) -> Iterable[Finding]:
        """One finding a claim."""
        return judged(self, bench, "order", lambda claim: self._judge(bench, claim))

    def _judge(self, bench: Bench, claim: Claim) -> Iterator[Finding]:
        scope = Scope(bench.the_truth, bench.printed, sheet=bench.sheet_truth)
        statement = scope.read(claim.text)
        links = judge(scope.values, statement, prints=False)
        verdict = worst(links)
        agrees = _as_printed(bench, claim)
        message = f"{claim.text}: {_says(scope.values, links, verdict)}{_printed_says(agrees)}"
        yield bench.finding(
            self,
            "EA203",
            claim.id,
            verdict,
            message,
            reason={Verdict.HOLDS: "proven", Verdict.FAILS: "wrong"}.get(verdict, "undecided"),
            where=claim.where,
            links=as_json(links),
            values=[decimals(scope.values, operand, bench.digits) for operand in statement.operands],
            printed_agrees=agrees,
        )


def _says(values: Values, links: list[Link], verdict: Verdict) -> str:
    if verdict is Verdict.HOLDS:
        ties = any(link.relation == "=" for link in links)
        return "true, the equality proven exactly" if ties else "true"
    link = next(link for link in links if link.verdict is verdict)
    place = f" at [{','.join(map(str, link.place))}]" if link.place else ""
    if verdict is Verdict.UNDECIDED:
        return f"{link.text}{place} could not be decided"
    left, right = (values.decimal(link.side(side), 10) or "?" for side in (link.left, link.right))
    return f"{link.text} is false{place}: the left side is {left}, the right side {right}"


def _as_printed(bench: Bench, claim: Claim) -> bool | None:
    """Do the author's printed numbers agree? None when some of them were not printed."""
    if not bench.printed:
        return None
    scope = Scope(bench.the_truth, bench.printed, as_printed=True, sheet=bench.sheet_truth)
    try:
        verdict = worst(judge(scope.values, scope.read(claim.text), prints=False))
    except (NumeralError, Unavailable):
        return None
    return None if verdict is Verdict.UNDECIDED else verdict is Verdict.HOLDS


def _printed_says(agrees: bool | None) -> str:
    if agrees is None:
        return ""
    return "; the printed numbers agree" if agrees else "; the printed numbers do not agree"


CHECK = Orders()

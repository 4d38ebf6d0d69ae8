"""Check `author-says`: what an author says beside the numbers: a tolerance, that digits are cut, just under."""

from __future__ import annotations

from collections.abc import Iterator

from exactattn.bench import Bench
from exactattn.findings import Finding, Level, Verdict, as_text, name_index
from exactattn.numbers.balls import enclose
from exactattn.numbers.enclosure import Answer, Interval
from exactattn.truth.prints import ROUNDED, Judged, inequality, is_cut

WORDS = {"<": "under", ">": "over", "<=": "at most", ">=": "at least"}
VERDICTS = {Answer.YES: Verdict.HOLDS, Answer.NO: Verdict.FAILS, Answer.CANNOT_TELL: Verdict.UNDECIDED}


class AuthorSays:
    """Tolerances, announced rounding and inequalities, each held against the true values."""

    name = "author-says"
    CODES = {
        "EA112": "The author states a tolerance. Each number is judged by its own digits all the same; this says "
        "whether the true values lie within the tolerance, and how many numbers it hides that are wrong as printed.",
        "EA113": "The author says how the last digits came about: rounded, or truncated. Numbers that are only right "
        "by the other rule are counted; round, or cut, all of them.",
        "EA114": "The author says that the true value lies under or over the number: that inequality is decided.",
    }

    def run(self, bench: Bench) -> Iterator[Finding]:
        """One finding a block that states something, and one a number with an inequality."""
        blocks: dict[str, list[Judged]] = {}
        for item in bench.judged:
            if bench.referee.unknown(item.element) is None and item.cell.value is not None:
                blocks.setdefault(item.block.name, []).append(item)
        for name, items in blocks.items():
            if items[0].block.tolerance is not None:
                yield self._tolerance(bench, name, items)
            if items[0].block.rounding is not None or any(item.cell.cut for item in items):
                yield self._announced(bench, name, items)
            yield from (self._inequality(bench, item) for item in items if item.cell.mark in WORDS)

    def _tolerance(self, bench: Bench, name: str, items: list[Judged]) -> Finding:
        stated = items[0].block.tolerance
        assert stated is not None
        limit = enclose(stated)

        def near(distance: Interval) -> Answer:
            size = distance.magnitude()
            return Answer.known(size.upper <= limit.lower, size.lower > limit.upper)

        answers = [bench.referee.ask(item.element, near, item.cell.number) for item in items]
        answer = Answer.every(*answers)
        outside = sum(one is Answer.NO for one in answers)
        hidden = sum(item.wrong and one is Answer.YES for item, one in zip(items, answers, strict=True))
        spelt = as_text(stated)
        message = f"all {len(items)} numbers lie within the stated tolerance {spelt} of the true values"
        if outside:
            message = f"{outside} of {len(items)} numbers lie outside the stated tolerance {spelt}"
        elif answer is Answer.CANNOT_TELL:
            message = f"whether all numbers lie within the stated tolerance {spelt} cannot be told"
        message += f"; it hides {hidden} that {'is' if hidden == 1 else 'are'} wrong as printed" if hidden else ""
        return bench.finding(
            self, "EA112", f"tolerance:{name}", VERDICTS[answer], message, where=items[0].cell.where,
            tolerance=spelt, outside=outside, hidden=hidden,
        )  # fmt: skip

    def _announced(self, bench: Bench, name: str, items: list[Judged]) -> Finding:
        cut = items[0].block.rounding != "rounded"
        meant = [item for item in items if item.cell.cut] if items[0].block.rounding is None else items
        judged = [item for item in meant if item.verdict is Verdict.HOLDS]
        others = sum(not _follows(bench, item, cut) for item in judged)
        word, other = ("truncated", "rounded") if cut else ("rounded", "truncated")
        verdict = Verdict.FAILS if others else Verdict.HOLDS
        message = f"the numbers are said to be {word}, and {others or 'none'} of the {len(judged)} "
        message += f"right ones {'is' if others == 1 else 'are'} only right as {other}"
        if not judged:
            message = f"the numbers are said to be {word}, and none of them is right"
        return bench.finding(
            self, "EA113", f"announced:{name}", verdict, message, level=Level.WARNING, where=items[0].cell.where,
            announced=word, otherwise=others,
        )  # fmt: skip

    def _inequality(self, bench: Bench, item: Judged) -> Finding:
        mark, answer = item.cell.mark, inequality(bench.referee, item)
        how = {Answer.YES: "is", Answer.NO: "is not", Answer.CANNOT_TELL: "cannot be told to be"}[answer]
        id = name_index(item.block.name, *item.element.index)
        return bench.finding(
            self, "EA114", f"said:{id}", VERDICTS[answer], f"{item.cell.text}: the true value {how} {WORDS[mark]} it",
            where=item.cell.where, mark=mark,
        )  # fmt: skip


def _follows(bench: Bench, item: Judged, cut: bool) -> bool:
    """Is a right number right by the announced rule?"""
    if not cut:
        return item.reason in ROUNDED
    return item.reason == "truncated" or is_cut(bench.referee, item, item.reason or "")


CHECK = AuthorSays()

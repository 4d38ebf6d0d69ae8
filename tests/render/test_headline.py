"""The verdict in words: what is right, wrong, carried on, broken, unreadable, hidden."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from exactattn.findings import Finding, Level, Report, Subject, Verdict
from exactattn.render.headline import headline


def printed(place, reason, level=Level.ERROR, **evidence):
    """A printed number that is right when rounded, or fails for another reason."""
    verdict = Verdict.HOLDS if reason == "rounded" else Verdict.FAILS
    return Finding(
        f"w[{place}]", "printed", "EA10x", level, verdict, "...", reason, evidence={"printed": "0.4", **evidence}
    )


def statement(verdict, code="EA201"):
    """A finding that is about no printed number."""
    return Finding(code, "claims", code, Level.ERROR, verdict, "...")


RIGHT = [printed(j, "rounded") for j in range(3)]
WRONG = [printed(3, "new")]
INHERITED = [printed(4, "propagated", origin="wrong")]
CARRIED = [printed(j, "propagated", Level.WARNING, origin="rounding") for j in (5, 6)]
TRUE = statement(Verdict.HOLDS)
FALSE = statement(Verdict.FAILS)
UNREADABLE = statement(Verdict.FAILS, "EA209")
BROKEN = statement(Verdict.FAILS, "EA502")


def said(*findings):
    """The headline over these findings."""
    return headline(Report(Subject("case", "t"), findings))


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        (RIGHT, "All 3 printed numbers are right."),
        (
            [*RIGHT, *CARRIED],
            "3 of 5 printed numbers are right; 2 differ only because rounded numbers were carried on.",
        ),
        (
            [*RIGHT[:1], *CARRIED[:1]],
            "1 of 2 printed numbers is right; 1 differs only because rounded numbers were carried on.",
        ),
        (CARRIED[:1], "The printed number differs only because rounded numbers were carried on."),
        ([*RIGHT, *WRONG], "1 of 4 printed numbers is wrong."),
        (
            [*RIGHT, *WRONG, *INHERITED, *CARRIED],
            "2 of 7 printed numbers are wrong; 1 follows from an earlier wrong one; 2 more differ only because rounded "
            "numbers were carried on.",
        ),
        ([TRUE, FALSE, UNREADABLE], "1 of 2 statements fails. 1 statement could not be read."),
        ([UNREADABLE], "1 statement could not be read."),
        ([TRUE, BROKEN], "The statement that was checked holds. 1 float run is not finite where the truth is."),
        ([BROKEN, BROKEN], "2 float runs are not finite where the truth is."),
        ([statement(Verdict.HOLDS, "EA305")], "Nothing that was looked for fails."),
        ([], "Nothing was judged."),
    ],
)
def test_the_headline(findings, words):
    assert said(*findings) == words


def test_what_was_left_out_is_said():
    def hiding(count, *findings):
        return headline(SimpleNamespace(findings=findings, hidden=count))

    assert hiding(35) == "No finding has a code that was asked for. 35 findings with other codes are not shown."
    assert hiding(9, statement(Verdict.HOLDS, "EA305")) == (
        "Nothing that was looked for fails. 9 findings with other codes are not shown."
    )
    assert hiding(1, TRUE) == "The statement that was checked holds. 1 finding with another code is not shown."
    assert hiding(2, *WRONG) == ("1 of 1 printed number shown is wrong. 2 findings with other codes are not shown.")

"""Reports built by hand for the renderers, and goldens that one variable rewrites.

pytest --rewrite-goldens
"""

from __future__ import annotations

from pathlib import Path

import pytest

from exactattn.findings import Finding, Level, Place, Report, Reports, Subject, Verdict

GOLDEN = Path(__file__).parent / "golden"
HOSTILE = "a\x1b[31mred\x07\u202eevil\u200b\x85\n# head <script>alert(1)</script> [x](javascript:y) `c` | d \\ & * _z_"


def printed(block, index, text, true, reason, **changes):
    """A finding about one printed number."""
    wrong = reason in ("new", "propagated", "convention")
    evidence = {"printed": text, "true": true, "block": block, "engine": "ball", "bits": 128}
    fields = {
        "id": f"{block}[{','.join(map(str, index))}]",
        "check": "printed",
        "code": {"new": "EA102", "propagated": "EA103", "convention": "EA104"}.get(reason, "EA101"),
        "level": Level.ERROR if wrong else Level.NOTE,
        "verdict": Verdict.FAILS if wrong else Verdict.HOLDS,
        "message": f"{text} is {'wrong' if wrong else 'right'} ({reason}): true value {true}",
        "reason": reason,
        "where": Place(14 + index[0], 12),
    }
    evidence |= changes.pop("evidence", {})
    return Finding(**(fields | changes), evidence=evidence)


def statement(id, verdict, message, code="EA201", level=Level.ERROR, **fields):
    """A finding about a claim or a hazard."""
    return Finding(id, "claims", code, Level.NOTE if verdict is Verdict.HOLDS else level, verdict, message, **fields)


@pytest.fixture
def reports():
    """One of everything that a report can hold."""
    wrong = {
        "closed_form": "1/(2 + exp(sqrt(2)/2))",
        "enclosure": ["0.24825507825772306", "0.24825507825772307"],
        "error_units": "0.517",
    }
    numbers = [
        printed("weights", (0, 0), "0.4", "0.40111209267978591", "rounded"),
        printed("weights", (0, 1), "0.2", "0.19777581464042818", "rounded", evidence={"tie": True}),
        printed("weights", (1, 0), "0.3", "0.24825507825772307", "new", expected=True, evidence=wrong,
                readings=("base=2",)),
        printed("weights", (1, 1), "0.5", "0.50348984348455386", "rounded", evidence={"by_accident": True}),
        printed("lse", (0,), "1.61", "1.6163", "truncated"),
        printed("output", (0, 0), "0.7", "0.75174", "propagated", evidence={"follows": "0.70", "origin": "wrong"}),
        printed("output", (0, 1), "0.8", "0.80222", "propagated", level=Level.WARNING, evidence={"origin": "rounding"}),
        printed("output", (1, 1), "0.9", None, None, code="EA105", level=Level.WARNING, verdict=Verdict.UNDECIDED,
                message="no true value"),
    ]  # fmt: skip
    hazard = {"threshold": "88.72283905206835", "rows": [0, 2], "worst": {"row": 2, "logit": 1414.25}, "silent": True,
              "affected": None, "remedy": "Subtract the row maximum before exp."}  # fmt: skip
    others = [
        statement("rows-sum-to-one", Verdict.HOLDS, "the weights of every row sum to 1"),
        statement("words", Verdict.FAILS, "the reciprocal of the key size gives variance 1/d_k", where=Place(30, 5)),
        statement("hazard:exp-overflow/float32", Verdict.FAILS, "exp overflows in 2 of 3 rows", "EA301", Level.WARNING,
                  reason="overflow", evidence=hazard),
        statement("s47", Verdict.NOT_RUN, "not checkable: no quantity is stated", "EA208", Level.NOTE),
        statement("order", Verdict.UNDECIDED, "not decided at 16384 bits", "EA204"),
        statement("check:x", Verdict.BROKEN, "check x broke: ValueError", "EA900"),
        statement("unclear", Verdict.FAILS, "this claim cannot be read: found ')'", "EA209", reason="unreadable"),
        statement("run:float16/naive", Verdict.FAILS, "the naive run in float16 is not finite", "EA502",
                  evidence={"rows": [0], "count": 1}, reason="not-finite"),
        statement("run:float32/naive", Verdict.HOLDS, "naive in float32: largest error of the output 0.5 ulp", "EA501",
                  evidence={"written": {"output": {"max_ulps": 0.5}}, "stored": {"output": {"max_ulps": 0.25}}}),
        statement("fit:weights/scale", Verdict.HOLDS, "no scale fits", "EA110"),
        statement("sum:weights[1]", Verdict.HOLDS, "sums to 1 and does not find the error", "EA106",
                  evidence={"finds_the_error": False}),
        statement("sum:weights[0]", Verdict.HOLDS, "sums to 1", "EA106", evidence={"finds_the_error": None}),
        statement("hazard:masked-row", Verdict.HOLDS, "every query has an allowed key", "EA305"),
    ]  # fmt: skip
    subject = Subject("case", "三个标记 Three tokens", "cases/three.yaml", "0123456789abcdef" * 4)
    tool = {"name": "exactattn", "version": "0.1.0"}
    found = Report(subject, (*numbers, *others))
    return Reports(("verify", "cases/three.yaml"), (found,), 7, tool, {"python": "3.11.7", "numpy": "2.0.0"})


@pytest.fixture
def hostile():
    """Reports in which every text from outside attacks."""
    finding = Finding(
        HOSTILE, "printed", "EA102", Level.ERROR, Verdict.FAILS, HOSTILE, HOSTILE, Place(1, 1), (HOSTILE,),
        {"printed": HOSTILE, "block": "b", HOSTILE: HOSTILE, "list": [HOSTILE], "map": {HOSTILE: HOSTILE}},
    )  # fmt: skip
    note = statement(HOSTILE, Verdict.HOLDS, HOSTILE)
    report = Report(Subject("case", HOSTILE, HOSTILE, "0" * 64), (finding, note))
    return Reports(("verify", HOSTILE), (report, report), 0, {"name": HOSTILE}, {HOSTILE: HOSTILE})


@pytest.fixture
def golden(request):
    """Compares a text with the file of that name, or rewrites it."""

    def compare(name, text):
        path = GOLDEN / name
        if request.config.getoption("--rewrite-goldens"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8")

    return compare

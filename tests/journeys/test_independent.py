"""Random worked examples, right and wrong, judged by exactattn and by a second judge that shares nothing with it.

Number by number: the reason, where an error came from, ties, accidents, which steps it rests on, the other readings
that make all of a block right; and the first wrong step. Source of what is expected: `independent`, which has the
words of DESIGN section 5 in mpmath. `worked_examples` makes the documents; a seed that fails is in the test's name.
"""

import independent
import pytest
from mpmath import mp
from worked_examples import make

from exactattn.journeys.verify import verify

DIGITS = 120  # of mpmath, whatever another test has left behind


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(DIGITS):
        yield


SEEDS = range(8)  # more were run once; see docs/decisions.md


def outcome(found, catalogue):
    """What exactattn says of one number, in the words of the second judge."""
    evidence = found.evidence
    known = {name for name in found.readings if not name.startswith("scale=") or name in catalogue}
    return {
        "reason": found.reason,
        "origin": evidence.get("origin"),
        "by accident": bool(evidence.get("by_accident")),
        "tie": bool(evidence.get("tie")),
        "readings": known,  # without a factor that only a fit to the prints shows, which no catalogue lists
        "rests on": {row.partition("[")[0] for row in evidence.get("rests_on", ())},
    }


def wanted(x):
    """The same by the second judge. What only carries on rounding is not said to rest on anything."""
    return {
        "reason": x.reason,
        "origin": x.origin,
        "by accident": x.by_accident,
        "tie": x.tie,
        "readings": set(x.readings),
        "rests on": set() if x.origin == "rounding" else set(x.rests_on),
    }


def found_in(tmp_path, text):
    path = tmp_path / "case.yaml"
    path.write_text(text, encoding="utf-8")
    (report,) = verify(path).reports
    assert not [f for f in report.findings if f.code in ("EA900", "EA901")], report.findings
    return {finding.id: finding for finding in report.findings}


@pytest.mark.parametrize("form", ["problem", "sheet"])
@pytest.mark.parametrize("seed", SEEDS)
def test_two_judges_agree(seed, form, tmp_path):
    document = make(seed, form)
    found = found_in(tmp_path, document.text)
    first_wrong = independent.Judge(document.steps, document.prints).run()
    catalogue = {step.name: set(step.readings) for step in document.steps}
    different = []
    for x in document.prints:
        id = f"{x.step}[{','.join(map(str, x.index))}]"
        ours, theirs = outcome(found[id], catalogue[x.step]), wanted(x)
        different += [(id, x.text, key, theirs[key], ours[key]) for key in theirs if theirs[key] != ours[key]]
    assert not different, (document.planted, different[:5])
    assert found["stages"].evidence["first_wrong"] == first_wrong


def test_the_examples_have_every_kind_of_verdict():
    reasons, planted = set(), set()
    for seed in SEEDS:
        for form in ("problem", "sheet"):
            document = make(seed, form)
            independent.Judge(document.steps, document.prints).run()
            reasons |= {x.reason if x.reason != "propagated" else f"from {x.origin}" for x in document.prints}
            reasons |= {"by accident" for x in document.prints if x.by_accident}
            planted |= {what.rpartition(" ")[2] for what in document.planted}
    assert reasons >= {"exact", "rounded", "truncated", "from wrong", "from rounding", "convention", "new"}
    assert "by accident" in reasons
    assert len(planted) > 8, planted


# -- the second judge itself, against what is written in DESIGN and small sums ------------------------------------


def judged(steps, *prints):
    independent.Judge(steps, prints).run()
    return [x.reason for x in prints]


def number(value):
    return [independent.Step("t", lambda _: {(): independent.mpf(value)})]


@pytest.mark.parametrize(
    ("value", "text", "reason"),
    [
        ("0.125", "0.125", "exact"),
        ("0.125", "0.13", "rounded"),
        ("0.125", "0.12", "rounded"),
        ("0.129", "0.12", "truncated"),
        ("-0.129", "-0.12", "truncated"),
        ("-0.129", "-0.14", "new"),
        ("0.126", "12.5%", "new"),
        ("0.1251", "12.5%", "rounded"),
        ("0.75", r"\frac{3}{4}", "exact"),
        ("0.3", "0.30000000000000004", "float-noise"),
    ],
)
def test_the_second_judge_on_one_number(value, text, reason):
    assert judged(number(value), independent.Print("t", (), text)) == [reason]


def test_the_second_judge_carries_errors_on():
    steps = [
        independent.Step("a", lambda _: {(): independent.mpf(2) / 3}),
        independent.Step("b", lambda v: {(): 10 * v["a"][()]}),
    ]
    printed = [independent.Print("a", (), "0.67"), independent.Print("b", (), "6.7")]
    assert judged(steps, *printed) == ["rounded", "rounded"]
    printed = [independent.Print("a", (), "0.67"), independent.Print("b", (), "6.70")]
    assert judged(steps, *printed) == ["rounded", "propagated"]
    assert printed[1].origin == "rounding"
    printed = [independent.Print("a", (), "0.77"), independent.Print("b", (), "7.7")]
    assert judged(steps, *printed) == ["new", "propagated"]
    assert (printed[1].origin, printed[1].roots) == ("wrong", {"a"})

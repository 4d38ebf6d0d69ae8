"""Documents with planted errors: the draft of each, unedited, finds exactly those."""

from pathlib import Path

import pytest

from exactattn.documents.case import loads
from exactattn.documents.notes import read_notes
from exactattn.findings import Level, Verdict
from exactattn.journeys.verify import verify

HERE = Path(__file__).parent


def wrong(path):
    """What fails at level error: id -> (reason, line)."""
    (report,) = verify(path).reports
    assert report.subject.kind == "notes"
    return {finding.id: (finding.reason, finding.where.line) for finding in report.wrong}


def draft(name):
    return read_notes((HERE / name).read_text(encoding="utf-8"), name)


def not_understood(name):
    return [(one.place.line, one.what) for one in draft(name).noted if not one.understood]


# The right numbers next to the planted ones were computed with NumPy 2.4 in float64.
PLANTED = {
    # 4/sqrt(2) = 2.828, printed 2.818; 0.5*1 + 0.5*2 = 1.5, printed 1.600; 0.056*2 + 0.944*1 = 1.056, printed 1.156
    "english.md": {"scaled[1,1]": ("new", 30), "output[1,1]": ("new", 40), "line_41": ("wrong", 41)},
    # the last softmax row is 0.506, 0.186, 0.307, printed with 0.560; the output rests on it
    "article.tex": {
        "weights[2,0]": ("new", 18),
        "output[2,0]": ("propagated", 22),
        "output[2,1]": ("propagated", 22),
    },
    # the second softmax row is 0.4125, 0.5875
    "log.txt": {"weights[1,0]": ("new", 25), "weights[1,1]": ("new", 25)},
    # 0.5*2 + 0.5*4 = 3
    "session.txt": {"output[1,1]": ("new", 13)},
    # the last softmax row is 0.088, 0.178, 0.734, printed with 0.187; 0.27*2 = 0.54, printed 0.64
    "rechnung.md": {"weights[2,1]": ("new", 17), "line_21_2": ("wrong", 21)},
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_errors_are_found_and_nothing_else(name):
    found = {key: reason for key, (reason, _) in wrong(HERE / name).items()}
    assert found == {key: reason for key, (reason, _) in PLANTED[name].items()}


@pytest.mark.parametrize("name", PLANTED)
def test_findings_stand_at_the_lines_of_the_document(name):
    text = (HERE / name).read_text(encoding="utf-8").split("\n")
    (report,) = verify(HERE / name).reports
    for finding in report.findings:
        if finding.check != "printed" or "printed" not in finding.evidence:
            continue
        digits = finding.evidence["printed"].replace(".", "")
        at = text[finding.where.line - 1][finding.where.column - 1 :]
        assert at.replace("{,}", "").replace(",", "", 1).replace(".", "", 1).startswith(digits), finding


def test_what_is_no_part_of_attention_is_listed_with_its_line():
    assert not_understood("english.md") == [(43, "2 x 2 numbers")]
    assert not_understood("log.txt") == [(31, "1 x 2 numbers")]
    assert not_understood("article.tex") == not_understood("rechnung.md") == []


def test_numbers_are_kept_as_printed():
    assert "weights: [[0.056, 0.944], [0.500, 0.500]]" in draft("english.md").text
    assert "output: [[0.970, 0.913], [0.541, 1.324], [0.221, 1.690]]" in draft("rechnung.md").text


def test_what_is_assumed_is_written_into_the_draft_and_listed():
    read = draft("log.txt")
    assert "# assumed: -inf stands above the diagonal on line 20, and nowhere else\n  causal: true" in read.text
    assert [one.what for one in read.noted if one.assumed] == ["a causal mask"]


def test_a_stated_identity_is_not_called_assumed():
    read = draft("rechnung.md")
    assert "# line 7 says that the projections are the identity\n  W_Q: identity" in read.text
    assert not [one for one in read.noted if one.assumed]


@pytest.mark.parametrize("name", PLANTED)
def test_the_draft_is_a_case_and_reads_the_same_twice(name):
    assert loads(draft(name).text).problems
    assert draft(name) == draft(name)


def test_every_part_of_a_draft_says_its_line():
    lines = draft("english.md").text.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("  ") and line.strip().split(":")[0] in ("X", "W_Q", "scale", "scaled", "weights", "output"):
            assert lines[number - 1].strip().startswith("# line"), line


def test_findings_about_the_document_have_the_code_ea903():
    (report,) = verify(HERE / "english.md").reports
    listed = [finding for finding in report.findings if finding.code == "EA903"]
    assert {finding.level for finding in listed} == {Level.NOTE}
    assert [f.where.line for f in listed if f.verdict is Verdict.NOT_RUN] == [43]
    assert sum(f.verdict is Verdict.HOLDS for f in listed) == 12

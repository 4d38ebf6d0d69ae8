"""Random teaching notes with at most one planted error: no right number is called wrong, no wrong one passes as right.

The truth is mpmath's, by `notes_maker`.
"""

import re

import pytest
from notes_maker import make

from exactattn.findings import Verdict
from exactattn.journeys.verify import verify

SEEDS = (8, 11, 16, 26, 48, 64, 70, 77, 83, 93, 102, 111, 173, 187)
CELL = re.compile(r"(\w+)\[(\d+),(\d+)\]")


def judged(tmp_path, notes):
    """The numbers that are called wrong with their lines, and the lines of what is not understood."""
    path = tmp_path / "notes.md"
    path.write_text(notes.text, encoding="utf-8")
    (report,) = verify(path).reports
    assert not {one.code for one in report.findings} & {"EA900", "EA901"}
    wrong = {}
    for one in report.findings:
        cell = CELL.fullmatch(one.id)
        if cell is not None and one.verdict is Verdict.FAILS:
            wrong[cell[1], int(cell[2]), int(cell[3])] = one.where.line
    return wrong, [one.where.line for one in report.findings if one.reason == "not-understood"]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_right_number_is_called_wrong_and_no_wrong_one_is_passed_over(tmp_path, seed):
    notes = make(seed)
    wrong, left = judged(tmp_path, notes)
    unread = {name for name, (low, high) in notes.blocks.items() if any(low <= line <= high for line in left)}
    spots = {(one.stage, one.row, one.column): one for one in notes.spots}
    assert not unread & set("QKV")
    for place, line in wrong.items():
        low, high = spots[place].lines
        assert not spots[place].right
        assert low <= line <= high
    planted = [place for place, spot in spots.items() if not spot.right and spot.stage != "masked"]
    if notes.planted == "scale":  # a wrong scale may leave one number right by rounding
        assert "weights" in unread or any(place[0] == "weights" for place in wrong)
    else:
        assert [place for place in planted if place not in wrong and place[0] not in unread] == []

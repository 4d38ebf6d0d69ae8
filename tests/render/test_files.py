"""Results are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from exactattn.errors import UsageError
from exactattn.render.files import write_whole


def test_a_new_file_and_an_old_one(tmp_path):
    path = tmp_path / "out.json"
    write_whole(path, "三\n")
    assert path.read_bytes() == "三\n".encode()
    path.chmod(0o640)
    write_whole(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [item.name for item in tmp_path.iterdir()] == ["out.json"]


def test_a_new_file_has_the_usual_rights(tmp_path):
    write_whole(tmp_path / "a", "x")
    (tmp_path / "b").write_text("x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_stays_a_device():
    write_whole(os.devnull, "gone")
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize(("name", "words"), [(".", "it is a folder"), ("no/where.json", "there is no folder")])
def test_what_cannot_be_written_is_said(tmp_path, name, words):
    with pytest.raises(UsageError, match=words):
        write_whole(tmp_path / name, "x")


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "out"
    path.write_text("old")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["out"]

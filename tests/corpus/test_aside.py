"""Folders that appear when all of their files are complete."""

from pathlib import Path

import pytest

from fastdecode.corpus.aside import build_aside


def test_files_appear_together_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with pytest.raises(KeyError), build_aside(out) as part:
        (part / "a").write_text("half")
        raise KeyError
    assert not list(out.parent.iterdir())
    with build_aside(out) as part:
        (part / "a").write_text("whole")
        assert not out.exists()
    assert (out / "a").read_text() == "whole"
    assert list(out.parent.iterdir()) == [out]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    left, others = tmp_path / ".out.a_8xy0zz", [tmp_path / ".out.de.a_8xy0zz", tmp_path / ".outer"]
    for folder in (left, *others):
        (folder / "deep").mkdir(parents=True)
    with build_aside(out) as part:
        assert part.exists() and not left.exists()
    assert all(folder.exists() for folder in others)

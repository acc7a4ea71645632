from pathlib import Path

import pytest

from fastdecode.errors import UserError
from fastdecode.report.artifacts.sheet import Sheet

SHEET = Sheet(("name", "value"), ("value",))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    frame = SHEET.frame([{"name": "a", "value": 1 / 3}, {"name": None}, {"value": 2}])
    SHEET.write(path, frame)
    read = SHEET.read(path)
    assert read.equals(frame)
    assert read["name"].tolist() == ["a", "", ""]
    assert read["value"].isna().tolist() == [False, True, False]
    SHEET.write(path, SHEET.frame([]))
    assert SHEET.read(path).empty


def test_a_file_of_before_a_column_was_added(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    SHEET.write(path, SHEET.frame([{"name": "a", "value": 1}]))
    later = Sheet(("name", "value", "marks"), ("value",), added=("marks",))
    assert later.read(path).to_dict("records") == [{"name": "a", "value": 1.0, "marks": ""}]
    path.write_text("name\nx\n")
    with pytest.raises(UserError, match="its columns are not name, value, marks"):
        later.read(path)


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with pytest.raises(UserError, match="no such file"):
        SHEET.read(path)
    path.write_text("name\nx\n")
    with pytest.raises(UserError, match="its columns are not name, value"):
        SHEET.read(path)

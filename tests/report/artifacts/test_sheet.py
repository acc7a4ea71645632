from pathlib import Path

import pytest

from fastdecode.errors import UserError
from fastdecode.report.artifacts.points import POINTS, line_of
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
    last = Sheet(("name", "value", "marks", "line"), ("value",), added=("marks", "line"))
    assert last.read(path)["line"].tolist() == [""]
    later.write(path, later.frame([{"name": "a", "marks": "†"}]))
    assert last.read(path)[["marks", "line"]].to_numpy().tolist() == [["†", ""]]
    path.write_text("name\nx\n")
    with pytest.raises(UserError, match="its columns are not name, value, marks"):
        later.read(path)
    path.write_text("name,value,other\nx,1,y\n")
    with pytest.raises(UserError, match="its columns are not name, value, marks, line"):
        last.read(path)


def test_the_line_that_a_figure_is_of() -> None:
    place = {"dataset": "toy", "split": "test"}
    drawing = [{**place, "line": "3"}, {**place, "line": "3"}, {**place, "source": "published"}]
    assert line_of(POINTS.frame(drawing)) == ("toy", "test", "3")
    assert line_of(POINTS.frame([*drawing, {**place, "line": "4"}])) is None  # of several
    assert line_of(POINTS.frame([{**place, "x": 1.0}])) is None


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with pytest.raises(UserError, match="no such file"):
        SHEET.read(path)
    path.write_text("")
    with pytest.raises(UserError, match=r"a\.csv: empty file: make it again"):
        SHEET.read(path)
    path.write_text("name\nx\n")
    with pytest.raises(UserError, match="its columns are not name, value"):
        SHEET.read(path)

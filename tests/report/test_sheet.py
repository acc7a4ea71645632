import gzip
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from fastdecode.errors import UserError
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.points import POINTS, line_of
from fastdecode.report.claims.printed import VERDICTS
from fastdecode.report.latency_numbers import read_samples
from fastdecode.report.learning_curves import read_curve
from fastdecode.report.sheet import Sheet, read_csv
from fastdecode.report.speed_numbers import SPEEDS
from fastdecode.report.tidy import TIDY

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


def test_columns_that_were_added_between_others(tmp_path: Path) -> None:
    later = Sheet(("name", "more", "value", "last"), ("more", "value"), added=("more", "last"))
    path = tmp_path / "a.csv"
    for text, cells in (
        ("name,value\nx,1\n", ["x", 1.0, ""]),
        ("name,value,last\nx,1,y\n", ["x", 1.0, "y"]),
    ):
        path.write_text(text)
        frame = later.read(path)
        assert list(frame.columns) == ["name", "more", "value", "last"]
        assert frame[["name", "value", "last"]].to_numpy().tolist() == [cells]
        assert frame["more"].isna().all()


READERS = {
    "sheet": SHEET.read,
    "cells": CELLS.read,
    "points": POINTS.read,
    "measurements": TIDY.read,
    "speeds": SPEEDS.read,
    "verdicts": VERDICTS.read,
    "samples": read_samples,
    "curve": lambda path: read_curve(path, ["update"]),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_another_file_is_refused(tmp_path: Path, read: Callable[[Path], pd.DataFrame]) -> None:
    path = tmp_path / "a.csv"
    with pytest.raises(UserError, match=r"a\.csv: no such file"):
        read(path)
    for nothing in ("", "\n"):
        path.write_text(nothing)
        with pytest.raises(UserError, match=r"a\.csv: it is empty: \w+ it"):
            read(path)
    path.write_text("b,c\nx,y\n")
    with pytest.raises(UserError, match=r"a\.csv: its columns are not |a\.csv: it has no column "):
        read(path)


def test_text_for_a_number_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("name,value\nx,many\n")
    with pytest.raises(UserError, match=r"a\.csv: value: could not convert .*'many'.*: make it"):
        SHEET.read(path)


@pytest.mark.parametrize("text", [b"name,value\nx,1\ny,2,3,4\n", b"name,value\n\xff,1\n"])
@pytest.mark.parametrize("read", [SHEET.read, read_samples, lambda path: read_csv(path)])
def test_what_is_no_csv(tmp_path: Path, read: Callable[[Path], pd.DataFrame], text: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text)
    with pytest.raises(UserError, match=r"a\.csv: it is no CSV \("):
        read(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
@pytest.mark.parametrize("text", [b"name,value\nx,1\ny,2", b"name,value\nx,1e", b"name,val"])
def test_a_file_that_is_cut_in_a_line(
    tmp_path: Path, text: bytes, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / ("a.csv" if pack is bytes else "a.csv.gz")
    path.write_bytes(pack(text))
    with pytest.raises(UserError, match=r"a\.csv.*: its last line is cut: make it again"):
        SHEET.read(path)
    path.write_bytes(pack(b"name,value\r\nx,1\r\n"))  # as another program writes
    assert SHEET.read(path)["value"].tolist() == [1]


PACKED = gzip.compress(b"name,value\n" + b"x,1\n" * 99)


@pytest.mark.parametrize(
    "content",
    [PACKED[:-9], b"name,value\nx,1\n", PACKED[:12] + b"\xff" * 9 + PACKED[21:]],
    ids=["cut off", "not packed", "damaged"],
)
def test_a_packed_file_that_is_broken(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "measurements.csv.gz"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"csv\.gz: it is no CSV \("):
        SHEET.read(path)


def test_an_empty_file_that_is_packed(tmp_path: Path) -> None:
    with gzip.open(path := tmp_path / "measurements.csv.gz", "wb"):
        pass
    with pytest.raises(UserError, match=r"csv\.gz: it is empty: make it again"):
        TIDY.read(path)

from pathlib import Path

import pandas as pd

from fastdecode.files import write_json, write_lines
from fastdecode.report.data import DatasetFiles, data_table

SIDES = {
    "en": {"tokens": 30, "mean": 10.0, "median": 9, "max": 14},
    "de": {"tokens": 27, "mean": 9.0, "median": 9, "max": 12},
}
REMOVED = {"empty": 1, "too_long": 2, "ratio": 0, "duplicate": 4, "held_out": 0}
REPORT = {
    "splits": {
        "train": {"read": 10, "removed": REMOVED, "taken": 0, "kept": 3, "sides": SIDES},
        "test": {"read": 3, "removed": {}, "taken": 0, "kept": 3, "sides": SIDES},
    }
}


def test_a_row_for_every_split(tmp_path: Path) -> None:
    write_json(tmp_path / "report.json", REPORT)
    write_lines(tmp_path / "source.gz", ["a b@@ c", "d"])
    write_lines(tmp_path / "target.gz", ["a", "b@@ c"])
    bpe = {"train": (tmp_path / "source.gz", tmp_path / "target.gz")}
    files = {
        "small": DatasetFiles(tmp_path / "report.json", bpe),
        "large": DatasetFiles(tmp_path / "report.json"),
    }
    table = data_table(files)
    assert list(table["dataset"]) == ["small", "small", "large", "large"]
    assert list(table["split"]) == ["train", "test", "train", "test"]
    train, test = table.iloc[0], table.iloc[1]
    assert (train["sentences"], train["source words"], train["target words"]) == (3, 30, 27)
    assert (train["source pieces"], train["target pieces"]) == (4, 3)
    assert (train["source mean length"], train["target longest"]) == (10.0, 12)
    assert (train["removed: too long"], train["removed: held out"]) == (2, 0)
    for column in ("source pieces", "removed: empty"):
        assert test[column] is pd.NA
    assert table["removed: duplicate"].dtype == "Int64"  # counts stay whole where some are missing

"""A table of the data sets: how much text there is, how long its lines are, what was removed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.files import read_json, read_lines


@dataclass(frozen=True)
class DatasetFiles:
    """Where the numbers of a data set come from."""

    report: Path
    """`report.json` of fastdecode.corpus.prepare."""
    bpe: Mapping[str, tuple[Path, Path]] = field(default_factory=dict)
    """BPE text of source and target by split, for the splits that have it."""


def data_table(datasets: Mapping[str, DatasetFiles]) -> pd.DataFrame:
    """Return a row for every split of every data set.

    Columns: data set, split, sentences; tokens of either side as words and as BPE pieces; mean and
    longest length in words; and the lines removed, a column for each reason. Cells that mean
    nothing are missing: BPE pieces of a split without BPE text, removals from a test set.

    Raises UserError if a file is missing or no JSON.
    """
    rows = [
        _row(name, split, entry, files)
        for name, files in datasets.items()
        for split, entry in read_json(files.report)["splits"].items()
    ]
    return pd.DataFrame(rows).convert_dtypes()


def _row(name: str, split: str, entry: dict[str, Any], files: DatasetFiles) -> dict[str, Any]:
    row: dict[str, Any] = {"dataset": name, "split": split, "sentences": entry["kept"]}
    sides = dict(zip(("source", "target"), entry["sides"].values(), strict=True))
    for side, lengths in sides.items():
        row[f"{side} words"] = lengths["tokens"]
    pieces = files.bpe.get(split, (None, None))
    for side, path in zip(sides, pieces, strict=True):
        row[f"{side} pieces"] = path and _tokens(path)
    for side, lengths in sides.items():
        row[f"{side} mean length"] = lengths["mean"]
        row[f"{side} longest"] = lengths["max"]
    for reason, count in entry["removed"].items():
        row[f"removed: {reason.replace('_', ' ')}"] = count
    return row


def _tokens(path: Path) -> int:
    return sum(len(line.split()) for line in read_lines(path))

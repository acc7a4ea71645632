"""The CSV of a figure: one point a line, published ones beside those measured here.

In a drawing of a single sentence `line` is its number in the split, from 1. `part` says what of a
statistic's counts a point is, where it has several; of a learning curve, by which clock its x is.
"""

import pandas as pd

from fastdecode.report.sheet import Sheet

POINTS = Sheet(
    (
        "dataset",
        "panel",
        "series",
        "source",
        "x",
        "y",
        "sd",
        "n",
        "label",
        "split",
        "what",
        "seeds",
        "tier",
        "threads",
        "precision",
        "device",
        "commit",
        "marks",
        "line",
        "batch",
        "part",
    ),
    ("x", "y", "sd", "n"),
    added=("marks", "line", "batch", "part"),
)
Line = tuple[str, str, str]  # dataset, split, number from 1


def line_of(points: pd.DataFrame) -> Line | None:
    """Return the line that a figure is a drawing of; None if it is of none, or of several."""
    lines = points.loc[points["line"] != "", ["dataset", "split", "line"]].drop_duplicates()
    if len(lines) != 1:
        return None
    dataset, split, line = lines.iloc[0]
    return str(dataset), str(split), str(line)

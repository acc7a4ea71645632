"""Table 1: quality and speed of every system, and what is missing to the autoregressive one."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts import rows
from fastdecode.report.artifacts.beside import beside
from fastdecode.report.artifacts.cells import CELLS, commits_of, devices_of
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.tables import Table, seeds_of, signed

GAPS = {"gap_raw": "raw", "gap_kd": "kd"}  # → the BLEU that it is of


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells of artifacts.rows, and the gaps: a mean over all datasets of a row.

    A gap is the BLEU of the artifact's row `over` on the same targets minus that of the row. It is
    below zero for a row that is better.
    """
    found = rows.cells(evidence)
    ours = found[(found["source"] == OURS) & found["column"].isin(GAPS.values())]
    return pd.concat([found, CELLS.frame(list(_gaps(ours, str(evidence.artifact.over))))])


def _gaps(ours: pd.DataFrame, over: str) -> Iterator[dict[str, Any]]:
    values = {
        (str(cell["row"]), str(cell["column"]), str(cell["dataset"])): float(cell["value"])
        for cell in ours.to_dict("records")
    }
    origins = {
        key: {
            **{name: " ".join(group[name].unique()) for name in ("what", "split")},
            "seeds": seeds_of(group["seeds"]).replace(",", ""),
            "device": devices_of(group["device"]),
            "commit": commits_of(group["commit"]),
        }
        for key, group in ours.groupby(["row", "column"])
    }
    for row in ours["row"].unique():
        for gap, column in GAPS.items():
            missing = {
                dataset: values[over, column, dataset] - value
                for (name, of, dataset), value in values.items()
                if (name, of) == (row, column) and (over, column, dataset) in values
            }
            if missing:
                both = origins[row, column], origins[over, column]
                yield {
                    "row": row,
                    "column": gap,
                    "source": OURS,
                    "dataset": " ".join(missing),
                    **origins[row, column],
                    "value": fmean(missing.values()),
                    "over": over,
                    "device": devices_of(one["device"] for one in both),
                    "commit": commits_of(one["commit"] for one in both),
                }


def printed(name: str, artifact: Artifact, cells: pd.DataFrame) -> Table:
    """Return the table as it is printed: the gaps of ours last."""
    is_gap = cells["column"].isin(GAPS) & (cells["source"] == OURS)
    table, gaps = beside(name, artifact, cells[~is_gap]), cells[is_gap]
    frame, caption = table.frame.copy(), list(table.sentences)
    for column, group in gaps.groupby("column", sort=False):
        values = dict(zip(group["row"], group["value"], strict=True))
        frame[f"our {artifact.published[str(column)]}"] = [
            signed(f"{values[row]:.2f}") if row in values else "" for row in artifact.rows
        ]
    if not gaps.empty:
        datasets = " and ".join(sorted({d for names in gaps["dataset"] for d in names.split()}))
        over = artifact.rows[str(artifact.over)].get("model", artifact.over)
        of = f"means over those of {datasets} that a row has" if " and " in datasets else datasets
        caption.append(f"Gaps of ours: to the row {over}, {of}.")
    return Table(frame, caption)

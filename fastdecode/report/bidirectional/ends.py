"""Table 3: n-gram precision of the first and of the last tokens of long sentences."""

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.beside import column_of, published_columns
from fastdecode.report.artifacts.cells import CELLS, commits_of, published_cells
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.rows import of_entry
from fastdecode.report.tables import Table

ORDERS = ("1", "4")
SINGLE, DOUBLE = "single_l2r", "double_bidir"
DIFFERENCE = "diff"
LONG = "/over30"


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells: for each end of a row, precisions in percent and their difference.

    Columns are named as the published ones, p1_single_l2r and so on. Precisions of ours are those
    of fastdecode.measure.ends: of words, where the paper counts BPE tokens; on lines of over 30 on
    the paper's own datasets, on all lines elsewhere, since captions have hardly any so long (two in
    a thousand).
    """
    found = published_cells(evidence.artifact)
    for dataset, part in evidence.parts.items():
        here = evidence.tidy[evidence.tidy["dataset"] == dataset]
        lines = LONG if dataset in evidence.artifact.datasets else ""
        for row, values in evidence.artifact.rows.items():
            for cell in _precisions(here, part, f"{values['end']}{lines}"):
                found.append({"row": row, "source": "ours", "dataset": dataset, **cell})
    return CELLS.frame(found)


def _precisions(here: pd.DataFrame, part: Part, end: str) -> Iterator[dict[str, Any]]:
    for order in ORDERS:
        values, entries, commits = {}, {}, []
        for name in (SINGLE, DOUBLE):
            entry = part.entries.get(name, {}).get("reference")
            rows = of_entry(here, part.split, entry) if entry else here.iloc[:0]
            rows = rows[rows["metric"] == f"precision{order}_{end}"]
            if not rows.empty:
                values[name], entries[name] = 100 * fmean(rows["value"]), entry
                same = {"split": part.split, "what": entry, "seeds": " ".join(rows["seed"])}
                same["part"] = f"precision{order}_{end}"
                same["commit"] = commits_of(rows["commit"])
                commits += rows["commit"].tolist()
                yield {"column": f"p{order}_{name}", "value": values[name], "n": len(rows), **same}
        if len(values) == 2:
            difference = values[DOUBLE] - values[SINGLE]
            same = {"split": part.split, "what": entries[DOUBLE], "over": entries[SINGLE]}
            same["part"] = f"precision{order}_{end}"
            same["commit"] = commits_of(commits)
            yield {"column": f"p{order}_{DIFFERENCE}", "value": difference, **same}


def printed(name: str, artifact: Artifact, cells: pd.DataFrame) -> Table:
    """Return the table as it is printed: the published columns, and the same of each dataset."""
    rows = list(artifact.rows)
    table = published_columns(artifact, cells, _percent)
    ours = cells[cells["source"] == "ours"]
    for dataset, group in ours.groupby("dataset", sort=False):
        for column, heading in artifact.published.items():
            table[f"{dataset} {heading}"] = column_of(group, rows, column, _percent)
    caption = [f"{name}: {artifact.title}.", f"Published: {artifact.setting}."]
    measured = ours[ours["what"] != ""].drop_duplicates(["dataset", "what", "split"])
    for cell in measured.to_dict("records"):
        lines = "lines of over 30 words" if cell["dataset"] in artifact.datasets else "all lines"
        caption.append(f"Ours: {cell['what']} on {cell['dataset']}, {cell['split']}, {lines}.")
    if ours.empty:
        caption.append("Nothing of it was run here.")
    caption += [f"Note: {note}." for note in artifact.notes]
    return Table(pd.DataFrame(table, dtype=str), " ".join(caption))


def _percent(cell: Mapping[str, Any]) -> str:
    return cell["text"] or f"{cell['value']:.1f}"

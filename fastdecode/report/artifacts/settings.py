"""Tables of settings: what a paper trained with, beside what our configuration says."""

from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.beside import published_number
from fastdecode.report.artifacts.caption import captioned
from fastdecode.report.artifacts.cells import CELLS, published_cells
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.sources import OURS, PUBLISHED
from fastdecode.report.tables import Table


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells: published ones, and for each system that was trained here its settings.

    `measured:` of the artifact maps columns to keys of a training or an architecture. A system of
    ours is a row of its own, since papers name settings by data or by model, and ours may be
    neither.
    """
    found = published_cells(evidence.artifact)
    for dataset, part in evidence.parts.items():
        for entry, settings in part.settings.items():
            row: dict[str, Any] = {"row": f"{dataset}/{entry}", "source": OURS}
            row |= {"dataset": dataset, "what": entry}
            found += [
                {**row, "column": column, "text": text_of(settings[key])}
                for column, key in evidence.artifact.measured.items()
            ]
    return CELLS.frame(found)


def printed(name: str, artifact: Artifact, cells: pd.DataFrame) -> Table:
    """Return the table as it is printed: the published rows, and below them ours."""
    columns = {**artifact.labels, **artifact.published}
    lines = []
    for row, group in cells.groupby("row", sort=False):
        texts = {
            cell["column"]: published_number(cell) if cell["source"] == PUBLISHED else cell["text"]
            for cell in group.to_dict("records")
        }
        ours = (group["source"] == OURS).all()
        whose = f"ours: {row}" if ours else "published"
        lines.append({"whose": whose, **{columns[key]: texts.get(key, "") for key in columns}})
    frame = pd.DataFrame(lines, columns=["whose", *columns.values()], dtype=str)
    said = "Ours: from the configuration of this run, an empty cell where nothing is limited."
    return Table(frame, captioned(name, artifact, [said]))


def text_of(value: Any) -> str:
    """Return a setting as it is printed, one of several values with commas; nothing for None."""
    if isinstance(value, tuple | list):
        return ", ".join(map(text_of, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)

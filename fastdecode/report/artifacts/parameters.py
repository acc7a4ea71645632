"""Tables of hyper-parameters, one a line: published values, beside what our systems are given."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact, choose, entry_of
from fastdecode.report.artifacts.beside import column_of, published_columns, published_number
from fastdecode.report.artifacts.caption import captioned
from fastdecode.report.artifacts.cells import CELLS, published_cells
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.settings import text_of
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.tables import Table


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells: published ones, and for each column the settings of a system of the run.

    `measured:` of the artifact maps columns to target/system, or to several with `or` between them,
    of which the first counts that the run has. A row's `ours` is the key of an
    architecture, a training or a system that the row is about, or <decoder>/<key> of a decoder that
    the run has for the system; update_tokens; key.0 the first of several values. Of several keys
    all values that there are stand in one cell. It may differ by column, and where it is missing
    the row has no counterpart here.
    """
    artifact = evidence.artifact
    found = published_cells(artifact)
    for dataset, part in evidence.parts.items():
        for column, pattern in artifact.measured.items():
            run = list(part.settings)
            entry = next(
                filter(None, (choose(one, run, {}) for one in pattern.split(" or "))), None
            )
            settings = part.settings[entry] if entry else {}
            for row in artifact.rows:
                named = artifact.patterns(row)
                keys = named.get(entry_of(row, column)) or named.get(row, [])
                values = [_setting(settings, key) for key in keys]
                if there := [value for value in values if value is not None]:
                    cell: dict[str, Any] = {"row": row, "column": column, "source": OURS}
                    ours = {"text": ", ".join(map(text_of, there)), "what": entry}
                    found.append({**cell, "dataset": dataset, **ours})
    return CELLS.frame(found)


def _setting(settings: Mapping[str, Any], key: str) -> Any:
    name, _, place = key.partition(".")
    value = settings.get(name)
    return value[int(place)] if place and value is not None else value


def printed(name: str, artifact: Artifact, cells: pd.DataFrame) -> Table:
    """Return the table as it is printed: labels, published columns, and ours by dataset."""
    rows = list(artifact.rows)
    table = published_columns(artifact)
    ours = cells[cells["source"] == OURS]
    for (dataset, of, what), group in ours.groupby(["dataset", "column", "what"], sort=False):
        table[" ".join([str(dataset), str(what)])] = column_of(
            group, rows, str(of), published_number
        )
    caption = captioned(name, artifact, ["Ours: from the configuration of this run."])
    return Table(pd.DataFrame(table, dtype=str), caption)

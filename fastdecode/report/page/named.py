"""What the rows are that the findings on a claim name by their keys."""

from collections.abc import Mapping

import pandas as pd

from fastdecode.config.papers import Artifact


def named(findings: pd.DataFrame, artifacts: Mapping[str, Artifact]) -> tuple[tuple[str, str], ...]:
    """Return key and label of every row of a table among the cells of findings, in their order.

    `findings` are lines of fastdecode.report.claims.printed, `artifacts` those of the paper. Where
    tables have different rows of one key, the name of each table stands before its label. Curves,
    which go by what they are called, are left out.
    """
    found: dict[str, dict[str, str]] = {}  # key → label → table
    for line in findings.to_dict("records"):
        for cell in filter(None, str(line["cells"]).split("; ")):
            key = cell.partition(".")[0]
            for table, artifact in _judged_by(str(line["artifact"]), artifacts).items():
                if artifact.kind == "table" and key in artifact.rows:
                    found.setdefault(key, {}).setdefault(label(artifact, key), table)
    return tuple((key, _together(labels)) for key, labels in found.items())


def label(artifact: Artifact, row: str) -> str:
    """Return what a row is called: its words, and its numbers behind what they are of."""
    cells = artifact.rows[row]
    parts = [
        (str(cells[column]), heading)
        for column, heading in artifact.labels.items()
        if cells.get(column) not in (None, "")
    ]
    return ", ".join(
        text if any(map(str.isalpha, text)) else f"{heading} {text}" for text, heading in parts
    )


def _judged_by(name: str, artifacts: Mapping[str, Artifact]) -> Mapping[str, Artifact]:
    """Return the table that a finding is of, or all of which it may be."""
    return {name: artifacts[name]} if name in artifacts else artifacts


def _together(labels: Mapping[str, str]) -> str:
    if len(labels) == 1:
        return next(iter(labels))
    return "; ".join(f"{table}: {text}" for text, table in labels.items())

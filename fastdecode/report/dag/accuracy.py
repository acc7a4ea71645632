"""Table 2: reference tokens that are right under the best assignment, of train and valid."""

from statistics import fmean, stdev
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.beside import RUN_HERE, published_columns
from fastdecode.report.artifacts.caption import captioned
from fastdecode.report.artifacts.cells import CELLS, devices_of, published_cells
from fastdecode.report.artifacts.documents import of_seeds
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.tables import NOT_RUN, Table, seeds_of

TRAIN, VALID = "train", "valid"


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells: the accuracy of a row's system by split, in percent, a mean over seeds."""
    found = published_cells(evidence.artifact)
    for dataset, part in evidence.parts.items():
        for row in evidence.artifact.rows:
            for split in (TRAIN, VALID):
                named = TRAIN if split == TRAIN else part.valid
                documents = _documents(evidence, dataset, part, row, named)
                if documents:
                    cell = {"row": row, "column": split, "source": OURS, "dataset": dataset}
                    found.append({**cell, **_mean(documents)})
    return CELLS.frame(found)


def _documents(
    evidence: Evidence, dataset: str, part: Part, row: str, split: str
) -> list[dict[str, Any]]:
    entry = next(iter(part.entries.get(row, {}).values()), "")
    return [
        dict(document)
        for document in evidence.statistics
        for origin in [document["provenance"]]
        if entry.startswith(f"{origin['target']}/{origin['system']}/")
        and (origin["dataset"], origin["split"]) == (dataset, split)
    ]


def _mean(documents: list[dict[str, Any]]) -> dict[str, Any]:
    values = [100 * document["accuracy"] for document in documents]
    return {
        "value": fmean(values),
        "sd": stdev(values) if len(values) > 1 else None,
        "n": len(values),
        **of_seeds([document["provenance"] for document in documents]),
    }


def printed(name: str, artifact: Artifact, cells: pd.DataFrame) -> Table:
    """Return the table as it is printed: published columns, what was run, ours by dataset."""
    rows = list(artifact.rows)
    table = published_columns(artifact)
    ours = cells[cells["source"] == OURS]
    what = dict(zip(ours["row"], ours["what"], strict=True))
    table[RUN_HERE] = [what.get(row, NOT_RUN) for row in rows]
    for (dataset, split), group in ours.groupby(["dataset", "split"], sort=False):
        texts = {
            str(cell["row"]): f"{cell['value']:.1f}"
            + ("" if pd.isna(cell["sd"]) else f" ± {cell['sd']:.1f}")
            for cell in group.to_dict("records")
        }
        table[f"{dataset} {split}"] = [texts.get(row, "") for row in rows]
    of = f"means over up to {ours['n'].max():.0f} seeds" if ours["n"].max() > 1 else "seed"
    said = f"Ours: {of} ({seeds_of(ours['seeds'])}), {devices_of(ours['device'])}."
    caption = captioned(name, artifact, [said], run=not ours.empty)
    return Table(pd.DataFrame(table, dtype=str), caption)

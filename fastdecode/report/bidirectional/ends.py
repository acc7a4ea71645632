"""Table 3: n-gram precision of the first and of the last tokens of long sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.beside import column_of, published_columns
from fastdecode.report.artifacts.caption import captioned
from fastdecode.report.artifacts.cells import CELLS, commits_of, devices_of, published_cells
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.rows import of_entry, over_seeds
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.tables import Table, seeds_of, signed

ORDERS = ("1", "4")
SINGLE, DOUBLE = "single_l2r", "double_bidir"
DIFFERENCE = "diff"
LONG = "/over30"


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells: for each end of a row, precisions in percent and their difference.

    Columns are named as the published ones, p1_single_l2r and so on. Precisions of ours are those
    of fastdecode.measure.ends: of words, where the paper counts tokens, most likely those of BPE;
    on lines of over 30 on the paper's own datasets, on all lines elsewhere, since captions have
    hardly any so long (two in a thousand).
    """
    found = published_cells(evidence.artifact)
    for dataset, part in evidence.parts.items():
        here = evidence.tidy[evidence.tidy["dataset"] == dataset]
        lines = LONG if dataset in evidence.artifact.datasets else ""
        for row, values in evidence.artifact.rows.items():
            for cell in _precisions(here, part, f"{values['end']}{lines}"):
                found.append({"row": row, "source": OURS, "dataset": dataset, **cell})
    return CELLS.frame(found)


def _precisions(here: pd.DataFrame, part: Part, end: str) -> Iterator[dict[str, Any]]:
    for order in ORDERS:
        metric = f"precision{order}_{end}"
        found: dict[str, dict[str, Any]] = {}
        for name in (SINGLE, DOUBLE):
            entry = part.entries.get(name, {}).get("reference")
            rows = of_entry(here, part.split, entry) if entry else here.iloc[:0]
            rows = rows[rows["metric"] == metric]
            if rows.empty:
                continue
            found[name] = {
                **over_seeds(rows, (100 * rows["value"]).tolist()),
                "split": part.split,
                "what": entry,
                "part": metric,
            }
            yield {"column": f"p{order}_{name}", **found[name]}
        if len(found) == 2:
            single, double = found[SINGLE], found[DOUBLE]
            yield {
                **double,
                "column": f"p{order}_{DIFFERENCE}",
                "value": double["value"] - single["value"],
                "sd": None,  # the interval of a claim says how sure it is
                "over": single["what"],
                "device": devices_of([single["device"], double["device"]]),
                "commit": commits_of([single["commit"], double["commit"]]),
            }


def printed(name: str, artifact: Artifact, cells: pd.DataFrame) -> Table:
    """Return the table as it is printed: the published columns, and the same of each dataset."""
    rows = list(artifact.rows)
    table = published_columns(artifact, _percent)
    ours = cells[cells["source"] == OURS]
    for dataset, group in ours.groupby("dataset", sort=False):
        for column, heading in artifact.published.items():
            table[f"{dataset} {heading}"] = column_of(group, rows, column, _percent)
    caption = captioned(name, artifact, _said(artifact, ours), run=not ours.empty)
    return Table(pd.DataFrame(table, dtype=str), caption)


def _said(artifact: Artifact, ours: pd.DataFrame) -> Iterator[str]:
    measured = ours[ours["what"] != ""].drop_duplicates(["dataset", "what", "split"])
    for cell in measured.to_dict("records"):
        lines = "lines of over 30 words" if cell["dataset"] in artifact.datasets else "all lines"
        yield f"Ours: {cell['what']} on {cell['dataset']}, {cell['split']}, {lines}."
    if seeds := seeds_of(ours["seeds"]):
        several = f"means over up to {ours['n'].max():.0f} seeds ({seeds})"
        yield f"Ours: {several if ours['n'].max() > 1 else f'seed {seeds}'}."


def _percent(cell: Mapping[str, Any]) -> str:
    spread = "" if pd.isna(cell["sd"]) else f" ± {cell['sd']:.1f}"
    return cell["text"] or signed(f"{cell['value']:.1f}{spread}")

"""The CSV of a table: one cell a line, the published ones beside those measured here.

`source` is `label` (words), `published` or `ours`; a cell of ours says what was run and how. Rows
and columns are named as in `config/papers`, so that a claim can point at a cell.
"""

from collections.abc import Iterable
from typing import Any

from fastdecode.config.papers import BESIDE, OVER, SD, Artifact
from fastdecode.report.artifacts.sources import LABEL, PUBLISHED
from fastdecode.report.sheet import Sheet

LETTERS = "ᵃᵇᶜᵈ"  # marks of BLEU that is tested against a row; the others are those of all tables
JOINT = " + "  # between stages that are one part
TO = "–"  # between the ends of a range of lengths
NUMBERS = ("value", "sd", "n")  # n: seeds that the mean is of
ORIGIN = ("dataset", "split", "what", "seeds", "tier", "scenario", "threads", "precision", "batch")
NOTES = ("device", "signature", "over", "marks", "commit")
# over_batch: of a ratio in Smax, since what it is over may be fastest in other batches
# part: what of the lines a number is of, if not all, such as precision1_first5; of a time, its
# stages
ADDED = ("over_batch", "part")
CELLS = Sheet(
    ("row", "column", "source", "text", *NUMBERS, *ORIGIN, *NOTES, *ADDED), NUMBERS, ADDED
)


def commits_of(texts: Iterable[str]) -> str:
    """Return all different commits, in order; a text may name several."""
    return " ".join(dict.fromkeys(commit for text in texts for commit in text.split()))


def devices_of(texts: Iterable[str]) -> str:
    """Return all different devices, in order; a text may name several."""
    return " and ".join(dict.fromkeys(one for text in texts for one in text.split(" and ") if one))


def published_cells(artifact: Artifact) -> list[dict[str, Any]]:
    """Return the labels and the published numbers of all rows; what is null has no cell."""
    cells = []
    for name, row in artifact.rows.items():
        for column, value in row.items():
            if column in (BESIDE, OVER) or column.endswith(SD) or value is None:
                continue
            source = PUBLISHED if column in artifact.published else LABEL
            number = isinstance(value, int | float) and not isinstance(value, bool)
            cell: dict[str, Any] = {"row": name, "column": column, "source": source}
            if number and source == PUBLISHED:
                cell |= {"value": value, "sd": row.get(f"{column}{SD}")}
            else:
                cell["text"] = str(value)
            cells.append(cell)
    return cells

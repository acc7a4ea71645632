"""A table that says of every decoder that has to repeat another whether it does."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from fastdecode.report.tables import Table

CAPTION = (
    "{dataset}, {split}: lines on which a decoder writes the tokens of its twin of tier reference, "
    "or a lossless one those of the search that it speeds up, and on the others the largest "
    "difference of the two scores (log probability by normalised length)."
)


def agreement_table(rows: Sequence[dict[str, Any]], dataset: str, split: str) -> Table:
    """Return the table of what fastdecode.measure.agreement found, a line for each decoder."""
    lines = [
        {
            **{key: str(row[key]) for key in ("system", "target", "seed", "decoder", "twin")},
            "lines": str(row["lines"]),
            "identical": f"{row['identical'] / row['lines']:.2%}",
            "differing": str(row["lines"] - row["identical"]),
            "largest gap": _gap(row),
        }
        for row in rows
    ]
    return Table(pd.DataFrame(lines, dtype=str), [CAPTION.format(dataset=dataset, split=split)])


def _gap(row: dict[str, Any]) -> str:
    if row["largest_gap"] is not None:
        return f"{row['largest_gap']:.1e}"
    return "–" if row["identical"] == row["lines"] else "unknown"  # no score to compare

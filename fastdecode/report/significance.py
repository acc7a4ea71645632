"""A table of paired tests: which systems differ from the baseline by more than chance."""

from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.errors import UserError
from fastdecode.files import read_json
from fastdecode.report.tables import Table, signed

ORIGIN = ("dataset", "split")
SYSTEM = ("system", "target", "decoder", "seed")
COLUMNS = [
    *ORIGIN,
    "baseline",
    *SYSTEM,
    # fields of fastdecode.measure.significance.Comparison
    "bleu",
    "low",
    "high",
    "baseline_bleu",
    "baseline_low",
    "baseline_high",
    "difference",
    "p_randomisation",
    "p_bootstrap",
    "lines",
    "changed",
    "shuffles",
    "resamples",
    "signature_randomisation",
    "signature_bootstrap",
]
MARKS = ((0.01, "**"), (0.05, "*"))  # p of randomisation is below


def read_comparisons(path: Path) -> pd.DataFrame:
    """Read what rule compare_quality wrote: a row, with COLUMNS, for a system, decoder and seed.

    Raises UserError if the file is missing or lacks a key.
    """
    document = read_json(path)
    try:
        origin = {key: document["provenance"][key] for key in ORIGIN}
        rows = [[{**origin, **row}[key] for key in COLUMNS] for row in document["rows"]]
    except KeyError as error:
        raise UserError(f"{path}: it has no {error}: delete it and run again") from None
    return pd.DataFrame(rows, columns=COLUMNS)


def significance_table(comparisons: pd.DataFrame) -> Table:
    """Return the table of such rows, one at least, all of one dataset, split and baseline."""
    first = comparisons.iloc[0]
    target, system, decoder = first["baseline"].split("/")
    caption = [
        f"{first['dataset']}, {first['split']}: paired tests of BLEU against {system} ({target}) "
        f"with {decoder}, same seed.",
        f"Approximate randomisation: {first['shuffles']:,} shuffles, "
        f"{first['signature_randomisation']}.",
        f"Bootstrap, also for the 95% interval of BLEU: {first['resamples']:,} resamples, "
        f"{first['signature_bootstrap']}.",
        "By randomisation, * p < 0.05, ** p < 0.01, not corrected for the number of tests.",
    ]
    rows = [_cells(row) for _, row in comparisons.iterrows()]
    return Table(pd.DataFrame(rows, dtype=str), caption)


def _cells(row: "pd.Series[Any]") -> dict[str, str]:
    return {
        **{key: str(row[key]) for key in SYSTEM},
        "BLEU": f"{row['bleu']:.2f}",
        "95% interval": f"{row['low']:.2f}–{row['high']:.2f}",
        "baseline BLEU": f"{row['baseline_bleu']:.2f}",
        "difference": _signed(row["difference"]),
        "p (randomisation)": f"{row['p_randomisation']:.4f}",
        "p (bootstrap)": f"{row['p_bootstrap']:.4f}",
        "marks": next((mark for p, mark in MARKS if row["p_randomisation"] < p), ""),
    }


def _signed(value: float) -> str:
    text = signed(f"{value:+.2f}")
    return text if text[1:] != "0.00" else "0.00"

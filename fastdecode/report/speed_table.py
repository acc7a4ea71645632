"""Tables of speed, as they are printed: from the rows of fastdecode.report.speed_numbers."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from fastdecode.provenance import is_cpu
from fastdecode.report.speed_numbers import SPEED, Row, records
from fastdecode.report.speed_words import marks, over, ratio_marks
from fastdecode.report.tables import NOT_MEASURED, Table, millions, notes, only

SCENARIOS = {
    "S1": "one sentence at a time, times in ms a sentence",
    "Smax": "in batches, of the sizes measured the one with the most sentences a second",
}
CELLS = {  # heading: how it is printed, of which column
    "S1": {
        "median ms": ("{:.2f}", "latency_median"),
        "mean ms": ("{:.2f}", "latency_mean"),
        "p90 ms": ("{:.2f}", "latency_p90"),
        "p99 ms": ("{:.2f}", "latency_p99"),
        "speed-up": ("×{:.2f}", "speedup"),
        "tokens": ("{:.1f}", "latency_tokens"),
        "passes": ("{:.1f}", "latency_passes"),
        "layers in turn": ("{:.0f}", "latency_serial_layers"),
        "MB a pass": ("{:.2f}", "latency_bytes_per_pass"),
        "floor": ("{:.1%}", "latency_floor_fraction"),
        "peak MB": ("{:.0f}", "memory_peak"),
    },
    "Smax": {
        "batch": ("{}", "batch"),
        "sentences/s": ("{:.1f}", "throughput_sentences"),
        "tokens/s": ("{:.0f}", "throughput_tokens"),
        "speed-up": ("×{:.2f}", "speedup"),
        "ms a batch": ("{:.2f}", "latency_median"),
        "peak MB": ("{:.0f}", "memory_peak"),
    },
}
EXPLAINED = {
    "layers in turn": "Layers in turn: those of the encoder and of all passes, which wait for one "
    "another on any machine.",
    "floor": "Floor: the time in which memory could deliver the weights of all passes, as a share "
    "of the mean; it is above 100% where weights stay in the caches.",
    "peak MB": "Peak MB: the most memory that a process took which translated with this system "
    "alone, with one thread; on a GPU the memory of its tensors, where PyTorch holds them.",
}


def speed_table(rows: pd.DataFrame, left_out: Sequence[str] = ()) -> Table:
    """Return the rows of speed_rows as they are printed, with the caption that explains them.

    `left_out` is what did_not_fit returns.
    """
    scenario = only(rows, "scenario")
    rows = rows.assign(
        latency_bytes_per_pass=rows["latency_bytes_per_pass"] / 1e6,  # MB
        memory_peak=rows["memory_peak"].where(
            rows["device"].map(is_cpu), rows["memory_allocator_peak"]
        ),
    )
    printed = pd.DataFrame([_cells(row, scenario) for row in records(rows)], dtype=str)
    where = [only(rows, name) for name in ("dataset", "split", "seeds", "device", "signature")]
    dataset, split, seeds, device, signature = where
    caption = [
        f"{dataset}, {split}, seed {seeds}, {scenario}: {SCENARIOS[scenario]}, on {device}.",
        *(over(tier, rows[rows["tier"] == tier]) for tier in rows["tier"].unique()),
        "Ratios are of " + ("medians" if scenario == "S1" else "sentences a second") + ", both with"
        " the same number of threads and, but where the table says otherwise, precision.",
        *_samples(rows["latency_n"].dropna(), "lines" if scenario == "S1" else "batches"),
        *(note for heading, note in EXPLAINED.items() if heading in printed),
        *([f"Memory did not suffice: {'; '.join(left_out)}."] if left_out else []),
        *([f"BLEU: {signature}."] if signature else []),
        *notes(printed),
    ]
    return Table(printed, caption)


def _samples(counts: "pd.Series[float]", what: str) -> list[str]:
    """Say how many samples a time is of."""
    if counts.empty:
        return []
    numbers = " to ".join(f"{count:.0f}" for count in sorted({counts.min(), counts.max()}))
    return [f"Every time is of {numbers} samples, {what} by repeats."]


def _cells(row: Row, scenario: str) -> dict[str, str]:
    """Return the cells of a printed row by their headings."""
    precision, other = row["precision"], row["over_precision"]
    cells = {
        "tier": row["tier"],
        "threads": row["threads"],
        "precision": precision if other in ("", precision) else f"{precision} over {other}",
        "system": row["system"],
        "target": row["target"],
        "decoder": row["decoder"],
        "layers": row["layers"],
        "parameters": millions(row["parameters"]),
        "BLEU": _printed("{:.2f}", row["bleu"]),
    }
    for heading, (form, column) in CELLS[scenario].items():
        cells[heading] = _printed(form, row[column])
        if column == SPEED[scenario]:
            cells[heading] += marks(row)
        if column == "speedup" and not pd.isna(row[column]):
            cells[heading] += ratio_marks(row)
    return cells


def _printed(form: str, value: Any) -> str:
    return NOT_MEASURED if pd.isna(value) else form.format(value)

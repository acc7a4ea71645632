"""The cells of ours, as claims name them, and how far they would move with other test lines."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fastdecode.config.papers import AT, Artifact
from fastdecode.errors import UserError
from fastdecode.measure.resampling import Numbers, resampled_rate, resampled_time
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.metrics import METRICS, Metric
from fastdecode.report.artifacts.points import POINTS

CORPUS = "corpus"  # column of a table whose rows are datasets of one corpus: they are judged as one
UNITS = {"throughput_tokens": "tokens", "throughput_sentences": "sentences"}


@dataclass(frozen=True)
class Cell:
    """One number of ours, with what was run and how."""

    value: float
    place: str  # the dataset; the corpus, where a table has a dataset a row
    panel: str  # of a figure
    tier: str  # of a speed
    name: str  # row.column, or curve@x
    metric: Metric | None  # None: made by a function of its own
    origin: Mapping[str, Any] = field(repr=False)  # the line of the CSV


@dataclass(frozen=True)
class Resamples:
    """Resamples of BLEU and of times; what is not there has no interval."""

    bleu: Mapping[tuple[str, str], pd.DataFrame] = field(default_factory=dict)
    """By dataset and split: a column of resamples for each target/system/decoder."""
    times: Mapping[tuple[str, str, str], Path] = field(default_factory=dict)
    """By dataset, tier and scenario: the raw samples of a timing."""
    _read: dict[Path, pd.DataFrame] = field(default_factory=dict, repr=False)

    def of(self, cell: Cell) -> Numbers | None:
        """Return the cell's value of every resample, (R,); None where it is not known."""
        metric, what = cell.metric, str(cell.origin["what"])
        if metric is None:
            return None
        if metric.tidy == "bleu":
            drawn = self.bleu.get((str(cell.origin["dataset"]), str(cell.origin["split"])))
            found = drawn is not None and what in drawn
            return drawn[what].to_numpy(float) if drawn is not None and found else None
        if metric.kind == "speed" and metric.scenario:
            return self._time(cell, metric, what)
        over = str(cell.origin.get("over", ""))
        if metric.kind == "ratio" and over:
            base, own = self._time(cell, metric, over), self._time(cell, metric, what)
            if base is not None and own is not None:
                return own / base if metric.inverse else base / own
        return None

    def _time(self, cell: Cell, metric: Metric, entry: str) -> Numbers | None:
        path = self.times.get((str(cell.origin["dataset"]), cell.tier, metric.scenario))
        if path is None or metric.tidy not in {"latency_median", *UNITS}:
            return None
        if path not in self._read:
            self._read[path] = pd.read_csv(path, dtype={"decoder": str})
        samples = self._read[path]
        samples = samples[samples["decoder"] == entry]
        if batch := str(cell.origin.get("batch", "")):
            samples = samples[samples["batch"] == int(batch)]
        if samples.empty:
            return None
        if metric.tidy == "latency_median":
            times = samples.pivot_table("milliseconds", "line", "repeat")
            return resampled_time(times.to_numpy(float))
        sums = samples.groupby("repeat")[[UNITS[metric.tidy], "milliseconds"]].sum()
        return resampled_rate((1e3 * sums.iloc[:, 0] / sums.iloc[:, 1]).to_numpy(float))


def read_cells(artifact: Artifact, csv: Path) -> list[Cell]:
    """Return the numbers of ours in an artifact's CSV. Raises UserError if it cannot be read."""
    table = artifact.kind == "table"
    frame = (CELLS if table else POINTS).read(csv)
    ours = frame[frame["source"] == "ours"]
    found = (_table_cells if table else _figure_cells)(artifact, ours.to_dict("records"))
    return [cell for cell in found if not np.isnan(cell.value)]


def _table_cells(artifact: Artifact, lines: Iterable[Mapping[Any, Any]]) -> list[Cell]:
    lines = list(lines)
    corpora = {line["dataset"]: line["text"] for line in lines if line["column"] == CORPUS}
    return [
        Cell(
            value=line["value"],
            place=corpora.get(line["dataset"], line["dataset"]),
            panel="",
            tier=line["tier"],
            name=f"{line['row']}.{line['column']}",
            metric=_metric(artifact, line["column"]),
            origin=line,
        )
        for line in lines
    ]


def _figure_cells(artifact: Artifact, lines: Iterable[Mapping[Any, Any]]) -> list[Cell]:
    lines = list(lines)
    return [
        Cell(
            value=line["y"],
            place=line["dataset"],
            panel=line["panel"],
            tier=line["tier"],
            name=f"{_curve(line)}@{line['x']:g}",
            metric=_metric(artifact, "y"),
            origin={**line, "batch": artifact.batch or "", "over": _over(artifact, line, lines)},
        )
        for line in lines
    ]


def _curve(line: Mapping[Any, Any]) -> str:
    """Return the name of a point's curve, without the tier that artifacts.curves adds to it."""
    return str(line["series"]).removesuffix(f" ({line['tier']})")


def _over(artifact: Artifact, point: Mapping[Any, Any], lines: Iterable[Mapping[Any, Any]]) -> str:
    """Return what the ratio of a point is over, as target/system/decoder; nothing for others."""

    def place(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return row.get("series"), row.get("x")

    bases = {place(row): artifact.base(name) for name, row in artifact.rows.items()}
    if base := bases.get((_curve(point), point["x"])):
        wanted = (*place(artifact.rows[base]), point["dataset"], point["tier"])
        for line in lines:
            if (_curve(line), line["x"], line["dataset"], line["tier"]) == wanted:
                return str(line["what"])
    return ""


def _metric(artifact: Artifact, column: str) -> Metric | None:
    return METRICS.get(artifact.measured.get(column, "").partition(AT)[0])


@dataclass(frozen=True)
class Estimate:
    """A number made of cells, the same of every resample if that is known, and what is missing."""

    value: float
    drawn: Numbers | None = field(default=None, repr=False)
    cells: tuple[Cell, ...] = ()
    missing: tuple[str, ...] = ()


OPERATIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda *parts: sum(parts),
    "mean": lambda *parts: sum(parts) / len(parts),
    "minus": lambda first, second: first - second,
    "ratio": lambda first, second: first / second,
}


def combine(operation: str, parts: list[Estimate]) -> Estimate:
    """Return the sum, the mean, the difference or the ratio of numbers."""
    missing = tuple(name for part in parts for name in part.missing)
    cells = tuple(cell for part in parts for cell in part.cells)
    if missing:
        return Estimate(float("nan"), cells=cells, missing=missing)
    made = OPERATIONS[operation]
    drawn = None
    if any(part.drawn is not None for part in parts):
        drawn = made(*(part.value if part.drawn is None else part.drawn for part in parts))
    try:
        return Estimate(made(*(part.value for part in parts)), drawn, cells)
    except ZeroDivisionError:
        named = ", ".join(cell.name for cell in cells)
        raise UserError(f"a claim divides by zero: {operation} of {named}") from None

"""The cells of ours, as claims name them, and how far they would move with other test lines."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fastdecode.config.metrics import METRICS, Metric
from fastdecode.config.papers import AT, DISTILLED, NO_TEACHER, Artifact
from fastdecode.measure.resampling import Numbers
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.claims.clocked import Clocked

CORPUS = "corpus"  # column of a table whose rows are datasets of one corpus: they are judged as one


@dataclass(frozen=True)
class Cell:
    """One number of ours, with what was run and how."""

    value: float
    place: str  # the dataset; the corpus, where a table has a dataset a row
    panel: str  # of a figure
    tier: str  # of a speed
    name: str  # row.column, curve@x or curve@label.x
    metric: Metric | None  # None: made by a function of its own
    origin: Mapping[str, Any] = field(repr=False)  # the line of the CSV
    curve: str = ""  # that it is a point of
    across: "Cell | None" = field(default=None, repr=False)  # of a point of a curve: its x


@dataclass(frozen=True)
class Resamples:
    """Resamples of scores and of times; what is not there has no interval."""

    scores: Mapping[tuple[str, str, str], pd.DataFrame] = field(default_factory=dict)
    """By dataset, split and metric: a column of resamples for each target/system/decoder, or, of
    what is not of a split as a whole, for what was measured and the label of its point or the part
    of its cell, such as raw/dag/dag-lookahead/11-20."""
    times: Clocked = field(default_factory=Clocked)

    def of(self, cell: Cell) -> Numbers | None:
        """Return the cell's value of every resample, (R,); None where it is not known."""
        metric, what = cell.metric, str(cell.origin["what"])
        if metric is None:
            return None
        if metric.kind == "quality":
            return self._score(cell, metric, what)
        batch, over = str(cell.origin.get("batch", "")), str(cell.origin.get("over", ""))
        clock = *_where(cell), cell.tier, metric.scenario
        if metric.kind == "speed":
            return self.times.time(clock, what, metric.tidy, batch)
        if metric.kind == "stages":
            # a curve is a stage, and the label of a point says of what lengths of the output
            of = (cell.curve, _label(cell.origin)) if cell.curve else (_part(cell.origin), "")
            drawn = self.times.stages(clock, what, *of, metric.share)
            return None if drawn is None else metric.scale * drawn
        if metric.kind == "gain" and over:
            base, own = self._score(cell, metric, over), self._score(cell, metric, what)
            return None if base is None or own is None else own - base
        if metric.kind == "ratio" and over:
            # older files do not say: those are of one size, that of the artifact
            over_batch = str(cell.origin.get("over_batch", "")) or batch
            base = self.times.time(clock, over, metric.tidy, over_batch)
            own = self.times.time(clock, what, metric.tidy, batch)
            if base is not None and own is not None:
                return own / base if metric.inverse else base / own
        return None

    def _score(self, cell: Cell, metric: Metric, entry: str) -> Numbers | None:
        drawn = self.scores.get((*_where(cell), metric.tidy), pd.DataFrame())
        for column in (entry, f"{entry}/{_part(cell.origin)}"):
            if column in drawn:
                return metric.scale * drawn[column].to_numpy(float)
        return None


def _where(cell: Cell) -> tuple[str, str]:
    """Return dataset and split that a cell was measured on."""
    return str(cell.origin["dataset"]), str(cell.origin["split"])


def read_cells(artifact: Artifact, csv: Path) -> list[Cell]:
    """Return the numbers of ours in an artifact's CSV. Raises UserError if it cannot be read."""
    table = artifact.kind == "table"
    frame = (CELLS if table else POINTS).read(csv)
    ours = frame[frame["source"] == OURS]
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
    """Return the points of a figure, and of those with a label both coordinates by that."""
    lines = list(lines)
    cells = []
    for line in lines:
        curve, label = _curve(line), _label(line)
        base = _base(artifact, line, lines)
        origin = {
            **line,
            "batch": _batch(artifact, line),
            "over": base.get("what", ""),
            "over_batch": _batch(artifact, base),
        }
        x, y = (
            Cell(
                value=line[axis],
                place=line["dataset"],
                panel=line["panel"],
                tier=line["tier"],
                name=f"{curve}@{label}.{axis}",
                metric=_metric(artifact, axis),
                origin=origin,
            )
            for axis in ("x", "y")
        )
        cells += [replace(y, name=f"{curve}@{line['x']:g}", curve=curve, across=x)]
        cells += [x, y] if label else []
    return cells


def _curve(line: Mapping[Any, Any]) -> str:
    """Return the name of a point's curve, without the tier that artifacts.curves adds to it.

    A curve that is called by its target/system is that of `distilled` if a teacher wrote the
    target, whichever, as in `ours` of a row.
    """
    name = str(line["series"]).removesuffix(f" ({line['tier']})")
    target, _, system = name.partition("/")
    return f"{DISTILLED}/{system}" if name == line["what"] and target not in NO_TEACHER else name


def _label(line: Mapping[Any, Any]) -> str:
    """Return the label of a point, without what else a figure says under it."""
    return str(line.get("label", "")).partition("\n")[0]


def _part(line: Mapping[Any, Any]) -> str:
    """Return what of the lines a number is of, if not of all: the label of a point says it."""
    return str(line.get("part", "")) or _label(line)


def _batch(artifact: Artifact, point: Mapping[Any, Any]) -> str:
    """Return the sentences a batch of a point's speed; older files leave it to the artifact."""
    return str(point.get("batch", "")) or str(artifact.batch or "")


def _base(
    artifact: Artifact, point: Mapping[Any, Any], lines: Iterable[Mapping[Any, Any]]
) -> Mapping[Any, Any]:
    """Return the point that the ratio of a point is over; nothing for others."""

    def place(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return row.get("series"), row.get("x")

    bases = {place(row): artifact.base(name) for name, row in artifact.rows.items()}
    if base := bases.get((_curve(point), point["x"])):
        wanted = (*place(artifact.rows[base]), point["dataset"], point["tier"])
        for line in lines:
            if (_curve(line), line["x"], line["dataset"], line["tier"]) == wanted:
                return line
    return {}


def _metric(artifact: Artifact, column: str) -> Metric | None:
    return METRICS.get(artifact.measured.get(column, "").partition(AT)[0])


@dataclass(frozen=True)
class Estimate:
    """A number made of cells, the same of every resample if that is known, and what is missing."""

    value: float
    drawn: Numbers | None = field(default=None, repr=False)
    cells: tuple[Cell, ...] = ()
    missing: tuple[str, ...] = ()
    no_interval: bool = False  # others would move a number in it, of which no resamples are known
    by_zero: bool = False  # a ratio over zero, or made of one: it has no value


Look = Callable[[str], Estimate]  # what finds a cell by its name


def estimate(cell: Cell, resamples: Resamples) -> Estimate:
    """Return the number of a cell."""
    drawn = resamples.of(cell)
    random = cell.metric is not None and cell.metric.random
    return Estimate(cell.value, drawn, (cell,), no_interval=random and drawn is None)


def between(points: Sequence[tuple[Estimate, Estimate]], x: float) -> Estimate:
    """Return y at x on the straight lines between points, each an x and a y.

    Beyond its ends a curve is level: one of a resample may end before ours.
    """
    parts = [part for point in points for part in point]  # x, y, x, y, …
    drawn = None
    if any(part.drawn is not None for part in parts):
        every = (part.value if part.drawn is None else part.drawn for part in parts)
        moved = np.stack(np.broadcast_arrays(*every), axis=1)  # (R, parts)
        drawn = np.array([_on_lines(one, x) for one in moved.tolist()])
    return Estimate(
        _on_lines([part.value for part in parts], x),
        drawn,
        cells=tuple(cell for _, y in points for cell in y.cells),
        no_interval=any(part.no_interval for part in parts),
    )


def _on_lines(numbers: Sequence[float], x: float) -> float:
    """Return y at x, of numbers x, y, x, y, …, in any order of points."""
    points = sorted(zip(numbers[::2], numbers[1::2], strict=True))
    return float(np.interp(x, [at for at, _ in points], [y for _, y in points]))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda *parts: sum(parts),
    "mean": lambda *parts: sum(parts) / len(parts),
    "minus": lambda first, second: first - second,
    "ratio": lambda first, second: first / second,
}


def combine(operation: str, parts: list[Estimate]) -> Estimate:
    """Return the sum, the mean, the difference or the ratio of numbers."""
    missing = tuple(name for part in parts for name in part.missing)
    no_interval = any(part.no_interval for part in parts)
    cells = tuple(cell for part in parts for cell in part.cells)
    if missing:
        return Estimate(float("nan"), cells=cells, missing=missing)
    if any(part.by_zero for part in parts) or (operation == "ratio" and parts[1].value == 0):
        return Estimate(float("nan"), cells=cells, by_zero=True)
    made = OPERATIONS[operation]
    drawn = None
    if any(part.drawn is not None for part in parts):
        drawn = made(*(part.value if part.drawn is None else part.drawn for part in parts))
    return Estimate(made(*(part.value for part in parts)), drawn, cells, no_interval=no_interval)

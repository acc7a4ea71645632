"""Curves: one panel a dataset, published points beside those measured here."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log2
from pathlib import Path
from typing import Literal

import pandas as pd
from matplotlib.axes import Axes

from fastdecode.report.artifacts.sources import PUBLISHED
from fastdecode.report.canvas import GRID, Style, canvas, legend_below, styles

HEIGHT = 3.0  # inches
MOST_TICKS = 12


def draw_lines(
    points: pd.DataFrame,
    head: str,
    x: str,
    y: str,
    pictures: tuple[Path, ...],
    scale: Literal["linear", "log2"] = "linear",
    named: Mapping[tuple[str, float], str] | None = None,
) -> None:
    """Draw every series of `points`, a panel for each dataset; `x` and `y` name the axes.

    `named` are words that stand at a dataset's x instead of the number.
    Published points are hollow and named so. Whiskers are standard deviations over seeds.
    """
    datasets = _datasets(points)
    marks = dict(zip(points["series"].unique(), styles(), strict=False))
    with canvas(HEIGHT, *pictures) as figure:
        panels = figure.subplots(1, len(datasets), sharey=True, squeeze=False)[0]
        for panel, dataset in zip(panels, datasets, strict=True):
            here = points[points["dataset"].isin([dataset, ""])]
            for (series, source), rows in here.groupby(["series", "source"], sort=False):
                _draw(panel, rows, marks[str(series)], str(series), str(source))
            panel.set(xlabel=x, title=dataset)
            panel.grid(**GRID)
            if scale == "log2":
                panel.set_xscale("log", base=2)
            if ticks := _ticks(here["x"], scale):
                words = [(named or {}).get((str(dataset), tick), f"{tick:g}") for tick in ticks]
                panel.set_xticks(ticks, words)
                panel.minorticks_off()
        panels[0].set_ylabel(y)
        figure.suptitle(head)
        handles = {
            label: handle
            for panel in panels
            for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
        }
        legend_below(figure, list(handles.values()), list(handles))


def _ticks(x: "pd.Series[float]", scale: str) -> list[float]:
    """Return the powers of two, or the few whole numbers there are; nothing: matplotlib chooses."""
    if scale == "log2":
        powers = range(floor(log2(x.min())), ceil(log2(x.max())) + 1)
        return [2.0**power for power in powers]
    values = sorted(x.unique())
    few = len(values) <= MOST_TICKS and all(value == round(value) for value in values)
    return values if few else []


def _datasets(points: pd.DataFrame) -> Sequence[str]:
    return [name for name in points["dataset"].unique() if name] or [""]


def _draw(panel: Axes, rows: pd.DataFrame, style: Style, series: str, source: str) -> None:
    line, marker, colour = style
    rows = rows.sort_values("x")
    published = source == PUBLISHED
    panel.errorbar(
        rows["x"],
        rows["y"],
        yerr=None if rows["sd"].isna().all() else rows["sd"].fillna(0),
        linestyle=":" if published else line,
        marker=marker,
        markerfacecolor="white" if published else colour,
        color=colour,
        markersize=4,
        linewidth=1.2,
        capsize=2,
        label=f"{series}, published" if published else series,
    )

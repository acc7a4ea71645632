"""Figure 5: quality against speed, while graphs grow and beams widen."""

from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.scatter import points
from fastdecode.report.artifacts.sources import PUBLISHED
from fastdecode.report.canvas import GRID, canvas, legend_below, logarithmic, styles

__all__ = ["draw", "points"]


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a panel a dataset and tier, the points of a series joined in the order of its rows.

    Published points are hollow, not joined, and in every panel, or in one of their own where there
    are no others. Whiskers are standard deviations over seeds.
    """
    published = points[points["source"] == PUBLISHED]
    ours = points[points["source"] != PUBLISHED]
    places = list(ours[["dataset", "panel"]].drop_duplicates().itertuples(index=False, name=None))
    places = places or [(PUBLISHED, "")]
    marks = dict(zip(points["series"].unique(), styles(), strict=False))
    with canvas(3.4 * len(places), *pictures) as figure:
        panels = figure.subplots(len(places), 1, squeeze=False)[:, 0]
        handles: dict[str, Any] = {}
        for panel, (dataset, tier) in zip(panels, places, strict=True):
            here = ours[(ours["dataset"] == dataset) & (ours["panel"] == tier)]
            for series, rows in published.groupby("series", sort=False):
                _, marker, colour = marks[str(series)]
                (handle,) = panel.plot(
                    rows["x"],
                    rows["y"],
                    linestyle="none",
                    marker=marker,
                    color=colour,
                    markersize=5,
                    markerfacecolor="white",
                )
                run = series in set(ours["series"])
                handles.setdefault("hollow: published" if run else f"{series}, published", handle)
            for series, rows in here.groupby("series", sort=False):
                line, marker, colour = marks[str(series)]
                (handle,) = panel.plot(
                    rows["x"],
                    rows["y"],
                    linestyle=line,
                    marker=marker,
                    color=colour,
                    markersize=5,
                    linewidth=1.0,
                )
                spread = rows.dropna(subset="sd")
                if not spread.empty:
                    panel.errorbar(
                        spread["x"],
                        spread["y"],
                        spread["sd"],
                        fmt="none",
                        ecolor=colour,
                        elinewidth=0.8,
                        capsize=2,
                    )
                handles.setdefault(_named(str(series), rows), handle)
            logarithmic(panel, "x", pd.concat([here["x"], published["x"]]))
            panel.set(title=", ".join(filter(None, (dataset, tier))), ylabel=artifact.axes["y"])
            panel.grid(**GRID)
        panels[-1].set_xlabel(artifact.axes["x"])
        figure.suptitle(head_of(name, artifact, points))
        legend_below(figure, list(handles.values()), list(handles))


def _named(series: str, rows: pd.DataFrame) -> str:
    """Return a series with what its points are, in their order."""
    said = ", ".join(filter(None, rows["label"]))
    return f"{series}: {said}" if said else series

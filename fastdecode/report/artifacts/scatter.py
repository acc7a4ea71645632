"""Figures whose points are systems: quality against speed, in panels, published ones hollow."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts import curves
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.sources import PUBLISHED
from fastdecode.report.canvas import GRID, canvas, legend_below, logarithmic, styles

Mark = tuple[str, str]  # marker, colour


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point for every row of the artifact that was run; its tier is the panel.

    Published points have no panel: they stand in all of them.
    """
    artifact = evidence.artifact
    found: list[pd.DataFrame] = []
    for tier in artifact.tiers:
        of_tier = replace(evidence, artifact=artifact.model_copy(update={"tiers": (tier,)}))
        frame = curves.points(of_tier)
        published = frame["source"] == PUBLISHED
        found += [frame[published]] if not found else []
        found.append(frame[~published].assign(panel=f"{tier} tier"))
    return pd.concat(found, ignore_index=True) if found else POINTS.frame([])


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a panel for each dataset and tier; what is no curve is not joined."""
    published = points[points["source"] == PUBLISHED]
    ours = points[points["source"] != PUBLISHED]
    datasets = list(ours["dataset"].unique()) or [""]
    tiers = list(ours["panel"].unique()) or [""]
    marks = {
        str(series): (marker, colour)
        for series, (_, marker, colour) in zip(points["series"].unique(), styles(), strict=False)
    }
    with canvas(0.5 + 2.6 * len(datasets), *pictures) as figure:
        panels = figure.subplots(
            len(datasets), len(tiers), sharex=True, sharey="row", squeeze=False
        )
        for row, dataset in zip(panels, datasets, strict=True):
            for panel, tier in zip(row, tiers, strict=True):
                here = ours[(ours["dataset"] == dataset) & (ours["panel"] == tier)]
                _draw(panel, pd.concat([published, here]), marks)
                panel.set_title(", ".join(filter(None, [str(dataset), str(tier)])))
            row[0].set_ylabel(artifact.axes["y"])
        for panel in panels[-1]:
            panel.set_xlabel(artifact.axes["x"])
            logarithmic(panel, "x", points["x"])
        figure.suptitle(head_of(name, artifact, points))
        handles = {series: _handle(mark, mark[1]) for series, mark in marks.items()}
        if len(published):
            handles["hollow: published"] = _handle(("o", "0.4"), "white")
        legend_below(figure, list(handles.values()), list(handles))


def _draw(panel: Axes, rows: pd.DataFrame, marks: dict[str, Mark]) -> None:
    for (series, source), group in rows.groupby(["series", "source"], sort=False):
        marker, colour = marks[str(series)]
        panel.errorbar(
            group["x"],
            group["y"],
            yerr=None if group["sd"].isna().all() else group["sd"].fillna(0),
            linestyle="none",
            marker=marker,
            color=colour,
            markerfacecolor="white" if source == PUBLISHED else colour,
            markersize=5,
            capsize=2,
        )
    panel.grid(**GRID)


def _handle(mark: Mark, face: str) -> Line2D:
    marker, colour = mark
    return Line2D([], [], linestyle="none", marker=marker, color=colour, markerfacecolor=face)

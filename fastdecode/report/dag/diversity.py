"""Figure 8: how good samples are and how alike, by their temperature."""

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import of_seeds
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.canvas import GRID, canvas, legend_below, styles


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point a system and temperature: x pairwise, y multi-reference BLEU, over seeds.

    The label is the temperature, n the number of seeds.
    """
    groups: dict[tuple[str, str, float], list[tuple[Any, Any]]] = defaultdict(list)
    for document in evidence.statistics:
        origin = document["provenance"]
        what = f"{origin['target']}/{origin['system']}"
        for point in document["points"]:
            groups[origin["dataset"], what, point["temperature"]].append((point, origin))
    lines = []
    for (dataset, what, temperature), found in groups.items():
        measured, origins = zip(*found, strict=True)
        lines.append(
            {
                "dataset": dataset,
                "series": what,
                "source": OURS,
                **of_seeds(origins),
                "x": fmean(point["pairwise"]["value"] for point in measured),
                "y": fmean(point["multi_reference"]["value"] for point in measured),
                "label": f"{temperature:g}",
                "n": len(found),
            }
        )
    return POINTS.frame(lines)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a curve a system, the lowest temperature on the left and filled, the others hollow."""
    datasets = list(points["dataset"].unique())
    with canvas(3.4, *pictures) as figure:
        panels = figure.subplots(1, len(datasets), squeeze=False)[0]
        handles: dict[str, Any] = {}
        marks = dict(zip(points["series"].unique(), styles(), strict=False))
        for panel, dataset in zip(panels, datasets, strict=True):
            here = points[points["dataset"] == dataset]
            for series, rows in here.groupby("series", sort=False):
                line, marker, colour = marks[str(series)]
                look = {"linestyle": line, "marker": marker, "color": colour, "linewidth": 1.2}
                (handle,) = panel.plot(rows["x"], rows["y"], markerfacecolor="white", **look)
                panel.plot(rows["x"].iloc[:1], rows["y"].iloc[:1], **look)
                handles.setdefault(str(series), handle)
            panel.set(title=dataset, xlabel=artifact.axes["x"])
            panel.invert_xaxis()  # as published: higher temperatures to the right
            panel.grid(**GRID)
        panels[0].set_ylabel(artifact.axes["y"])
        temperatures = list(points["label"].unique())
        head = head_of(name, artifact, points)
        head += f"\ntemperatures {', '.join(temperatures)} along each curve from the filled point"
        figure.suptitle(head)
        legend_below(figure, list(handles.values()), list(map(artifact.legend, handles)))

"""Figure 1: what the slots of a target see of one another in training."""

from pathlib import Path

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.documents import origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import canvas

TITLES = {"1": "single tokens", "2": "pairs"}


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point for every cell of the masks: x the slot looked at, y the slot that looks.

    Slots count from 1; the label says whether it is seen. The masks are those of the code; one
    trained system says them for all.
    """
    lines = [
        {
            **origin(document),
            "panel": TITLES[size],
            "x": column,
            "y": row,
            "label": "seen" if seen else "hidden",
        }
        for document in evidence.statistics[:1]
        for size, mask in document["masks"].items()
        for row, cells in enumerate(mask, 1)
        for column, seen in enumerate(cells, 1)
    ]
    return POINTS.frame(lines)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw the masks side by side: what is seen is dark."""
    titles = list(points["panel"].unique())
    with canvas(3.6, *pictures) as figure:
        panels = figure.subplots(1, len(titles), sharey=True, squeeze=False)[0]
        for panel, title in zip(panels, titles, strict=True):
            cells = points[points["panel"] == title]
            seen = (cells["label"] == "seen").astype(float)
            grid = cells.assign(seen=seen).pivot_table("seen", "y", "x")
            ends = (0.5, len(grid) + 0.5)
            panel.imshow(grid, cmap="Greys", vmin=0, vmax=1.6, extent=(*ends, *ends[::-1]))
            slots = list(grid.columns)
            panel.set(title=title, xlabel=artifact.axes["x"])
            panel.set_xticks(slots, [f"{slot:g}" for slot in slots])
            panel.set_yticks(slots, [f"{slot:g}" for slot in slots])
            panel.set_xticks([slot + 0.5 for slot in slots[:-1]], minor=True)
            panel.set_yticks([slot + 0.5 for slot in slots[:-1]], minor=True)
            panel.grid(which="minor", color="white", linewidth=1)
            panel.tick_params(which="both", length=0)
        panels[0].set_ylabel(artifact.axes["y"])
        figure.suptitle(f"{name}: {artifact.title}")

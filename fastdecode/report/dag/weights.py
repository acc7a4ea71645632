"""Figure 3: where the weights of a target's paths lie, early and late in training."""

from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import documents, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import GRID, canvas, legend_below, styles

HEIGHT = 1.9  # inches: a panel
TARGET = "target"


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point for each token of a target and each vertex: how likely it is there.

    Tokens and vertices count from 1. A panel is one system, named by how long it is trained.
    """
    lines = []
    for dataset, part in evidence.parts.items():
        for document in documents(evidence, dataset, "assignment"):
            same: dict[str, Any] = origin(document)
            panel = f"{trained(part.settings[same['what']])} ({same['what']})"
            same |= {"panel": panel}
            sides = " → ".join(" ".join(document[side]) for side in ("source", "target"))
            lines.append({**same, "series": TARGET, "label": sides})
            for place, (token, row) in enumerate(
                zip(document["target"], document["posteriors"], strict=True), 1
            ):
                lines += [
                    {**same, "series": f"{place}: {token}", "x": vertex, "y": weight}
                    for vertex, weight in enumerate(row, 1)
                ]
    return POINTS.frame(lines)


def trained(settings: Any) -> str:
    """Say how long a system is trained, from its settings."""
    kinds = (("max_updates", "update"), ("max_epochs", "epoch"))
    ends = [(settings[key], word) for key, word in kinds if settings[key] is not None]
    each = [f"{count:,} {word}{'s' if count != 1 else ''}" for count, word in ends]
    return f"after {' or '.join(each)}{', whichever comes first' if len(each) > 1 else ''}"


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a line for each token of the target, the panels of one dataset below each other."""
    panels = list(points.groupby(["dataset", "panel"], sort=False))
    tokens = points.loc[points["series"] != TARGET, "series"].unique()
    marks = dict(zip(tokens, styles(), strict=False))
    with canvas(0.5 + HEIGHT * len(panels), *pictures) as figure:
        axes = figure.subplots(len(panels), 1, sharey=True, squeeze=False)[:, 0]
        named: dict[str, Any] = {}
        for axis, ((dataset, panel), here) in zip(axes, panels, strict=True):
            pair = here.loc[here["series"] == TARGET, "label"].iloc[0]
            lines = here[here["series"] != TARGET]
            for series, rows in lines.groupby("series", sort=False):
                line, marker, colour = marks[str(series)]
                (named[str(series)],) = axis.plot(
                    rows["x"],
                    rows["y"],
                    linestyle=line,
                    marker=marker,
                    color=colour,
                    markersize=3,
                    linewidth=1,
                )
            axis.set_title(f"{dataset}, {panel}\n{pair}", fontsize="small")
            axis.set_xlim(0, lines["x"].max() + 1)
            axis.grid(**GRID)
            axis.set_ylabel(artifact.axes["y"])
        axes[-1].set_xlabel(artifact.axes["x"])
        figure.suptitle(head_of(name, artifact, points))
        legend_below(figure, list(named.values()), list(named))

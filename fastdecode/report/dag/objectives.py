"""Figure 7: the six objectives side by side, published and ours apart."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.curves import points as points
from fastdecode.report.artifacts.sources import PUBLISHED
from fastdecode.report.canvas import COLOURS, HATCHES, canvas, legend_below

WIDTH = 0.25  # of a bar


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a panel of bars for the published numbers and for each dataset, each with its scale."""
    places = [name for name in points["dataset"].unique() if name]
    heads = ["", *places] if (points["source"] == PUBLISHED).any() else places
    series = list(points["series"].unique())
    # a panel of ours has the published places, too, so that what was not run is a gap
    places_of = [
        points[points["dataset"].isin(["", head])].drop_duplicates("x").sort_values("x")
        for head in heads
    ]
    with canvas(3.0, *pictures) as figure:
        widths = [len(ticks) for ticks in places_of]
        panels = figure.subplots(1, len(heads), squeeze=False, width_ratios=widths)[0]
        handles: dict[str, Any] = {}
        cut = False
        for panel, dataset, ticks in zip(panels, heads, places_of, strict=True):
            here = points[points["dataset"] == dataset]
            for number, one in enumerate(series):
                rows = here[here["series"] == one]
                bars = panel.bar(
                    rows["x"] + (number - (len(series) - 1) / 2) * WIDTH,
                    rows["y"],
                    WIDTH,
                    yerr=None if rows["sd"].isna().all() else rows["sd"].fillna(0),
                    capsize=2,
                    color="white",
                    edgecolor=COLOURS[number],
                    hatch=HATCHES[number],
                )
                panel.bar_label(bars, fmt="{:.1f}", fontsize=7)
                handles.setdefault(one, bars)
            whiskers = here["sd"].fillna(0)
            high, low = (here["y"] + whiskers).max(), (here["y"] - whiskers).min()
            low = low if len(here) > 1 else 0.0  # one bar alone is as high as it is
            room = max(high - low, 1.0)
            floor = max(0.0, np.floor(low - 0.3 * room))
            panel.set_ylim(floor, high + 0.15 * room)
            cut |= floor > 0
            panel.set_xticks(ticks["x"], ticks["label"].str.replace(", ", ",\n"))
            panel.set_xlim(ticks["x"].min() - 0.5, ticks["x"].max() + 0.5)
            panel.set(title=dataset or "published", xlabel=artifact.axes["x"])
        panels[0].set_ylabel(artifact.axes["y"])
        below = "\nbars do not begin at zero" if cut else ""
        figure.suptitle(f"{head_of(name, artifact, points)}{below}")
        legend_below(figure, list(handles.values()), list(handles))

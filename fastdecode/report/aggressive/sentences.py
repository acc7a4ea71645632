"""Figure 4: how many sentences are how much faster."""

from collections.abc import Iterator
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.cells import commits_of
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.rows import clocked
from fastdecode.report.artifacts.sources import OURS, PUBLISHED
from fastdecode.report.canvas import COLOURS, GRID, HATCHES, canvas, legend_below
from fastdecode.report.latency_numbers import speedups
from fastdecode.report.tables import of_both

WIDTHS = (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0)  # of a bin
BINS = 24  # at most


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point for every sentence timed alone: x its speed-up, label its number.

    The panel is the tier, in which `over` was timed, too; a speed-up is of two medians over
    repeats. Published points are the ends of a range, beside ours alone.
    """
    artifact = evidence.artifact
    lines: list[dict[str, Any]] = []
    for name, row in artifact.rows.items():
        base = artifact.base(name)
        ours = [] if base in (None, name) else list(_ours(evidence, name, str(base)))
        ends = [row[end] for end in artifact.published if row.get(end) is not None]
        same = {"series": row.get("series"), "source": PUBLISHED}
        lines += [{**same, "x": x} for x in ends if ours] + ours
    return POINTS.frame(lines)


def _ours(evidence: Evidence, row: str, base: str) -> Iterator[dict[str, Any]]:
    for dataset, part in evidence.parts.items():
        for tier in evidence.artifact.tiers:
            entry, over = (part.entries.get(one, {}).get(tier) for one in (row, base))
            if not (entry and over and tier in part.samples):
                continue
            samples = evidence.samples(dataset, tier)
            if not {entry, over} <= set(samples["decoder"]):  # of translations given, only
                continue
            table = speedups(samples, over)
            ours, theirs = (
                clocked(evidence.tidy, dataset, part.timed, one) for one in (entry, over)
            )
            same = {
                "dataset": dataset,
                "panel": tier,
                "source": OURS,
                "series": evidence.artifact.rows[row]["series"],
                "what": entry,
                "split": part.timed,
                **ours,
                "marks": of_both(ours["marks"], theirs["marks"]),
                "commit": commits_of([ours["commit"], theirs["commit"]]),
            }
            for found in table[table["decoder"] == entry].to_dict("records"):
                yield {**same, "x": found["speedup"], "label": found["line"]}


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a histogram for each tier and dataset, its median marked, the published range shaded."""
    ours = points[points["source"] == OURS]
    published = points[points["source"] == PUBLISHED]
    datasets, tiers = list(ours["dataset"].unique()), list(ours["panel"].unique())
    with canvas(0.9 + 1.9 * len(tiers), *pictures) as figure:
        panels = figure.subplots(len(tiers), len(datasets), sharex="col", squeeze=False)
        for across, tier in zip(panels, tiers, strict=True):
            for panel, dataset in zip(across, datasets, strict=True):
                here = ours[(ours["dataset"] == dataset) & (ours["panel"] == tier)]
                if not published.empty:
                    ends = published["x"].min(), published["x"].max()
                    panel.axvspan(
                        *ends,
                        facecolor="0.92",
                        hatch=HATCHES[1],
                        edgecolor="white",
                        label=f"published {published['series'].iloc[0]}: most sentences",
                    )
                if here.empty:
                    continue
                bins = _bins(ours.loc[ours["dataset"] == dataset, "x"])
                share = np.full(len(here), 100 / len(here))
                panel.hist(
                    here["x"],
                    bins,
                    weights=share,
                    color=COLOURS[2],
                    edgecolor="white",
                    label=str(here["series"].iloc[0]),
                )
                middle = float(here["x"].median())
                panel.axvline(middle, color=COLOURS[1], linewidth=2, label="median")
                panel.set_title(
                    f"{dataset}, {tier} tier: {len(here)} sentences, median ×{middle:.2f}",
                    size="small",
                )
                panel.grid(axis="y", **GRID)
                panel.set_axisbelow(True)
        for panel in panels[-1]:
            panel.set_xlabel(artifact.axes["x"])
        for panel in panels[:, 0]:
            panel.set_ylabel(artifact.axes["y"])
        threads = f"threads {' and '.join(filter(None, ours['threads'].unique()))}"
        figure.suptitle(f"{head_of(name, artifact, ours)}, {threads}")
        legend_below(figure, *panels[0, 0].get_legend_handles_labels())


def _bins(values: "pd.Series[float]") -> "np.ndarray[Any, Any]":
    """Return the edges of bins of a round width, from one below all values to one above."""
    low, high = float(values.min()), float(values.max())
    fits = (width for width in WIDTHS if (high - low) / width <= BINS)
    width = next(fits, (high - low) / BINS)
    first, last = floor(low / width), max(ceil(high / width), floor(low / width) + 1)
    return np.arange(first, last + 1) * width

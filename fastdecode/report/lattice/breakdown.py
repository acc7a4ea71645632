"""Figure 4: where the time of a translation goes, by its length, and how frequent lengths are."""

from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.measure.summary import UNACCOUNTED
from fastdecode.report.artifacts.cells import TO
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.evidence import Evidence, read_stages
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.rows import clocked
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.canvas import COLOURS, GRID, HATCHES, canvas, legend_below
from fastdecode.report.latency_numbers import bucket_of

LENGTHS = "lines"  # panel of the histogram
TIMES = "times"


def points(evidence: Evidence) -> pd.DataFrame:
    """Return mean milliseconds a sentence by stage, what they leave over last, and the lines.

    All are by bucket of output lengths: x is its middle, in tokens; `label` says its ends. A
    dataset on which it was not run, or not timed, is left out.
    """
    lines = []
    for dataset, part in evidence.parts.items():
        entry = next((tiers.get("reference") for tiers in part.entries.values()), None)
        if entry is None or part.stages is None:
            continue
        stages = read_stages(part.stages)
        stages = stages[stages["decoder"] == entry]
        if stages.empty:
            continue
        stages = stages.assign(**bucket_of(stages["tokens"]))
        same = {"dataset": dataset, "source": OURS, "what": entry, "split": part.timed}
        same |= clocked(evidence.tidy, dataset, part.timed, entry, stages=True)
        for _, bucket in stages.groupby("shortest"):
            sentences = bucket.drop_duplicates(["line", "repeat"])
            shortest, longest = (int(bucket[name].iloc[0]) for name in ("shortest", "longest"))
            place = {"x": (shortest + longest) / 2, "label": f"{shortest}{TO}{longest}", **same}
            count = sentences["line"].nunique()
            lines.append({**place, "panel": LENGTHS, "series": LENGTHS, "y": count, "n": count})
            for stage, times in bucket.groupby("stage", sort=False)["milliseconds"]:
                mean = times.sum() / len(sentences)
                lines.append({**place, "panel": TIMES, "series": stage, "y": mean, "n": count})
    return POINTS.frame(lines)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw stacked bars by length, the histogram of lengths above them, a column a dataset."""
    datasets = list(points["dataset"].unique())
    stages = points.loc[points["panel"] == TIMES, "series"].unique()
    with canvas(4.2, *pictures) as figure:
        panels = figure.subplots(
            2, len(datasets), sharex="col", squeeze=False, height_ratios=(1, 3)
        )
        for (above, below), dataset in zip(panels.T, datasets, strict=True):
            here = points[points["dataset"] == dataset]
            lengths = here[here["panel"] == LENGTHS].sort_values("x")
            places = range(len(lengths))
            above.bar(places, lengths["y"], color="0.7", width=0.8)
            above.set(title=dataset, ylabel="lines timed")
            bottom = np.zeros(len(lengths))
            for stage, colour, hatch in zip(
                stages, cycle(COLOURS[1:]), cycle(HATCHES), strict=False
            ):
                if stage == UNACCOUNTED:
                    colour, hatch = "0.8", ""
                times = here[here["series"] == stage].set_index("x")["y"]
                heights = times.reindex(lengths["x"], fill_value=0.0).to_numpy()
                below.bar(
                    places,
                    heights,
                    bottom=bottom,
                    width=0.8,
                    label=stage,
                    color=colour,
                    hatch=hatch,
                    edgecolor="white",
                    linewidth=0.5,
                )
                bottom += heights
            below.set_xticks(list(places), list(lengths["label"]), rotation=45)
            below.set(xlabel=artifact.axes["x"], ylabel=artifact.axes["y"])
            below.grid(axis="y", **GRID)
            below.set_axisbelow(True)
        tier = f"{points['tier'].iloc[0]} tier, threads {points['threads'].iloc[0]}"
        figure.suptitle(f"{head_of(name, artifact, points)}\n{tier}")
        legend_below(figure, *panels[1, 0].get_legend_handles_labels())

"""Figure 2: the rank that the selected words had before the search."""

from pathlib import Path
from statistics import fmean, stdev

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import of_seeds
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.canvas import GRID, canvas, legend_below, styles

READINGS = {
    "best_edge": "by the best edge to the word",
    "given_previous": "by the edge from the word that was selected before it",
}


def points(evidence: Evidence) -> pd.DataFrame:
    """Return the share of selected words by rank, from 1 to K; a series for each reading of rank.

    It is the mean over seeds of a seed's share.
    """
    lines = []
    for dataset in evidence.parts:
        here = [d for d in evidence.statistics if d["provenance"]["dataset"] == dataset]
        origins = [document["provenance"] for document in here]
        for reading, name in READINGS.items():
            counts = [document["readings"][reading]["counts"] for document in here]
            shares = [[words / max(1, sum(of_one)) for words in of_one] for of_one in counts]
            for rank, found in enumerate(zip(*shares, strict=True), 1):
                lines.append(
                    {
                        "dataset": dataset,
                        "series": name,
                        "source": OURS,
                        "x": rank,
                        "y": fmean(found),
                        "n": len(found),
                        "sd": stdev(found) if len(found) > 1 else None,
                        "part": f"{reading}/{rank}",
                        **of_seeds(origins),
                    }
                )
    return POINTS.frame(lines)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw the shares on a logarithmic axis, so that the tail is seen, a panel a dataset."""
    datasets = points["dataset"].unique()
    seen = points[points["y"] > 0]
    with canvas(3.2, *pictures) as figure:
        panels = figure.subplots(1, len(datasets), sharey=True, squeeze=False)[0]
        for panel, dataset in zip(panels, datasets, strict=True):
            here = seen[seen["dataset"] == dataset]
            for (line, marker, colour), (series, rows) in zip(
                styles(), here.groupby("series", sort=False), strict=False
            ):
                first = rows.loc[rows["x"] == 1, "y"].sum()
                panel.plot(
                    rows["x"],
                    rows["y"],
                    linestyle=line,
                    marker=marker,
                    color=colour,
                    markersize=4,
                    linewidth=1.2,
                    label=f"{series} (rank 1 in {dataset}: {first:.1%})",
                )
            panel.set(title=dataset, xlabel=artifact.axes["x"], xscale="log", yscale="log")
            ticks = [2**power for power in range(8) if 2**power <= points["x"].max()]
            panel.set_xticks(ticks, [str(tick) for tick in ticks])
            panel.minorticks_off()
            panel.grid(**GRID)
        panels[0].set_ylabel(artifact.axes["y"])
        figure.suptitle(head_of(name, artifact, points))
        pairs = [panel.get_legend_handles_labels() for panel in panels]
        legend_below(figure, *([one for pair in pairs for one in pair[i]] for i in (0, 1)))

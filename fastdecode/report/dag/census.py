"""Figure 15: how likely the vertices of graphs are passed, how sure they are, how they branch."""

from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import of_seeds
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.sources import OURS, PUBLISHED
from fastdecode.report.canvas import COLOURS, GRID, canvas, legend_below

CELLS, GROUPS, DEGREES = "vertices", "groups", "out-degree"
MOST = 8  # out-degrees that have a bar of their own


def points(evidence: Evidence) -> pd.DataFrame:
    """Return shares of vertices in percent; those of all seeds are counted together.

    Panel `vertices` has a series for each bin of passing probabilities, named by its middle, with
    x: the middle of a bin of token probabilities, y: share; `groups` has x: the row of the
    artifact, y: share, label: what group; `out-degree` has x: links out of a vertex, y: share of
    vertices. The artifact's rows say what was published.
    """
    rows = list(evidence.artifact.rows.items())
    lines: list[dict[str, Any]] = [
        {"panel": row["panel"], "source": PUBLISHED, "x": row["x"], "y": row["share"]}
        | {"label": row["group"]}
        for _, row in rows
    ]
    for dataset in evidence.parts:
        found = [
            document
            for document in evidence.statistics
            if document["provenance"]["dataset"] == dataset
        ]
        if not found:
            continue
        origin = of_seeds([document["provenance"] for document in found])
        same = {"dataset": dataset, "source": OURS, "n": len(found), **origin}
        total = sum(document["vertices"] for document in found)
        bins = len(found[0]["counts"])
        middles = [(place + 0.5) / bins for place in range(bins)]
        for i, passed in enumerate(middles):
            for j, sure in enumerate(middles):
                count = sum(document["counts"][i][j] for document in found)
                line = {"panel": CELLS, "series": f"{passed:g}", "x": sure}
                lines.append({**same, **line, "y": 100 * count / total})
        for name, row in rows:
            if row["panel"] == GROUPS:
                count = sum(document["groups"][name]["vertices"] for document in found)
                line = {"panel": GROUPS, "x": row["x"], "label": row["group"]}
                lines.append({**same, **line, "y": 100 * count / total})
        several = zip_longest(*(document["out_degrees"] for document in found), fillvalue=0)
        degrees = [sum(counts) for counts in several]
        for degree, count in enumerate(degrees):
            line = {"panel": DEGREES, "x": degree, "y": 100 * count / max(1, sum(degrees))}
            lines.append({**same, **line})
    return POINTS.frame(lines if len(lines) > len(rows) else [])


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw the cells, the groups and the out-degrees side by side, a row for each dataset."""
    datasets = [dataset for dataset in points["dataset"].unique() if dataset]
    published = points[points["source"] == PUBLISHED]
    with canvas(0.6 + 2.7 * max(1, len(datasets)), *pictures) as figure:
        panels = figure.subplots(max(1, len(datasets)), 3, squeeze=False, width_ratios=(1.25, 1, 1))
        for (cells, groups, degrees), dataset in zip(panels, datasets, strict=False):
            here = points[points["dataset"] == dataset]
            _cells(cells, here[here["panel"] == CELLS], artifact)
            figure.colorbar(cells.images[0], ax=cells, pad=0.02, label="% of vertices")
            title = f"{dataset}, {here['what'].iloc[0]}"
            cells.set_title(f"(a) {title}", fontsize="small")
            _bars(groups, here[here["panel"] == GROUPS], published[published["panel"] == GROUPS])
            named = here[here["panel"] == GROUPS].sort_values("x")
            groups.set_xticks(named["x"], [label.replace(", ", "\n") for label in named["label"]])
            groups.tick_params(axis="x", labelsize=7)
            groups.set_title("groups of (a)", fontsize="small")
            groups.set_ylabel("% of vertices")
            ours = here[here["panel"] == DEGREES].sort_values("x")
            few = ours[ours["x"] < MOST]
            rest = ours.loc[ours["x"] >= MOST, "y"].sum()
            last = pd.DataFrame({"x": [MOST], "y": [rest]})
            ours = pd.concat([few[few["x"] > 0][["x", "y"]], last])
            _bars(degrees, ours, published[published["panel"] == DEGREES])
            labels = [f"{n:g}" if n < MOST else f"{MOST}+" for n in ours["x"]]
            degrees.set_xticks(ours["x"], labels)
            degrees.set_title("(b)", fontsize="small")
            degrees.set(xlabel="links out of a vertex", ylabel="% of vertices")
        figure.suptitle(head_of(name, artifact, points))
        legend_below(figure, *panels[0, 1].get_legend_handles_labels())


def _cells(axis: Axes, points: pd.DataFrame, artifact: Artifact) -> None:
    """Draw shares as a map: passing probability to the right, token probability upwards."""
    found = points.assign(passed=points["series"].astype(float)).pivot(
        index="x", columns="passed", values="y"
    )
    axis.imshow(
        found.where(found > 0),
        origin="lower",
        extent=(0, 1, 0, 1),
        aspect="auto",
        cmap="Greys",
        norm=LogNorm(0.01, 100),
    )
    axis.set(xlabel=artifact.axes["x"], ylabel=artifact.axes["y"])
    axis.set_xticks([0, 0.2, 0.5, 1])
    axis.set_yticks([0, 0.2, 0.5, 1])
    axis.grid(**GRID)


def _bars(axis: Axes, ours: pd.DataFrame, published: pd.DataFrame) -> None:
    axis.bar(ours["x"], ours["y"], color=COLOURS[2], width=0.7, label="ours")
    axis.plot(
        published["x"],
        published["y"],
        "D",
        markerfacecolor="white",
        markeredgecolor="black",
        markersize=6,
        label="published",
    )
    axis.grid(axis="y", **GRID)
    axis.set_axisbelow(True)

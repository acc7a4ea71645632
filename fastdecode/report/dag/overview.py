"""Figure 2: the decoder's vertices, the links between them, and the path that is written."""

from pathlib import Path

import pandas as pd
from matplotlib.colors import LogNorm

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import documents, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import COLOURS, GRID, canvas, legend_below
from fastdecode.report.dag.sentences import (
    CANDIDATE,
    LINKS,
    PATH,
    numbered,
    sentence_points,
    words_of,
)

TICKS = (1e-3, 1e-2, 0.1, 1.0)
LEAST = TICKS[0]  # of a link that is told from none
TOKENS, MATRIX = 0.9, 3.4  # inches: the panels


def points(evidence: Evidence) -> pd.DataFrame:
    """Return the graph of the first short sentence of each dataset: see sentences.py."""
    return POINTS.frame(
        [
            {**origin(document), **line}
            for dataset in evidence.parts
            for document in documents(evidence, dataset, "graphs")[:1]
            for line in sentence_points(document["sentences"][0])
        ]
    )


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw the tokens of all vertices, those on lookahead's path framed, above the links."""
    datasets = list(points["dataset"].unique())
    with canvas((TOKENS + MATRIX + 0.4) * len(datasets) + 0.6, *pictures) as figure:
        panels = figure.subplots(
            2 * len(datasets), 1, squeeze=False, height_ratios=[TOKENS, MATRIX] * len(datasets)
        )[:, 0]
        for above, below, dataset in zip(panels[::2], panels[1::2], datasets, strict=True):
            here = points[points["dataset"] == dataset]
            (path,) = (rows for n, rows in numbered(here, PATH).items() if n == 0)
            walked = path["y"].tolist()
            first = numbered(here, CANDIDATE)[1]
            size = int(first["x"].max())
            for vertex, token in zip(first["x"], first["label"], strict=True):
                on = vertex in walked
                above.text(
                    vertex,
                    0.5,
                    token,
                    rotation=90,
                    ha="center",
                    va="center",
                    size=7,
                    color="black" if on else "0.55",
                    weight="bold" if on else "normal",
                )
                if on:
                    above.axvspan(vertex - 0.45, vertex + 0.45, color=COLOURS[5], alpha=0.5, lw=0)
            above.set(xlim=(0.5, size + 0.5), ylim=(0, 1), yticks=[], xticks=[])
            above.set_ylabel("likeliest\ntoken")
            written = " ".join(path["label"].iloc[1:-1])
            title = f"{dataset}: {words_of(here, 'source')} → {written}"
            above.set_title(title, fontsize="small")
            links = pd.DataFrame(0.0, index=range(1, size + 1), columns=range(1, size + 1))
            for vertex, row in numbered(here, LINKS).items():
                links.loc[vertex, row["x"].astype(int)] = row["y"].to_numpy()
            image = below.imshow(
                links.where(links > 0),
                cmap="Greys",
                norm=LogNorm(LEAST, 2),
                aspect="auto",
                extent=(0.5, size + 0.5, size + 0.5, 0.5),
            )
            below.plot(
                walked[1:],
                walked[:-1],
                "s",
                markerfacecolor="none",
                markeredgecolor=COLOURS[1],
                markersize=6,
                label="links of the path that is written (its vertices are framed)",
            )
            ticks = [1, *range(5, size, 5)]
            below.set_xticks(ticks)
            below.set_yticks(ticks)
            below.set(xlabel=artifact.axes["x"], ylabel=artifact.axes["y"])
            below.grid(**GRID)
            below.set_axisbelow(True)
            bar = figure.colorbar(image, ax=[above, below], pad=0.01, extend="min", ticks=TICKS)
            bar.set_label("probability of the link")
            bar.ax.set_ylim(LEAST, 1)
        legend_below(figure, *panels[1].get_legend_handles_labels())
        figure.suptitle(head_of(name, artifact, points), fontsize="medium")

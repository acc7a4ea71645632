"""Figure 2: the decoder's vertices, the links between them, and the path that is written."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.image import AxesImage

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import firsts, origin
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
            for document in firsts(evidence, "graphs")
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
            _draw_tokens(above, size, first, walked)
            written = " ".join(path["label"].iloc[1:-1])
            title = f"{dataset}: {words_of(here, 'source')} → {written}"
            above.set_title(title, fontsize="small")
            image = _draw_links(below, size, numbered(here, LINKS), walked)
            below.set(xlabel=artifact.axes["x"], ylabel=artifact.axes["y"])
            bar = figure.colorbar(image, ax=[above, below], pad=0.01, extend="min", ticks=TICKS)
            bar.set_label("probability of the link")
            bar.ax.set_ylim(LEAST, 1)
        legend_below(figure, *panels[1].get_legend_handles_labels())
        figure.suptitle(head_of(name, artifact, points))


def _draw_tokens(panel: Axes, size: int, first: pd.DataFrame, walked: list[float]) -> None:
    """Draw the likeliest token of every one of `size` vertices, those on the path framed."""
    for vertex, token in zip(first["x"], first["label"], strict=True):
        on = vertex in walked
        panel.text(
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
            panel.axvspan(vertex - 0.45, vertex + 0.45, color=COLOURS[5], alpha=0.5, lw=0)
    panel.set(xlim=(0.5, size + 0.5), ylim=(0, 1), yticks=[], xticks=[])
    panel.set_ylabel("likeliest\ntoken")


def _draw_links(
    panel: Axes, size: int, rows: dict[int, pd.DataFrame], walked: list[float]
) -> AxesImage:
    """Draw the probability of every link between `size` vertices, those of the path framed."""
    links = pd.DataFrame(0.0, index=range(1, size + 1), columns=range(1, size + 1))
    for vertex, row in rows.items():
        links.loc[vertex, row["x"].astype(int)] = row["y"].to_numpy()
    image = panel.imshow(
        links.where(links > 0),
        cmap="Greys",
        norm=LogNorm(LEAST, 2),
        aspect="auto",
        extent=(0.5, size + 0.5, size + 0.5, 0.5),
    )
    panel.plot(
        walked[1:],
        walked[:-1],
        "s",
        markerfacecolor="none",
        markeredgecolor=COLOURS[1],
        markersize=6,
        label="links of the path that is written (its vertices are framed)",
    )
    ticks = [1, *range(5, size, 5)]
    panel.set_xticks(ticks)
    panel.set_yticks(ticks)
    panel.grid(**GRID)
    panel.set_axisbelow(True)
    return image

"""Figure 10: the sums over paths, as the grid of tokens and vertices that they are found in."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import documents, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import COLOURS, LINES, canvas, legend_below
from fastdecode.report.dag.sentences import PATH, numbered

TICKS = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
LEAST = TICKS[0]  # of a row's sum: what is below looks the same
ROW = 0.26  # inches: a token
F, LOSS = "log f", "loss"


def points(evidence: Evidence) -> pd.DataFrame:
    """Return log f(i, u) for every cell that paths reach, and the most probable paths.

    Series `log f i` has x: the vertex u, y: log f, label: the token; `path n` has x: a vertex, y: a
    token's place, label: its share of all paths' probability; both count from 1. `loss` has y: the
    loss.
    """
    lines = []
    for dataset in evidence.parts:
        for document in documents(evidence, dataset, "assignment"):
            same = origin(document)
            lines.append({**same, "series": LOSS, "y": document["loss"]})
            each = zip(document["target"], document["forward"], strict=True)
            for place, (token, row) in enumerate(each, 1):
                lines += [
                    {**same, "series": f"{F} {place}", "x": vertex, "y": value, "label": token}
                    for vertex, value in enumerate(row, 1)
                    if value is not None
                ]
            for n, path in enumerate(document["paths"], 1):
                lines += [
                    {**same, "series": f"{PATH} {n}", "x": vertex + 1, "y": place}
                    | {"label": f"{path['share']:.3g}"}
                    for place, vertex in enumerate(path["path"], 1)
                ]
    return POINTS.frame(lines)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw the grid: the darker, the more of its row's sum a cell has; paths go down through it."""
    panels = list(points.groupby(["dataset", "what"], sort=False))
    rows = sum(int(here.loc[here["series"] != LOSS, "y"].max()) for _, here in panels)
    with canvas(0.9 * len(panels) + 0.6 + ROW * rows, *pictures) as figure:
        axes = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        named: dict[str, Any] = {}
        for axis, ((dataset, what), here) in zip(axes, panels, strict=True):
            tokens = numbered(here, F)
            cells = pd.DataFrame({n: row.set_index("x")["y"] for n, row in tokens.items()}).T
            size = int(cells.columns.max())
            cells = cells.reindex(columns=range(1, size + 1))
            shares = cells.sub(cells.max(axis=1), axis=0).map(np.exp).fillna(0.0)
            shares = shares.div(shares.sum(axis=1), axis=0)
            image = axis.imshow(
                shares.where(shares > 0),
                cmap="Greys",
                norm=LogNorm(LEAST, 2),
                aspect="auto",
                extent=(0.5, size + 0.5, len(tokens) + 0.5, 0.5),
            )
            for (n, path), colour, line in zip(
                numbered(here, PATH).items(), COLOURS[1:], LINES, strict=False
            ):
                label = f"path A{n}, {float(path['label'].iloc[0]):.1%} of P(Y | X)"
                (named[f"{dataset}: {label}" if len(panels) > 1 else label],) = axis.plot(
                    path["x"],
                    path["y"],
                    linestyle=line,
                    marker="o",
                    color=colour,
                    markersize=4,
                )
            axis.set_yticks(list(tokens), [row["label"].iloc[0] for row in tokens.values()])
            loss = here.loc[here["series"] == LOSS, "y"].iloc[0]
            title = f"{dataset}, {what}: loss −log f(M, L) = {loss:.2f}"
            axis.set_title(title, fontsize="small")
            axis.set(xlabel=artifact.axes["x"], ylabel=artifact.axes["y"])
            bar = figure.colorbar(image, ax=axis, pad=0.01, extend="min", ticks=TICKS)
            bar.set_label("f(i, u) over its row's sum")
            bar.ax.set_ylim(LEAST, 1)
        figure.suptitle(head_of(name, artifact, points))
        legend_below(figure, list(named.values()), list(named))

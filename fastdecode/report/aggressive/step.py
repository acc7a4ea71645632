"""Figures 2 and 3: one iteration, drafted and verified."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from fastdecode.config.papers import BESIDE, Artifact
from fastdecode.report.aggressive import tokens
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import firsts, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import COLOURS, canvas, legend_below

SOURCE, PREFIX, DRAFT, VERIFIER = "source", "prefix", "draft", "verifier"  # panels of the CSV
OTHER = "candidate"
READABLE = 5  # tokens of a prefix
SHOWN = 4  # of a longer one, the last ones
ROW = 0.5  # inches
BLACK, ORANGE, BLUE, GREEN = COLOURS[:4]
FRAMES: dict[str, dict[str, Any]] = {
    tokens.GIVEN: {"facecolor": "0.9", "edgecolor": "0.9"},
    tokens.ACCEPTED: {"facecolor": "white", "edgecolor": GREEN},
    tokens.TOLERATED: {"facecolor": "#d8ecf8", "edgecolor": BLUE},
    tokens.REFUSED: {"facecolor": "white", "edgecolor": ORANGE, "linestyle": "--"},
    tokens.OWN: {"facecolor": "white", "edgecolor": BLACK, "linewidth": 2},
    tokens.DROPPED: {"facecolor": "white", "edgecolor": "0.6", "linestyle": ":"},
    OTHER: {"facecolor": "white", "edgecolor": "white"},
}
MEANINGS = {
    tokens.GIVEN: "written before",
    tokens.ACCEPTED: "accepted",
    tokens.TOLERATED: "accepted, not the likeliest",
    tokens.REFUSED: "refused",
    tokens.OWN: "the verifier's own, kept",
    tokens.DROPPED: "dropped",
}


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point for every token of one iteration; the row's `ours` says of which trace.

    The panel is what the token is part of, the series what became of it, x its place in the
    translation, from 1, y its log-probability by the verifier below the highest, n its rank there.
    The source's tokens have as n the number of the iteration. Of each dataset the first seed's
    iteration is shown that shows most.
    """
    (row,) = evidence.artifact.rows.values()
    lines = []
    for document in firsts(evidence, "traces"):
        line, number, iteration = best_iteration(document, str(row[BESIDE]))
        same = origin(document, line["line"])
        for place, token in enumerate(line["source"], 1):
            point = {"panel": SOURCE, "series": SOURCE, "x": place, "n": number}
            lines.append({**same, **point, "label": token})
        lines += [{**same, **point} for point in _iteration(iteration)]
    return POINTS.frame(lines)


def best_iteration(
    document: Mapping[str, Any], trace: str
) -> tuple[Mapping[str, Any], int, Mapping[str, Any]]:
    """Return the line, number and content of the first iteration that shows most.

    It should have something accepted and something refused, with several candidates also one
    accepted that is not the likeliest, and a prefix that is not empty and not long. Of equals those
    of the line that all drawings show are preferred.
    """
    found = [
        (line, number, iteration)
        for line in document["lines"]
        for number, iteration in enumerate(line["traces"][trace]["iterations"], 1)
    ]

    def wanting(one: tuple[Mapping[str, Any], int, Mapping[str, Any]]) -> tuple[int, bool]:
        states = {marked.state for marked in tokens.drafted(one[2])}
        relaxed = len(one[2]["candidates"][0]) > 1
        short = 0 < len(one[2]["prefix"]) <= READABLE
        missing = (
            not states & {tokens.ACCEPTED, tokens.TOLERATED},
            tokens.REFUSED not in states,
            relaxed and tokens.TOLERATED not in states,
            not short,
        )
        return sum(missing), one[0]["line"] != document.get("drawn")

    return min(found, key=wanting)


def _iteration(iteration: Mapping[str, Any]) -> list[dict[str, Any]]:
    before = tokens.prefix(iteration)
    points = [
        {"panel": PREFIX, "series": marked.state, "x": place, "label": marked.token}
        for place, marked in enumerate(before, 1)
    ]
    start = len(before) + 1
    for place, (marked, gap) in enumerate(
        zip(tokens.drafted(iteration), iteration["gaps"], strict=True), start
    ):
        point = {"panel": DRAFT, "series": marked.state, "x": place, "y": gap}
        points.append({**point, "label": marked.token})
    for place, ranked in enumerate(tokens.candidates(iteration), start):
        for rank, (marked, gap) in enumerate(ranked, 1):
            point = {"panel": VERIFIER, "series": marked.state or OTHER, "x": place, "y": gap}
            points.append({**point, "n": rank, "label": marked.token})
    return points


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw the draft above, below it what the verifier has at each place, best first."""
    datasets = list(points["dataset"].unique())
    ranks = int(points.loc[points["panel"] == VERIFIER, "n"].max())
    height = 1.1 + (ROW * (ranks + 1) + 0.6) * len(datasets)
    with canvas(height, *pictures) as figure:
        panels = figure.subplots(len(datasets), 1, squeeze=False)[:, 0]
        for panel, dataset in zip(panels, datasets, strict=True):
            here = points[points["dataset"] == dataset]
            source = here[here["panel"] == SOURCE].sort_values("x")
            _draw(panel, here[here["panel"] != SOURCE], ranks)
            panel.set_ylabel(artifact.axes["y"])
            text = " ".join(source["label"])
            panel.set_title(f"{dataset}, iteration {source['n'].iloc[0]:.0f}: {text}", size="small")
        panels[-1].set_xlabel(artifact.axes["x"])
        figure.suptitle(head_of(name, artifact, points))
        shown = [state for state in MEANINGS if state in set(points["series"])]
        patches = [Patch(**FRAMES[state]) for state in shown]
        meanings = [MEANINGS[state] for state in shown]
        if ranks > 1:
            patches.append(Patch(facecolor="none", edgecolor="none"))
            meanings.append("below: log-probability under the highest")
        legend_below(figure, patches, meanings)


def _draw(panel: Axes, here: pd.DataFrame, ranks: int) -> None:
    """Draw the tokens of one iteration, each column as wide as its longest token."""
    gaps = ranks > 1
    first = here.loc[here["panel"] == DRAFT, "x"].min()
    hidden = max(0, int(first) - 1 - SHOWN)  # of the prefix
    here = here[here["x"] > hidden]
    widths = here["label"].str.len().groupby(here["x"]).max().clip(lower=3) + 3
    ends = widths.cumsum()
    centres = ends - widths / 2
    for point in here.to_dict("records"):
        row = 0 if point["panel"] != VERIFIER else int(point["n"])
        dropped = point["series"] == tokens.DROPPED
        panel.text(
            centres[point["x"]],
            row,
            point["label"],
            ha="center",
            va="center",
            size="small",
            color="0.45" if dropped else "black",
            bbox={"boxstyle": "round", **FRAMES[point["series"]]},
        )
        if gaps and point["panel"] == VERIFIER and point["n"] > 1:
            below = f"−{point['y']:.1f}"
            place = centres[point["x"]], row + 0.42
            panel.text(*place, below, ha="center", va="center", size=7, color="0.35")
    panel.axhline(0.5, color="0.8", linewidth=0.8)
    panel.set_xlim(-1, ends.iloc[-1] + 1)
    panel.set_ylim(ranks + 0.65, -0.5)
    names = ["draft", *(f"verifier, {rank}." for rank in range(1, ranks + 1))]
    panel.set_yticks(range(ranks + 1), names if gaps else ["draft", "verifier"])
    labels = [f"{place:.0f}" for place in centres.index]
    if hidden:
        labels[0] = f"… {labels[0]}"
    panel.set_xticks(list(centres), labels)
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)

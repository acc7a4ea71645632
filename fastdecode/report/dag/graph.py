"""Figures 9 and 14: predicted graphs, and the best translations that beam search finds in them."""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path as Curve

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import documents, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import COLOURS, canvas
from fastdecode.report.dag.modes import slot_points
from fastdecode.report.dag.sentences import (
    CANDIDATE,
    HYPOTHESIS,
    LINKS,
    numbered,
    sentence_points,
    words_of,
)

PASSED = 0.1  # what paths pass less often is left out
ROW, LINE = 0.25, 0.17  # inches: a vertex, a line of text
TOKENS, WIDTH = 1.15, 2.0  # of a column: where arcs begin, all of it; in its own units
FIT = {True: 36, False: 26}  # characters of tokens, in a wide column and in a narrow one
NAT = "NAT"


def points(evidence: Evidence) -> pd.DataFrame:
    """Return the graphs of the sentences that the artifact's rows name, from 1: see sentences.py.

    Vertices with a passing probability below 0.1 are left out, with all links to and from them. The
    panel is the number of the sentence. Series `NAT` has as label what a plain NAT writes.
    """
    wanted = [int(str(row["sentence"])) for row in evidence.artifact.rows.values()]
    lines = []
    for dataset in evidence.parts:
        nat = documents(evidence, dataset, "slots")[:1]
        for document in documents(evidence, dataset, "graphs")[:1]:
            for n in wanted:
                if n > len(document["sentences"]):
                    continue
                sentence = document["sentences"][n - 1]
                kept = {
                    vertex
                    for vertex, here in enumerate(sentence["vertices"], 1)
                    if here["passing"] >= PASSED
                }
                same = {**origin(document, sentence["line"]), "panel": str(n)}
                lines += [{**same, **p} for p in sentence_points(sentence) if _is_shown(p, kept)]
                for other in nat:
                    (written,) = (
                        point["label"]
                        for point in slot_points(other["sentences"][n - 1])
                        if point["series"] == "written"
                    )
                    nats = origin(other, sentence["line"])
                    lines.append({**nats, "panel": str(n), "series": NAT, "label": written})
    return POINTS.frame(lines)


def _is_shown(point: dict[str, Any], kept: set[int]) -> bool:
    word, _, number = point["series"].rpartition(" ")
    if word == LINKS:
        return int(number) in kept and bool(point["x"] in kept)
    if point["series"] == "passing" or word == CANDIDATE:
        return bool(point["x"] in kept)
    return bool(word != "path")


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a column for each sentence: its vertices downwards, links as arcs; texts below."""
    datasets = list(points["dataset"].unique())
    columns = list(points["panel"].unique())
    groups = dict(list(points.groupby(["dataset", "panel"], sort=False)))
    rows = [
        max(int((groups[d, c]["series"] == "passing").sum()) for c in columns if (d, c) in groups)
        for d in datasets
    ]
    texts = [max(len(_texts(groups[d, c])) for c in columns if (d, c) in groups) for d in datasets]
    heights = [
        inches
        for vertices, lines in zip(rows, texts, strict=True)
        for inches in (ROW * (vertices + 1), LINE * (lines + 1))
    ]
    with canvas(0.9 + sum(heights) + 0.25 * len(datasets), *pictures) as figure:
        axes = figure.subplots(len(heights), len(columns), squeeze=False, height_ratios=heights)
        for number, dataset in enumerate(datasets):
            for place, column in enumerate(columns):
                above, below = axes[2 * number : 2 * number + 2, place]
                for axis in (above, below):
                    axis.set_axis_off()
                    axis.set(xticks=[], yticks=[])
                if (dataset, column) not in groups:
                    continue
                here = groups[dataset, column]
                _graph(above, here, rows[number], wide=len(columns) == 1)
                what = here.loc[here["series"] == "passing", "what"].iloc[0]
                above.set_title(f"{dataset}, {what}", fontsize="small")
                lines = _texts(here)
                below.set(xlim=(0, 1), ylim=(texts[number] + 0.5, -0.5))
                for line, text in enumerate(lines):
                    below.text(0, line, text, size=7.5 if len(columns) > 1 else 8, va="center")
        head = head_of(name, artifact, points)
        figure.suptitle(head)


def _texts(points: pd.DataFrame) -> list[str]:
    """Return the lines below a graph."""
    sides = [(side, words_of(points, side)) for side in ("source", "reference")]
    lines = [f"{side}: {text}" for side, text in sides]
    for n, rows in numbered(points, HYPOTHESIS).items():
        lines.append(f"{n}  {rows['y'].iloc[0]:.2f}  {rows['label'].iloc[0]}")
    if written := words_of(points, NAT):
        lines.append(f"plain NAT: {written}")
    return lines


def _graph(axis: Axes, points: pd.DataFrame, rows: int, wide: bool) -> None:
    """Draw vertices from above; how far an arc reaches to the right is how far it goes down."""
    passing = points[points["series"] == "passing"].sort_values("x")
    place = {int(vertex): row for row, vertex in enumerate(passing["x"])}
    tokens = dict.fromkeys(place, "")
    for rows_of in numbered(points, CANDIDATE).values():
        for vertex, chance, token in zip(rows_of["x"], rows_of["y"], rows_of["label"], strict=True):
            longer = " · ".join(filter(None, [tokens[int(vertex)], f"{token} {_short(chance)}"]))
            fits = chance >= PASSED and len(longer) <= FIT[wide]
            if fits or not tokens[int(vertex)]:  # the likeliest is written in any case
                tokens[int(vertex)] = longer
    begin = TOKENS * (0.7 if wide else 1)
    for vertex, chance in zip(passing["x"], passing["y"], strict=True):
        row = place[int(vertex)]
        axis.barh(row, 0.2 * chance, left=0, height=0.62, color="0.75")
        axis.text(0.01, row, f"{vertex:g}", size=7, va="center")
        axis.text(0.22, row, tokens[int(vertex)], size=7.5, va="center")
    links = [
        (place[vertex], place[int(after)], chance)
        for vertex, leaving in numbered(points, LINKS).items()
        for after, chance in zip(leaving["x"], leaving["y"], strict=True)
    ]
    longest = max((end - start for start, end, _ in links), default=1)
    for start, end, chance in links:
        reach = (WIDTH - 0.15 - begin) * (0.08 + 0.92 * (end - start) / longest)
        axis.add_patch(
            FancyArrowPatch(
                path=_bow(begin, reach, start + 0.12, end - 0.12),
                arrowstyle="-|>",
                mutation_scale=6,
                linewidth=0.4 + 1.8 * chance,
                color=COLOURS[2],
            )
        )
        if chance < 0.995:
            axis.text(
                begin + reach,
                (start + end) / 2,
                _short(chance),
                size=7,
                va="center",
                ha="center",
                bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none"},
            )
    axis.set(xlim=(0, WIDTH), ylim=(rows - 0.4, -0.6))


def _bow(begin: float, reach: float, start: float, end: float) -> Curve:
    """Return a curve from `start` down to `end` that goes to the right by `reach`."""
    bend = begin + reach * 4 / 3  # a cubic's middle has three quarters of what its controls have
    corners = [(begin, start), (bend, start), (bend, end), (begin, end)]
    return Curve(corners, [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4])


def _short(chance: float) -> str:
    return f"{chance:.2f}".removeprefix("0")

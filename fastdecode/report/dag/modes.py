"""Figure 1: translations that mix in the slots of a plain NAT, and take paths of their own here."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import documents, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import COLOURS, LINES, canvas, legend_below
from fastdecode.report.dag.sentences import (
    CANDIDATE,
    HYPOTHESIS,
    PATH,
    numbered,
    sentence_points,
    words_of,
)

SLOTS, GRAPH = "slots", "graph"
TITLES = {SLOTS: "(a) slots of a plain NAT", GRAPH: "(b) paths through a graph"}
SHOWN = 3  # hypotheses
WIDEST = 90  # characters of this size that a page is wide
SIZE = 8  # points
Node = tuple[int, str]  # vertex, token


def points(evidence: Evidence) -> pd.DataFrame:
    """Return the first short sentence of each dataset, in a panel for each kind of model.

    `slots` has series `source`, `reference`, `written` (label: the words) and `candidate n` (x:
    slot, y: probability, label: token); `graph` the hypotheses and their paths: see sentences.py.
    """
    lines = []
    for dataset in evidence.parts:
        for document in documents(evidence, dataset, "slots")[:1]:
            same = {**origin(document), "panel": SLOTS}
            lines += [{**same, **line} for line in slot_points(document["sentences"][0])]
        for document in documents(evidence, dataset, "graphs")[:1]:
            same = {**origin(document), "panel": GRAPH}
            kept = ("source", "reference", HYPOTHESIS, PATH)
            lines += [
                {**same, **line}
                for line in sentence_points(document["sentences"][0])
                if line["series"].startswith(kept)
            ]
    return POINTS.frame(lines)


def slot_points(sentence: Any) -> list[dict[str, Any]]:
    """Return points of one sentence of the statistic `slots`, without their origin."""
    lines: list[dict[str, Any]] = [
        {"series": side, "label": " ".join(sentence[side])}
        for side in ("source", "reference", "written")
    ]
    for slot, candidates in enumerate(sentence["slots"], 1):
        lines += [
            {"series": f"{CANDIDATE} {n}", "x": slot, "y": chance, "label": token}
            for n, (token, chance) in enumerate(candidates, 1)
        ]
    return lines


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw the slots with their likeliest tokens, and below the best translations as a graph."""
    panels = list(points.groupby(["dataset", "panel"], sort=False))
    with canvas(0.5 + 1.9 * len(panels), *pictures) as figure:
        axes = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
        handles: dict[str, Any] = {}
        for axis, ((dataset, panel), here) in zip(axes, panels, strict=True):
            if panel == SLOTS:
                _slots(axis, here)
                text = f"written: {words_of(here, 'written')}"
            else:
                handles |= _graph(axis, here)
                text = f"reference: {words_of(here, 'reference')}"
            source = words_of(here, "source")
            title = f"{TITLES[str(panel)]}, {dataset}, {here['what'].iloc[0]}\n{source} · {text}"
            axis.set_title(title, fontsize="small")
            axis.set_axis_off()
            axis.set(xticks=[], yticks=[])
        figure.suptitle(head_of(name, artifact, points))
        if handles:
            legend_below(figure, list(handles.values()), list(handles))


def _slots(axis: Axes, points: pd.DataFrame) -> None:
    """Draw a column for each slot, its likeliest token framed."""
    candidates = numbered(points, CANDIDATE)
    for n, rows in candidates.items():
        for slot, chance, token in zip(rows["x"], rows["y"], rows["label"], strict=True):
            frame = {"facecolor": "white", "edgecolor": COLOURS[1] if n == 1 else "none"}
            axis.text(
                slot,
                n,
                f"{token}\n{chance:.2f}",
                ha="center",
                va="center",
                size=SIZE,
                color="black" if n == 1 else "0.35",
                bbox={"boxstyle": "round,pad=0.25", **frame},
            )
    axis.set_xlim(0.4, points["x"].max() + 0.6)
    axis.set_ylim(max(candidates) + 0.5, 0.4)


def _graph(axis: Axes, points: pd.DataFrame) -> dict[str, Any]:
    """Draw the paths of the best hypotheses; return a line of each, by what the legend says."""
    scores = numbered(points, HYPOTHESIS)
    paths: dict[int, list[Node]] = {
        n: [(int(vertex), token) for vertex, token in zip(rows["y"], rows["label"], strict=True)]
        for n, rows in numbered(points, PATH).items()
        if 0 < n <= SHOWN
    }
    places = layout(list(paths.values()))
    handles: dict[str, Any] = {}
    drawn: set[tuple[Node, Node]] = set()
    for (n, path), colour, line in zip(paths.items(), COLOURS[1:], LINES, strict=False):
        for edge in pairwise(path):
            if edge not in drawn:
                drawn.add(edge)
                (x, y), (to_x, to_y) = (places[node] for node in edge)
                over = y == to_y and any(
                    y == row and x < column < to_x for column, row in places.values()
                )
                style = f"arc3,rad={-0.25 if over else 0}"
                axis.add_patch(
                    FancyArrowPatch(
                        (x, y),
                        (to_x, to_y),
                        connectionstyle=style,
                        arrowstyle="-",
                        color=colour,
                        linestyle=line,
                        linewidth=1.5,
                        zorder=1,
                    )
                )
        score, text = (scores[n][key].iloc[0] for key in ("y", "label"))
        (handles[f"{n}: {text} ({score:.2f})"],) = axis.plot([], [], color=colour, linestyle=line)
    for node, (x, y) in places.items():
        axis.text(
            x,
            y,
            node[1],
            ha="center",
            va="center",
            size=SIZE,
            bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "0.3"},
        )
    widest = max(x for x, _ in places.values())
    room = max(WIDEST - widest, 0) / 2
    axis.set_xlim(-5 - room, widest + 5 + room)
    axis.set_ylim(max(y for _, y in places.values()) + 0.7, -0.7)
    return handles


def layout(paths: list[list[Node]]) -> dict[Node, tuple[float, float]]:
    """Return where the nodes of some paths are drawn: x in characters, y in rows, from above.

    A node stands in the column of its longest way from the beginning, and in the row of the first
    path that has it; columns are as wide as their longest token. Where another node is there
    already, it goes to the next free row.
    """
    column: dict[Node, int] = {}
    edges = sorted(edge for path in paths for edge in pairwise(path))
    for node, after in edges:  # vertices go forward only, so that all before a node are done
        column[after] = max(column.get(after, 0), column.get(node, 0) + 1)
    column |= {path[0]: 0 for path in paths}
    widths = [0] * (max(column.values()) + 1)
    for node, place in column.items():
        widths[place] = max(widths[place], len(node[1]) + 4)
    middles = [sum(widths[:place]) + width / 2 for place, width in enumerate(widths)]
    places: dict[Node, tuple[float, float]] = {}
    for row, path in enumerate(paths):
        for node in path:
            if node not in places:
                taken = set(places.values())
                free = row
                while (middles[column[node]], free) in taken:
                    free += 1
                places[node] = (middles[column[node]], free)
    return places

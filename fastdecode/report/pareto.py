"""Quality against speed: which decoders no other one beats in both."""

from collections.abc import Sequence
from functools import partial
from itertools import cycle, zip_longest
from math import ceil, nan
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import FillStyleType

from fastdecode.errors import UserError
from fastdecode.report.canvas import COLOURS, GRID, LEGEND_LINE, MARKERS, canvas, logarithmic
from fastdecode.report.speed import SPEED, described, threads_of
from fastdecode.report.tables import only

# Systems differ by marker and colour, thirteen markers beside seven colours, their decoders by how
# the marker is filled, so that a point can be told from all others in black and white.
FILLS: tuple[FillStyleType, ...] = ("full", "none", "left", "bottom", "right", "top")
AXES = {"S1": "median ms a sentence", "Smax": "sentences a second, best batch"}
PANELS = 2  # side by side
FILLING = "decoder: filling"  # the title of a legend
LETTERS = 80  # of names in three columns, beside whose markers there is no room for more
Mark = tuple[str, str]  # marker, colour


def non_dominated(costs: Sequence[float], qualities: Sequence[float]) -> list[bool]:
    """Say of each point whether no other one is at most as costly, at least as good, and not equal.

    Equal points stand or fall together.
    """
    order = sorted(range(len(costs)), key=lambda i: (costs[i], -qualities[i]))
    kept = [False] * len(costs)
    best, best_cost = float("-inf"), float("-inf")
    for i in order:
        kept[i] = qualities[i] > best or (qualities[i] == best and costs[i] == best_cost)
        if kept[i]:
            best, best_cost = qualities[i], costs[i]
    return kept


def draw_pareto(rows: pd.DataFrame, tier: str, out_svg: Path, out_png: Path) -> None:
    """Draw BLEU against speed in one tier, a panel for each number of threads.

    `rows` are of fastdecode.report.speed.speed_rows; what lacks BLEU is left out. A staircase joins
    the decoders that are not dominated.

    Raises UserError if nothing is left to draw.
    """
    rows = rows[(rows["tier"] == tier) & rows["bleu"].notna()]
    if rows.empty:
        raise UserError(f"no decoder of the {tier} tier has both a speed and BLEU: nothing to draw")
    scenario = only(rows, "scenario")
    models = (rows["target"] + "/" + rows["system"]).unique()
    marks = dict(zip(models, zip(cycle(MARKERS), cycle(COLOURS)), strict=False))
    fills = dict(zip(rows["decoder"].unique(), cycle(FILLS), strict=False))
    threads = rows["threads"].unique()
    columns = min(PANELS, len(threads))
    lines = ceil(len(threads) / columns)
    with canvas(0.4 + 2.9 * lines, out_svg, out_png) as figure:
        panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for panel, number in zip_longest(panels.flat, threads):
            group = rows[rows["threads"] == number]
            panel.set_visible(not group.empty)
            if group.empty:
                continue
            _staircase(panel, group, scenario)
            for row in group.to_dict("records"):
                mark, fill = marks[f"{row['target']}/{row['system']}"], fills[row["decoder"]]
                panel.add_line(_point(mark, fill, row[SPEED[scenario]], row["bleu"]))
            panel.autoscale_view()
            panel.set_title(threads_of(number), fontsize="medium")
            panel.set_xlabel(AXES[scenario])
            panel.grid(**GRID)
        logarithmic(panels[0, 0], "x", rows[SPEED[scenario]])
        for panel in panels[:, 0]:
            panel.set_ylabel("BLEU")
        figure.suptitle(described(rows), fontsize="medium")
        _legends(
            figure,
            {model: _point(mark, "full") for model, mark in marks.items()},
            {decoder: _point(("o", "0.3"), fill) for decoder, fill in fills.items()},
        )


def _point(mark: Mark, fill: FillStyleType, x: float = nan, y: float = nan) -> Line2D:
    marker, colour = mark
    return Line2D(
        [x],
        [y],
        linestyle="none",
        marker=marker,
        markersize=7,
        color=colour,
        fillstyle=fill,
        markerfacecoloralt="white",
    )


def _staircase(panel: Axes, rows: pd.DataFrame, scenario: str) -> None:
    """Join what is not dominated: at each speed, the best BLEU that is to be had."""
    speeds, scores = rows[SPEED[scenario]].tolist(), rows["bleu"].tolist()
    slow = scenario == "S1"  # the axis is of times: more is worse
    kept = non_dominated(speeds if slow else [-speed for speed in speeds], scores)
    best = sorted(
        (speed, bleu) for speed, bleu, keep in zip(speeds, scores, kept, strict=True) if keep
    )
    panel.plot(
        *zip(*best, strict=True),
        drawstyle="steps-post" if slow else "steps-pre",
        color="0.5",
        linewidth=1.0,
        zorder=1,
    )


def _legends(figure: Figure, models: dict[str, Line2D], decoders: dict[str, Line2D]) -> None:
    """Put two legends below the panels: systems to the left, decoders to the right."""
    letters = 2 * max(map(len, models)) + max(map(len, [*decoders, FILLING]))
    columns = 2 if len(models) > len(decoders) and letters <= LETTERS else 1
    legend = partial(figure.legend, frameon=False, alignment="left")
    legend(
        list(models.values()),
        list(models),
        loc="outside lower left",
        title="system: marker and colour",
        ncols=columns,
    )
    legend(
        list(decoders.values()),
        list(decoders),
        loc="outside lower right",
        title=FILLING,
    )
    lines = 1 + max(ceil(len(models) / columns), len(decoders))
    figure.set_figheight(figure.get_figheight() + LEGEND_LINE * lines)

"""Quality against speed: which decoders no other one beats in both."""

from collections.abc import Mapping, Sequence
from itertools import cycle, zip_longest
from math import ceil, nan
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.typing import FillStyleType

from fastdecode.errors import UserError
from fastdecode.report.canvas import COLOURS, GRID, MARKERS, canvas, legend_below, logarithmic
from fastdecode.report.speed_numbers import SPEED
from fastdecode.report.speed_words import described, threads_of
from fastdecode.report.tables import DISTURBED, only

# Systems differ by marker and colour, thirteen markers beside seven colours, the decoders of one by
# how the marker is filled, from the seventh on by its size too, so that a point can be told from
# all others in black and white. A narrow body hardly shows how it is filled: such come last.
NARROW = ("P", "p", "*")
BROAD = tuple(marker for marker in MARKERS if marker not in NARROW)
SHAPES = (*BROAD, *NARROW)
FILLS: tuple[FillStyleType, ...] = ("full", "none", "left", "bottom", "right", "top")
SIZES = (7.0, 4.5)  # points
AXES = {"S1": "median ms a sentence", "Smax": "sentences a second, best batch"}
PANELS = 2  # side by side
Point = tuple[str, str]  # target/system, decoder


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


def draw_pareto(rows: pd.DataFrame, tier: str, *pictures: Path) -> None:
    """Draw BLEU against speed in one tier, a panel for each number of threads.

    `rows` are of fastdecode.report.speed_numbers.speed_rows; what lacks BLEU is left out. A
    staircase joins the decoders that are not dominated.

    Raises UserError if nothing is left to draw.
    """
    rows = rows[(rows["tier"] == tier) & rows["bleu"].notna()]
    if rows.empty:
        raise UserError(f"no decoder of the {tier} tier has both a speed and BLEU: nothing to draw")
    scenario = only(rows, "scenario")
    looks = _looks(list(map(_point, rows.to_dict("records"))))
    threads = rows["threads"].unique()
    columns = min(PANELS, len(threads))
    lines = ceil(len(threads) / columns)
    with canvas(0.4 + 2.9 * lines, *pictures) as figure:
        panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for panel, number in zip_longest(panels.flat, threads):
            group = rows[rows["threads"] == number]
            panel.set_visible(not group.empty)
            if group.empty:
                continue
            _staircase(panel, group, scenario)
            for row in group.to_dict("records"):
                panel.add_line(_marker(looks[_point(row)], row[SPEED[scenario]], row["bleu"]))
            panel.autoscale_view()
            panel.set_title(threads_of(number), fontsize="medium")
            panel.set_xlabel(AXES[scenario])
            panel.grid(**GRID)
        logarithmic(panels[0, 0], "x", rows[SPEED[scenario]])
        for panel in panels[:, 0]:
            panel.set_ylabel("BLEU")
        figure.suptitle(described(rows), fontsize="medium")
        # the title says which tier
        busy = set(map(_point, rows[rows["latency_disturbed"] > 0].to_dict("records")))
        names = [
            f"{model}, {decoder.removesuffix(f'-{tier}')}{DISTURBED * ((model, decoder) in busy)}"
            for model, decoder in looks
        ]
        legend_below(figure, list(map(_marker, looks.values())), names)


def _point(row: Mapping[Any, Any]) -> Point:
    return f"{row['target']}/{row['system']}", str(row["decoder"])


def _looks(points: Sequence[Point]) -> dict[Point, dict[str, Any]]:
    """Return how the marker of every point looks, the decoders of a system one after the other."""
    looks: dict[Point, dict[str, Any]] = {}
    models = dict.fromkeys(model for model, _ in points)
    for model, marker, colour in zip(models, cycle(SHAPES), cycle(COLOURS), strict=False):
        decoders = dict.fromkeys(decoder for other, decoder in points if other == model)
        fillings = cycle((size, fill) for size in SIZES for fill in FILLS)
        for decoder, (size, fill) in zip(decoders, fillings, strict=False):
            look = {"marker": marker, "color": colour, "markersize": size, "fillstyle": fill}
            looks[model, decoder] = look
    return looks


def _marker(look: Mapping[str, Any], x: float = nan, y: float = nan) -> Line2D:
    return Line2D([x], [y], linestyle="none", markerfacecoloralt="white", **look)


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

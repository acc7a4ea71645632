"""Quality against speed: which decoders no other one beats in both."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, zip_longest
from math import ceil, hypot, nan
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox
from matplotlib.typing import FillStyleType

from fastdecode.errors import UserError
from fastdecode.report.canvas import (
    COLOURS,
    GRID,
    MARKERS,
    POINTS,
    canvas,
    legend_below,
    logarithmic,
)
from fastdecode.report.speed_numbers import SPEED
from fastdecode.report.speed_words import described, marks, threads_of
from fastdecode.report.tables import of_both, only

# Families differ by colour, systems by marker, the decoders of one by how the marker is filled,
# from the seventh on by its size too, so that a point can be told from all others in black and
# white. A narrow body hardly shows how it is filled: such come last.
NARROW = ("P", "p", "*")
BROAD = tuple(marker for marker in MARKERS if marker not in NARROW)
SHAPES = (*BROAD, *NARROW)
FILLS: tuple[FillStyleType, ...] = ("full", "none", "left", "bottom", "right", "top")
SIZES = (7.0, 4.5)  # points
AXES = {"S1": "median ms a sentence", "Smax": "sentences a second, best batch"}
PANELS = 2  # side by side
HEIGHTS = {1: 4.0, 2: 2.9}  # inches of a panel that is alone in its line, or beside another
NAME_GAP = 4.0  # points between a marker and its name
FARTHER = 1.25  # times as far from a name as its own marker is every other one, at least
Point = tuple[str, str]  # target/system, decoder
Row = dict[Any, Any]


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
    staircase joins the decoders that are not dominated, and their names stand beside them, and then
    those of others, as far as there is room.

    Raises UserError if nothing is left to draw.
    """
    rows = rows[(rows["tier"] == tier) & rows["bleu"].notna()]
    if rows.empty:
        raise UserError(f"no decoder of the {tier} tier has both a speed and BLEU: nothing to draw")
    scenario = only(rows, "scenario")
    points = rows.to_dict("records")
    looks = _looks(list(map(_point, points)), {_point(row)[0]: row["family"] for row in points})
    threads = rows["threads"].unique()
    columns = min(PANELS, len(threads))
    lines = ceil(len(threads) / columns)
    with canvas(0.4 + HEIGHTS[columns] * lines, *pictures) as figure:
        panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        groups = [rows[rows["threads"] == number].to_dict("records") for number in threads]
        fronts = [_best(group, scenario) for group in groups]
        for panel, group, front in zip_longest(panels.flat, groups, fronts):
            panel.set_visible(group is not None)
            if group is None:
                continue
            _staircase(panel, front, scenario)
            for row in group:
                panel.add_line(_marker(looks[_point(row)], row[SPEED[scenario]], row["bleu"]))
            panel.autoscale_view()
            panel.set_title(threads_of(group[0]["threads"]), fontsize="medium")
            panel.set_xlabel(AXES[scenario])
            panel.grid(**GRID)
        logarithmic(panels[0, 0], "x", rows[SPEED[scenario]])
        for panel in panels[:, 0]:
            panel.set_ylabel("BLEU")
        figure.suptitle(described(rows))
        marked: dict[Point, str] = {}
        for row in points:  # of all numbers of threads
            marked[_point(row)] = of_both(marked.get(_point(row), ""), marks(row))
        names = [
            f"{model}, {_short(decoder, tier)}{marked[model, decoder]}" for model, decoder in looks
        ]
        legend_below(figure, list(map(_marker, looks.values())), names)
        figure.draw_without_rendering()  # from here on it is known how long a name is
        for panel, group, front in zip(panels.flat, groups, fronts, strict=False):
            _name_points(panel, group, front, scenario)


def _short(decoder: str, tier: str) -> str:
    """Return the name of a decoder without its tier, which the title says."""
    return decoder.removesuffix(f"-{tier}")


def _point(row: Mapping[Any, Any]) -> Point:
    return f"{row['target']}/{row['system']}", str(row["decoder"])


def _looks(points: Sequence[Point], families: Mapping[str, str]) -> dict[Point, dict[str, Any]]:
    """Return how the marker of every point looks, the decoders of a system one after the other.

    `families` say of a target/system what it is, or "". Where that is not known, as in older files,
    or one family has more systems than there are markers, systems differ by colour, too.
    """
    looks: dict[Point, dict[str, Any]] = {}
    models = list(dict.fromkeys(model for model, _ in points))
    largest = max(Counter(families[model] for model in models).values())
    known = all(families.values()) and largest <= len(SHAPES)
    kinds = {model: families[model] if known else model for model in models}
    colours = dict(zip(dict.fromkeys(kinds.values()), cycle(COLOURS), strict=False))
    shapes = cycle(SHAPES)
    used: set[tuple[str, str]] = set()
    for model in models:
        marker = next(shape for shape in shapes if (kinds[model], shape) not in used)
        used.add((kinds[model], marker))
        decoders = dict.fromkeys(decoder for other, decoder in points if other == model)
        fillings = cycle((size, fill) for size in SIZES for fill in FILLS)
        for decoder, (size, fill) in zip(decoders, fillings, strict=False):
            looks[model, decoder] = {
                "marker": marker,
                "color": colours[kinds[model]],
                "markersize": size,
                "fillstyle": fill,
            }
    return looks


def _marker(look: Mapping[str, Any], x: float = nan, y: float = nan) -> Line2D:
    return Line2D([x], [y], linestyle="none", markerfacecoloralt="white", **look)


def _best(rows: Sequence[Row], scenario: str) -> list[Row]:
    """Return the rows that are not dominated, the fewest ms or sentences a second first."""
    sign = 1 if scenario == "S1" else -1  # more ms are worse
    costs = [sign * row[SPEED[scenario]] for row in rows]
    kept = non_dominated(costs, [row["bleu"] for row in rows])
    best = [row for row, keep in zip(rows, kept, strict=True) if keep]
    return sorted(best, key=lambda row: (row[SPEED[scenario]], row["bleu"]))


def _staircase(panel: Axes, best: Sequence[Row], scenario: str) -> None:
    """Join what is not dominated: at each speed, the best BLEU that is to be had."""
    panel.plot(
        [row[SPEED[scenario]] for row in best],
        [row["bleu"] for row in best],
        drawstyle="steps-post" if scenario == "S1" else "steps-pre",
        color="0.5",
        linewidth=1.0,
        zorder=1,
    )


def _name_points(panel: Axes, rows: Sequence[Row], best: Sequence[Row], scenario: str) -> None:
    """Write names beside the points where there is room: the best first, from the worst of them on.

    No other point stands between one that is not dominated and the corner of the fast and good, so
    that this side is tried first. A decoder of several systems is named with its system, of several
    targets with its target, too: no name fits two points, and none is as near to another point.
    """
    figure = panel.get_figure(root=True)
    assert figure is not None
    edge = panel.get_window_extent()
    places = [panel.transData.transform((row[SPEED[scenario]], row["bleu"])) for row in rows]
    radius, gap = (points * figure.dpi / POINTS for points in (SIZES[0] / 2, NAME_GAP))
    taken = [Bbox.from_extents(x, y, x, y).padded(radius) for x, y in places]
    sides = [("right", -NAME_GAP), ("left", NAME_GAP)]
    if scenario == "Smax":  # more is better
        sides.reverse()
    others = [row for row in rows if row not in best]
    for row in [*sorted(best, key=lambda row: row["bleu"]), *others]:
        alike = [other for other in rows if other["decoder"] == row["decoder"]]
        targets = {other["target"] for other in alike if other["system"] == row["system"]}
        here = places[rows.index(row)]
        name = _short(row["decoder"], row["tier"])
        if len(targets) > 1:
            name = f"{row['target']}/{row['system']}, {name}"
        elif len({other["system"] for other in alike}) > 1:
            name = f"{row['system']}, {name}"
        for side, offset in sides:
            text = panel.annotate(
                name,
                (row[SPEED[scenario]], row["bleu"]),
                (offset, NAME_GAP),
                textcoords="offset points",
                horizontalalignment=side,
                fontsize="small",
            )
            box = text.get_window_extent()
            inside = edge.x0 < box.x0 - gap and box.x1 + gap < edge.x1 and box.y1 < edge.y1
            room = FARTHER * _distance(box, here)
            told = all(_distance(box, place) >= room for place in places if place is not here)
            if inside and told and not box.count_overlaps(taken):
                taken.append(box.padded(gap))  # the next name is told from it by a space
                break
            text.remove()


def _distance(box: Bbox, point: Iterable[float]) -> float:
    """Return how far a point is from a box, 0 inside."""
    x, y = point
    return hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1))

"""Quality against speed as a chart for a page: places of points and ticks, in units of the drawing.

The template draws it as SVG; what it shows stands as a table beside it, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import pandas as pd

from fastdecode.report.canvas import STEPS
from fastdecode.report.pareto import AXES, non_dominated
from fastdecode.report.speed_numbers import SPEED, name_of
from fastdecode.report.speed_words import ratio_marks, threads_of

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 16, 52  # margins, where the axes are
# Around a point, what is touched for it: 24 pixels wide even on a phone of 320 pixels. Marks lie
# above all of these, so that none of them is hidden.
HIT = 30
NICE = (1, 2, 2.5, 5, 10)  # steps of a linear axis, by decade
TICKS = 6  # of a linear axis, at most


@dataclass(frozen=True)
class Point:
    """A decoder with its place."""

    x: float
    y: float
    family: str
    name: str  # target/system/decoder
    text: str  # all that is known of it
    best: bool  # no other one is as fast and as good


@dataclass(frozen=True)
class Chart:
    """One tier in one scenario, on one split and with one number of threads."""

    key: str
    title: str
    axis: str
    points: tuple[Point, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    front: str  # the line that joins the best, as an SVG path


def charts(speeds: pd.DataFrame, families: Mapping[tuple[str, str], str]) -> list[Chart]:
    """Return a chart for every setting of rows of fastdecode.report.speed_numbers that have BLEU.

    `families` say of (target, system) what it is.
    """
    rows = speeds[speeds["bleu"].notna()]
    keys = ["dataset", "split", "scenario", "tier", "threads"]
    return [
        _chart([str(part) for part in key], group, families)
        for key, group in rows.groupby(keys, sort=False)
    ]


def _chart(key: list[str], rows: pd.DataFrame, families: Mapping[tuple[str, str], str]) -> Chart:
    dataset, split, scenario, tier, threads = key
    column = SPEED[scenario]
    speeds, scores = rows[column].tolist(), rows["bleu"].tolist()
    slow = scenario == "S1"  # the axis is of times: more is worse
    best = non_dominated(speeds if slow else [-speed for speed in speeds], scores)
    x_low, x_high, x_ticks = _logarithmic(speeds)
    y_low, y_high, y_ticks = _linear(scores)

    def x(value: float) -> float:
        share = log10(value / x_low) / log10(x_high / x_low)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y(value: float) -> float:
        share = (value - y_low) / (y_high - y_low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    points = [
        Point(
            x=x(row[column]),
            y=y(row["bleu"]),
            family=families.get((row["target"], row["system"]), "other"),
            name=name_of(row),
            text=_text(row, column, scenario),
            best=kept,
        )
        for row, kept in zip(rows.to_dict("records"), best, strict=True)
    ]
    return Chart(
        key=".".join(key),
        title=f"{dataset}, {split}: {tier} tier, {scenario}, {threads_of(threads)}",
        axis=AXES[scenario],
        points=tuple(sorted(points, key=lambda point: (point.x, -point.y))),
        x_ticks=tuple((x(tick), f"{tick:,.10g}") for tick in x_ticks),
        y_ticks=tuple((y(tick), f"{tick:g}") for tick in y_ticks),
        front=_front([point for point in points if point.best], slow),
    )


def _front(points: list[Point], slow: bool) -> str:
    """Return a staircase: at each speed, the best BLEU that is to be had."""
    first, *rest = sorted({(point.x, point.y) for point in points})
    path = f"M{first[0]} {first[1]}"
    for x, y in rest:
        path += f"H{x}V{y}" if slow else f"V{y}H{x}"
    return path


def _logarithmic(values: list[float]) -> tuple[float, float, list[float]]:
    """Return the ends of an axis and its ticks: as many steps of a decade as there is room for."""
    low, high = min(values) / 1.1, max(values) * 1.1
    decades = [10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1)]
    shown: list[float] = []
    for steps in (range(1, 10), STEPS, (1,)):
        every = [step * decade for decade in decades for step in steps]
        shown = [tick for tick in every if low <= tick <= high]
        if len(shown) <= 2 * TICKS:
            break
    if len(shown) < 2:  # values as near as these are as good as on a linear axis
        shown = _even(low, high)
    return low, high, shown


def _linear(values: list[float]) -> tuple[float, float, list[float]]:
    room = max((max(values) - min(values)) * 0.08, 0.1)
    low, high = min(values) - room, max(values) + room
    return low, high, _even(low, high)


def _even(low: float, high: float) -> list[float]:
    """Return ticks between two ends, equally far apart."""
    decade = 10.0 ** floor(log10((high - low) / TICKS))
    step = next(n * decade for n in NICE if n * decade * TICKS >= high - low)
    return [step * n for n in range(ceil(low / step), floor(high / step) + 1)]


def _text(row: Mapping[Any, Any], column: str, scenario: str) -> str:
    unit = "ms a sentence" if scenario == "S1" else f"sentences a second, {row['batch']} a batch"
    parts = [f"BLEU {row['bleu']:.2f}", f"{row[column]:.4g} {unit}"]
    parts[1] += f" in {row['precision']}"
    if pd.notna(row["speedup"]):
        base = row["over_precision"]
        other = f" in {base}" if base != row["precision"] else ""
        parts.append(f"×{row['speedup']:.2f}{ratio_marks(row)} over {row['over']}{other}")
    if row["latency_disturbed"] > 0:
        parts.append("disturbed (†)")
    if row["differs"] > 0:
        parts.append("writes something else than it has to (≠)")
    return ", ".join(parts)

"""Figures of latency, one sentence at a time, drawn from the tables of latency_numbers.

Each table is one of with_settings: what was measured, and on which device, stands above the figure.
"""

from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd

from fastdecode.report.canvas import (
    COLOURS,
    GRID,
    HATCHES,
    canvas,
    legend_below,
    logarithmic,
    styles,
)
from fastdecode.report.latency_numbers import SETTINGS, WHOLE
from fastdecode.report.speed_words import described, threads_of
from fastdecode.report.tables import APART, DISTURBED, only

ROW = 0.34  # inches: a decoder's row
BINS = 30
HIGH = 0.8  # of a row, the highest bar


def draw_by_length(table: pd.DataFrame, *pictures: Path) -> None:
    """Draw the median time of every decoder against output length, and how many lines there are.

    `table` is of latency_numbers.by_length. The bars above are means over the decoders, whose
    outputs differ in length.
    """
    buckets = table[["shortest", "longest"]].drop_duplicates().sort_values("shortest")
    place = {int(shortest): number for number, shortest in enumerate(buckets["shortest"])}
    decoders, marked = table["decoder"].unique(), _marked(table)
    with canvas(4.6, *pictures) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 4))
        lines = table.groupby("shortest")["lines"].sum().reindex(list(place)) / len(decoders)
        above.bar(list(place.values()), lines, color="0.7", width=0.8)
        above.set_ylabel("lines,\nmean of all")
        for (line, marker, colour), decoder in zip(styles(), decoders, strict=False):
            rows = table[table["decoder"] == decoder]
            below.plot(
                rows["shortest"].map(place),
                rows["milliseconds"],
                linestyle=line,
                marker=marker,
                color=colour,
                markersize=4,
                linewidth=1.2,
                label=marked[decoder],
            )
        logarithmic(below, "y", table["milliseconds"])
        below.set_xticks(
            list(place.values()),
            [
                f"{first}–{last}" if first < last else str(first)
                for first, last in buckets.itertuples(index=False)
            ],
        )
        below.set_xlabel("output tokens")
        below.set_ylabel("median ms a sentence")
        below.grid(**GRID)
        figure.suptitle(_head(table))
        legend_below(figure, *below.get_legend_handles_labels())


def draw_speedups(table: pd.DataFrame, *pictures: Path) -> None:
    """Draw a histogram of every decoder's speed-ups over all lines, its median marked.

    `table` is of latency_numbers.speedups. Each histogram is as high as its row.
    """
    decoders = list(table["decoder"].unique())
    with canvas(1.0 + ROW * len(decoders), *pictures) as figure:
        panel = figure.subplots()
        logarithmic(panel, "x", table["speedup"])
        bins = np.geomspace(*panel.get_xlim(), BINS + 1)
        panel.axvline(1, color="0.4", linewidth=0.8)
        for place, decoder in enumerate(decoders):
            values = table.loc[table["decoder"] == decoder, "speedup"].to_numpy()
            counts = np.histogram(values, bins)[0]
            middle = float(np.median(values))
            panel.bar(
                bins[:-1],
                -HIGH * counts / counts.max(),  # the axis points downwards
                width=np.diff(bins),
                bottom=place + HIGH / 2,
                align="edge",
                color="0.75",
            )
            ends = (place - HIGH / 2, place + HIGH / 2)
            panel.plot([middle, middle], ends, color=COLOURS[1], linewidth=2)
            right = panel.get_yaxis_transform()
            panel.text(1.01, place, f"×{middle:.2f}", transform=right, va="center", size="small")
        panel.set_yticks(range(len(decoders)), _marked(table).values(), size="small")
        panel.set_ylim(len(decoders) - 0.5, -0.5)
        panel.grid(axis="x", **GRID)
        panel.set_axisbelow(True)
        over = only(table, "over")
        figure.supxlabel(f"speed-up over {over}; mark and number: median", size="medium")
        figure.suptitle(_head(table))


def draw_stages(table: pd.DataFrame, *pictures: Path) -> None:
    """Draw a bar of every decoder, made of the mean times of its stages.

    `table` is of latency_numbers.by_stage. A mark is where the time of the whole ends: with the bar
    where the stages are those of the timed translations, before it where waiting for the device at
    every stage took time of its own.
    """
    others = ("decoder", WHOLE, *SETTINGS)
    stages = [column for column in table.columns if column not in others]
    places = range(len(table))
    with canvas(1.0 + ROW * len(table), *pictures) as figure:
        panel = figure.subplots()
        left = pd.Series(0.0, index=table.index)
        for stage, colour, hatch in zip(stages, cycle(COLOURS[1:]), cycle(HATCHES), strict=False):
            width = table[stage].fillna(0.0)
            panel.barh(
                places,
                width,
                left=left,
                height=0.7,
                label=stage,
                color=colour,
                hatch=hatch,
                edgecolor="white",
                linewidth=0.5,
            )
            left = left + width
        panel.plot(
            table[WHOLE],
            places,
            linestyle="none",
            marker="|",
            markersize=11,
            markeredgewidth=1.5,
            color="black",
            label=WHOLE,
        )
        panel.set_yticks(places, _marked(table).values(), size="small")
        panel.invert_yaxis()
        panel.set_xlabel("mean ms a sentence")
        panel.grid(axis="x", **GRID)
        panel.set_axisbelow(True)
        figure.suptitle(_head(table))
        handles, labels = panel.get_legend_handles_labels()  # the mark comes first
        legend_below(figure, [*handles[1:], handles[0]], [*labels[1:], labels[0]])


def _head(table: pd.DataFrame) -> str:
    return f"{described(table)}, {threads_of(only(table, 'threads'))}"


def _marked(table: pd.DataFrame) -> dict[str, str]:
    """Return what a decoder is called in the figure, with the marks of its time."""
    marks = dict.fromkeys(table["decoder"], "")
    for mark, column in ((DISTURBED, "latency_disturbed"), (APART, "differs")):
        if column in table:  # older files do not tell of the second
            for name in set(table.loc[table[column] > 0, "decoder"]):
                marks[name] += mark
    return {name: name + mark for name, mark in marks.items()}

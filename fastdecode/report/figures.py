"""Figures, drawn from tables alone: equal tables give equal files, byte for byte."""

from collections.abc import Mapping
from itertools import cycle
from math import ceil
from pathlib import Path

import matplotlib as mpl
import matplotlib.style
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fastdecode.errors import UserError
from fastdecode.files import write_aside

# Line, marker and colour change together, so that curves can be told apart in black and white;
# the colours (Okabe and Ito) also by readers who do not see all of them. A cycle of four beside two
# of seven: it takes 28 curves until two look the same.
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
Style = tuple[str, str, str]  # line, marker, colour
FONT_SIZE = 9  # points, at the width of a page
MARKS = 8  # markers on a curve, about
LEGEND_WIDTH = 96  # characters that fit below the panels at this size
TIME_UNITS = (("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))


def learning_curves(curves: Mapping[str, pd.DataFrame], out_svg: Path, out_png: Path) -> None:
    """Draw validation BLEU and loss against updates and against training time, one curve a label.

    Every frame needs the columns update, seconds (of training, cumulative), valid_loss and
    valid_bleu; where a value is missing the point is left out.

    Raises UserError if there are no curves, or if one has no rows or lacks a column.
    """
    if not curves:
        raise UserError("no learning curves to draw: train a system first")
    for label, curve in curves.items():
        missing = {"update", "seconds", "valid_loss", "valid_bleu"} - set(curve.columns)
        if missing or curve.empty:
            what = f"has no column {', '.join(sorted(missing))}" if missing else "has no rows"
            raise UserError(f"the learning curve of {label} {what}: train it again")

    unit, seconds = _time_unit(max(float(curve["seconds"].max()) for curve in curves.values()))
    styles = zip(cycle(LINES), cycle(MARKERS), cycle(COLOURS), strict=False)
    with (
        mpl.style.context("default"),  # whatever the user's matplotlibrc says
        mpl.rc_context({"font.size": FONT_SIZE, "svg.hashsalt": "fastdecode"}),
    ):
        columns = max(1, LEGEND_WIDTH // (max(map(len, curves)) + 8))  # 8: the piece of line
        height = 4.8 + 0.2 * ceil(len(curves) / columns)  # inches: the panels and the legend
        figure = Figure(figsize=(7, height), layout="constrained")
        axes = figure.subplots(2, 2, sharex="col", sharey="row")
        for style, (label, curve) in zip(styles, curves.items(), strict=False):
            for row, column in enumerate(("valid_bleu", "valid_loss")):
                _draw(axes[row, 0], curve["update"], curve[column], style, label)
                _draw(axes[row, 1], curve["seconds"] / seconds, curve[column], style, label)
        for panel in axes[1]:  # only now: a limit ends the adjustment to the curves
            panel.set_xlim(left=0)
        axes[0, 0].set_ylabel("validation BLEU")
        axes[1, 0].set_ylabel("validation loss (bits per token)")
        axes[1, 0].set_xlabel("updates")
        axes[1, 1].set_xlabel(f"training time ({unit})")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
        with write_aside(out_svg) as part:
            figure.savefig(part, format="svg", metadata={"Date": None})
        with write_aside(out_png) as part:
            figure.savefig(part, format="png", dpi=200)


def _draw(
    axes: Axes, x: "pd.Series[float]", y: "pd.Series[float]", style: Style, label: str
) -> None:
    present = y.notna()
    line, marker, colour = style
    axes.plot(
        x[present],
        y[present],
        linestyle=line,
        marker=marker,
        color=colour,
        markevery=max(1, int(present.sum()) // MARKS),
        markersize=4,
        linewidth=1.2,
        label=label,
    )
    axes.grid(color="0.9", linewidth=0.6)


def _time_unit(longest: float) -> tuple[str, float]:
    """Return the largest unit of which `longest` seconds are at least two, and its seconds."""
    return next(
        (unit, seconds) for unit, seconds in TIME_UNITS if longest >= 2 * seconds or seconds == 1
    )

"""Figures, drawn from tables alone: equal tables give equal files, byte for byte."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from fastdecode.errors import UserError
from fastdecode.report.canvas import GRID, Style, canvas, legend_below, styles

MARKS = 8  # markers on a curve, about
TIME_UNITS = (("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))


def learning_curves(curves: Mapping[str, pd.DataFrame], *pictures: Path) -> None:
    """Draw validation BLEU and loss against updates and against training time, one curve a label.

    Every frame needs the columns update, seconds (of training, cumulative), valid_nll_loss and
    valid_bleu; where a value is missing the point is left out. The loss is not what is trained
    on, which is smoothed in one family, has several heads in another and is a sentence's in a
    third, but the negative log-likelihood alone, of a token in all of them.

    Raises UserError if there are no curves, or if one has no rows or lacks a column.
    """
    if not curves:
        raise UserError("no learning curves to draw: train a system first")
    for label, curve in curves.items():
        missing = {"update", "seconds", "valid_nll_loss", "valid_bleu"} - set(curve.columns)
        if missing or curve.empty:
            what = f"has no column {', '.join(sorted(missing))}" if missing else "has no rows"
            raise UserError(f"the learning curve of {label} {what}: train it again")

    unit, seconds = _time_unit(max(float(curve["seconds"].max()) for curve in curves.values()))
    with canvas(4.8, *pictures) as figure:
        axes = figure.subplots(2, 2, sharex="col", sharey="row")
        for style, (label, curve) in zip(styles(), curves.items(), strict=False):
            for row, column in enumerate(("valid_bleu", "valid_nll_loss")):
                _draw(axes[row, 0], curve["update"], curve[column], style, label)
                _draw(axes[row, 1], curve["seconds"] / seconds, curve[column], style, label)
        for panel in axes[1]:  # only now: a limit ends the adjustment to the curves
            panel.set_xlim(left=0)
        axes[0, 0].set_ylabel("validation BLEU")
        axes[1, 0].set_ylabel("validation NLL (bits per token)")
        axes[1, 0].set_xlabel("updates")
        axes[1, 1].set_xlabel(f"training time ({unit})")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        legend_below(figure, handles, labels)


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
    axes.grid(**GRID)


def _time_unit(longest: float) -> tuple[str, float]:
    """Return the largest unit of which `longest` seconds are at least two, and its seconds."""
    return next(
        (unit, seconds) for unit, seconds in TIME_UNITS if longest >= 2 * seconds or seconds == 1
    )

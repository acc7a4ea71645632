"""Learning curves of a run: gathered into one table, and drawn from it alone."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from fastdecode.errors import UserError
from fastdecode.files import read_json
from fastdecode.report.canvas import GRID, Style, canvas, legend_below, styles
from fastdecode.report.sheet import read_rows
from fastdecode.report.tidy import MODEL
from fastdecode.report.training_time import clock, words

ORIGIN = (*MODEL, "device", "commit")  # of a training
DRAWN = ("update", "seconds", "valid_nll_loss", "valid_bleu")
MARKS = 8  # markers on a curve, about
TIME_UNITS = (("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))


def gather_curves(trained: Iterable[tuple[Path, Path]]) -> pd.DataFrame:
    """Return the rows of all curves, each with the columns ORIGIN before its own.

    Every training is given by its `curve.csv` and its `train.json`.

    Raises UserError if there are none, if one cannot be drawn (read_curve), and if a `train.json`
    does not say where it is from.
    """
    parts = []
    for path, record in trained:
        try:
            origin = [str(read_json(record)["provenance"][key]) for key in ORIGIN]
        except KeyError as error:
            raise UserError(f"{record}: it has no {error}: delete it and run again") from None
        curve = read_curve(path, DRAWN)
        for place, (key, value) in enumerate(zip(ORIGIN, origin, strict=True)):
            curve.insert(place, key, value)
        parts.append(curve)
    if not parts:
        raise UserError("no learning curves to draw: train a system first")
    return pd.concat(parts, ignore_index=True)


def read_curve(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read the learning curve of a training, a row a validation.

    Raises UserError if it is missing or empty, lacks one of the columns or has no rows.
    """
    return read_rows(path, columns, "train it again")


def draw_learning_curves(curves: pd.DataFrame, *pictures: Path) -> None:
    """Draw validation BLEU and loss against updates and training time, one curve a training.

    `curves` are of gather_curves; which clock the time is of, training_time says, and where a value
    is missing the point is left out. The loss is not what is trained on, which is smoothed in one
    family, has several heads in another and is a sentence's in a third, but the negative
    log-likelihood alone, of a token in all of them.
    """
    shown = {"dataset": curves["dataset"].nunique() > 1, "seed": curves["seed"].nunique() > 1}
    time = clock([curves], curves["device"])
    unit, seconds = _time_unit(float(curves[time].max()))
    with canvas(5.1, *pictures) as figure:
        axes = figure.subplots(2, 2, sharex="col", sharey="row")
        groups = curves.groupby(list(MODEL), sort=False)
        for style, ((dataset, target, system, seed), curve) in zip(styles(), groups, strict=False):
            label = f"{target}/{system}"
            label = f"{dataset} {label}" if shown["dataset"] else label
            label = f"{label} seed {seed}" if shown["seed"] else label
            for row, column in enumerate(("valid_bleu", "valid_nll_loss")):
                _draw(axes[row, 0], curve["update"], curve[column], style, label)
                _draw(axes[row, 1], curve[time] / seconds, curve[column], style, label)
        for panel in axes[1]:  # only now: a limit ends the adjustment to the curves
            panel.set_xlim(left=0)
        axes[0, 0].set_ylabel("validation BLEU")
        axes[1, 0].set_ylabel("validation NLL (bits per token)")
        axes[1, 0].set_xlabel("updates")
        axes[1, 1].set_xlabel(f"training time ({unit}{words(time)})")
        figure.suptitle(_head(curves))
        legend_below(figure, *axes[0, 0].get_legend_handles_labels())


def _head(curves: pd.DataFrame) -> str:
    """Say what was trained on, and where: time is a device's."""
    datasets, devices = curves["dataset"].unique(), curves["device"].unique()
    seeds = ", ".join(sorted(curves["seed"].unique(), key=int))
    what = f"{', '.join(datasets)}, seed {seeds}: the validation set while training"
    return f"{what}\n{' and '.join(devices)}"


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

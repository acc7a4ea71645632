"""The picture of the benchmark: speed-ups over beam 5 in both tiers, beside the published ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from fastdecode.report.benchmark import OPPONENTS, opponent
from fastdecode.report.canvas import COLOURS, GRID, canvas, legend_below, logarithmic

Row = Mapping[str, Any]
ENGINES = {"reference": ("fairseq", "eager"), "optimised": ("fastdecode",)}  # of a decoder's name
LOOKS = {  # marker, colour, how far above its line
    "reference": ("o", COLOURS[2], 0.14),
    "optimised": ("s", COLOURS[1], -0.14),
}
HEAD = (
    "Single sentences over beam 5 of a 6-6 Transformer in the same tier, random weights. {device}, "
    "threads {threads}, {precision}: {over}. Bars: from repeat to repeat; {busy} of {count} are "
    "†. Published: on the papers' GPUs."
)


def draw_speedups(
    rows: Sequence[Row], facts: Mapping[str, Any], published: Mapping[str, float], *pictures: Path
) -> bool:
    """Draw what single sentences gain, a line for each model and search, a marker for each tier.

    What is given is as in fastdecode.report.benchmark.tables. Returns whether there is
    anything to draw: a decoder, and a beam 5 of six and six layers that it stands over.
    """
    singles = [row for row in rows if row["batch"] == 1]
    bases = {tier: found for tier in OPPONENTS if (found := opponent(singles, tier))}
    drawn = [(_name(row), row) for row in singles if _drawn(row, bases)]
    if not drawn:
        return False
    names = list(dict.fromkeys(name for name, _ in drawn))
    marks = {name: published[row["name"]] for name, row in drawn if row["name"] in published}
    with canvas(0.9 + 0.26 * len(names), *pictures) as figure:
        panel = figure.subplots()
        handles: dict[str, Any] = {}
        reached = [1.0, *marks.values()]
        for name, row in drawn:
            least, middle, most = _over(row, bases[row["tier"]])
            reached += [least, most]
            marker, colour, aside = LOOKS[row["tier"]]
            handles[f"{row['tier']} tier"] = panel.errorbar(
                middle,
                names.index(name) - aside,
                xerr=[[middle - least], [most - middle]],
                fmt=marker,
                color=colour,
                markersize=5,
                capsize=2,
            )
        if marks:
            places = [names.index(name) for name in marks]
            handles["published"] = panel.scatter(
                list(marks.values()), places, marker="|", s=260, color="black", zorder=3
            )
        _frame(panel, names, reached)
        over = " and ".join(
            f"{base['decoder']} {base['median']:.3g} ms ({tier})"
            for tier, base in bases.items()
            if any(row["tier"] == tier for _, row in drawn)
        )
        busy = sum(row["disturbed"] or bases[row["tier"]]["disturbed"] for _, row in drawn)
        head = HEAD.format(**facts, over=over, busy=busy, count=len(drawn))
        figure.suptitle(head)
        legend_below(figure, list(handles.values()), list(handles))
    return True


def _frame(panel: Axes, names: Sequence[str], reached: Sequence[float]) -> None:
    logarithmic(panel, "x", reached)
    panel.axvline(1, color="0.5", linewidth=0.8)
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.4, -0.6)  # the first on top
    panel.set_xlabel("times as fast as beam 5")
    panel.grid(axis="x", **GRID)


def _drawn(row: Row, bases: Mapping[str, Row]) -> bool:
    """Tell whether a row is of the engine that its tier is drawn of, and has a beam 5 beside it."""
    return row["tier"] in bases and row != bases[row["tier"]] and bool(_engine(row))


def _engine(row: Row) -> str | None:
    parts = row["decoder"].split("-")
    return next((part for part in parts if part in ENGINES[row["tier"]]), None)


def _name(row: Row) -> str:
    """Return the family, the layers and the search, whoever computes it."""
    search = [part for part in row["decoder"].split("-") if part != _engine(row)]
    return f"{row['family']} {row['layers']}, {' '.join(search)}"


def _over(row: Row, base: Row) -> tuple[float, float, float]:
    """Return least, median and most of the speed-ups: of all samples, and of the repeats."""
    repeats = [
        theirs / ours
        for theirs, ours in zip(base["repeat_medians"], row["repeat_medians"], strict=True)
    ]
    middle = base["median"] / row["median"]
    return min(*repeats, middle), middle, max(*repeats, middle)

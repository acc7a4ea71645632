"""Figure 4: a glance at the target: the best path of the first pass, what the second one sees."""

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import firsts, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import COLOURS, GRID, HATCHES, canvas, legend_below

SIZE, PAIR = "vertices", "pair"
ASSIGNED, SHOWN, BEFORE, AFTER = "on the best path", "shown", "before", "after"
ROWS = {  # from above
    0: "first pass sees",
    1: "best path of\nthe first pass",
    2: "second pass sees",
}
BARS = {BEFORE: "P(token) after the first pass", AFTER: "after the second"}


def points(evidence: Evidence) -> pd.DataFrame:
    """Return the target's tokens at the vertices of the best path; both count from 1.

    Series: `on the best path` (x: vertex, y: place, label: token), of which `shown` are some;
    `before` and `after` (x: vertex, y: probability of the token there); `vertices` (x: how many).
    Of each dataset the first system of the artifact is shown.
    """
    lines = []
    for document in firsts(evidence, "assignment"):
        same, glance = origin(document), document["glance"]
        sides = " → ".join(" ".join(document[side]) for side in ("source", "target"))
        lines.append({**same, "series": PAIR, "label": sides})
        lines.append({**same, "series": SIZE, "x": document["size"]})
        for place, (token, vertex) in enumerate(
            zip(document["target"], glance["path"], strict=True)
        ):
            at: dict[str, Any] = same | {"x": vertex + 1, "label": token}
            lines.append(at | {"series": ASSIGNED, "y": place + 1})
            if glance["shown"][place]:
                lines.append(at | {"series": SHOWN, "y": place + 1})
            lines += [{**at, "series": s, "y": glance[s][place]} for s in (BEFORE, AFTER)]
    return POINTS.frame(lines)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw what each pass sees, and below how likely the tokens are in the first and the second."""
    datasets = list(points["dataset"].unique())
    with canvas(4.4 * len(datasets), *pictures) as figure:
        panels = figure.subplots(
            2 * len(datasets), 1, squeeze=False, height_ratios=[2.2, 1] * len(datasets)
        )[:, 0]
        for above, below, dataset in zip(panels[::2], panels[1::2], datasets, strict=True):
            here = points[points["dataset"] == dataset]
            of = dict(list(here.groupby("series")))
            size, shown = int(of[SIZE]["x"].iloc[0]), of.get(SHOWN, here.iloc[:0])
            _draw_passes(above, size, of[ASSIGNED], shown)
            pair, what = (of[PAIR][key].iloc[0] for key in ("label", "what"))
            above.set_title(f"{dataset}, {what}: {pair}", fontsize="small")
            _draw_chances(below, size, of)
            below.set(xlabel=artifact.axes["x"], ylabel=artifact.axes["y"])
        figure.suptitle(head_of(name, artifact, points))
        legend_below(figure, *panels[-1].get_legend_handles_labels())


def _draw_passes(panel: Axes, size: int, assigned: pd.DataFrame, shown: pd.DataFrame) -> None:
    """Draw what each pass sees of `size` vertices, and between them the tokens of the best path."""
    for row, seen in ((0, set()), (2, set(shown["x"]))):
        blank = [vertex for vertex in range(1, size + 1) if vertex not in seen]
        panel.plot(
            blank,
            [row] * len(blank),
            "s",
            markersize=4,
            markeredgecolor="0.5",
            markerfacecolor="white",
        )
    tokens = [*zip(assigned["x"], assigned["label"], strict=True)]
    for row, (vertex, token) in [(1, one) for one in tokens] + [
        (2, one) for one in zip(shown["x"], shown["label"], strict=True)
    ]:
        panel.text(
            vertex,
            row,
            token,
            rotation=90,
            ha="center",
            va="center",
            size=7.5,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": COLOURS[4 + row // 2]}
            | {"edgecolor": "none", "alpha": 0.45},
        )
    panel.set(xlim=(0, size + 1), ylim=(2.6, -0.4), xticks=[])
    panel.set_yticks(list(ROWS), list(ROWS.values()))
    panel.tick_params(left=False)
    panel.spines[["top", "right", "bottom", "left"]].set_visible(False)


def _draw_chances(panel: Axes, size: int, of: dict[str, pd.DataFrame]) -> None:
    """Draw how likely the tokens are after each pass, at `size` vertices."""
    for (series, label), shift, colour, hatch in zip(
        BARS.items(), (-0.2, 0.2), ("0.6", COLOURS[2]), HATCHES, strict=False
    ):
        panel.bar(
            of[series]["x"] + shift,
            of[series]["y"],
            width=0.4,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            label=label,
        )
    panel.set(xlim=(0, size + 1), ylim=(0, 1.02))
    panel.grid(axis="y", **GRID)
    panel.set_axisbelow(True)

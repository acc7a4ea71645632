"""A lattice as it is drawn: good candidates of every slot, and the path of the search."""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import firsts, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import COLOURS, canvas

SOURCE, REFERENCE, SELECTED, WORD, EDGE = "source", "reference", "selected", "word", "edge"
ROW = 0.42  # inches: a candidate
FADED = 3.0  # nats behind the best path, at which a line is hardly seen
SIZES = {8: 8.0, 99: 7.0}  # points of words, by the number of slots at most


def points(evidence: Evidence) -> pd.DataFrame:
    """Return words, edges and the selected path of the first lattice of each dataset.

    Series `word`: x is the slot and the panel the row, both from 1, y nats behind the best path.
    Series `edge`: x is its first slot, `label` the rows that it joins.
    """
    lines: list[dict[str, object]] = []
    for document in firsts(evidence, "lattices"):
        sentence = document["sentences"][0]
        same = origin(document, sentence["line"])
        for series in (SOURCE, REFERENCE):
            lines.append({**same, "series": series, "label": " ".join(sentence[series])})
        for slot, words in enumerate(sentence["slots"], 1):
            for row, (word, nats) in enumerate(words, 1):
                lines.append(
                    {
                        **same,
                        "series": WORD,
                        "x": slot,
                        "panel": str(row),
                        "y": nats,
                        "label": word,
                    }
                )
        for slot, edges in enumerate(sentence["edges"], 1):
            for a, b, nats in edges:
                rows = f"{a + 1} {b + 1}"
                lines.append({**same, "series": EDGE, "x": slot, "y": nats, "label": rows})
        for slot, word in enumerate(sentence["selected"], 1):
            lines.append({**same, "series": SELECTED, "x": slot, "label": word})
    return POINTS.frame(lines)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a column of words for each slot, the best above; lines fade with the nats behind."""
    datasets = list(points["dataset"].unique())
    heights = [_rows(points[points["dataset"] == dataset]) for dataset in datasets]
    with canvas(1.0 + ROW * sum(heights) + 0.4 * len(datasets), *pictures) as figure:
        panels = figure.subplots(len(datasets), 1, squeeze=False, height_ratios=heights)[:, 0]
        for panel, dataset in zip(panels, datasets, strict=True):
            _lattice(panel, points[points["dataset"] == dataset])
            panel.set_ylabel(artifact.axes["y"])
        panels[-1].set_xlabel(artifact.axes["x"])
        figure.suptitle(head_of(name, artifact, points))


def _rows(points: pd.DataFrame) -> int:
    return int(points.loc[points["series"] == WORD, "panel"].astype(int).max())


def _lattice(panel: Axes, points: pd.DataFrame) -> None:
    words = points[points["series"] == WORD]
    selected = points[points["series"] == SELECTED].set_index("x")["label"].to_dict()
    slots = int(words["x"].max())
    for edge in points[points["series"] == EDGE].to_dict("records"):
        above, below = map(int, str(edge["label"]).split())
        panel.plot(
            (edge["x"], edge["x"] + 1),
            (above, below),
            color=COLOURS[1] if edge["y"] == 0 else COLOURS[2],
            linewidth=2.2 if edge["y"] == 0 else 1.0,
            alpha=max(0.08, 1 - edge["y"] / FADED),
            zorder=1,
        )
    size = next(size for most, size in SIZES.items() if slots <= most)
    for word in words.to_dict("records"):
        best = word["y"] == 0 and selected.get(word["x"]) == word["label"]
        panel.text(
            word["x"],
            int(word["panel"]),
            f"{word['label']}\n{_nats(word['y'])}",
            ha="center",
            va="center",
            size=size,
            linespacing=0.95,
            color="0" if best or word["y"] < FADED else "0.45",
            bbox={
                "boxstyle": "round,pad=0.2",
                "facecolor": "white",
                "edgecolor": COLOURS[1] if best else "0.8",
            },
        )
    panel.set(xlim=(0.5, slots + 0.5), ylim=(_rows(points) + 0.6, 0.4), yticks=[])
    panel.set_xticks(range(1, slots + 1))
    panel.spines[["top", "right", "left"]].set_visible(False)
    texts = [
        f"{side}: {label}"
        for side in (SOURCE, REFERENCE)
        for label in points.loc[points["series"] == side, "label"]
    ]
    what = f"{points['dataset'].iloc[0]}, nats behind the best path"
    panel.set_title("\n".join([what, *texts]), fontsize="small", loc="left")


def _nats(behind: float) -> str:
    return f"−{behind:.1f}" if behind >= 0.05 else "0"

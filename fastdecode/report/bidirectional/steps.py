"""Figure 2: a translation as it is written, step by step, from both ends."""

from pathlib import Path

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import firsts, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import COLOURS, canvas

SOURCE, TARGET = "source", "written"
ROW = 0.38  # inches: a step
MARGIN = 3  # characters between two tokens, with their frames


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point for every token: x its place in the translation, y the step that wrote it.

    Both count from 1; the label is the token. EODs stand behind the last place. The source's tokens
    are in step 0. Of each dataset the first seed's translation is shown.
    """
    lines = []
    for document in firsts(evidence, "steps"):
        same = origin(document, document["line"])
        for place, token in enumerate(document["source"], 1):
            lines.append({**same, "series": SOURCE, "x": place, "y": 0, "label": token})
        behind = len(document["translation"]) + 1
        for step, group in enumerate(document["steps"], 1):
            for number, (token, place) in enumerate(group):
                x = behind + number if place is None else place + 1
                lines.append({**same, "series": TARGET, "x": x, "y": step, "label": token})
    return POINTS.frame(lines)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a row for each step: the tokens it writes framed, those before it grey.

    A place is as wide as its token, so that long neighbours do not touch.
    """
    datasets = list(points["dataset"].unique())
    steps = int(points["y"].max())
    with canvas(1.2 + ROW * (steps + 1) * len(datasets), *pictures) as figure:
        panels = figure.subplots(len(datasets), 1, squeeze=False)[:, 0]
        for panel, dataset in zip(panels, datasets, strict=True):
            here = points[points["dataset"] == dataset]
            written = here[here["series"] == TARGET]
            centres, width = _places(written)
            source = " ".join(here[here["series"] == SOURCE].sort_values("x")["label"])
            for token in written.to_dict("records"):
                x = centres[token["x"]]
                panel.text(
                    x,
                    token["y"],
                    token["label"],
                    ha="center",
                    va="center",
                    size="small",
                    bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": COLOURS[1]},
                )
                for later in range(int(token["y"]) + 1, int(written["y"].max()) + 1):
                    panel.text(
                        x,
                        later,
                        token["label"],
                        ha="center",
                        va="center",
                        size="small",
                        color="0.6",
                    )
            panel.set_xlim(0, width)
            panel.set_ylim(written["y"].max() + 0.6, 0.4)
            panel.set_yticks(range(1, int(written["y"].max()) + 1))
            panel.set(title=f"{dataset}: {source}", ylabel=artifact.axes["y"])
            panel.title.set_size("small")
            panel.set_xticks([])
            panel.spines[["top", "right", "bottom"]].set_visible(False)
        panels[-1].set_xlabel(artifact.axes["x"])
        figure.suptitle(head_of(name, artifact, points))


def _places(written: pd.DataFrame) -> tuple[dict[float, float], float]:
    """Return the centre of each place and where the last one ends, in characters."""
    widths = written.groupby("x")["label"].agg(lambda labels: labels.str.len().max() + MARGIN)
    ends = widths.cumsum()
    centres = dict(zip(widths.index, ends - widths / 2, strict=True))
    return centres, float(ends.max())

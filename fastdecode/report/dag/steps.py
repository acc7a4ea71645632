"""Figure 11: a beam search step by step, the probabilities of equal prefixes added up."""

from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import firsts, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.canvas import COLOURS, canvas

LINE = 0.165  # inches: a prefix
FITS = 46  # characters of a prefix
RANKED = 2  # prefixes of a vertex that are shown
HERE, ALL, SCORE, PAIR, TITLE = "s here", "s of all vertices", "score", "pair", "sentence"
COLUMNS = {  # where they end, or begin: shares of the width
    "vertex": 0.055,
    "prefix": 0.07,
    "s here": 0.52,
    "Σ s": 0.59,
    "score": 0.65,
    "goes on with": 0.665,
}
WORDS = ("prefix", "goes on with")  # columns that begin there


def points(evidence: Evidence) -> pd.DataFrame:
    """Return the steps of the first sentence's narrow search in which the result takes part.

    x is the vertex, from 1. Series `rank n: s here`, `rank n: s of all vertices` and `rank n:
    score` have the prefix as label; the best one is kept, the rest dropped. `pair n` has y: its
    probability, label: next vertex and token.
    """
    lines = []
    for document in firsts(evidence, "graphs"):
        sentence = document["sentences"][0]
        same = origin(document)
        steps = sentence["beam"]
        result = steps[-1]["beams"][0]["tokens"]
        label = f"{' '.join(sentence['source'])} → {' '.join(result[1:-1])}"
        lines.append({**same, "series": TITLE, "label": label})
        for step in steps:
            if not any(_begins(result, beam) for beam in step["beams"][:RANKED]):
                continue
            at: dict[str, Any] = {**same, "x": step["vertex"] + 1}
            for rank, beam in enumerate(step["beams"][:RANKED], 1):
                words = " ".join(beam["tokens"])
                for series, key in ((HERE, "here"), (ALL, "all"), (SCORE, "score")):
                    name = f"rank {rank}: {series}"
                    lines.append({**at, "series": name, "y": beam[key], "label": words})
            for n, (chance, vertex, token) in enumerate(step["pairs"], 1):
                pair = f"{vertex + 1} {token}"
                lines.append({**at, "series": f"{PAIR} {n}", "y": chance, "label": pair})
    return POINTS.frame(lines)


def _begins(result: list[str], beam: Any) -> bool:
    tokens = beam["tokens"]
    return bool(result[: len(tokens)] == tokens)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a block for each vertex: what is kept, what is dropped (grey), what it goes on with."""
    datasets = list(points["dataset"].unique())
    rows = {dataset: _rows(points[points["dataset"] == dataset]) for dataset in datasets}
    lines = [len(rows[dataset]) + 1.5 for dataset in datasets]
    with canvas(0.7 + sum(0.3 + LINE * count for count in lines), *pictures) as figure:
        axes = figure.subplots(len(datasets), 1, squeeze=False, height_ratios=lines)[:, 0]
        for axis, dataset, count in zip(axes, datasets, lines, strict=True):
            axis.set_axis_off()
            axis.set(xlim=(0, 1), ylim=(count - 0.5, -0.7), xticks=[], yticks=[])
            here = points[points["dataset"] == dataset]
            what, pair = here["what"].iloc[0], here["label"].iloc[0]
            axis.set_title(f"{dataset}, {what}: {pair}", fontsize="small")
            for heading, x in COLUMNS.items():
                _write(axis, heading, x, 0, heading, weight="bold")
            for line, row in enumerate(rows[dataset], 1):
                if row["vertex"]:
                    axis.axhline(line - 0.5, color="0.8", linewidth=0.6)
                for heading, x in COLUMNS.items():
                    colour = "black" if row["kept"] else "0.55"
                    if heading == "goes on with":
                        colour = COLOURS[2]
                    _write(axis, heading, x, line, row[heading], color=colour)
        figure.suptitle(head_of(name, artifact, points))


def _write(axis: Any, heading: str, x: float, line: int, text: str, **style: Any) -> None:
    side = "left" if heading in WORDS else "right"
    axis.text(x, line, text, ha=side, va="center", size=7, **style)


def _ending(prefix: str) -> str:
    """Return a prefix, or as much of its end as there is room for."""
    return prefix if len(prefix) <= FITS else f"… {prefix[2 - FITS :]}"


def _rows(points: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what is written in each line."""
    rows: list[dict[str, Any]] = []
    for vertex, at in points[points["x"].notna()].groupby("x"):
        value: Any = at.set_index("series")
        pairs = [
            f"{value.loc[f'{PAIR} {n}', 'label']} {value.loc[f'{PAIR} {n}', 'y']:.2f}"
            for n in range(1, 3)
            if f"{PAIR} {n}" in value.index
        ]
        for rank in range(1, RANKED + 1):
            if f"rank {rank}: {SCORE}" not in value.index:
                continue
            here, every, score = (value.loc[f"rank {rank}: {s}", "y"] for s in (HERE, ALL, SCORE))
            prefix: str = value.loc[f"rank {rank}: {SCORE}", "label"]
            rows.append(
                {
                    "kept": rank == 1,
                    "vertex": f"{float(str(vertex)):g}" if rank == 1 else "",
                    "prefix": _ending(prefix),
                    "s here": f"{here:.2g}",
                    "Σ s": f"{every:.2g}",
                    "score": f"{score:.2f}",
                    "goes on with": ", ".join(pairs) if rank == 1 else "dropped",
                }
            )
    return rows

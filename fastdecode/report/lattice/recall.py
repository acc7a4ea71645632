"""Figure 1: reference tokens that are among K candidates, by the way of finding candidates."""

from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.measure.recall import part_of
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.documents import of_seeds
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.lines import draw_lines
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.sources import OURS

TEACHER, REAL = "teacher", "real"
WAYS = {
    "counts": "count model",
    "shared": "shared vocabulary, equal size",
    "union": "shared vocabulary, true size",
    "model": "NAT",
}


def points(evidence: Evidence) -> pd.DataFrame:
    """Return the recall in percent by way of finding candidates and their number.

    x is the number of candidates a slot: of the union of source words' candidates its mean size.
    The panel is what the references are; the paper's are what the teacher wrote.
    """
    values: dict[tuple[str, ...], list[tuple[float, float, Any]]] = defaultdict(list)
    for document in evidence.statistics:
        origin = document["provenance"]
        for point in document["points"]:
            key = (origin["dataset"], point["references"], point["candidates"], part_of(point))
            values[key].append((point["size"], 100 * point["recall"], origin))
    lines = []
    for (dataset, references, way, part), found in values.items():
        sizes, recalls, origins = zip(*found, strict=True)
        lines.append(
            {
                "dataset": dataset,
                "panel": references,
                "series": WAYS[way],
                "source": OURS,
                "x": fmean(sizes),
                "y": fmean(recalls),
                "n": len(found),
                "sd": stdev(recalls) if len(found) > 1 else None,
                "part": part,
                **of_seeds(origins),
            }
        )
    return POINTS.frame(lines)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a curve a way, of what the teacher wrote where that was measured."""
    taught = points[points["panel"] == TEACHER]
    real = points[~points["dataset"].isin(taught["dataset"].unique())]
    shown = pd.concat([taught, real])
    whose = {TEACHER: "against what the teacher wrote", REAL: "against the corpus's references"}
    words = ", ".join(whose[panel] for panel in shown["panel"].unique())
    head = f"{head_of(name, artifact, shown)}\n{words}"
    draw_lines(shown, head, artifact.axes["x"], artifact.axes["y"], pictures, scale="log2")

"""Figure 13: validation BLEU against the time of training."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.evidence import Curve, Evidence
from fastdecode.report.artifacts.lines import draw_lines
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.learning_curves import read_curve
from fastdecode.report.training_time import PASSED, clock, words

MINUTE = 60.0  # seconds
DRAWN = ("update", "seconds", "valid_bleu")


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point for every validation: x minutes of training, y BLEU; the label is the update.

    `part` is the clock that the minutes are of (training_time.py).

    Raises UserError if a learning curve cannot be read.
    """
    rows = [read_curve(curve.path, DRAWN) for curve in evidence.curves]
    origins = [_origin(curve, evidence.tidy) for curve in evidence.curves]
    time = clock(rows, (str(origin.get("device", "")) for origin in origins))
    lines = [
        {**line, "split": evidence.parts[curve.dataset].valid, **origin}
        for curve, found, origin in zip(evidence.curves, rows, origins, strict=True)
        for line in _validations(curve, found, time)
    ]
    return POINTS.frame(lines)


def _origin(curve: Curve, tidy: pd.DataFrame) -> dict[str, Any]:
    """Return where a model was trained, and by which commit, if that is known."""
    seen = (tidy["dataset"] == curve.dataset) & (tidy["seed"] == str(curve.seed))
    seen &= (tidy["target"] == curve.target) & (tidy["system"] == curve.system)
    trained = tidy[seen & (tidy["metric"] == "train_seconds")].to_dict("records")
    return {key: trained[0][key] for key in ("device", "commit")} if trained else {}


def _validations(curve: Curve, rows: pd.DataFrame, time: str) -> Iterator[dict[str, Any]]:
    what = f"{curve.target}/{curve.system}"
    for row in rows.to_dict("records"):
        if not pd.isna(row["valid_bleu"]):
            point = {"dataset": curve.dataset, "series": what, "what": what, "source": OURS}
            point |= {"x": row[time] / MINUTE, "y": row["valid_bleu"], "part": time}
            yield {**point, "label": f"{row['update']:.0f}", "seeds": str(curve.seed)}


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a curve a model, a panel a dataset."""
    head = head_of(name, artifact, points)
    (time,) = set(points["part"]) or {PASSED}
    minutes = artifact.axes["x"] + words(time)
    points = points.assign(series=points["series"].map(artifact.legend))
    draw_lines(points, head, minutes, artifact.axes["y"], pictures)

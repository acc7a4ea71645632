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

MINUTE = 60.0  # seconds
DRAWN = ("update", "seconds", "valid_bleu")


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point for every validation: x minutes of training, y BLEU; the label is the update.

    Raises UserError if a learning curve cannot be read.
    """
    lines = [
        line
        for curve in evidence.curves
        for line in _validations(curve, evidence.tidy, evidence.parts[curve.dataset].valid)
    ]
    return POINTS.frame(lines)


def _validations(curve: Curve, tidy: pd.DataFrame, split: str) -> Iterator[dict[str, Any]]:
    what = f"{curve.target}/{curve.system}"
    seen = (tidy["dataset"] == curve.dataset) & (tidy["seed"] == str(curve.seed))
    seen &= (tidy["target"] == curve.target) & (tidy["system"] == curve.system)
    trained = tidy[seen & (tidy["metric"] == "train_seconds")].to_dict("records")
    origin = {key: trained[0][key] for key in ("device", "commit")} if trained else {}
    for row in read_curve(curve.path, DRAWN).to_dict("records"):
        if not pd.isna(row["valid_bleu"]):
            point = {"dataset": curve.dataset, "series": what, "what": what, "source": OURS}
            point |= {"x": row["seconds"] / MINUTE, "y": row["valid_bleu"], "split": split}
            yield {**point, "label": f"{row['update']:.0f}", "seeds": str(curve.seed), **origin}


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a curve a model, a panel a dataset."""
    head = head_of(name, artifact, points)
    points = points.assign(series=points["series"].map(artifact.legend))
    draw_lines(points, head, artifact.axes["x"], artifact.axes["y"], pictures)

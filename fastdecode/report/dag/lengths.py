"""Figure 12: BLEU by the length of the reference."""

from pathlib import Path

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.measure.lengths import NAMES
from fastdecode.report.artifacts.curves import head_of
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.lines import draw_lines
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.rows import of_entry, over_seeds
from fastdecode.report.artifacts.sources import OURS


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point for every row that was run and every bucket that lines fall into.

    x counts the buckets from 1; the label says which words and how many lines.
    """
    lines = []
    for dataset, part in evidence.parts.items():
        here = evidence.tidy[evidence.tidy["dataset"] == dataset]
        for row, cells in evidence.artifact.rows.items():
            entry = next(iter(part.entries.get(row, {}).values()), None)
            scores = of_entry(here, part.split, entry) if entry else here.iloc[:0]
            for place, name in enumerate(NAMES, 1):
                found = scores[scores["metric"] == f"bleu_by_length/{name}"]
                if found.empty:
                    continue
                counts = scores[scores["metric"] == f"lines_by_length/{name}"]
                mean = over_seeds(found, found["value"].tolist())
                lines.append(
                    {
                        "dataset": dataset,
                        "series": cells["series"],
                        "source": OURS,
                        "x": place,
                        "y": mean.pop("value"),
                        **mean,
                        "label": f"{name}\n{counts['value'].iloc[0]:.0f}",
                        "split": part.split,
                        "what": entry,
                    }
                )
    return POINTS.frame(lines)


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw a curve a system, a panel a dataset."""
    head = head_of(name, artifact, points)
    named = {(str(row["dataset"]), row["x"]): row["label"] for row in points.to_dict("records")}
    x = f"{artifact.axes['x']}; below, lines"
    draw_lines(points, head, x, artifact.axes["y"], pictures, named=named)

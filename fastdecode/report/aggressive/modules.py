"""Table 7: the time of a decoder, module by module."""

from collections.abc import Collection, Iterator
from typing import Any

import pandas as pd

from fastdecode.config.metrics import METRICS
from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.beside import beside
from fastdecode.report.artifacts.cells import CELLS, JOINT, published_cells
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.rows import SPEED, difference, disturbance, of_entry
from fastdecode.report.artifacts.sources import OURS
from fastdecode.report.tidy import STAGE

printed = beside
STAGES = "stages"  # the label that says which stages of ours a row has
ALL, OTHERS = "all", "all others"


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells: mean milliseconds a sentence of each row's stages, and their share.

    The whole is the sum of all stages, with what they leave over: on a GPU, where waiting at every
    stage takes time, it is that of the repeats in which the stages were timed.
    """
    artifact = evidence.artifact
    found = published_cells(artifact)
    for dataset, part in evidence.parts.items():
        here = evidence.tidy[evidence.tidy["dataset"] == dataset]
        for row in artifact.rows:
            for tier, entry in part.entries.get(row, {}).items():
                if tier in artifact.tiers:
                    same = {"row": row, "source": OURS, "dataset": dataset, "split": part.timed}
                    rows = of_entry(here, part.timed, entry)
                    found += [{**same, "what": entry, **cell} for cell in _row(artifact, row, rows)]
    return CELLS.frame(found)


def _row(artifact: Artifact, row: str, measured: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the cells of a row for what was measured of one decoder."""
    staged = measured[measured["metric"].str.startswith(STAGE) & (measured["scenario"] == "S1")]
    if staged.empty:
        return
    threads = min(staged["threads"], key=int)
    staged = staged[staged["threads"] == threads]
    one = staged.iloc[0]
    alike = measured[(measured["scenario"] == "S1") & (measured["threads"] == threads)]
    times = dict(zip(staged["metric"].str.removeprefix(STAGE), staged["value"], strict=True))
    own = stages_of(artifact, row, times)
    time = sum(times[stage] for stage in own)
    for column, name in artifact.measured.items():
        metric = METRICS[name]
        yield {
            **{key: one[key] for key in (*SPEED, "commit")},
            "column": column,
            "seeds": one["seed"],
            "n": 1,
            "value": metric.scale * (time / sum(times.values()) if metric.share else time),
            "part": JOINT.join(own),
            "marks": disturbance(alike, stages=True) + difference(measured),
        }


def stages_of(artifact: Artifact, row: str, stages: Collection[str]) -> list[str]:
    """Return which of the `stages` a row has: its own one, all, or those that no row names."""
    wanted = str(artifact.rows[row][STAGES])
    named = {str(other[STAGES]) for other in artifact.rows.values()}
    return [
        stage
        for stage in stages
        if wanted in (ALL, stage) or (wanted == OTHERS and stage not in named)
    ]

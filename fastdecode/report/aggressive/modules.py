"""Table 7: the time of a decoder, module by module."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.beside import beside
from fastdecode.report.artifacts.cells import CELLS, DISTURBED, published_cells
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.metrics import METRICS
from fastdecode.report.artifacts.rows import SPEED, of_entry

printed = beside
STAGE = "latency_stage_"
STAGES = "stages"  # the label that says which stages of ours a row has
ALL, OTHERS = "all", "all others"


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells: mean milliseconds a sentence of each row's stages, and their share.

    The whole is the sum of all stages, with what they leave over: on a GPU, where waiting at every
    stage takes time, it is that of the repeat in which the stages were timed.
    """
    artifact = evidence.artifact
    found = published_cells(artifact)
    for dataset, part in evidence.parts.items():
        here = evidence.tidy[evidence.tidy["dataset"] == dataset]
        for tier in artifact.tiers:
            for row in artifact.rows:
                entry = part.entries.get(row, {}).get(tier)
                measured = of_entry(here, part.timed, entry) if entry else here.iloc[:0]
                measured = measured[(measured["tier"] == tier) & (measured["scenario"] == "S1")]
                times = measured[measured["metric"].str.startswith(STAGE)]
                if times.empty:
                    continue
                fewest = min(times["threads"], key=int)
                measured = measured[measured["threads"] == fewest]
                times = times[times["threads"] == fewest]
                stages = dict(
                    zip(times["metric"].str.removeprefix(STAGE), times["value"], strict=True)
                )
                time = time_of(artifact, row, stages)
                one = times.iloc[0]
                disturbed = measured[measured["metric"] == "latency_disturbed"]["value"].any()
                same: dict[str, Any] = {
                    **{"row": row, "source": "ours", "dataset": dataset, "split": part.timed},
                    **{"what": entry, "seeds": one["seed"], "n": 1, "commit": one["commit"]},
                    **{name: one[name] for name in SPEED},
                    "marks": DISTURBED if disturbed else "",
                }
                for column, metric in artifact.measured.items():
                    share = METRICS[metric].form.endswith("%}")
                    value = time / sum(stages.values()) if share else time
                    found.append({**same, "column": column, "value": value})
    return CELLS.frame(found)


def time_of(artifact: Artifact, row: str, stages: Mapping[str, float]) -> float:
    """Return the time of a row: of its own stage, of all, or of those that no row has."""
    wanted = str(artifact.rows[row][STAGES])
    if wanted == ALL:
        return sum(stages.values())
    if wanted == OTHERS:
        named = {str(other[STAGES]) for other in artifact.rows.values()}
        return sum(time for stage, time in stages.items() if stage not in named)
    return stages.get(wanted, 0.0)

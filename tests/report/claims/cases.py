"""What the tests of verdicts are made of: artifacts, their cells, claims on them, and times."""

from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.config.base import check
from fastdecode.config.claims import Claim
from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.claims.evidence import Cell, Resamples, read_cells
from fastdecode.report.claims.judge import Judgement, judge

NAMES = ("slow", "quick", "other")
TABLE = {
    "title": "t",
    "kind": "table",
    "function": "artifacts.rows",
    "published": {"bleu": "B"},
    "measured": {"bleu": "bleu", "ms": "latency", "speedup": "speedup"}
    | {"tokens": "tokens_ratio", "passes": "passes", "memory": "memory"}
    | {"ends": "end_precision_gain", "module": "module_time", "repeated": "repetition"}
    | {"share": "module_share"},
    "over": "slow",
    "rows": {name: {"bleu": 30, "ours": f"raw/{name}/beam5"} for name in NAMES},
}
FIGURE = {
    "title": "f",
    "kind": "figure",
    "function": "artifacts.curves",
    "labels": {"series": "curve", "x": "x"},
    "measured": {"y": "tokens_ratio"},
    "tiers": ["reference", "optimised"],
    "over": "base",
    "batch": 32,
    "rows": {
        "base": {"series": "base", "x": 1, "ours": "raw/slow/greedy"},
        "one": {"series": "pairs", "x": 1, "ours": "raw/quick/greedy"},
        "two": {"series": "pairs", "x": 2, "over": "base", "ours": "raw/quick/beam2"},
    },
}
ARTIFACTS = {
    "table1": check(Artifact, TABLE, "t"),
    "table2": check(Artifact, TABLE, "t"),
    "figure1": check(Artifact, FIGURE, "f"),
}


def line(row: str, column: str, value: float, **more: str) -> dict[str, Any]:
    same = {"source": "ours", "dataset": "toy", "split": "test", "what": f"raw/{row}/beam5"}
    return {"row": row, "column": column, "value": value, **same, **more}


def cells_of(folder: Path, *lines: dict[str, Any], name: str = "table1") -> list[Cell]:
    path = folder / f"{name}.csv"
    (POINTS if name == "figure1" else CELLS).write(
        path, (POINTS if name == "figure1" else CELLS).frame(list(lines))
    )
    return read_cells(ARTIFACTS[name], path)


def judged(found: dict[str, list[Cell]], *checks: dict[str, Any], **more: Any) -> list[Judgement]:
    resamples = more.pop("resamples", Resamples())
    claim = {"statement": "s", "artifacts": list(found), "check": checks, **more}
    return judge({"mine": check(Claim, claim, "mine")}, ARTIFACTS, found, resamples)


def verdict(found: dict[str, list[Cell]], *checks: dict[str, Any], **more: Any) -> str:
    (one,) = judged(found, *checks, **more)
    return one.verdict


def samples(
    folder: Path, name: str, ratio: float, repeats: int = 5, slow_alone: float = 1.0
) -> Path:
    """Write times: slow takes `ratio` times as long, and alone `slow_alone` times that."""
    rows = [
        {"decoder": entry, "batch": batch, "repeat": repeat, "line": number}
        | {"milliseconds": times * (number + 1 + 0.01 * repeat), "tokens": 10, "sentences": 1}
        for entry, batch, times in (
            ("raw/slow/beam5", 1, ratio * slow_alone),
            ("raw/slow/beam5", 32, ratio),
            ("raw/quick/beam5", 1, 1.0),
            ("raw/quick/beam5", 32, 1.0),
        )
        for repeat in range(repeats)
        for number in range(8)
    ]
    path = folder / name
    pd.DataFrame(rows).to_csv(path, index=False)
    return path

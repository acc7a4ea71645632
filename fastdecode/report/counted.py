"""How much there is of a table or a figure: its rows, points or curves with a number of ours."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd

from fastdecode.config.functions import traits
from fastdecode.config.papers import Artifact, alternatives, choose


def counted(artifact: Artifact, ours: pd.DataFrame) -> tuple[int, int]:
    """Return how many rows have a number of ours, and how many can have one.

    `ours` are the artifact's cells or points that were measured here. Rows of a figure are its
    points or curves. What names no system row by row, such as a drawing, counts as one, or as many
    as the kinds of statistics that it is made of.
    """
    rows = {name: row for name, row in artifact.rows.items() if artifact.wanted(name)}
    if artifact.kind == "table" and (rows or artifact.systems):
        names = set(rows or artifact.rows)
        return len(names & set(ours["row"])), len(names)
    curves = len(artifact.curves)
    if traits(artifact.function).each:
        curves = sum(map(len, artifact.statistics.values()))
    if curves:
        return min(ours["what"].nunique(), curves), curves
    if drawn := [row for row in rows.values() if "series" in row]:
        return _points(artifact, drawn, ours), len(drawn)
    if len(artifact.statistics) > 1:  # a drawing of several: of each kind one system is enough
        systems = list(map(str, ours["what"].unique()))
        kinds = [
            any(choose(one, systems, {}) for patterns in wanted for one in alternatives(patterns))
            for wanted in artifact.statistics.values()
        ]
        return sum(kinds), len(kinds)
    return int(not ours.empty), 1


def _points(artifact: Artifact, rows: list[dict[str, Any]], ours: pd.DataFrame) -> int:
    """Return how many rows of a figure have a point, in the panel that has most of them.

    A point does not name its row: it has the row's series, and x or words where the row has some.
    """
    keys = ["series"]
    if "x" not in artifact.measured and all("x" in row for row in rows):
        keys.append("x")
    elif any("point" in row for row in rows):
        keys.append("point")

    def place(row: Mapping[Any, Any]) -> tuple[str | float, ...]:
        return tuple(float(row[key]) if key == "x" else str(row.get(key, "")) for key in keys)

    there: Counter[tuple[str | float, ...]] = Counter()
    for (*_, series), panel in ours.groupby(["dataset", "panel", "series"], sort=False):
        points = panel.assign(series=_without_tier(str(series), artifact), point=panel["label"])
        there |= Counter(map(place, points.to_dict("records")))
    return (there & Counter(map(place, rows))).total()


def _without_tier(series: str, artifact: Artifact) -> str:
    """Return a series without the tier that its name ends with where there are several."""
    for tier in artifact.tiers:
        series = series.removesuffix(f" ({tier})")
    return series

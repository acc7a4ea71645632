"""Figures whose points are systems: a metric of theirs against a number that names them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.cells import commits_of, devices_of
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.lines import draw_lines
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.rows import measured
from fastdecode.report.artifacts.sources import OURS, PUBLISHED
from fastdecode.report.tables import MEANINGS, of_both


def points(evidence: Evidence) -> pd.DataFrame:
    """Return a point for every row of the artifact that was run, and one where it was published.

    A row has a `series` and an `x`; `measured:` says what `y` is, and may say what `x` is instead
    of the row. Published points have `x` and `y` in the row. A `point` is words about it.
    """
    artifact = evidence.artifact
    lines = [
        {"series": row["series"], "source": PUBLISHED, "x": row["x"], "y": row["y"]}
        | {"label": row.get("point")}
        for row in artifact.rows.values()
        if row.get("y") is not None
    ]
    for dataset, part in evidence.parts.items():
        here = evidence.tidy[evidence.tidy["dataset"] == dataset]
        for tier in artifact.tiers:
            of_tier = artifact.model_copy(update={"tiers": (tier,)})
            for name, row in artifact.rows.items():
                found = {
                    axis: next(measured(here, part, name, metric, of_tier), None)
                    for axis, metric in artifact.measured.items()
                }
                if all(found.values()):
                    series = (
                        f"{row['series']} ({tier})" if len(artifact.tiers) > 1 else row["series"]
                    )
                    lines.append({"dataset": dataset, **_point(row, found), "series": series})
    return POINTS.frame(lines)


def _point(row: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    y = found["y"]
    x = found["x"]["value"] if "x" in found else row["x"]
    point = {"source": OURS, "x": x, "y": y["value"], "label": row.get("point")}
    # of a speed and a score, device and decoder are the speed's, since tiers write the same
    every = {**found.get("x", {}), **y}
    every |= {key: found.get("x", y)[key] for key in ("what", "device")}
    marks = of_both(found.get("x", y)["marks"], y["marks"])
    commits = commits_of(cell["commit"] for cell in (y, found.get("x", y)))
    every = {name: every[name] for name in POINTS.columns if name in every}
    return {**every, **point, "marks": marks, "commit": commits}


def draw(name: str, artifact: Artifact, points: pd.DataFrame, pictures: tuple[Path, ...]) -> None:
    """Draw the points, a curve for each series."""
    head = head_of(name, artifact, points)
    draw_lines(points, head, artifact.axes["x"], artifact.axes["y"], pictures)


def head_of(name: str, artifact: Artifact, points: pd.DataFrame) -> str:
    """Return the head of a figure: its title, and in a second line what its points share.

    That is split, device and seeds, of several of which the first is timed, and of how many points
    the time was disturbed: lines have no room for a mark at each.
    """
    shared = ", ".join(_shared(points))
    return f"{name}: {artifact.title}" + (f"\n{shared}" if shared else "")


def _shared(points: pd.DataFrame) -> Iterator[str]:
    if splits := " and ".join(filter(None, points["split"].unique())):
        yield splits
    if devices := devices_of(points["device"]):
        yield devices
    seeds: list[str] = max((str(cell).split() for cell in points["seeds"]), key=len, default=[])
    timed = points[points["tier"] != ""]
    if len(seeds) > 1:
        whiskers = " (whiskers: standard deviation)" if points["sd"].notna().any() else ""
        first = "" if timed.empty else f", times of seed {seeds[0]}"
        yield f"seeds {', '.join(seeds)}{whiskers}{first}"
    elif seeds:
        yield f"seed {seeds[0]}"
    for mark, meaning in MEANINGS.items():
        marked = timed["marks"].str.contains(mark).sum()
        if marked:
            part = f": {marked} of {len(timed)} points" if marked < len(timed) else ""
            yield f"{mark} {meaning}{part}"

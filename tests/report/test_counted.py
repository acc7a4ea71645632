"""How many rows, points or curves of an artifact have a number of ours."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fastdecode.config.base import check, read_yaml
from fastdecode.config.papers import Artifact, Paper
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.counted import counted

ROOT = Path(__file__).parents[2]


def artifact(kind: str = "table", **more: Any) -> Artifact:
    labels = {"series": "", "x": "", "point": ""}
    row = {"title": "t", "kind": kind, "function": "artifacts.rows", "labels": labels, **more}
    return check(Artifact, row, "here")


def cells(*rows: str) -> pd.DataFrame:
    return CELLS.frame([{"row": row, "column": column} for row in rows for column in "ab"])


def points(*places: dict[str, Any]) -> pd.DataFrame:
    return POINTS.frame([{"dataset": "toy", **place} for place in places])


def test_rows_of_a_table() -> None:
    table = artifact(rows={"one": {"ours": "raw/a/b"}, "two": {"ours": {"kd": "c"}}, "theirs": {}})
    assert counted(table, cells()) == (0, 2)
    assert counted(table, cells("two")) == (1, 2)
    assert counted(table, cells("one", "two")) == (2, 2)


def test_a_table_whose_columns_are_systems_counts_all_rows() -> None:
    table = artifact(rows={"left": {}, "right": {}}, systems={"pairs": "raw/a/b"})
    assert counted(table, cells("left")) == (1, 2)


def test_settings_by_system_are_there_or_not() -> None:
    table = artifact(rows={"theirs": {}})
    assert [counted(table, found) for found in (cells(), cells("toy/a"))] == [(0, 1), (1, 1)]


def test_points_of_a_curve_are_told_apart_by_x() -> None:
    rows = {f"k{x}": {"series": "s", "x": x, "ours": "raw/a/b"} for x in (1, 2, 5)}
    figure = artifact("figure", rows=rows, tiers=["reference", "optimised"])
    both = [{"series": f"s ({tier})", "x": 2} for tier in ("reference", "optimised")]
    assert counted(figure, points(*both)) == (1, 3)
    assert counted(figure, points(*both, {"series": "s (reference)", "x": 5})) == (2, 3)
    assert counted(figure, points({"series": "other", "x": 1}, {"series": "s", "x": 7})) == (0, 3)


def test_points_whose_x_is_measured_are_told_apart_by_words() -> None:
    rows = {
        "four": {"series": "s", "point": 4, "ours": "raw/a/b"},
        "ten": {"series": "s", "point": 10, "ours": "raw/a/c"},
        "alone": {"series": "other", "ours": "raw/d/e"},
    }
    figure = artifact("figure", rows=rows, measured={"x": "speedup", "y": "bleu"})
    panels = [
        {"panel": panel, "series": "s", "x": 0.3, "label": label}
        for panel in "ab"
        for label in ("10", "25")
    ]
    assert counted(figure, points(*panels)) == (1, 3)
    assert counted(figure, points(*panels, {"series": "other", "x": 2})) == (2, 3)


def test_points_of_equal_names_count_as_often_as_they_are_there() -> None:
    rows = {name: {"series": "s", "x": 1, "ours": f"raw/{name}/b"} for name in "abc"}
    figure = artifact("figure", rows=rows, measured={"x": "speedup", "y": "bleu"})
    two = [{"panel": panel, "series": "s", "x": x} for panel in "ab" for x in (1.0, 2.0)]
    assert counted(figure, points(*two)) == (2, 3)


def test_a_row_may_be_a_whole_curve() -> None:
    figure = artifact("figure", rows={"nat": {"series": "NAT", "ours": "raw/nat/b"}, "theirs": {}})
    assert counted(figure, points(*({"series": "NAT", "x": x} for x in range(4)))) == (1, 1)


def test_a_figure_of_systems_counts_them_and_a_drawing_is_there_or_not() -> None:
    two = points({"what": "raw/a"}, {"what": "raw/b"})
    wanted = {"statistics": {"samples": ["raw/a", "raw/b", "raw/c"]}}
    assert counted(artifact("figure", curves=["raw/a", "raw/b", "raw/c"]), two) == (2, 3)
    each = {"kind": "figure", **wanted, "function": "dag.diversity"}
    assert counted(artifact(**each), two) == (2, 3)
    first = artifact("figure", **wanted)
    assert [counted(first, found) for found in (points(), two)] == [(0, 1), (1, 1)]


def test_a_figure_of_more_systems_than_it_asks_for_is_whole() -> None:
    three = points({"what": "big/a"}, {"what": "small/a"}, {"what": "raw/b"})
    assert counted(artifact("figure", curves=["distilled/a", "raw/b"]), three) == (2, 2)
    wanted = {"samples": ["distilled/a", "raw/b"]}
    assert counted(artifact("figure", statistics=wanted, function="dag.diversity"), three) == (2, 2)


def test_a_drawing_of_two_kinds_of_statistics_counts_them_whoever_they_are_of() -> None:
    wanted = {"slots": ["raw/nat", "distilled/nat"], "graphs": [["raw/dag", "raw/dag-lambda4"]]}
    drawing = artifact("figure", function="dag.overview", statistics=wanted)
    graph, slots = {"what": "raw/dag-lambda4"}, {"what": "transformer-big/nat"}
    assert counted(drawing, points()) == (0, 2)
    assert counted(drawing, points(graph, graph)) == (1, 2)
    assert counted(drawing, points(graph, slots)) == (2, 2)


@pytest.mark.parametrize(
    ("name", "level", "whole"),
    [
        ("lattice.figure1", "toy", 2),  # with a NAT
        ("lattice.figure3", "toy", 12),
        ("bidirectional.table4", "news", 5),
        ("bidirectional.figure3", "toy", 10),
        ("aggressive.figure4", "toy", 1),  # the other row is what it is over
        ("dag.figure12", "toy", 7),
    ],
)
def test_what_is_kept_whole(name: str, level: str, whole: int) -> None:
    assert kept(name, level) == ((whole, whole), (0, whole))


@pytest.mark.parametrize("level", ["objectives/one-seed", "distilled"])
def test_of_two_targets_one_is_half(level: str) -> None:
    assert kept("dag.figure7", level) == ((6, 12), (0, 12))


def kept(name: str, level: str) -> tuple[tuple[int, int], ...]:
    """What is counted of an artifact that is kept, and of one without numbers of ours."""
    key, _, number = name.partition(".")
    paper = check(Paper, read_yaml(ROOT / f"config/papers/{key}.yaml"), key)
    sheet = CELLS if paper.artifacts[number].kind == "table" else POINTS
    frame = sheet.read(ROOT / f"docs/measurements/{key}/{level}/{name}.csv")
    ours = frame[frame["source"] == "ours"]
    return tuple(counted(paper.artifacts[number], frame) for frame in (ours, ours[:0]))

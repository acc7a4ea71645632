from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import draw, make
from fastdecode.report.artifacts.points import POINTS, line_of
from tests.report.conftest import assert_legible

ARTIFACT = Artifact(
    title="a lattice", kind="figure", function="lattice.example", axes={"x": "slot", "y": "words"}
)
SECOND = {
    "line": 5,
    "source": ["ja"],
    "reference": ["yes"],
    "selected": ["yes"],
    "slots": [[["yes", 0.0]]],
    "edges": [],
}
FIRST = {
    "line": 3,
    "source": ["der", "Hund", "."],
    "reference": ["the", "dog", "."],
    "selected": ["the", "dog", "."],
    "slots": [
        [["the", 0.0], ["a", 1.25]],
        [["dog", 0.0], ["hound", 0.5], ["dogs", 4.0]],
        [[".", 0.0]],
    ],
    "edges": [[[0, 0, 0.0], [0, 1, 0.5], [1, 0, 1.25]], [[0, 0, 0.0], [1, 0, 0.5]]],
}


def test_the_first_lattice_is_drawn_with_its_path(
    origin: dict[str, Any], tmp_path: Path, saved: list[Figure]
) -> None:
    document = {
        "provenance": {**origin, "statistic": "lattices"},
        "sentences": [FIRST, SECOND],
    }
    csv = tmp_path / "x.csv"
    make(Evidence(ARTIFACT, pd.DataFrame(), {"toy": Part("valid", "test", {})}, [document]), csv)
    found = POINTS.read(csv)
    assert line_of(found) == ("toy", "valid", "4")
    words = found[found["series"] == "word"]
    assert words[["x", "panel", "y", "label"]].to_numpy().tolist() == [
        [1, "1", 0, "the"],
        [1, "2", 1.25, "a"],
        [2, "1", 0, "dog"],
        [2, "2", 0.5, "hound"],
        [2, "3", 4, "dogs"],
        [3, "1", 0, "."],
    ]
    edges = found[found["series"] == "edge"]
    assert edges[["x", "y", "label"]].to_numpy().tolist()[:2] == [[1, 0, "1 1"], [1, 0.5, "1 2"]]
    draw("lattice.example", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    (figure,) = saved
    assert_legible(figure)
    (panel,) = figure.axes
    assert "der Hund ." in panel.get_title(loc="left")
    assert len(panel.lines) == 5
    framed = {
        text.get_text().partition("\n")[0]
        for text in panel.texts
        if text.get_bbox_patch().get_edgecolor()[0] > 0.82  # not grey
    }
    assert framed == {"the", "dog", "."}

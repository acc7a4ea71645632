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
    title="steps",
    kind="figure",
    function="bidirectional.steps",
    axes={"x": "place", "y": "step"},
)


def test_tokens_stand_at_their_places_in_the_step_that_wrote_them(
    origin: dict[str, Any], tmp_path: Path, saved: list[Figure]
) -> None:
    document = {
        "provenance": {**origin, "statistic": "steps"},
        "source": ["der", "Hund", "."],
        "line": 3,
        "translation": ["the", "dog", "."],
        "passes": 2,
        "steps": [[["the", 0], [".", 2]], [["dog", 1], ["</s>", None]]],
    }
    csv = tmp_path / "x.csv"
    parts = {"toy": Part("valid", "test", {})}
    make(Evidence(ARTIFACT, pd.DataFrame(), parts, [document]), csv)
    found = POINTS.read(csv)
    assert line_of(found) == ("toy", "valid", "4")
    written = found[found["series"] == "written"]
    assert written[["x", "y", "label"]].to_numpy().tolist() == [
        [1, 1, "the"],
        [3, 1, "."],
        [2, 2, "dog"],
        [5, 2, "</s>"],  # behind the translation, as the second of its pair
    ]
    draw("bidirectional.figure2", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    (figure,) = saved
    assert_legible(figure)
    assert "der Hund ." in figure.axes[0].get_title()


def test_long_neighbours_do_not_touch(
    origin: dict[str, Any], tmp_path: Path, saved: list[Figure]
) -> None:
    tokens = ["freund@@", "lichen", "Nachbarn", "verstanden", "Erklärung@@", "en", "nicht", "."]
    pairs = [[(tokens[i], i), (tokens[7 - i], 7 - i)] for i in range(4)]
    ends = [("</s>", None), ("</s>", None)]
    document = {
        "provenance": {**origin, "statistic": "steps"},
        "line": 0,
        "source": ["x"],
        "translation": tokens,
    }
    document["steps"] = [*pairs, ends]
    csv = tmp_path / "x.csv"
    make(Evidence(ARTIFACT, pd.DataFrame(), {"toy": Part("valid", "test", {})}, [document]), csv)
    draw("bidirectional.figure2", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    assert_legible(saved[0])

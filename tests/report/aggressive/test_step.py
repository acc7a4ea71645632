from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from fastdecode.config.papers import Artifact
from fastdecode.report.aggressive.step import best_iteration
from fastdecode.report.artifacts.make import draw, make
from fastdecode.report.artifacts.points import POINTS, line_of
from tests.report.conftest import assert_legible


def artifact(trace: str) -> Artifact:
    return Artifact(
        title="an iteration",
        kind="figure",
        function="aggressive.step",
        axes={"x": "place in the translation", "y": "draft and verifier"},
        rows={"one": {"ours": trace}},
    )


def test_the_iteration_that_shows_most(evidence: Any, tmp_path: Path) -> None:
    csv = tmp_path / "x.csv"
    make(evidence(artifact("gadpp-5")), csv)
    found = POINTS.read(csv)
    assert line_of(found) == ("toy", "valid", "4")
    assert set(found.loc[found["panel"] == "source", "n"]) == {2}  # with one that is tolerated
    draft = found[found["panel"] == "draft"]
    assert draft["x"].tolist() == [3, 4, 5, 6, 7]
    assert draft["y"].tolist() == [0, 0.5, 0, 7.5, 7.5]
    second = found[(found["panel"] == "verifier") & (found["x"] == 4)]
    assert second[["n", "label", "series"]].to_numpy().tolist() == [
        [1, "schläft", "candidate"],
        [2, "ruht", "tolerated"],
        [3, "döst", "candidate"],
    ]


def test_of_equals_the_line_that_others_draw(evidence: Any) -> None:
    (document,) = evidence(artifact("gadpp-5")).statistics
    first = document["lines"][0]
    dull = {"gadpp-5": {"iterations": first["traces"]["gadpp-5"]["iterations"][-1:]}}
    lines = [first, first | {"line": 7}, first | {"line": 9, "traces": dull}]

    def chosen(drawn: int | None) -> int:
        found = {**document, "lines": lines, "drawn": drawn}
        return int(best_iteration(found, "gadpp-5")[0]["line"])

    assert (chosen(None), chosen(7)) == (3, 7)
    assert chosen(9) == 3  # which shows more
    assert best_iteration({"lines": lines}, "gadpp-5")[0]["line"] == 3  # a document of before


@pytest.mark.parametrize("trace", ["gad-5", "gadpp-5"])
def test_the_figure(evidence: Any, trace: str, tmp_path: Path, saved: list[Figure]) -> None:
    csv = tmp_path / "x.csv"
    make(evidence(artifact(trace)), csv)
    pictures = tmp_path / "x.svg", tmp_path / "x.png"
    draw("aggressive.figure2", artifact(trace), csv, pictures)
    (figure,) = saved
    assert_legible(figure)
    assert "the old dog" in figure.axes[0].get_title()
    words = {text.get_text() for text in figure.axes[0].texts}
    assert {"der", "alte", "Hund", "ruht", "schläft"} <= words
    legend = {text.get_text() for text in figure.legends[0].get_texts()}
    assert ("accepted, not the likeliest" in legend) == (trace == "gadpp-5")

from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import draw, make
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.artifacts.scatter import points
from tests.report.conftest import assert_legible

ARTIFACT = Artifact(
    title="BLEU and speed",
    kind="figure",
    function="artifacts.scatter",
    axes={"x": "speed-up", "y": "BLEU"},
    labels={"series": "series"},
    published={"x": "speed", "y": "BLEU"},
    measured={"x": "speedup", "y": "bleu"},
    tiers=("reference", "optimised"),
    over="slow",
    rows={
        "slow": {"series": "AR", "x": 1.0, "y": 27.7, "ours": "raw/base/beam5"},
        "quick": {"series": "NAT", "x": 15.6, "y": 17.7, "ours": "big/small/beam5"},
        "theirs": {"series": "NAT", "x": 10.8, "y": 20.9},
    },
)
ENTRIES = {
    "slow": {"reference": "raw/base/beam5", "optimised": "raw/base/fast"},
    "quick": {"reference": "big/small/beam5", "optimised": "big/small/fast"},
}
PARTS = {"toy": Part("test", "test", ENTRIES)}


def test_tiers_are_panels_and_published_points_stand_once(tidy: pd.DataFrame) -> None:
    found = points(Evidence(ARTIFACT, tidy, PARTS))
    ours = found[found["source"] == "ours"]
    assert ours["panel"].tolist() == ["reference tier"] * 2 + ["optimised tier"] * 2
    assert ours["x"].tolist() == pytest.approx([1, 2, 1, 2])
    assert ours["what"].tolist() == [
        entry[tier] for tier in ARTIFACT.tiers for entry in ENTRIES.values()
    ]
    published = found[found["source"] == "published"]
    assert published["x"].tolist() == [1.0, 15.6, 10.8] and set(published["panel"]) == {""}


def test_the_figure(tidy: pd.DataFrame, tmp_path: Path, saved: list[Figure]) -> None:
    csv, svg, png = (tmp_path / f"x.{kind}" for kind in ("csv", "svg", "png"))
    make(Evidence(ARTIFACT, tidy, PARTS), csv)
    draw("aggressive.figure1", ARTIFACT, csv, (svg, png))
    (figure,) = saved
    assert_legible(figure)
    assert [panel.get_title() for panel in figure.axes] == [
        "toy, reference tier",
        "toy, optimised tier",
    ]
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert labels == ["AR", "NAT", "hollow: published"]
    for panel in figure.axes:
        lines = [line for line in panel.get_lines() if line.get_marker() not in ("", "_")]
        assert {line.get_linestyle() for line in lines} == {"None"}  # systems are no curve
        faces = [str(line.get_markerfacecolor()) for line in lines]
        assert faces.count("white") == 2 and len(faces) == 4


def test_published_points_alone(tmp_path: Path, saved: list[Figure]) -> None:
    csv = tmp_path / "x.csv"
    POINTS.write(csv, points(Evidence(ARTIFACT, pd.DataFrame(columns=["dataset"]), {})))
    draw("x", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    (panel,) = saved[0].axes
    lines = [line for line in panel.get_lines() if line.get_marker() not in ("", "_")]
    assert sorted(float(x) for line in lines for x in line.get_xdata()) == [1.0, 10.8, 15.6]

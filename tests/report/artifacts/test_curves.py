from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.curves import head_of, points
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import draw, make
from fastdecode.report.artifacts.points import POINTS
from tests.report.conftest import assert_legible

ARTIFACT = Artifact(
    title="BLEU by layers",
    kind="figure",
    function="artifacts.curves",
    axes={"x": "layers", "y": "BLEU"},
    labels={"series": "curve", "x": "layers"},
    published={"y": "BLEU"},
    measured={"y": "bleu"},
    rows={
        "one": {"series": "base", "x": 1, "y": 20.5, "ours": "raw/base/beam5"},
        "two": {"series": "base", "x": 2, "y": 25.5, "ours": "raw/base/greedy"},
        "other": {"series": "small", "x": 2, "ours": "big/small/beam5"},
        "absent": {"series": "small", "x": 1, "ours": "big/small/missing"},
    },
)
ENTRIES = {
    "one": {"reference": "raw/base/beam5"},
    "two": {"reference": "raw/base/greedy"},
    "other": {"reference": "big/small/beam5"},
}
PARTS = {"toy": Part("test", "test", ENTRIES)}


def test_a_point_for_every_system_and_every_published_number(tidy: pd.DataFrame) -> None:
    found = points(Evidence(ARTIFACT, tidy, PARTS))
    published = found[found["source"] == "published"]
    assert published[["x", "y"]].to_numpy().tolist() == [[1, 20.5], [2, 25.5]]
    ours = found[found["source"] == "ours"]
    assert list(zip(ours["series"], ours["x"], ours["y"], strict=True)) == [
        ("base", 1, 31.0),
        ("base", 2, 30.8),
        ("small", 2, 29.0),
    ]
    assert set(ours["dataset"]) == {"toy"}


def test_x_may_be_measured_too(tidy: pd.DataFrame) -> None:
    artifact = ARTIFACT.model_copy(update={"measured": {"x": "latency", "y": "bleu"}})
    found = points(Evidence(artifact, tidy, PARTS))
    ours = found[found["source"] == "ours"]
    assert ours["x"].tolist() == pytest.approx([15.0, 12.0, 7.5])
    assert set(ours["marks"]) == {""}
    assert set(ours["commit"]) == {"c0ffee"}
    tidy.loc[(tidy["metric"] == "latency_disturbed") & (tidy["system"] == "base"), "value"] = 1.0
    found = points(Evidence(artifact, tidy, PARTS))
    assert found[found["source"] == "ours"]["marks"].tolist() == ["†", "†", ""]
    assert head_of("paper.figure1", ARTIFACT, found).endswith("† disturbed: 2 of 3 points")
    every = found.assign(marks=found["source"].map({"ours": "†", "published": ""}))
    assert head_of("paper.figure1", ARTIFACT, every).endswith("† disturbed")
    both = found.assign(marks=found["source"].map({"ours": "†≠", "published": ""}))
    head = head_of("paper.figure1", ARTIFACT, both)
    assert head.endswith("† disturbed, ≠ not what it has to write")


def test_a_point_of_a_time_and_a_score_has_the_commits_of_both(tidy: pd.DataFrame) -> None:
    artifact = ARTIFACT.model_copy(update={"measured": {"x": "latency", "y": "bleu"}})
    tidy.loc[tidy["metric"].str.startswith("latency_"), "commit"] = "1ater"
    found = points(Evidence(artifact, tidy, PARTS))
    assert set(found.loc[found["source"] == "ours", "commit"]) == {"c0ffee 1ater"}


def test_of_several_seeds_a_figure_says_which_one_is_timed(tidy: pd.DataFrame) -> None:
    scores = points(Evidence(ARTIFACT, tidy, PARTS))
    assert head_of("paper.figure1", ARTIFACT, scores).endswith("seed 1")
    several = scores.assign(seeds="1 2 3")
    assert head_of("paper.figure1", ARTIFACT, several).endswith("seeds 1, 2, 3")
    devices = several.assign(device=["a and b", "b", *["a"] * (len(several) - 2)])
    assert ", a and b, seeds" in head_of("paper.figure1", ARTIFACT, devices)
    spread = head_of("paper.figure1", ARTIFACT, several.assign(sd=1.0))
    assert spread.endswith("seeds 1, 2, 3 (whiskers: standard deviation)")
    assert head_of("paper.figure1", ARTIFACT, several.assign(tier="reference")).endswith(
        "seeds 1, 2, 3, times of seed 1"
    )


def test_each_tier_has_a_curve_of_its_own(tidy: pd.DataFrame) -> None:
    artifact = ARTIFACT.model_copy(
        update={"measured": {"y": "latency"}, "tiers": ("reference", "optimised")}
    )
    entries = {"one": {"reference": "raw/base/beam5", "optimised": "raw/base/fast"}}
    found = points(Evidence(artifact, tidy, {"toy": Part("test", "test", entries)}))
    ours = found[found["source"] == "ours"]
    assert dict(zip(ours["series"], ours["y"], strict=True)) == {
        "base (reference)": 15.0,
        "base (optimised)": 6.0,
    }


def test_a_point_says_in_which_batches_it_is_fastest(tidy: pd.DataFrame) -> None:
    measured = {"y": "sentences_per_second"}
    found = points(Evidence(ARTIFACT.model_copy(update={"measured": measured}), tidy, PARTS))
    assert found[found["source"] == "ours"]["batch"].tolist() == ["8"] * 3


def test_the_figure(tidy: pd.DataFrame, tmp_path: Path, saved: list[Figure]) -> None:
    csv, svg, png = (tmp_path / f"x.{kind}" for kind in ("csv", "svg", "png"))
    make(Evidence(ARTIFACT, tidy, PARTS), csv)
    draw("lattice.figure3", ARTIFACT, csv, (svg, png))
    assert svg.stat().st_size and png.stat().st_size
    (figure,) = saved
    assert_legible(figure)
    (panel,) = figure.axes
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("layers", "BLEU")
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert labels == ["base, published", "base", "small"]
    before = svg.read_bytes()
    draw("lattice.figure3", ARTIFACT, csv, (svg, png))
    assert svg.read_bytes() == before


def test_few_whole_numbers_are_ticks(
    tidy: pd.DataFrame, tmp_path: Path, saved: list[Figure]
) -> None:
    csv = tmp_path / "x.csv"
    make(Evidence(ARTIFACT, tidy, PARTS), csv)
    draw("x", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    assert saved[0].axes[0].get_xticks().tolist() == [1, 2]


def test_without_points_the_figure_says_so(tmp_path: Path, saved: list[Figure]) -> None:
    csv = tmp_path / "x.csv"
    POINTS.write(csv, POINTS.frame([]))
    draw("x", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    (figure,) = saved
    assert "nothing of it was run" in "".join(text.get_text() for text in figure.texts)


def test_points_of_other_datasets_stand_apart(tidy: pd.DataFrame) -> None:
    both = pd.concat([tidy.assign(dataset="other", value=0.0), tidy])
    made, alone = (points(Evidence(ARTIFACT, one, PARTS)) for one in (both, tidy))
    pd.testing.assert_frame_equal(made, alone)

from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fastdecode.config.papers import Artifact
from fastdecode.report.aggressive.sentences import points
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import draw, make
from tests.report.conftest import LENGTHS, assert_legible

ARTIFACT = Artifact(
    title="single sentences",
    kind="figure",
    function="aggressive.sentences",
    axes={"x": "speed-up", "y": "sentences, %"},
    labels={"series": "series"},
    published={"low": "low", "high": "high"},
    tiers=("reference", "optimised"),
    over="slow",
    rows={
        "slow": {"ours": "raw/base/beam5"},
        "quick": {"series": "GAD++", "low": 3, "high": 6, "ours": "big/small/greedy"},
    },
)


@pytest.fixture
def evidence(tidy: pd.DataFrame, samples: pd.DataFrame, tmp_path: Path) -> Evidence:
    path = tmp_path / "samples.csv"
    twice = (samples["decoder"] == "big/small/greedy") & (samples["line"] == 0)
    samples.loc[twice, "milliseconds"] /= 2
    samples.to_csv(path, index=False)
    entries = {"slow": {"reference": "raw/base/beam5"}, "quick": {"reference": "big/small/greedy"}}
    part = Part("test", "test", entries, samples={"reference": path})
    return Evidence(ARTIFACT, tidy, {"toy": part})


def test_a_point_for_every_sentence(evidence: Evidence) -> None:
    found = points(evidence)
    assert found.loc[found["source"] == "published", "x"].tolist() == [3, 6]
    other = evidence.tidy.assign(split="valid", commit="later")  # is of another timing
    both = Evidence(ARTIFACT, pd.concat([evidence.tidy, other]), evidence.parts)
    assert points(both).equals(found)
    ours = found[found["source"] == "ours"]
    assert ours["x"].tolist() == pytest.approx([5.0, *[2.5] * (len(LENGTHS) - 1)])
    assert set(ours["panel"]) == {"reference"}  # the other tier was not timed
    assert set(ours["threads"]) == {"1"}


@pytest.mark.parametrize("system", ["base", "small"])
def test_a_speedup_is_disturbed_if_either_time_is(evidence: Evidence, system: str) -> None:
    tidy = evidence.tidy.copy()
    busy = (tidy["metric"] == "latency_disturbed") & (tidy["scenario"] == "S1")
    assert set(points(evidence)["marks"]) == {""}
    tidy.loc[busy & (tidy["system"] == system), "value"] = 1.0
    found = points(Evidence(ARTIFACT, tidy, evidence.parts))
    assert set(found.loc[found["source"] == "ours", "marks"]) == {"†"}


@pytest.mark.parametrize("timed", [[], ["slow"], ["quick"]])
def test_what_was_not_timed_is_a_gap(evidence: Evidence, timed: list[str]) -> None:
    part = evidence.parts["toy"]
    path = part.samples["reference"]
    kept = [part.entries[row]["reference"] for row in timed]
    samples = pd.read_csv(path)
    samples[samples["decoder"].isin(kept)].to_csv(path, index=False)
    given = Part("test", "test", part.entries, samples=part.samples if timed else {})
    names = evidence.tidy[["target", "system", "decoder"]].agg("/".join, axis=1)
    tidy = evidence.tidy[(evidence.tidy["scenario"] != "S1") | names.isin(kept)]
    assert points(Evidence(ARTIFACT, tidy, {"toy": given})).empty


def test_the_figure(evidence: Evidence, tmp_path: Path, saved: list[Figure]) -> None:
    csv = tmp_path / "x.csv"
    make(evidence, csv)
    draw("aggressive.figure4", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    (figure,) = saved
    assert_legible(figure)
    (panel,) = figure.axes
    heights = [bar.get_height() for bar in panel.patches if hasattr(bar, "get_height")]
    assert sum(heights) - 1 == pytest.approx(100)  # the published range is a patch of height 1
    assert "6 sentences, median ×2.50" in panel.get_title()


def test_nothing_run_says_so(evidence: Evidence, tmp_path: Path, saved: list[Figure]) -> None:
    csv = tmp_path / "x.csv"
    make(Evidence(ARTIFACT, evidence.tidy, {"toy": Part("test", "test", {})}), csv)
    draw("aggressive.figure4", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    assert "nothing of it was run" in saved[0].texts[0].get_text()

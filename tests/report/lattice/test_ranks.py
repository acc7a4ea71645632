from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import draw, make
from fastdecode.report.lattice.ranks import points
from tests.report.conftest import assert_legible

ARTIFACT = Artifact(
    title="ranks", kind="figure", function="lattice.ranks", axes={"x": "rank", "y": "share"}
)


@pytest.fixture
def evidence(origin: dict[str, Any]) -> Evidence:
    seeds = [
        {
            "provenance": {**origin, "seed": seed, "commit": f"c{seed}"},
            "readings": {
                "best_edge": {"counts": best},
                "given_previous": {"counts": [8, 2, 0, 0]},
            },
        }
        for seed, best in ((1, [7, 2, 0, 1]), (2, [10, 8, 0, 2]))  # of 10 words, and of 20
    ]
    parts = {"toy": Part("valid", "test", {})}
    return Evidence(ARTIFACT, pd.DataFrame(), parts, seeds)


def test_a_share_is_a_mean_over_seeds_as_what_claims_resample(evidence: Evidence) -> None:
    found = points(evidence)
    best = found[found["series"] == "by the best edge to the word"]
    assert best["x"].tolist() == [1, 2, 3, 4]
    assert best["y"].tolist() == pytest.approx([0.6, 0.3, 0, 0.1])
    assert best["y"].sum() == pytest.approx(1)
    assert best["sd"].tolist() == pytest.approx([0.2 / 2**0.5, 0.2 / 2**0.5, 0, 0])
    assert set(best["commit"]) == {"c1 c2"}


def test_the_figure(evidence: Evidence, tmp_path: Path, saved: list[Figure]) -> None:
    csv = tmp_path / "x.csv"
    make(evidence, csv)
    draw("lattice.figure2", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    (figure,) = saved
    assert_legible(figure)
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert "by the best edge to the word (rank 1 in toy: 60.0%)" in labels


def test_words_of_other_datasets_are_not_counted(evidence: Evidence) -> None:
    (one, _) = evidence.statistics
    other = {**one, "provenance": {**one["provenance"], "dataset": "other"}}
    other["readings"] = {name: {"counts": [0, 0, 0, 9]} for name in one["readings"]}
    more = replace(evidence, statistics=[*evidence.statistics, other])
    pd.testing.assert_frame_equal(points(more), points(evidence))

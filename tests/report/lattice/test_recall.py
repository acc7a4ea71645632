from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import draw, make
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.lattice.recall import points
from tests.report.conftest import assert_legible

ARTIFACT = Artifact(
    title="recall",
    kind="figure",
    function="lattice.recall",
    axes={"x": "candidates", "y": "%"},
)


def document(origin: dict[str, Any], way: str, by_k: dict[int, float], **more: Any) -> Any:
    return {
        "provenance": {**origin, **more},
        "points": [
            {"references": whose, "candidates": way, "k": k, "size": k + 0.5, "recall": share}
            for whose in ("real", "teacher")
            for k, share in by_k.items()
        ],
    }


@pytest.fixture
def evidence(origin: dict[str, Any]) -> Evidence:
    documents = [
        document(origin, "counts", {1: 0.2, 64: 0.8}),
        document(origin, "counts", {1: 0.3, 64: 0.9}, seed=2, commit="def", device="cpu: Y"),
        document(origin, "model", {1: 0.4, 64: 0.95}, system="nat"),
    ]
    return Evidence(ARTIFACT, pd.DataFrame(), {"toy": Part("valid", "test", {})}, documents)


def test_recall_is_a_mean_over_seeds_in_percent(evidence: Evidence) -> None:
    found = points(evidence)
    counts = found[(found["series"] == "count model") & (found["panel"] == "teacher")]
    assert counts["x"].tolist() == [1.5, 64.5]
    assert counts["y"].tolist() == pytest.approx([25, 85])
    assert counts["sd"].tolist() == pytest.approx([50**0.5] * 2)
    assert counts["seeds"].unique().tolist() == ["1 2"]
    assert set(counts["commit"]) == {"abc def"}
    assert set(counts["device"]) == {"cpu: X and cpu: Y"}
    assert len(found) == 2 * 2 * 2


def test_the_figure_shows_what_the_teacher_wrote(
    evidence: Evidence, tmp_path: Path, saved: list[Figure]
) -> None:
    csv, svg, png = (tmp_path / f"x.{kind}" for kind in ("csv", "svg", "png"))
    make(evidence, csv)
    draw("lattice.figure1", ARTIFACT, csv, (svg, png))
    (figure,) = saved
    assert_legible(figure)
    assert "what the teacher wrote" in figure.get_suptitle()
    assert "corpus's references" not in figure.get_suptitle()
    real = POINTS.read(csv)
    POINTS.write(csv, real[real["panel"] == "real"])
    draw("lattice.figure1", ARTIFACT, csv, (svg, png))
    assert "corpus's references" in saved[1].get_suptitle()


def test_a_union_has_its_mean_size(origin: dict[str, Any]) -> None:
    seeds = [document(origin, "union", {8: 0.5}, seed=seed) for seed in (1, 2)]
    for point in seeds[1]["points"]:
        point["size"] = 10.5
    found = points(Evidence(ARTIFACT, pd.DataFrame(), {"toy": Part("valid", "test", {})}, seeds))
    assert set(found["x"]) == {(8.5 + 10.5) / 2}

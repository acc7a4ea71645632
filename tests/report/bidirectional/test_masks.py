from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.make import draw, make
from fastdecode.report.artifacts.points import POINTS
from tests.report.conftest import assert_legible

ARTIFACT = Artifact(
    title="masks",
    kind="figure",
    function="bidirectional.masks",
    axes={"x": "looked at", "y": "looks"},
)


def test_the_masks_as_they_are(origin: dict[str, Any], tmp_path: Path, saved: list[Figure]) -> None:
    single = [[int(column <= row) for column in range(4)] for row in range(4)]
    pairs = [[int(column // 2 <= row // 2) for column in range(4)] for row in range(4)]
    document = {"provenance": origin, "masks": {"1": single, "2": pairs}}
    csv = tmp_path / "x.csv"
    make(Evidence(ARTIFACT, pd.DataFrame(), {}, [document, document]), csv)
    found = POINTS.read(csv)
    assert len(found) == 2 * 16
    first = found[(found["panel"] == "pairs") & (found["y"] == 1)]
    assert first["label"].tolist() == ["seen", "seen", "hidden", "hidden"]
    draw("bidirectional.figure1", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    (figure,) = saved
    assert_legible(figure)
    image = figure.axes[0].images[0].get_array()
    assert image is not None and image.tolist() == single

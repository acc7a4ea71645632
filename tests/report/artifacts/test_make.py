"""Numbers of ours say where they are from: those that are made, and those that are kept."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from fastdecode.config.base import read_yaml
from fastdecode.config.functions import TRAITS, traits
from fastdecode.config.papers import Artifact
from fastdecode.errors import UserError
from fastdecode.report.artifacts import make as made_by
from fastdecode.report.artifacts.cells import CELLS
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import check_origin, draw, make, tabulate
from fastdecode.report.artifacts.points import POINTS
from fastdecode.report.tidy import TIDY

ROOT = Path(__file__).parents[3]
ORIGIN = {
    "source": "ours",
    "dataset": "toy",
    "what": "raw/base/beam5",
    "seeds": "1",
    "device": "cpu: X",
    "commit": "c0ffee",
}
SCORE = {**ORIGIN, "value": 31.0}
TIME = {**ORIGIN, "value": 2.5, "tier": "reference"}
KEPT = [
    pytest.param(path, artifact, id=str(path.relative_to(ROOT / "docs/measurements")))
    for paper in sorted((ROOT / "config/papers").glob("*.yaml"))
    for name, artifact in read_yaml(paper)["artifacts"].items()
    for path in sorted((ROOT / "docs/measurements").rglob(f"{paper.stem}.{name}.csv"))
]

EVERY = [
    pytest.param(f"{paper.stem}.{name}", Artifact.model_validate(row), id=f"{paper.stem}.{name}")
    for paper in sorted((ROOT / "config/papers").glob("*.yaml"))
    for name, row in read_yaml(paper)["artifacts"].items()
]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "x.csv"


def made(
    monkeypatch: pytest.MonkeyPatch, out: Path, *cells: dict[str, object], function: str = "rows"
) -> None:
    """Make a table of such cells."""
    module = SimpleNamespace(cells=lambda evidence: CELLS.frame(list(cells)))
    monkeypatch.setattr(made_by, "_module", lambda artifact: module)
    artifact = Artifact(title="speeds", kind="table", function=function)
    make(Evidence(artifact, pd.DataFrame(), {}), out)


def test_cells_with_their_origin_are_written(monkeypatch: pytest.MonkeyPatch, out: Path) -> None:
    made(monkeypatch, out, SCORE, TIME, {"source": "published", "value": 28.0})
    assert len(CELLS.read(out)) == 3


@pytest.mark.parametrize(
    ("cell", "column"),
    [
        (cell, column)
        for cell in (SCORE, TIME)
        for column in ("commit", "dataset", "what", "seeds", "device")
    ],
)
def test_a_cell_without_its_origin_is_refused(
    monkeypatch: pytest.MonkeyPatch, out: Path, cell: dict[str, object], column: str
) -> None:
    with pytest.raises(UserError, match=f"speeds: 1 numbers of ours without `{column}`.*rows has"):
        made(monkeypatch, out, SCORE, {**cell, column: ""})
    assert not out.exists()


def test_settings_are_measured_by_no_commit(monkeypatch: pytest.MonkeyPatch, out: Path) -> None:
    for function in (name for name, one in TRAITS.items() if one.settings):
        made(monkeypatch, out, {**SCORE, "commit": ""}, function=function)


def test_tokens_of_the_data_are_of_no_system(monkeypatch: pytest.MonkeyPatch, out: Path) -> None:
    made(monkeypatch, out, {**SCORE, "what": "", "device": ""}, function="bidirectional.vocabulary")
    with pytest.raises(UserError, match="without `what`"):
        made(monkeypatch, out, {**TIME, "what": ""}, function="bidirectional.vocabulary")


@pytest.mark.parametrize(("path", "artifact"), KEPT)
def test_kept_numbers_say_where_they_are_from(path: Path, artifact: dict[str, Any]) -> None:
    frame = (CELLS if artifact["kind"] == "table" else POINTS).read(path)
    check_origin(Artifact.model_validate(artifact), frame)
    commits = frame.loc[frame["source"] == "ours", "commit"]
    if not traits(artifact["function"]).settings:
        every = [commit for text in commits for commit in text.split()]
        assert [one for one in every if len(one.partition("-")[0]) != 40] == []


@pytest.mark.parametrize(("name", "artifact"), EVERY)
def test_what_nothing_was_run_of_shows_published_numbers_alone(
    name: str, artifact: Artifact, out: Path
) -> None:
    nothing = Evidence(artifact, TIDY.frame([]), {"toy": Part("test", "test", {}, valid="valid")})
    make(nothing, out)
    if artifact.kind == "table":
        assert len(tabulate(name, artifact, out).frame) > 0
    else:
        draw(name, artifact, out, (picture := out.with_suffix(".svg"),))
        assert picture.stat().st_size > 0

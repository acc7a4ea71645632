from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import draw, make
from fastdecode.report.lattice.breakdown import points
from tests.report.conftest import LENGTHS, STAGES, assert_legible

ARTIFACT = Artifact(
    title="time by stage",
    kind="figure",
    function="lattice.breakdown",
    axes={"x": "output tokens", "y": "ms"},
    rows={"k64": {"ours": "raw/base/beam5"}},
)


@pytest.fixture
def evidence(tidy: pd.DataFrame, tmp_path: Path) -> Evidence:
    path = tmp_path / "stages.csv"
    rows = [
        {
            "decoder": decoder,
            "batch": 1,
            "repeat": repeat,
            "line": line,
            "tokens": tokens,
            "stage": stage,
            "milliseconds": share * tokens * (1 + 2 * repeat),
        }
        for decoder in ("raw/base/beam5", "raw/base/greedy")
        for repeat in range(2)
        for line, tokens in enumerate(LENGTHS)
        for stage, share in STAGES.items()
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    entries = {"k64": {"reference": "raw/base/beam5"}}
    return Evidence(ARTIFACT, tidy, {"toy": Part("test", "test", entries, stages=path)})


def test_times_are_means_over_lines_and_repeats(evidence: Evidence) -> None:
    found = points(evidence)
    lines = found[found["panel"] == "lines"]
    assert lines["y"].sum() == len(LENGTHS)
    ends = lines["label"].str.split("–", expand=True).astype(int)
    assert lines["x"].tolist() == ends.mean(axis=1).tolist()
    first = found[(found["label"] == lines["label"].iloc[0]) & (found["panel"] == "times")]
    # lengths 4 and 5 are in the first bucket; the second repeat took three times as long
    assert first["series"].tolist() == list(STAGES)
    assert first["y"].tolist() == pytest.approx([share * 4.5 * 2 for share in STAGES.values()])
    assert set(found["threads"]) == {"1"}


@pytest.mark.parametrize(("metric", "marks"), [("disturbed", "†"), ("stages_disturbed", "")])
def test_the_mark_is_that_of_the_stages_where_they_have_one(
    evidence: Evidence, metric: str, marks: str
) -> None:
    busy = evidence.tidy["metric"] == "latency_disturbed"
    whole = evidence.tidy.assign(value=evidence.tidy["value"].mask(busy, 1.0))
    more = evidence.tidy[busy].assign(metric=f"latency_{metric}", value=float(marks == "†"))
    found = points(Evidence(ARTIFACT, pd.concat([whole, more]), evidence.parts))
    assert set(found["marks"]) == {marks}


def test_the_figure(evidence: Evidence, tmp_path: Path, saved: list[Figure]) -> None:
    csv = tmp_path / "x.csv"
    make(evidence, csv)
    draw("lattice.figure4", ARTIFACT, csv, (tmp_path / "x.svg", tmp_path / "x.png"))
    (figure,) = saved
    assert_legible(figure)
    assert "reference tier, threads 1" in figure.get_suptitle()


@pytest.mark.parametrize(
    ("entries", "timed"),
    [({}, True), (None, False), ({"k64": {"reference": "raw/base/fast"}}, True)],
)
def test_what_was_not_run_or_not_timed_is_a_gap(
    evidence: Evidence, entries: dict[str, dict[str, str]] | None, timed: bool
) -> None:
    whole = evidence.parts["toy"]
    entries = dict(whole.entries) if entries is None else entries
    part = Part("test", "test", entries, stages=whole.stages if timed else None)
    parts = {"toy": whole, "other": part}
    found = points(Evidence(ARTIFACT, evidence.tidy, parts))
    assert set(found["dataset"]) == {"toy"}
    assert points(Evidence(ARTIFACT, evidence.tidy, {"other": part})).empty


def test_a_stage_that_some_sentences_lack_is_a_mean_over_all(evidence: Evidence) -> None:
    path = evidence.parts["toy"].stages
    assert path is not None
    stages = pd.read_csv(path)
    first = stages["line"] == 0  # of 4 tokens, in one bucket with that of 5
    stages[~(first & (stages["stage"] == "encode"))].to_csv(path, index=False)
    found = points(evidence)
    (mean, *_) = found.loc[found["series"] == "encode", "y"]
    assert mean == pytest.approx(STAGES["encode"] * 5 * 2 / 2)

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fastdecode.config.base import check, read_yaml
from fastdecode.config.papers import Paper
from fastdecode.measure.resampling import draws, resampled_seeds
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.make import make
from fastdecode.report.claims.evidence import Resamples, estimate, read_cells
from fastdecode.report.claims.statistics import statistic_scores

PAPERS = Path(__file__).parents[3] / "config/papers"

SEEDS = [[20.0, 21.0, 22.0], [30.0, 31.0, 32.0]]


def document(statistic: str, seed: int = 1, system: str = "dag", **more: Any) -> dict[str, Any]:
    origin = {"dataset": "toy", "split": "test", "target": "raw", "system": system, "seed": seed}
    machine = {"statistic": statistic, "device": "cpu: X", "commit": "abc"}
    return {"provenance": {**origin, **machine}, **more}


def samples(seed: int, **more: Any) -> dict[str, Any]:
    return document("samples", seed, points=[{"temperature": 1.0, **more}])


def test_seeds_are_resampled_as_those_of_translations() -> None:
    scores = statistic_scores(
        samples(seed, resamples={"pairwise": drawn, "multi_reference": drawn[::-1]})
        for seed, drawn in enumerate(SEEDS, 1)
    )
    assert set(scores) == {("toy", "test", "pairwise"), ("toy", "test", "multi_reference")}
    (found,) = scores["toy", "test", "pairwise"].items()
    assert found[0] == "raw/dag/1"  # as the figure labels it
    assert found[1].tolist() == pytest.approx(resampled_seeds(np.array(SEEDS), "raw/dag"))


def test_samples_that_were_measured_without_resamples_have_none() -> None:
    assert statistic_scores([samples(1)]) == {}


def test_a_seed_without_resamples_leaves_the_mean_without() -> None:
    seeds = [samples(1), samples(2, resamples={"pairwise": SEEDS[1]})]
    assert statistic_scores(seeds) == statistic_scores(seeds[::-1]) == {}


def test_shares_are_resampled_by_line() -> None:
    counted = [[1, 2], [0, 0], [3, 4]]
    scores = statistic_scores(
        [
            document("accuracy", by_line={"": counted}),
            document("recall", system="lattice", by_line={"real/counts/64": counted}),
            document("ranks", system="lattice", by_line={"best_edge/1": counted}),
            document("ranks", system="nat"),  # of before there were counts of lines
        ]
    )
    assert {where: list(frame) for where, frame in scores.items()} == {
        ("toy", "test", "accuracy"): ["raw/dag"],
        ("toy", "test", "recall"): ["raw/lattice/real/counts/64"],
        ("toy", "test", "ranks"): ["raw/lattice/best_edge/1"],
    }
    right, tokens = np.array(counted)[draws(3)].sum(axis=1).T
    shares = scores["toy", "test", "ranks"]["raw/lattice/best_edge/1"]
    assert len(shares) == 1000
    assert shares.to_numpy() == pytest.approx(right / np.where(tokens, tokens, np.nan), nan_ok=True)
    percent = scores["toy", "test", "accuracy"]["raw/dag"]  # as the table has it
    assert percent.to_numpy() == pytest.approx(100 * shares, nan_ok=True)


def test_systems_are_resampled_by_the_same_lines() -> None:
    documents = [
        document("accuracy", system=system, by_line={"": [[right, 10] for right in counts]})
        for system, counts in (("nat", range(5)), ("dag", range(1, 6)))
    ]
    frame = statistic_scores(documents)["toy", "test", "accuracy"]
    assert (frame["raw/dag"] - frame["raw/nat"]).to_numpy() == pytest.approx(10.0)


MEASURED = {  # of one line with 3 of 4 tokens, and one with 1 of 4; the cell that claims name
    "dag.table2": (
        document("accuracy", system="nat", accuracy=0.5),
        "",
        "vanilla_nat.valid",
    ),
    "lattice.figure1": (
        document(
            "recall",
            points=[
                {"references": "real", "candidates": "counts", "k": 2, "size": 2, "recall": 0.5}
            ],
        ),
        "real/counts/2",
        "count model@2",
    ),
    "lattice.figure2": (
        document(
            "ranks", readings={name: {"counts": [4, 4]} for name in ("best_edge", "given_previous")}
        ),
        "best_edge/1",
        "by the best edge to the word@1",
    ),
}


@pytest.mark.parametrize("name", MEASURED)
def test_cells_of_artifacts_have_the_intervals_of_their_statistics(
    name: str, tmp_path: Path
) -> None:
    measured, part, cell = MEASURED[name]
    measured["by_line"] = {part: [[3, 4], [1, 4]]}
    paper, artifact = name.split(".")
    row = check(Paper, read_yaml(PAPERS / f"{paper}.yaml"), paper).artifacts[artifact]
    entries = {"vanilla_nat": {"reference": "raw/nat/nat-argmax"}}
    parts = {"toy": Part("test", "test", entries, valid="test")}
    make(Evidence(row, pd.DataFrame(), parts, [measured]), tmp_path / "x.csv")
    (found,) = [one for one in read_cells(row, tmp_path / "x.csv") if one.name == cell]
    made = estimate(found, Resamples(scores=statistic_scores([measured])))
    scale = found.value / 0.5
    assert not made.no_interval and made.drawn is not None
    assert sorted(set(made.drawn / scale)) == pytest.approx([0.25, 0.5, 0.75])
    assert estimate(found, Resamples()).no_interval  # of before lines were counted: cannot be told

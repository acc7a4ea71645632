from typing import Any

import numpy as np
import pytest

from fastdecode.measure.resampling import resampled_seeds
from fastdecode.report.claims.samples import sample_scores

SEEDS = [[20.0, 21.0, 22.0], [30.0, 31.0, 32.0]]


def document(seed: int, **more: Any) -> dict[str, Any]:
    origin = {"dataset": "toy", "split": "test", "target": "raw", "system": "dag", "seed": seed}
    return {"provenance": origin, "points": [{"temperature": 1.0, **more}]}


def test_seeds_are_resampled_as_those_of_translations() -> None:
    scores = sample_scores(
        document(seed, resamples={"pairwise": drawn, "multi_reference": drawn[::-1]})
        for seed, drawn in enumerate(SEEDS, 1)
    )
    assert set(scores) == {("toy", "test", "pairwise"), ("toy", "test", "multi_reference")}
    (found,) = scores["toy", "test", "pairwise"].items()
    assert found[0] == "raw/dag/1"  # as the figure labels it
    assert found[1].tolist() == pytest.approx(resampled_seeds(np.array(SEEDS), "raw/dag"))


def test_samples_that_were_measured_without_resamples_have_none() -> None:
    assert sample_scores([document(1)]) == {}


def test_a_seed_without_resamples_leaves_the_mean_without() -> None:
    (found,) = sample_scores([document(1), document(2, resamples={"pairwise": SEEDS[1]})]).values()
    assert found.empty

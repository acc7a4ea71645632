"""Statistics of a run: which of several seeds are taken."""

from typing import Any

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.documents import documents, firsts
from fastdecode.report.artifacts.evidence import Evidence, Part

ARTIFACT = Artifact(title="drawn", kind="figure", function="dag.overview")


def document(system: str, seed: int) -> dict[str, Any]:
    origin = {"dataset": "toy", "statistic": "graphs", "target": "raw", "system": system}
    return {"provenance": origin | {"seed": seed}}


def test_of_every_system_the_first_seed_is_taken() -> None:
    statistics = [document(system, seed) for system in ("dag", "other") for seed in (1, 2)]
    parts = {"toy": Part("valid", "test", {})}
    evidence = Evidence(ARTIFACT, pd.DataFrame(), parts, statistics)
    found = documents(evidence, "toy", "graphs")
    assert found == [document("dag", 1), document("other", 1)]
    assert list(firsts(evidence, "graphs")) == found[:1]

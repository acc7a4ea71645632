"""What is checked of our cells holds of the published ones, where they have the same columns."""

from pathlib import Path

import pytest

from fastdecode.config.base import check, read_yaml
from fastdecode.config.papers import Artifact, Paper
from fastdecode.report.claims.evidence import Cell, Resamples
from fastdecode.report.claims.judge import FAILS, HOLDS, judge

PAPERS = Path(__file__).parents[3] / "config/papers"
OTHER_UNITS = {"time-profile"}  # shares of ours, percent in the paper
COMPARED = {"aggressive": 10, "bidirectional": 3, "dag": 1, "lattice": 6}  # claims, at least


def published(artifact: Artifact) -> list[Cell]:
    numbers = {
        f"{name}.{column}": row.get(column)
        for name, row in artifact.rows.items()
        for column in artifact.published
    }
    return [
        Cell(float(value), "paper", "", "", name, None, {"what": ""})
        for name, value in numbers.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]


@pytest.mark.parametrize("key", COMPARED)
def test_no_check_asks_for_more_than_the_paper_has(key: str) -> None:
    paper = check(Paper, read_yaml(PAPERS / f"{key}.yaml"), key)
    tables = {name: one for name, one in paper.artifacts.items() if one.kind == "table"}
    cells = {name: published(table) for name, table in tables.items()}
    compared = set()
    for one in judge(paper.claims, paper.artifacts, cells, Resamples()):
        if one.claim in OTHER_UNITS or not paper.claims[one.claim].published_holds:
            continue
        failed = [finding.text for finding in one.findings if finding.verdict == FAILS]
        assert not failed, one.claim
        if any(finding.verdict == HOLDS for finding in one.findings):
            compared.add(one.claim)
    assert len(compared) >= COMPARED[key]

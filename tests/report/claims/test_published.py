"""What is checked of our cells holds of the published ones, data set by data set."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fastdecode.config.base import check, read_yaml
from fastdecode.config.papers import Artifact, Paper
from fastdecode.report.claims.evidence import Cell, Resamples
from fastdecode.report.claims.findings import FAILS, HOLDS
from fastdecode.report.claims.judge import judge

PAPERS = Path(__file__).parents[3] / "config/papers"
DATASETS = {
    "aggressive": [""],
    "bidirectional": ["wmt14", "aspec"],
    "dag": ["ende", "deen", "enzh", "zhen"],
    "lattice": ["wmt14_en_de", "wmt14_de_en", "wmt16_en_ro", "wmt16_ro_en", "iwslt14_de_en"],
}
PLACES = {  # rows of config/datasets, which some claims are about alone
    "wmt14": "wmt14.en-de.bidirectional",
    "aspec": "aspec.ja-en.bidirectional",
    "ende": "wmt14.en-de.dag",
    "deen": "wmt14.de-en.dag",
    "enzh": "wmt17.en-zh.dag",
    "zhen": "wmt17.zh-en.dag",
}
OF = {"bidirectional.table3a": "wmt14", "bidirectional.table3b": "aspec"}  # tables of one alone
# Readings that ask for more than the paper has on one of its data sets, and say so.
STRICTER = {
    ("enzh", "decoding-order"),
}
COMPARED = {"aggressive": 12, "bidirectional": 11, "dag": 8, "lattice": 8}  # claims, at least


def ours(table: str, dataset: str) -> Callable[[str], tuple[str, float]]:
    """Return how a published column is called among ours, and what its numbers are times."""

    def of(column: str) -> tuple[str, float]:
        if column == dataset:
            return "bleu", 1.0
        name = column.removeprefix(f"{dataset}_")
        if name == "ratio_pct":
            return ("tokens_per_s_ratio" if table == "table4" else "ratio"), 0.01
        return name, 1.0

    return of


def published(paper: str, table: str, artifact: Artifact, dataset: str) -> list[Cell]:
    """Return the published cells of a data set, and those that are of none, as ours are named."""
    if OF.get(f"{paper}.{table}", dataset) != dataset:
        return []
    named = ours(table, dataset)
    cells = {}
    for name, row in artifact.rows.items():
        for column in artifact.published:
            value = row.get(column)
            if isinstance(value, int | float) and not isinstance(value, bool):
                word, scale = named(column)
                cells[f"{name}.{word}"] = float(value) * scale
    place = PLACES.get(dataset, dataset)
    return [Cell(value, place, "", "", name, None, {"what": ""}) for name, value in cells.items()]


@pytest.mark.parametrize("key", DATASETS)
def test_no_check_asks_for_more_than_the_paper_has(key: str) -> None:
    paper = check(Paper, read_yaml(PAPERS / f"{key}.yaml"), key)
    tables = {name: one for name, one in paper.artifacts.items() if one.kind == "table"}
    compared, stricter = set(), set()
    for dataset in DATASETS[key]:
        cells = {name: published(key, name, table, dataset) for name, table in tables.items()}
        for one in judge(paper.claims, paper.artifacts, cells, Resamples()):
            if not paper.claims[one.claim].published_holds:
                continue
            failed = [finding.text for finding in one.findings if finding.verdict == FAILS]
            if failed and (dataset, one.claim) in STRICTER:
                stricter.add((dataset, one.claim))
                continue
            assert not failed, (dataset, one.claim)
            if any(finding.verdict == HOLDS for finding in one.findings):
                compared.add(one.claim)
    assert stricter == {(dataset, name) for dataset, name in STRICTER if dataset in DATASETS[key]}
    assert len(compared) >= COMPARED[key], compared

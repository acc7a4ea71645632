import pandas as pd
import pytest

from fastdecode.config.papers import Artifact
from fastdecode.report.page.named import label, named

LABELS = {"labels": {"model": "model", "k": "k"}}
ARTIFACTS = {
    "table1": Artifact(
        title="x",
        kind="table",
        function="artifacts.rows",
        **LABELS,
        rows={"gad": {"model": "GAD", "k": 25}, "greedy": {"model": "greedy search"}},
    ),
    "table4": Artifact(
        title="x",
        kind="table",
        function="artifacts.rows",
        **LABELS,
        rows={"gad": {"model": "GAD", "k": 30}, "greedy": {"model": "greedy search"}},
    ),
    "figure1": Artifact(title="x", kind="figure", function="x.y", rows={"curve": {}}),
}


@pytest.mark.parametrize(("row", "text"), [("gad", "GAD, k 25"), ("greedy", "greedy search")])
def test_numbers_of_a_label_stand_behind_what_they_are_of(row: str, text: str) -> None:
    assert label(ARTIFACTS["table1"], row) == text


def findings(*lines: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(lines, columns=["cells", "artifact"])


def test_rows_of_one_key_are_told_apart_by_their_tables() -> None:
    found = named(
        findings(
            ("gad.bleu 54; greedy.bleu 53", "table4"),
            ("gad.speed 1.1", "table1"),
            ("curve@2 9", "figure1"),
            ("", ""),
        ),
        ARTIFACTS,
    )
    assert found == (("gad", "table4: GAD, k 30; table1: GAD, k 25"), ("greedy", "greedy search"))


def test_a_finding_of_no_one_table_may_be_of_all_that_have_its_row() -> None:
    assert named(findings(("greedy.memory 241", "")), ARTIFACTS) == (("greedy", "greedy search"),)
    assert named(findings(("curve.x 2", ""), ("other.bleu 1", "")), ARTIFACTS) == ()

"""The page of claims says which runs say that they hold, and which that they do not."""

from pathlib import Path

import pytest

from fastdecode.report.claimed import wanted
from tests.report.project import UNCHECKED, write_project


@pytest.fixture
def rows(tmp_path: Path) -> dict[str, list[str]]:
    """What stands beside each claim of the graph paper, by the claim's name."""
    return cells(page(tmp_path))


def page(folder: Path) -> str:
    write_project(folder)
    ((path, written),) = wanted(folder).items()
    assert path == folder / "docs/claims.md"
    return written


def cells(text: str) -> dict[str, list[str]]:
    lines = [line for line in text.partition(": dag\n")[2].splitlines() if line.startswith("| *")]
    split = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {cells[0].split("*")[1]: cells for cells in split}


OWN = "[dag/toy](measurements/dag/toy/claims.dag.md)"
THIRD = "third,the third,so,toy,,holds,not measured in this run,a.bleu < b.bleu,,,,,,holds"
THIRD_FAILS = THIRD.replace("holds", "does not hold")
SHARED = "[families/toy](measurements/families/toy/claims.dag.md)"


def test_a_claim_stands_with_its_reading(rows: dict[str, list[str]]) -> None:
    assert rows["first"][0] == "*first*: the first<br>Read as: so"


def test_times_are_of_the_reference_tier_where_there_are_any(rows: dict[str, list[str]]) -> None:
    # the optimised one says no; of times that drifted the mark stands behind the folder
    assert rows["first"][1:] == [f"{OWN}†, {SHARED}†", "–", "–", "–"]
    assert rows["second"][1:] == [f"{OWN}‡, {SHARED}‡", "–", "–", "–"]  # it alone was timed


def test_one_failure_is_enough(rows: dict[str, list[str]]) -> None:
    assert rows["sixth"][1:] == ["–", f"{OWN}, {SHARED}", "–", "–"]


def test_what_was_not_measured_is_not_among_what_cannot_be_told(
    rows: dict[str, list[str]],
) -> None:
    assert rows["fourth"][1:] == ["–", "–", "–", f"{OWN}, {SHARED}"]
    assert rows["fifth"][1:] == ["–", "–", "–", "–"]


def test_what_holds_as_far_as_it_was_measured_stands_apart(rows: dict[str, list[str]]) -> None:
    assert rows["eleventh"][1:] == ["–", "–", f"{OWN}, {SHARED}", "–"]


def test_verdicts_on_other_claims_are_left_out(rows: dict[str, list[str]]) -> None:
    for name in ("seventh", "eighth", "ninth"):  # another reading, condition; no interval
        assert rows[name][1:] == ["–", "–", "–", "–"]


def test_claims_are_counted(tmp_path: Path) -> None:
    text = page(tmp_path).partition(": dag\n")[2]
    said = "12 claims: 4 hold in every run that can tell (0 of them by one run alone), 1 in none of"
    assert f"{said} them, 0 in some; of 7 no run can tell." in text
    own = tmp_path / "docs/measurements/dag/toy/claims.dag.csv"
    told = own.read_text()
    second = "second,the second,so,toy,optimised,holds,not measured in this run,a.bleu < b.bleu"
    assert told.count(THIRD) == told.count(second) == 1
    own.write_text(told.replace(THIRD, THIRD_FAILS).replace(second, second.replace("<", "=")))
    ((_, text),) = wanted(tmp_path).items()
    said = "12 claims: 3 hold in every run that can tell (1 of them by one run alone), 1 in none of"
    assert f"{said} them, 1 in some; of 7 no run can tell." in text
    assert cells(text)["third"][1:] == [SHARED, OWN, "–", "–"]


def test_a_claim_that_no_number_tells_says_why(rows: dict[str, list[str]]) -> None:
    assert rows[UNCHECKED] == [f"*{UNCHECKED}*: the {UNCHECKED}", "–", "–", "–", "no number tells"]

"""Kept verdicts: which of them are on claims as they now stand, and what a run says in all."""

from pathlib import Path

import pytest

from fastdecode.config.base import check, read_yaml
from fastdecode.config.papers import Paper
from fastdecode.report.claims.kept import Kept, kept_verdicts
from tests.report.project import write_project


@pytest.fixture
def kept(tmp_path: Path) -> dict[str, Kept]:
    write_project(tmp_path)
    path = tmp_path / "config/papers/dag.yaml"
    paper = check(Paper, read_yaml(path), str(path))
    return kept_verdicts(paper, tmp_path / "docs/measurements/dag/toy/claims.dag.csv")


def test_times_are_of_the_reference_tier_where_it_was_timed(kept: dict[str, Kept]) -> None:
    assert kept["first"].verdict == "holds"  # in the optimised tier it does not
    assert kept["second"].verdict == "holds"  # the optimised tier alone was timed


def test_of_several_data_the_worst_counts(kept: dict[str, Kept]) -> None:
    assert kept["sixth"].verdict == "does not hold"


def test_what_was_measured_is_told_from_what_was_not(kept: dict[str, Kept]) -> None:
    assert kept["fourth"] == Kept("cannot be told", True)
    assert kept["fifth"] == Kept("cannot be told", False)


def test_times_keep_their_marks(kept: dict[str, Kept]) -> None:
    assert kept["first"].marks == "†"  # the optimised tier has another
    assert kept["tenth"].marks == ""


def test_verdicts_on_data_that_a_claim_is_no_longer_about_are_left_out(tmp_path: Path) -> None:
    write_project(tmp_path)
    path = tmp_path / "config/papers/dag.yaml"
    values = read_yaml(path)
    values["claims"]["sixth"]["datasets"] = ["news"]
    values["claims"]["third"]["datasets"] = ["toy"]
    paper = check(Paper, values, str(path))
    kept = kept_verdicts(paper, tmp_path / "docs/measurements/dag/toy/claims.dag.csv")
    assert "sixth" not in kept and kept["third"].verdict == "holds"


def test_verdicts_on_what_is_no_longer_claimed_are_left_out(kept: dict[str, Kept]) -> None:
    """The seventh had another reading, the eighth another condition, the ninth no interval."""
    assert not {"seventh", "eighth", "ninth"} & set(kept)
    assert kept["tenth"].verdict == "holds"

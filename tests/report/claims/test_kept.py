"""Kept verdicts: which of them are on claims as they now stand, and what a run says in all."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fastdecode.config.base import check, read_yaml
from fastdecode.config.papers import Paper
from fastdecode.report.claims.kept import Kept, kept_verdicts
from fastdecode.report.claims.printed import VERDICTS
from tests.report.project import write_project

CSV = "docs/measurements/dag/toy/claims.dag.csv"


@pytest.fixture
def kept(tmp_path: Path) -> dict[str, Kept]:
    return told(tmp_path, read(tmp_path))


def read(folder: Path) -> pd.DataFrame:
    """Write a project into the folder, and return the verdicts that it keeps."""
    write_project(folder)
    return VERDICTS.read(folder / CSV)


def told(folder: Path, lines: pd.DataFrame, **claims: dict[str, Any]) -> dict[str, Kept]:
    """Return what such verdicts say, once the claims of the paper have the values that are given.

    `read` has written the project.
    """
    VERDICTS.write(folder / CSV, lines)
    path = folder / "config/papers/dag.yaml"
    values = read_yaml(path)
    for name, changed in claims.items():
        values["claims"][name] |= changed
    return kept_verdicts(check(Paper, values, str(path)), folder / CSV)


def test_times_are_of_the_reference_tier_where_it_was_timed(kept: dict[str, Kept]) -> None:
    assert kept["first"].verdict == "holds"  # in the optimised tier it does not
    assert kept["second"].verdict == "holds"  # the optimised tier alone was timed


def test_of_several_data_the_worst_counts(kept: dict[str, Kept]) -> None:
    assert kept["sixth"].verdict == "does not hold"


def test_data_that_were_not_timed_count_beside_those_that_were(tmp_path: Path) -> None:
    lines = read(tmp_path)
    timed = (lines["claim"] == "sixth") & (lines["dataset"] == "toy")
    lines.loc[timed, "tier"] = "reference"
    assert told(tmp_path, lines)["sixth"].verdict == "does not hold"  # on news


def test_what_was_measured_is_told_from_what_was_not(kept: dict[str, Kept]) -> None:
    assert kept["fourth"] == Kept("cannot be told", True)
    assert kept["fifth"] == Kept("cannot be told", False)


def test_what_holds_as_far_as_it_was_measured_is_told_from_what_is_open(
    kept: dict[str, Kept],
) -> None:
    assert kept["eleventh"] == Kept("cannot be told", True, so_far=True)  # not on other data


def test_times_keep_their_marks(kept: dict[str, Kept]) -> None:
    assert kept["first"].marks == "†"  # the optimised tier has another
    assert kept["tenth"].marks == ""


def test_marks_are_of_what_decides(tmp_path: Path) -> None:
    lines = read(tmp_path)
    holds = lines[lines["claim"] == "tenth"].assign(marks="‡")
    fails = holds.assign(finding="does not hold", low=-2.0, high=-1.0, marks="†")
    assert told(tmp_path, holds)["tenth"].marks == "‡"
    assert told(tmp_path, pd.concat([holds, fails]))["tenth"].marks == "†"


def test_a_condition_that_a_claim_no_longer_has_does_not_count(tmp_path: Path) -> None:
    lines = read(tmp_path)
    gone = lines[lines["claim"] == "tenth"].assign(
        condition="b.bleu < c.bleu", finding="does not hold", low=-2.0, high=-1.0
    )
    lines = pd.concat([lines, gone]).assign(verdict="does not hold")
    assert told(tmp_path, lines)["tenth"].verdict == "holds"


def test_a_verdict_on_what_stands_in_for_curves_counts(tmp_path: Path) -> None:
    lines = read(tmp_path)
    on_curves = {
        "artifacts": ["figure1"],
        "check": [{"rising": ["a@1", "b@1"]}],
        "otherwise": {"a": "c", "b": "d"},
    }
    for condition, counts in (("a@1 < b@1", True), ("c@1 < d@1", True), ("a@1 < d@1", False)):
        lines.loc[lines["claim"] == "tenth", "condition"] = condition
        assert ("tenth" in told(tmp_path, lines, tenth=on_curves)) == counts


def test_a_claim_counts_in_the_tier_that_it_names_and_in_no_other(tmp_path: Path) -> None:
    lines = read(tmp_path)
    found = told(tmp_path, lines, first={"tier": "optimised"}, third={"tier": "optimised"})
    assert found["first"].verdict == "does not hold"
    assert found["third"].verdict == "holds"  # nothing was timed
    without = lines[~((lines["claim"] == "first") & (lines["tier"] == "optimised"))]
    assert "first" not in told(tmp_path, without, first={"tier": "optimised"})


def test_verdicts_on_data_that_a_claim_is_no_longer_about_are_left_out(tmp_path: Path) -> None:
    news, toy = {"datasets": ["news"]}, {"datasets": ["toy"]}
    found = told(tmp_path, read(tmp_path), sixth=news, third=toy)
    assert "sixth" not in found and found["third"].verdict == "holds"


def test_verdicts_on_what_is_no_longer_claimed_are_left_out(kept: dict[str, Kept]) -> None:
    """The seventh had another reading, the eighth another condition, the ninth no interval."""
    assert not {"seventh", "eighth", "ninth"} & set(kept)
    assert kept["tenth"].verdict == "holds"


def test_what_is_equal_needs_no_interval(tmp_path: Path) -> None:
    lines = read(tmp_path)
    same = lines[lines["claim"] == "tenth"].assign(
        condition="a.bleu = b.bleu", value=0.0, low=float("nan"), high=float("nan")
    )
    equal = {"check": [{"equal": ["a.bleu", "b.bleu"]}]}
    assert (
        told(tmp_path, same.assign(above=0.0, below=0.0), tenth=equal)["tenth"].verdict == "holds"
    )
